"""The door for agents: tools, a prompt and resources over the Model Context Protocol."""
