"""Helpers for tree-sitter's syntax trees of TypeScript."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codegraph import ir
from codegraph.module_index import PACKAGE_PREFIX

if TYPE_CHECKING:
    from tree_sitter import Node

_SUFFIX = re.compile(r"\.(?:[cm]?[jt]sx?)$")
#: Kinds of node -> other kinds that are read in the same way.
_ALIKE = {
    "identifier": "type_identifier shorthand_property_identifier",
    "member_expression": "nested_type_identifier nested_identifier",
    "call_expression": "new_expression",
    "inner": (
        "parenthesized_expression type_annotation await_expression non_null_expression constraint "
        "readonly_type"
    ),
    "all_but_name": "required_parameter optional_parameter index_signature mapped_type_clause",
    "function": (
        "arrow_function function_expression function_declaration generator_function "
        "generator_function_declaration function_signature"
    ),
    "method": "method_definition method_signature abstract_method_signature",
    "field": "public_field_definition property_signature enum_assignment",
    "class": (
        "class_declaration abstract_class_declaration interface_declaration enum_declaration module"
    ),
    "block": "for_statement switch_body",
}
_READ_AS = {kind: read_as for read_as, kinds in _ALIKE.items() for kind in kinds.split()}

_AROUND_OBJECTS = ("parenthesized_expression", "as_expression", "satisfies_expression")
#: Definitions in expressions: their name, if any, is visible only inside them.
_EXPRESSIONS = frozenset({"function_expression", "generator_function", "class"})


def kind_of(node: "Node | None") -> str:
    """The kind of node that *node* is read as; empty for None."""
    return _READ_AS.get(node.type, node.type) if node is not None else ""


def text_of(node: "Node | None") -> str:
    """The source of *node*; empty for None."""
    return (node.text or b"").decode() if node is not None else ""


def span_of(node: "Node") -> tuple[int, int]:
    """The first and the last line of *node*, counted from 1."""
    return node.start_point[0] + 1, node.end_point[0] + 1


def name_of(node: "Node") -> str:
    """The name that *node* defines; in expressions a made-up one, such as `<function 12>`."""
    is_named = node.type not in _EXPRESSIONS
    name = text_of(node.child_by_field_name("name")) if is_named else ""
    return name or f"<{kind_of(node)} {span_of(node)[0]}>"


def children_of(node: "Node | None") -> Sequence["Node"]:
    """The children of *node* without punctuation, keywords, comments and errors; none for None."""
    children = node.named_children if node is not None else ()
    return [child for child in children if child.type not in ("comment", "ERROR")]


def has_keyword(node: "Node", keyword: str) -> bool:
    """Whether a keyword such as `static` is a direct child of *node*."""
    return any(child.type == keyword for child in node.children)


def parameters_of(node: "Node") -> Sequence["Node"]:
    """The parameters of a function, or the single one without brackets (`x => …`)."""
    single = node.child_by_field_name("parameter")
    return [single] if single else children_of(node.child_by_field_name("parameters"))


def bases_of(node: "Node") -> list["Node"]:
    """The types that a class or interface extends and implements, and their type arguments."""
    bases: list[Node] = []
    for child in node.named_children:
        if child.type == "class_heritage":
            bases += bases_of(child)
        elif child.type in ("extends_clause", "extends_type_clause", "implements_clause"):
            bases += children_of(child)
    return bases


def required_module(node: "Node") -> "Node | None":
    """The `"./x"` of `await import("./x")` and `require("./x")`; None for any other expression."""
    if node.type == "await_expression":
        node = children_of(node)[0]
    if text_of(node.child_by_field_name("function")) not in ("import", "require"):
        return None
    arguments = children_of(node.child_by_field_name("arguments"))
    return next((argument for argument in arguments if argument.type == "string"), None)


def object_literal(node: "Node | None") -> tuple["Node | None", list["Node"]]:
    """The `{…}` of `({…})`, `{…} as T`, `{…} satisfies T`, `Object.freeze({…})`; and the types.

    None for any other expression.
    """
    types: list[Node] = []
    while node is not None and node.type != "object":
        is_freeze = text_of(node.child_by_field_name("function")) == "Object.freeze"
        if node.type not in _AROUND_OBJECTS and not is_freeze:
            return None, []
        children = children_of(node.child_by_field_name("arguments") if is_freeze else node)
        types += children[1:]
        node = next(iter(children), None)
    return node, types


def module_of(source: "Node | None") -> tuple[int, str]:
    """Level and dotted name of `"../lib/x.js"`; level 0 for what is no relative path."""
    text = _SUFFIX.sub("", text_of(source)[1:-1])
    if not text.startswith("."):
        return 0, f"{PACKAGE_PREFIX}{text}"
    parts = [part for part in text.split("/") if part not in (".", "")]
    ups = sum(part == ".." for part in parts)
    return ups + 1, ".".join(part for part in parts if part != "..")


def import_of(source: "Node | None", name: str = "") -> ir.ImportFrom:
    """An import of *name* from the module at *source*, or of the module when *name* is empty."""
    level, module = module_of(source)
    if not name:
        module, _, name = module.rpartition(".")
    return ir.ImportFrom(level, module, name)
