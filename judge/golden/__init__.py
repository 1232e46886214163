"""Golden cases: stored disputes whose outcome must not change unnoticed, replayed offline."""
