"""The repository's files, the graph as bytes, and whether the graph is up to date."""
