"""The doors: HTTP, command line and MCP."""
