"""What `judge demo` needs and everyone has: a small site of example pages on loopback."""
