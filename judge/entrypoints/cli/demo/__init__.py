"""`judge demo`."""
