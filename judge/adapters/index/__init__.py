"""Search indexes: Tantivy, with vectors beside it, PostgreSQL and Qdrant."""
