"""The index on a Qdrant server: `judge[qdrant]`."""
