"""`judge golden`."""
