"""The index in PostgreSQL (extra `postgres`)."""
