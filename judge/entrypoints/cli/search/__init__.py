"""`judge search`."""
