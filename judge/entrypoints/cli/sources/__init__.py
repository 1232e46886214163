"""`judge sources`."""
