"""Code navigation: a graph of a repository's symbols, and questions asked of it."""
