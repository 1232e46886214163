"""The embedded search index."""
