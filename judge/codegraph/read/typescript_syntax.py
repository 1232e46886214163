"""Small questions about the syntax trees that tree-sitter makes of TypeScript."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.module_index import PACKAGE

if TYPE_CHECKING:
    from tree_sitter import Node

_SUFFIX = re.compile(r"\.(?:[cm]?[jt]sx?)$")
FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "generator_function",
     "generator_function_declaration"}
)  # fmt: skip
NAMES = frozenset({"identifier", "type_identifier", "shorthand_property_identifier"})
DEFAULT = "default"


def required_module(node: "Node") -> "Node | None":
    """The `"./x"` of `await import("./x")` and `require("./x")`; None for any other expression."""
    if node.type == "await_expression":
        node = node.named_children[0]
    function = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    if text_of(function) not in ("import", "require") or given is None:
        return None
    strings = [one for one in given.named_children if one.type == "string"]
    return strings[0] if strings else None


def text_of(node: "Node | None") -> str:
    """The source of *node*; empty for none."""
    return (node.text or b"").decode() if node is not None else ""


def span_of(node: "Node") -> tuple[int, int]:
    """Its first line and its last, from 1."""
    return node.start_point[0] + 1, node.end_point[0] + 1


def is_static(node: "Node") -> bool:
    """Whether a method belongs to its class rather than to an object."""
    return any(child.type == "static" for child in node.children)


def each_parameter(node: "Node | None") -> Iterator["Node"]:
    """The parameters of a list, or the one that stands without brackets."""
    if node is not None:
        yield from node.named_children if node.type == "formal_parameters" else (node,)


def heritage_clauses(node: "Node") -> Iterator["Node"]:
    """What a class or interface extends and implements, a clause each."""
    for child in node.named_children:
        if child.type == "class_heritage":
            yield from heritage_clauses(child)
        elif child.type in ("extends_clause", "extends_type_clause", "implements_clause"):
            yield child


def name_of(node: "Node") -> str:
    """The name of what *node* defines; empty for what has none."""
    return text_of(node.child_by_field_name("name"))


def module_of(source: "Node | None") -> tuple[int, str]:
    """The levels and the dotted name of `"../lib/x.js"`; what may be a package has no level."""
    text = _SUFFIX.sub("", text_of(source)[1:-1])
    if not text.startswith("."):
        return 0, f"{PACKAGE}{text}"
    parts = [part for part in text.split("/") if part not in (".", "")]
    ups = sum(part == ".." for part in parts)
    return ups + 1, ".".join(part for part in parts if part != "..")


def import_of(source: "Node | None", name: str = "") -> ir.ImportFrom:
    """What the module that *source* names has under *name*; without one, the module itself."""
    level, module = module_of(source)
    if not name:
        module, _, name = module.rpartition(".")
    return ir.ImportFrom(level, module, name)
