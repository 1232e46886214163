"""Names, expressions, types and blocks of TypeScript; the lower layer of its reader.

With what it and the upper layer ask of tree-sitter's syntax trees.
"""

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codegraph import ir
from codegraph.facts import ScopeKind
from codegraph.module_index import PACKAGE_PREFIX
from codegraph.read.fact_writer import FactWriter

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
        "readonly_type satisfies_expression type_arguments parenthesized_type"
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
    "block": "for_statement statement_block switch_body",
    "binding_block": "for_in_statement catch_clause",
    "condition": "if_statement ternary_expression",
    "as_expression": "type_assertion",
    "union_type": "intersection_type",
}
_READ_AS = {kind: read_as for read_as, kinds in _ALIKE.items() for kind in kinds.split()}

_EXITS = ("return_statement", "throw_statement", "continue_statement", "break_statement")
_AROUND_OBJECTS = ("parenthesized_expression", "as_expression", "satisfies_expression")
#: Definitions in expressions: their name, if any, is visible only inside them.
_EXPRESSIONS = frozenset({"function_expression", "generator_function", "class"})

THIS = "this"
#: Longer arrays are lists, of whose elements that many are read.
_MAX_PARTS = 6
#: Methods of containers -> how many elements their callback gets; `reduce` gives one after another.
_CALLING = {
    **dict.fromkeys("every filter find findIndex findLast flatMap forEach map some".split(), 1),
    **dict.fromkeys(("reduce", "sort", "toSorted"), 2),
}
#: Components and what makes them -> which type argument the first parameter has.
_PROPS = {**dict.fromkeys(("FC", "FunctionComponent", "memo"), 0), "forwardRef": 1}
#: Generic types that are treated as their argument.
_TRANSPARENT = frozenset(
    "Promise PromiseLike Awaited Readonly Partial Required NonNullable Pick Omit".split()
)


