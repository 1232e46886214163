"""Search over the indexed corpus: scopes, questions, what is relevant, and how hits are shown."""
