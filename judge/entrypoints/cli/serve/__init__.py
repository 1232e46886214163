"""`judge serve`."""
