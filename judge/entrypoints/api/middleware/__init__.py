"""What every HTTP request passes before a route takes it."""
