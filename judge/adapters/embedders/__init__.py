"""Embedders: they turn texts into vectors."""
