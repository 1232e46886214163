"""Names, values and types in the syntax tree of a TypeScript file; the lower half of its reader."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, LexicalScope, Occurrence, ScopeKind
from judge.codegraph.read.typescript_syntax import (
    NAMES,
    import_of,
    required_module,
    span_of,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

THIS = "this"
#: Statements that declare a name for the block in which they stand.
_DECLARATIONS = re.compile(r"(?!variable_)\w+_declaration")
#: Generic types that behave like one that the type evaluator knows, and those like their argument.
_LISTS = frozenset({"Array", "ReadonlyArray", "Iterable", "Set", "ReadonlySet"})
_MAPS = frozenset({"Map", "ReadonlyMap", "WeakMap", "Record"})
_LIKE_THEIR_ARGUMENT = frozenset(
    {"Promise", "PromiseLike", "Awaited", "Readonly", "Partial", "Required", "NonNullable"}
)


class TypescriptExpressionReader:
    """Turn expressions and types into facts; what names mean is looked up when files are linked.

    To visit a node gives the fact for it; the names in it are noted.
    """

    def __init__(self, facts: FileFacts) -> None:
        """Add to *facts*."""
        self.facts = facts
        self.scopes, self.bindings = facts.scopes, facts.bindings
        self.occurrences = facts.occurrences
        self.scope = 0
        #: The names that the statement at hand binds in the module.
        self.bound: set[str] = set()

    def visit(self, node: "Node | None") -> ir.Expr:
        """The fact for *node*; the names in it are noted."""
        if node is None:
            return ir.UNKNOWN
        reader = getattr(self, f"visit_{node.type}", None)
        if reader is not None:
            self.visit_decorators(node)
            return reader(node) or ir.UNKNOWN
        for child in node.named_children:
            self.visit(child)
        return ir.UNKNOWN

    def visit_decorators(self, node: "Node") -> None:
        """Note the names in the decorators of *node*."""
        for decorator in node.children_by_field_name("decorator"):
            self.visit(decorator)

    def read_field(self, node: "Node", field: str) -> ir.Expr | None:
        """The fact for what *node* has in *field*, if anything."""
        child = node.child_by_field_name(field)
        return self.visit(child) if child is not None else None

    def open_scope(self, kind: ScopeKind, name: str, node: "Node") -> int:
        """Add the scope that *node* opens in the one at hand; its place."""
        start, end = span_of(node)
        self.scopes.append(LexicalScope(kind, name, self.scope, start, (start, end)))
        return len(self.scopes) - 1

    def bind(self, scope: int, name: str, value: ir.Binding) -> None:
        """Let *name* stand for *value* in *scope*."""
        self.bindings.append(value)
        self.scopes[scope].names.setdefault(name, []).append(len(self.bindings) - 1)
        if scope == 0:
            self.bound.add(name)

    def note(self, node: "Node", kind: str, target: ir.Target) -> None:
        """Note that *target* is named at *node*."""
        self.occurrences.append(Occurrence(span_of(node)[0], self.scope, kind, target))

    # --- blocks -----------------------------------------------------------------------------

    @contextmanager
    def block(self, node: "Node") -> Iterator[None]:
        """Inside, what is declared belongs to *node* alone."""
        outer, self.scope = self.scope, self.open_scope("block", "", node)
        yield
        self.scope = outer

    def visit_statement_block(self, node: "Node") -> None:
        declares = any(_DECLARATIONS.fullmatch(child.type) for child in node.named_children)
        with self.block(node) if declares else nullcontext():
            for child in node.named_children:
                self.visit(child)

    def visit_for_statement(self, node: "Node") -> None:
        with self.block(node):
            for child in node.named_children:
                self.visit(child)

    visit_switch_body = visit_for_statement

    def visit_for_in_statement(self, node: "Node") -> None:
        iterated = self.visit(node.child_by_field_name("right"))
        with self.block(node):
            self.bind_pattern(node.child_by_field_name("left"), ir.Element(iterated))
            self.visit(node.child_by_field_name("body"))

    def visit_catch_clause(self, node: "Node") -> None:
        with self.block(node):
            self.bind_pattern(node.child_by_field_name("parameter"), ir.UNKNOWN)
            self.visit(node.child_by_field_name("body"))

    def visit_variable_declaration(self, node: "Node") -> None:
        """Read `var`, which declares for the function or module around all blocks."""
        outer = self.scope
        while self.scopes[self.scope].kind == "block":
            self.scope = self.scopes[self.scope].parent
        for child in node.named_children:
            self.visit(child)
        self.scope = outer

    def bind_pattern(self, node: "Node | None", value: ir.Expr) -> None:  # noqa: C901 - a table
        """Bind every name in a pattern to its part of *value*; properties named are uses."""
        if node is None:
            return
        match node.type:
            case "identifier":
                self.bind(self.scope, text_of(node), value)
            case "shorthand_property_identifier_pattern":
                self.bind(self.scope, text_of(node), self._part(node, value))
            case "pair_pattern":
                key, inner = node.child_by_field_name("key"), node.child_by_field_name("value")
                self.bind_pattern(inner, self._part(key, value) if key is not None else ir.UNKNOWN)
            case "assignment_pattern" | "object_assignment_pattern":
                self.bind_pattern(node.child_by_field_name("left"), value)
                self.visit(node.child_by_field_name("right"))
            case "object_pattern":
                for child in node.named_children:
                    self.bind_pattern(child, value)
            case "array_pattern":
                for place, child in enumerate(node.named_children):
                    self.bind_pattern(child, ir.Unpacked(place, value))
            case _:
                for child in node.named_children:
                    self.bind_pattern(child, ir.UNKNOWN)

    def _part(self, key: "Node", value: ir.Expr) -> ir.Expr:
        if isinstance(value, ir.Unknown):
            return value
        fact = ir.Attribute(value, text_of(key))
        self.note(key, "references", fact)
        return fact

    # --- names and values -------------------------------------------------------------------

    def visit_identifier(self, node: "Node", kind: str = "references") -> ir.Expr:
        fact = ir.Name(self.scope, text_of(node))
        self.note(node, kind, fact)
        return fact

    visit_type_identifier = visit_identifier
    visit_shorthand_property_identifier = visit_identifier

    def visit_this(self, node: "Node") -> ir.Expr:
        return ir.Name(self.scope, THIS)

    def visit_super(self, node: "Node") -> ir.Expr:
        return ir.Call(ir.Name(self.scope, "super"))

    def visit_member_expression(self, node: "Node", kind: str = "references") -> ir.Expr:
        owner, name = node.named_children[0], node.named_children[-1]
        fact = ir.Attribute(self.visit(owner), text_of(name))
        self.note(name, kind, fact)
        return fact

    visit_nested_type_identifier = visit_member_expression
    visit_nested_identifier = visit_member_expression

    def visit_call_expression(self, node: "Node") -> ir.Expr:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        if function is None:
            called: ir.Expr = ir.UNKNOWN
        elif function.type in NAMES:
            called = self.visit_identifier(function, "calls")
        elif function.type == "member_expression":
            called = self.visit_member_expression(function, "calls")
        else:
            called = self.visit(function)
        source = required_module(node)
        if source is not None:
            self.note(node, "imports", import_of(source))
        given = node.child_by_field_name("arguments")
        for child in node.named_children:
            if child not in (function, given):
                self.visit(child)
        return ir.Call(called, tuple(map(self.visit, given.named_children if given else ())))

    visit_new_expression = visit_call_expression

    def visit_parenthesized_expression(self, node: "Node") -> ir.Expr:
        return self.visit(node.named_children[0] if node.named_children else None)

    visit_type_annotation = visit_parenthesized_expression
    visit_await_expression = visit_parenthesized_expression
    visit_non_null_expression = visit_parenthesized_expression

    def visit_satisfies_expression(self, node: "Node") -> ir.Expr:
        value, *_ = [self.visit(child) for child in node.named_children]
        return value

    def visit_as_expression(self, node: "Node") -> ir.Expr:
        value, *types = [self.visit(child) for child in node.named_children]
        return ir.AnnotatedVariable(types[0], None) if types else value  # `as const`

    def visit_type_assertion(self, node: "Node") -> ir.Expr:
        [arguments, value] = node.named_children
        self.visit(value)
        return ir.AnnotatedVariable(self.visit_type_annotation(arguments), None)

    def visit_subscript_expression(self, node: "Node") -> ir.Expr:
        owner, index = self.read_field(node, "object"), self.read_field(node, "index")
        return ir.Subscript(owner or ir.UNKNOWN, (index or ir.UNKNOWN,))

    def visit_array(self, node: "Node") -> ir.Expr:
        elements = tuple(map(self.visit, node.named_children))
        return ir.Display("list", (ir.Alternatives(elements[:4]),))

    # --- types ------------------------------------------------------------------------------

    def visit_this_type(self, node: "Node") -> ir.Expr:
        return ir.Name(0, "Self")

    def visit_generic_type(self, node: "Node") -> ir.Expr:
        head, arguments = node.named_children[0], node.named_children[-1]
        name = self.visit(head)
        inner = tuple(map(self.visit, arguments.named_children))
        plain = text_of(head)
        if plain in _LIKE_THEIR_ARGUMENT and inner:
            return inner[0]
        if plain in _LISTS or plain in _MAPS:
            name = ir.Name(0, "list" if plain in _LISTS else "dict")
        return ir.Subscript(name, inner)

    def visit_array_type(self, node: "Node") -> ir.Expr:
        return ir.Subscript(ir.Name(0, "list"), (self.visit_type_annotation(node),))

    def visit_union_type(self, node: "Node") -> ir.Expr:
        """Of all its members at once: the tree of `A | B | C` has a level for each."""
        members, waiting = [], [node]
        while waiting:
            one = waiting.pop()
            if one.type == "union_type":
                waiting += reversed(one.named_children)
            else:
                members.append(self.visit(one))
        return ir.Alternatives(tuple(members))

    def visit_object_type(self, node: "Node") -> None:
        """Note the types of properties that belong to nothing with a name."""
        for child in node.named_children:
            self.visit_children_but_name(child)

    def visit_children_but_name(self, node: "Node") -> None:
        """Note what *node* names besides what it declares."""
        declared = node.child_by_field_name("name") or node.child_by_field_name("pattern")
        for child in node.named_children:
            if child != declared:
                self.visit(child)

    visit_required_parameter = visit_children_but_name
    visit_optional_parameter = visit_children_but_name
    visit_index_signature = visit_children_but_name
    visit_mapped_type_clause = visit_children_but_name
