"""Code navigation: a graph of a repository's symbols, and questions asked of it.

`read/` makes facts of source text and `infer/` edges of facts, `store/` keeps both, and `query/`
answers. `build.py` is the way through the first three, `query/code_graph.py` through the last.
"""
