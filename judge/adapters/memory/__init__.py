"""What one process keeps for itself where there is no Redis."""
