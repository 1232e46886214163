"""Search indexes: Tantivy, with vectors beside it, and Qdrant."""
