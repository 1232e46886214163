"""Small questions about the syntax trees that tree-sitter makes of TypeScript."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.module_index import PACKAGE

if TYPE_CHECKING:
    from tree_sitter import Node

_SUFFIX = re.compile(r"\.(?:[cm]?[jt]sx?)$")
#: Kinds of node -> the others that are read like them.
_ALIKE = {
    "identifier": "type_identifier shorthand_property_identifier",
    "member_expression": "nested_type_identifier nested_identifier",
    "call_expression": "new_expression",
    "inner": (
        "parenthesized_expression type_annotation await_expression non_null_expression constraint"
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
_READ_AS = {kind: one for one, kinds in _ALIKE.items() for kind in kinds.split()}

#: Definitions whose names, if they have one, only they themselves can see.
_WITHIN_EXPRESSIONS = frozenset({"function_expression", "generator_function", "class"})


def kind_of(node: "Node | None") -> str:
    """What *node* is read as; empty for none."""
    return _READ_AS.get(node.type, node.type) if node is not None else ""


def text_of(node: "Node | None") -> str:
    """The source of *node*; empty for none."""
    return (node.text or b"").decode() if node is not None else ""


def span_of(node: "Node") -> tuple[int, int]:
    """Its first line and its last, from 1."""
    return node.start_point[0] + 1, node.end_point[0] + 1


def name_of(node: "Node") -> str:
    """The name of what *node* defines; one that nobody can write within an expression."""
    is_named = node.type not in _WITHIN_EXPRESSIONS
    name = text_of(node.child_by_field_name("name")) if is_named else ""
    return name or f"<{kind_of(node)} {span_of(node)[0]}>"


def children_of(node: "Node | None") -> Sequence["Node"]:
    """What stands in *node*, punctuation and keywords left out."""
    return node.named_children if node is not None else ()


def has_word(node: "Node", word: str) -> bool:
    """Whether a keyword such as `static` stands right in *node*."""
    return any(child.type == word for child in node.children)


def parameters_of(node: "Node") -> Sequence["Node"]:
    """The parameters of a function, or the one that stands without brackets."""
    alone = node.child_by_field_name("parameter")
    return [alone] if alone else children_of(node.child_by_field_name("parameters"))


def bases_of(node: "Node") -> list["Node"]:
    """What a class or interface extends and implements, and the arguments of these types."""
    found: list[Node] = []
    for child in node.named_children:
        if child.type == "class_heritage":
            found += bases_of(child)
        elif child.type in ("extends_clause", "extends_type_clause", "implements_clause"):
            found += child.named_children
    return found


def required_module(node: "Node") -> "Node | None":
    """The `"./x"` of `await import("./x")` and `require("./x")`; None for any other expression."""
    if node.type == "await_expression":
        node = node.named_children[0]
    if text_of(node.child_by_field_name("function")) not in ("import", "require"):
        return None
    given = children_of(node.child_by_field_name("arguments"))
    return next((one for one in given if one.type == "string"), None)


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
