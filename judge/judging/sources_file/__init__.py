"""Parses and validates the sources file; errors name file, line and key."""
