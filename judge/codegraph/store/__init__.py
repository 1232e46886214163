"""The repository's files, the graph as bytes, and whether the two still agree."""
