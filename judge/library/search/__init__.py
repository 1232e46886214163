"""Search over the indexed corpus: questions, what is relevant, and how hits are shown."""
