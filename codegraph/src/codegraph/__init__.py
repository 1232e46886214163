"""Code navigation: a graph of a repository's symbols, and queries on it.

`read/` turns source text into facts, `infer/` turns facts into nodes and edges, `store/` saves
both, and `query/` answers. Begin with `build.py`, which runs the first three, and
`query/code_graph.py`.
"""
