"""Connects ports to adapters: opens what a process needs, and closes it again."""
