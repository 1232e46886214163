"""`judge doctor`."""
