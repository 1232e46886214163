"""Approved pages: fetched, read, cached and chosen for a dispute."""
