"""The Model Context Protocol for assistants: tools, a prompt and resources, over two transports."""
