"""Which files hold tests, and which definitions are tests."""

from codegraph.models import Node


def is_test(path: str) -> bool:
    """Whether the file at *path* holds tests, as pytest, unittest, Jest and Vitest find them."""
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0] or name
    is_named_so = name.startswith("test_") or stem.endswith(("_test", ".test", ".spec"))
    return is_named_so or not {"tests", "test", "__tests__"}.isdisjoint(folders)


def is_test_function(node: Node) -> bool:
    """Whether *node* is a test: `test_it`, or the anonymous function in `it("…", () => …)`."""
    name = node.fqn.rpartition(".")[2]
    return is_test(node.file) and name.startswith(("test", "<function"))
