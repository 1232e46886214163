"""Marks in a text, and whether the sources that they name carry what it says."""
