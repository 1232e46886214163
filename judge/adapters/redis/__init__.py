"""What all processes share, in Redis, and what stands in for it."""
