"""The implementations of our ports: models, Redis, search engines, the web, files."""
