"""Pages become snippets: choose, fetch, extract, cache."""
