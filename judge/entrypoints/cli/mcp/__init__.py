"""`judge mcp`."""