class TypescriptExpressionReader(FactWriter):
    """Turn expressions and types into `ir` expressions; names are looked up when files are linked.

    Visiting a node returns its `ir` expression and records the names in it.
    """

    #: The values that the parameters of a callback get, while the arguments of a call are read.
    given: tuple[ir.Expr, ...] = ()

    #: The values of variables that a test narrowed; None for those that were bound again.
    narrowed: ChainMap[str, ir.Expr | None]

    def bind(self, name: str, value: ir.Binding) -> int:
        """Bind *name* to *value* in the current scope and return the binding's index."""
        self.narrowed[name] = None
        return super().bind(name, value)

    def visit(self, node: "Node | None") -> ir.Expr:
        """Read *node* and return its `ir` expression; UNKNOWN for None and for statements."""
        if node is None:
            return ir.UNKNOWN
        read = getattr(self, f"visit_{kind_of(node)}", self.visit_children)
        return read(node) or ir.UNKNOWN

    def visit_children(self, node: "Node") -> None:
        """Record the names in *node*; its own type is unknown."""
        self.visit_each(node.named_children)

    def visit_each(self, nodes: Iterable["Node"]) -> tuple[ir.Expr, ...]:
        """Read *nodes* and return their `ir` expressions."""
        return tuple(map(self.visit, nodes))

    def read_field(self, node: "Node", field: str) -> ir.Expr | None:
        """Read the child of *node* in that *field*, if there is one."""
        child = node.child_by_field_name(field)
        return self.visit(child) if child is not None else None

    def add_occurrence_at(self, node: "Node", target: ir.Target, kind: str = "references") -> None:
        """Add an occurrence of *target* on the first line of *node*."""
        self.add_occurrence(span_of(node)[0], kind, target)

    # --- blocks -----------------------------------------------------------------------------

    @contextmanager
    def in_scope(self, kind: ScopeKind, name: str, node: "Node") -> Iterator[int]:
        """Add a scope for *node* and enter it until the block ends; yield its index."""
        outer = self.scope, self.enclosing, self._assignment_span, self.narrowed
        span = span_of(node)
        self.scope, self._assignment_span = self.add_scope(kind, name, span[0], span), None
        self.enclosing = self.enclosing if kind == "block" else self.scope
        self.narrowed = self.narrowed.new_child()
        yield self.scope
        self.scope, self.enclosing, self._assignment_span, self.narrowed = outer

    def narrow(self, test: "Node", *, holds: bool) -> None:
        """Narrow variables to the types that they have where *test* *holds*, or where it fails."""
        operator, operands = text_of(test.child_by_field_name("operator")), children_of(test)
        if operator in ("!", "&&" if holds else "||") or kind_of(test) == "inner":
            for operand in operands:
                self.narrow(operand, holds=holds is not (operator == "!"))
        elif operator == "instanceof" or test.type == "call_expression":
            tested = next(iter(operands if operator else children_of(operands[-1])), test)
            if tested.type == "identifier" and "(" not in text_of(operands[0]):
                first = len(self.occurrences)
                cls = self.visit(operands[1]) if operator else ir.Call(self.visit(operands[0]))
                narrowed = self.add_binding(ir.Narrowed(self.visit(tested), cls, holds))
                del self.occurrences[first:]  # They were added with the test.
                self.narrowed[text_of(tested)] = ir.Variable((narrowed,))

    def visit_condition(self, node: "Node") -> ir.Expr:
        test, *parts = children_of(node)
        values = [self.visit(test)]
        for holds, part in zip((True, False), parts, strict=False):
            with self.in_scope("block", "", part):
                self.narrow(test, holds=holds)
                values.append(self.visit(part))
            if any(last.type in _EXITS for last in (part, *children_of(part)[-1:])):
                self.narrow(test, holds=not holds)
        return ir.Alternatives(tuple(values[1:]))

    def visit_block(self, node: "Node") -> None:
        with self.in_scope("block", "", node):
            self.visit_children(node)

    def visit_binding_block(self, node: "Node") -> None:
        iterated = self.visit(node.child_by_field_name("right"))
        with self.in_scope("block", "", node):
            how = "async for" if has_keyword(node, "await") else "for"
            for field in ("left", "parameter"):
                self.bind_pattern(node.child_by_field_name(field), ir.Unwrapped(iterated, how))
            self.visit(node.child_by_field_name("body"))

    def visit_variable_declaration(self, node: "Node") -> None:
        """Read `var`, which binds in the function or module around all blocks."""
        outer = self.scope
        while self.scopes[self.scope].kind == "block":
            self.scope = self.scopes[self.scope].parent
        self.visit_children(node)
        self.scope = outer

    def bind_pattern(self, node: "Node | None", value: ir.Expr) -> None:
        """Bind each name of a destructuring pattern to its part of *value*; properties are uses."""
        if node is None:
            return
        match node.type:
            case "shorthand_property_identifier_pattern":
                self.bind(text_of(node), self._part(node, value))
            case "pair_pattern":
                part = self._part(node.child_by_field_name("key"), value)
                self.bind_pattern(node.child_by_field_name("value"), part)
            case "assignment_pattern" | "object_assignment_pattern":
                self.bind_pattern(node.child_by_field_name("left"), value)
                self.visit(node.child_by_field_name("right"))
            case "array_pattern":
                index = 0
                for child in node.children:
                    index += child.type == ","  # `[, second]` leaves one out.
                    is_rest = child.type == "rest_pattern"
                    one = ir.UnpackedElement(None if is_rest else index, value)
                    if child.is_named and not child.is_extra:
                        self.bind_pattern(child, ir.Display("list", (one,)) if is_rest else one)
            case "object_pattern" | "rest_pattern":
                for child in children_of(node):
                    self.bind_pattern(child, value)
            case _:
                self.bind(text_of(node), value)

    def _part(self, key: "Node | None", value: ir.Expr) -> ir.Expr:
        if key is None or value is ir.UNKNOWN:
            return ir.UNKNOWN
        attribute = ir.Attribute(value, text_of(key))
        self.add_occurrence_at(key, attribute)
        return attribute

    # --- names and values -------------------------------------------------------------------

    def visit_identifier(self, node: "Node") -> ir.Expr:
        name = ir.Name(self.scope, text_of(node))
        self.add_occurrence_at(node, name)
        return self.narrowed.get(name.name) or name

    def visit_assignment_expression(self, node: "Node") -> None:
        self.visit_children(node)
        self.narrowed[text_of(node.child_by_field_name("left"))] = None

    def visit_this(self, node: "Node") -> ir.Expr:
        index, owner = self.scope, self.scopes[self.scope]
        while owner.is_object or (owner.kind in ("block", "function") and THIS not in owner.names):
            index, owner = owner.parent, self.scopes[owner.parent]
        if owner.kind == "class":  # what a field is first set to
            return ir.AnnotatedVariable(ir.Name(owner.parent, owner.name), None)
        return ir.Name(index, THIS)

    def visit_super(self, node: "Node") -> ir.Expr:
        return ir.Call(ir.Name(self.scope, "super"))

    def visit_member_expression(self, node: "Node") -> ir.Expr:
        owner, name = node.named_children[0], node.named_children[-1]
        attribute = ir.Attribute(self.visit(owner), text_of(name))
        self.add_occurrence_at(name, attribute)
        return attribute

    def visit_call_expression(self, node: "Node") -> ir.Expr:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        first = len(self.occurrences)
        callee = self.visit(function)
        self.set_occurrence_kind("calls", callee, first)
        source = required_module(node)
        if source is not None:
            self.add_occurrence_at(node, import_of(source), "imports")
            return ir.Variable((self.add_binding(import_of(source)),))
        arguments = node.child_by_field_name("arguments")
        types = self.visit_each(children_of(node.child_by_field_name("type_arguments")))
        self.given = given_by(callee)
        if types:
            callee = ir.Subscript(callee, types)
            self.given = given_by(callee) or self.given
        values = self.visit_each(children_of(arguments))
        self.given = ()
        return ir.Call(callee, values)

    def visit_binary_expression(self, node: "Node") -> ir.Expr:
        (operator, operands), outer = operands_of(node), self.narrowed
        self.narrowed, values = outer.new_child(), []
        for operand in operands:
            values.append(self.visit(operand))
            self.narrow(operand, holds=operator == "&&")
        self.narrowed = outer
        return ir.Alternatives(tuple(values)) if operator in ("||", "??") else ir.UNKNOWN

    def visit_inner(self, node: "Node") -> ir.Expr:
        return next(iter(self.visit_each(children_of(node))), ir.UNKNOWN)

    def visit_as_expression(self, node: "Node") -> ir.Expr:
        parts = self.visit_each(children_of(node))
        value, *types = parts[::-1] if node.type == "type_assertion" else parts  # `<T>value`
        return ir.AnnotatedVariable(types[0], None) if types else value  # `as const`

    def visit_subscript_expression(self, node: "Node") -> ir.Expr:
        owner, index = self.read_field(node, "object"), self.read_field(node, "index")
        return ir.Subscript(owner or ir.UNKNOWN, (index or ir.UNKNOWN,))

    def visit_number(self, node: "Node") -> ir.Expr:
        text = text_of(node)
        return ir.Constant("int", int(text)) if text.isdecimal() and len(text) < 9 else ir.UNKNOWN

    def visit_spread_element(self, node: "Node") -> ir.Expr:
        return ir.Unwrapped(self.visit_inner(node))

    def visit_array(self, node: "Node") -> ir.Expr:
        values = self.visit_each(children_of(node))
        is_list = len(values) > _MAX_PARTS or any(isinstance(v, ir.Unwrapped) for v in values)
        parts = (ir.Alternatives(values[:_MAX_PARTS]),) if is_list else values
        return ir.Display("list" if is_list else "tuple", parts)

    # --- types ------------------------------------------------------------------------------

    def visit_this_type(self, node: "Node") -> ir.Expr:
        return ir.Name(ir.BUILTIN, "Self")

    def visit_generic_type(self, node: "Node") -> ir.Expr:
        head, arguments = node.named_children[0], node.named_children[-1]
        generic, inner = self.visit(head), self.visit_each(children_of(arguments))
        name = text_of(head)
        return inner[0] if name in _TRANSPARENT and inner else ir.Subscript(generic, inner)

    def visit_array_type(self, node: "Node") -> ir.Expr:
        return ir.Subscript(ir.Name(ir.BUILTIN, "list"), (self.visit_inner(node),))

    def visit_type_predicate_annotation(self, node: "Node") -> ir.Expr:
        cls = self.visit_each(children_of(node)[0].children_by_field_name("type"))
        return ir.Subscript(ir.Name(ir.BUILTIN, "type"), cls)  # A call narrows its argument to it.

    def visit_function_type(self, node: "Node") -> ir.Expr:
        result = self.visit_each(children_of(node))[-1:]
        return ir.Subscript(ir.Name(ir.BUILTIN, "Callable"), result)

    def visit_tuple_type(self, node: "Node") -> ir.Expr:
        parts = (child.child_by_field_name("type") or child for child in children_of(node))
        return ir.Subscript(ir.Name(ir.BUILTIN, "tuple"), self.visit_each(parts))

    def visit_union_type(self, node: "Node") -> ir.Expr:
        return ir.Alternatives(self.visit_each(operands_of(node)[1]))

    def visit_object_type(self, node: "Node") -> ir.Expr:
        """Read an anonymous object type as a class, whose members are no symbols."""
        members = [(child, self.visit_all_but_name(child)) for child in children_of(node)]
        with self.in_scope("block", "", node) as scope:
            for child, type_ in members:
                if child.type == "property_signature":
                    name = text_of(child.child_by_field_name("name"))
                    self.bind(name, ir.AnnotatedVariable(type_, None))
        return ir.Variable((self.add_binding(ir.ClassBinding(scope)),))

    def visit_all_but_name(self, node: "Node") -> ir.Expr:
        """Read the children of *node*, without the name that it declares; return the last one."""
        self.visit_computed_name(node)
        declared = node.child_by_field_name("name") or node.child_by_field_name("pattern")
        return [ir.UNKNOWN, *self.visit_each(c for c in node.named_children if c != declared)][-1]

    def visit_computed_name(self, node: "Node") -> None:
        """Read the expression in the name of a member: `[key]: string`."""
        name = node.child_by_field_name("name")
        if name is not None and name.type == "computed_property_name":
            self.visit(name)


