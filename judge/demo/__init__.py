"""What `judge demo` needs: an example dispute, and a small site of example pages on loopback."""
