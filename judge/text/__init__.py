"""All that reads English or cleans text: pure functions that every other room may import."""
