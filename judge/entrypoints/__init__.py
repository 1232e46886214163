"""The entrypoints: HTTP, command line and MCP."""
