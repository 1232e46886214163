"""Approved pages: fetched, cached, and read ahead."""