def given_by(expr: ir.Expr | None) -> tuple[ir.Expr, ...]:
    """What `all.map`, `forwardRef<Element, Props>` or the type `FC<Props>` gives to a function."""
    match expr:
        case ir.Attribute(receiver=receiver, name="then"):
            return (receiver,)
        case ir.Attribute(receiver=receiver, name=name) if name in _CALLING:
            element = ir.UnpackedElement(None, receiver)
            return (ir.UNKNOWN, element) if name == "reduce" else (element,) * _CALLING[name]
        case ir.Subscript(receiver=ir.Name(name=name) | ir.Attribute(name=name), indices=types):
            return tuple(ir.AnnotatedVariable(t, None) for t in types[_PROPS.get(name, 9) :][:1])
    return ()


# --- syntax trees ---------------------------------------------------------------------------


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


def operands_of(node: "Node") -> tuple[str, list["Node"]]:
    """The operator and operands of `a && b && c`, or `A | B | C`; its tree nests for each."""
    operator, operands, pending = text_of(node.child_by_field_name("operator")), [], [node]
    while pending:
        operand = pending.pop()
        is_same = text_of(operand.child_by_field_name("operator")) == operator
        if is_same and kind_of(operand) == kind_of(node):
            pending += reversed(children_of(operand))
        else:
            operands.append(operand)
    return operator, operands


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
