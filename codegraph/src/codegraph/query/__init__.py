"""Queries on the graph, and their results for people and programs."""
