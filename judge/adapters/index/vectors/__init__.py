"""Vectors beside the embedded index: `judge[vectors]`."""
