"""`judge check`."""
