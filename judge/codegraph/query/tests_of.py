"""Which files hold tests, and which definitions are tests."""

from pathlib import PurePosixPath

from judge.codegraph.models import Node


def is_test(path: str) -> bool:
    """Whether the file at *path* holds tests, as pytest, unittest, Jest and Vitest find them."""
    file = PurePosixPath(path)
    is_named_so = file.stem.startswith("test_") or file.stem.endswith(("_test", ".test", ".spec"))
    return is_named_so or not {"tests", "test", "__tests__"}.isdisjoint(file.parts[:-1])


def is_test_function(node: Node) -> bool:
    """Whether *node* is a test: `test_it`, or the anonymous function in `it("…", () => …)`."""
    name = node.fqn.rpartition(".")[2]
    return is_test(node.file) and name.startswith(("test", "<function"))
