"""`judge completion`."""
