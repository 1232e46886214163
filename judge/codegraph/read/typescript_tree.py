"""Walks the syntax tree of a TypeScript file; the upper half of its reader."""

from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.facts import (
    FileFacts,
    LexicalScope,
    Occurrence,
    Parameter,
    ScopeKind,
    VariableSymbol,
)
from judge.codegraph.read.typescript_syntax import (
    DEFAULT,
    FUNCTIONS,
    NAMES,
    each_parameter,
    heritage_clauses,
    imported_names,
    is_static,
    module_of,
    name_of,
    span_of,
    text_of,
)
from judge.codegraph.source_text import content_hash

if TYPE_CHECKING:
    from tree_sitter import Node

_THIS = "this"


class TypescriptTreeReader:
    """Walk a tree once; what names mean is looked up when files are linked."""

    def __init__(self, facts: FileFacts) -> None:
        """Add to *facts*."""
        self.facts = facts
        self.scopes, self.bindings = facts.scopes, facts.bindings
        self.occurrences = facts.occurrences
        self._scope = 0
        self._exported: list[tuple[str, str]] = []
        #: The names that the statement at hand binds in the module.
        self._bound: set[str] = set()

    def read(self, root: "Node") -> None:
        """Read the file, with a digest of the source that binds each name of the module."""
        sources: dict[str, list[str]] = {}
        for statement in root.named_children:
            self._bound.clear()
            self.visit(statement)
            digest = content_hash(statement.text or b"") if self._bound else ""
            for name in self._bound:
                sources.setdefault(name, []).append(digest)
        for inner, outer in self._exported:
            if inner in self.scopes[0].names:
                self._bind(0, outer, ir.Alias(tuple(self.scopes[0].names[inner])))
                sources[outer] = sources.get(inner, [])
        self.facts.fingerprints = {
            name: content_hash("".join(parts).encode())[:12] for name, parts in sources.items()
        }

    def visit(self, node: "Node | None") -> ir.Expr:
        """The fact for *node*; the names in it are noted."""
        if node is None:
            return ir.UNKNOWN
        reader = getattr(self, f"visit_{node.type}", None)
        if reader is not None:
            self._visit_decorators(node)
            return reader(node) or ir.UNKNOWN
        for child in node.named_children:
            self.visit(child)
        return ir.UNKNOWN

    def _visit_decorators(self, node: "Node") -> None:
        for decorator in node.children_by_field_name("decorator"):
            self.visit(decorator)

    def _read_field(self, node: "Node", field: str) -> ir.Expr | None:
        """The fact for what *node* has in *field*, if anything."""
        child = node.child_by_field_name(field)
        return self.visit(child) if child is not None else None

    # --- names and values -------------------------------------------------------------------

    def visit_identifier(self, node: "Node", kind: str = "references") -> ir.Expr:
        fact = ir.Name(self._scope, text_of(node))
        self._note(node, kind, fact)
        return fact

    visit_type_identifier = visit_identifier
    visit_shorthand_property_identifier = visit_identifier

    def visit_this(self, node: "Node") -> ir.Expr:
        return ir.Name(self._scope, _THIS)

    def visit_member_expression(self, node: "Node", kind: str = "references") -> ir.Expr:
        owner, name = node.named_children[0], node.named_children[-1]
        fact = ir.Attribute(self.visit(owner), text_of(name))
        self._note(name, kind, fact)
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
        for child in node.named_children:
            if child != function:
                self.visit(child)
        return ir.Call(called)

    visit_new_expression = visit_call_expression

    def visit_type_annotation(self, node: "Node") -> ir.Expr:
        return self.visit(node.named_children[0] if node.named_children else None)

    visit_parenthesized_expression = visit_type_annotation
    visit_await_expression = visit_type_annotation
    visit_non_null_expression = visit_type_annotation

    def visit_as_expression(self, node: "Node") -> ir.Expr:
        value, *types = (self.visit(child) for child in node.named_children)
        return ir.Call(types[0]) if types and isinstance(types[0], ir.Name) else value

    def visit_generic_type(self, node: "Node") -> ir.Expr:
        head, arguments = node.named_children[0], node.named_children[-1]
        name = self.visit(head)
        inner = [self.visit(child) for child in arguments.named_children]
        is_list = isinstance(name, ir.Name) and name.name in ("Array", "ReadonlyArray", "Iterable")
        return self._list_of(inner[0]) if is_list and inner else name

    def visit_array_type(self, node: "Node") -> ir.Expr:
        return self._list_of(self.visit_type_annotation(node))

    def _list_of(self, element: ir.Expr) -> ir.Expr:
        return ir.Subscript(ir.Name(0, "list"), (element,))

    def visit_union_type(self, node: "Node") -> ir.Expr:
        return ir.Alternatives(tuple(self.visit(child) for child in node.named_children))

    def visit_return_statement(self, node: "Node") -> None:
        if node.named_children:
            self.scopes[self._scope].returned.append(self.visit(node.named_children[0]))

    def visit_for_in_statement(self, node: "Node") -> None:
        iterated = self.visit(node.child_by_field_name("right"))
        self._bind_pattern(node.child_by_field_name("left"), ir.Element(iterated))
        self.visit(node.child_by_field_name("body"))

    # --- definitions ------------------------------------------------------------------------

    def visit_class_declaration(self, node: "Node") -> None:
        name = name_of(node)
        place = self._open("class", name, node)
        self._bind(self._scope, name, ir.ClassBinding(place))
        for clause in heritage_clauses(node):
            for base in clause.named_children:
                if base.type != "type_arguments":
                    fact = self.visit(base)
                    self._as_kind("inherits", fact)
                    if clause.type != "implements_clause":
                        self.scopes[place].bases.append(fact)
        outer, self._scope = self._scope, place
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if node.type == "enum_declaration" and child.type == "property_identifier":
                self._variable(child, child, ir.Call(ir.Name(outer, name)))
            else:
                self.visit(child)
        self._scope = outer

    visit_abstract_class_declaration = visit_class_declaration
    visit_interface_declaration = visit_class_declaration
    visit_enum_declaration = visit_class_declaration

    def visit_internal_module(self, node: "Node") -> None:
        """Read a namespace as a class whose members see one another, as if they stood outside."""
        place, around = len(self.scopes), self.scopes[self._scope].names
        self.visit_class_declaration(node)
        for name, places in self.scopes[place].names.items():
            around.setdefault(name, []).extend(places)

    def _as_kind(self, kind: str, fact: ir.Expr) -> None:
        """Call the last occurrence of *fact* one of this *kind*."""
        for place in range(len(self.occurrences) - 1, -1, -1):
            one = self.occurrences[place]
            if one.target is fact:
                self.occurrences[place] = Occurrence(one.line, one.scope, kind, one.target)
                return

    def visit_method_definition(self, node: "Node") -> None:
        self._define(name_of(node), node, has_this=not is_static(node))

    visit_method_signature = visit_method_definition
    visit_abstract_method_signature = visit_method_definition

    def visit_function_declaration(self, node: "Node") -> ir.Expr:
        self._define(name_of(node), node)
        return ir.UNKNOWN

    visit_function_expression = visit_function_declaration
    visit_generator_function = visit_function_declaration
    visit_generator_function_declaration = visit_function_declaration
    visit_function_signature = visit_function_declaration
    visit_arrow_function = visit_function_declaration

    def _define(self, name: str, node: "Node", *, has_this: bool = False) -> None:
        """Read a function or method with its parameters; it is called *name*, if anything."""
        place = self._open("function", name or "<function>", node)
        outer, self._scope = self._scope, place
        scope = self.scopes[place]
        if has_this:
            scope.params.append(Parameter(_THIS, "p", None, None))
            self._bind(place, _THIS, ir.ParameterBinding(place, 0))
        parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        for one in each_parameter(parameters):
            self._parameter(one, place)
        scope.returns = self._read_field(node, "return_type")
        body = node.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            scope.returned.append(self.visit(body))
        else:
            self.visit(body)
        self._scope = outer
        if name:
            self._bind(outer, name, ir.FunctionBinding(place))

    def _parameter(self, node: "Node", place: int) -> None:
        self._visit_decorators(node)
        pattern = node.child_by_field_name("pattern") or node
        annotation = self._read_field(node, "type")
        value = self._read_field(node, "value")
        scope = self.scopes[place]
        scope.params.append(Parameter(text_of(pattern), "p", annotation, value))
        if pattern.type == "identifier":
            index = len(scope.params) - 1
            self._bind(place, text_of(pattern), ir.ParameterBinding(place, index))
        else:
            self._bind_pattern(pattern, ir.UNKNOWN)
        if text_of(node).startswith(("private ", "public ", "protected ", "readonly ")):
            # It declares a field as well.
            field = ir.AnnotatedVariable(annotation or ir.UNKNOWN, None)
            self._variable(node, pattern, field, scope.parent)

    def visit_public_field_definition(self, node: "Node") -> None:
        name = node.child_by_field_name("name")
        assigned = node.child_by_field_name("value")
        if assigned is not None and assigned.type in FUNCTIONS:
            self._define(text_of(name), assigned, has_this=True)
            return
        self._variable(node, name, self._value_of(node))

    visit_property_signature = visit_public_field_definition
    visit_enum_assignment = visit_public_field_definition

    def _value_of(self, node: "Node") -> ir.Expr:
        """What *node* assigns, with the type that it declares."""
        annotation = self._read_field(node, "type")
        value = self.visit(node.child_by_field_name("value"))
        return ir.AnnotatedVariable(annotation, value) if annotation is not None else value

    def visit_type_alias_declaration(self, node: "Node") -> None:
        self._outer_variable(node, node.child_by_field_name("name"))

    def visit_variable_declarator(self, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None and value.type in FUNCTIONS:
            self._define(text_of(name), value)
            return
        if name is not None and name.type == "identifier":
            self._outer_variable(node, name)
        else:
            self._value_of(node)
            self._bind_pattern(name, ir.UNKNOWN)

    def _outer_variable(self, node: "Node", name: "Node | None") -> None:
        """Bind what *node* declares; it is a symbol unless it belongs to a function."""
        value = self._value_of(node)
        if self.scopes[self._scope].kind != "function":
            self._variable(node, name, value)
        else:
            self._bind(self._scope, text_of(name), value)

    def _variable(
        self, node: "Node", name: "Node | None", value: ir.Expr, scope: int | None = None
    ) -> None:
        """Bind the variable or field *name* that *node* declares, and make it a symbol."""
        scope = self._scope if scope is None else scope
        self._bind(scope, text_of(name), value)
        self.facts.variables.append(VariableSymbol(scope, text_of(name), span_of(node)))

    def _bind_pattern(self, node: "Node | None", value: ir.Expr) -> None:
        """Bind every name in a pattern; what is destructured has no known type."""
        if node is None:
            return
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            self._bind(self._scope, text_of(node), value)
            return
        for child in node.named_children:
            if child.type != "property_identifier":
                self._bind_pattern(child, ir.UNKNOWN)

    # --- imports and exports ----------------------------------------------------------------

    def visit_import_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        for clause in node.named_children:
            if clause.type == "import_clause":
                for part in clause.named_children:
                    self._import_names(part, source)
            elif clause.type == "import_require_clause":
                self._import_names(clause, clause.child_by_field_name("source"))

    def _import_names(self, part: "Node", source: "Node | None") -> None:
        level, module = module_of(source)
        for one in imported_names(part, module):
            self._import_name(one.node, one.alias, level, one.module, one.name)

    def _import_name(self, node: "Node", alias: "Node", level: int, module: str, name: str) -> None:
        value = ir.ImportFrom(level, module, name)
        self._bind(0, text_of(alias), value)
        self._note(node, "imports", value)

    def visit_export_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        declared = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        is_default = any(child.type == DEFAULT for child in node.children)
        if declared is not None:
            self.visit(declared)
            name = declared.child_by_field_name("name") or declared
            if is_default and name.type in NAMES:
                self._exported.append((text_of(name), DEFAULT))
            return
        clause = next((c for c in node.named_children if c.type == "export_clause"), None)
        if node.named_children[0].type == "namespace_export":
            self._import_names(node.named_children[0], source)
        elif source is not None and clause is None:
            level, module = module_of(source)
            self.facts.stars.append((level, module))
            self._note(node, "imports", ir.StarImport(level, module))
        for one in clause.named_children if clause is not None else ():
            self._export_name(one, source)

    def _export_name(self, node: "Node", source: "Node | None") -> None:
        name = node.child_by_field_name("name") or node
        alias = node.child_by_field_name("alias") or name
        if source is not None:
            level, module = module_of(source)
            self._import_name(node, alias, level, module, text_of(name))
            return
        self.visit_identifier(name)
        if text_of(alias) != text_of(name):
            self._exported.append((text_of(name), text_of(alias)))

    # --- noting -----------------------------------------------------------------------------

    def _open(self, kind: ScopeKind, name: str, node: "Node") -> int:
        start, end = span_of(node)
        self.scopes.append(LexicalScope(kind, name, self._scope, start, (start, end)))
        return len(self.scopes) - 1

    def _bind(self, scope: int, name: str, value: ir.Binding) -> None:
        self.bindings.append(value)
        self.scopes[scope].names.setdefault(name, []).append(len(self.bindings) - 1)
        if scope == 0:
            self._bound.add(name)

    def _note(self, node: "Node", kind: str, target: ir.Target) -> None:
        self.occurrences.append(Occurrence(span_of(node)[0], self._scope, kind, target))
