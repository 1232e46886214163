"""Facts of all files -> nodes and edges; `linker` is the one way in."""
