"""The ways in: HTTP, command line and MCP."""
