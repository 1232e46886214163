"""The outside world, behind our ports."""
