"""Facts of all files -> nodes and edges, by type inference; `linker` is the entry point."""
