"""`judge code`."""
