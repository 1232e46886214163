"""What all processes share in Redis: cache, locks, limits and budgets, with their failover."""
