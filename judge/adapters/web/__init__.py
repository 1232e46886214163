"""Pages from the web, fetched safely."""
