"""Which files hold tests."""

from pathlib import PurePosixPath


def is_test(path: str) -> bool:
    """Whether the file at *path* holds tests, by the customs of pytest and unittest."""
    parts = PurePosixPath(path)
    named = parts.stem.startswith("test_") or parts.stem.endswith("_test")
    return named or not {"tests", "test"}.isdisjoint(parts.parts[:-1])
