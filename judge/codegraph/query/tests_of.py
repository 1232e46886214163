"""Which files hold tests, and which definitions are one."""

from pathlib import PurePosixPath

from judge.codegraph.models import Node


def is_test(path: str) -> bool:
    """Whether the file at *path* holds tests, as pytest, unittest, Jest and Vitest find them."""
    parts = PurePosixPath(path)
    named = parts.stem.startswith("test_") or parts.stem.endswith(("_test", ".test", ".spec"))
    return named or not {"tests", "test", "__tests__"}.isdisjoint(parts.parts[:-1])


def is_test_function(node: Node) -> bool:
    """Whether *node* is a test: `test_it`, or the function without a name in `it("…", () => …)`."""
    name = node.fqn.rpartition(".")[2]
    return is_test(node.file) and name.startswith(("test", "<function"))
