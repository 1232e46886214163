"""`judge ask`."""
