"""The files that people write: their tables, and what is wrong in them, by file and line."""
