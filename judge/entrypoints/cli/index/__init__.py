"""`judge index`."""
