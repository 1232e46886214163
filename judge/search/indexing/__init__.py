"""Documents become passages in the index."""
