"""Scopes: the part of the corpus that a query may search."""
