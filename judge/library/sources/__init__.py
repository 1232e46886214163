"""The sources file: parsed and validated; errors name file, line and key."""
