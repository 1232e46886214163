"""The nouns of the product: one file for judging, one for search."""
