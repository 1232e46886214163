"""Definitions, imports and exports of a TypeScript file; the upper half of its reader."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from msgspec.structs import replace

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, Parameter, VariableSymbol
from judge.codegraph.read.typescript_expression_reader import THIS, TypescriptExpressionReader
from judge.codegraph.read.typescript_syntax import (
    DEFAULT,
    FUNCTIONS,
    NAMES,
    each_parameter,
    heritage_clauses,
    import_of,
    is_static,
    module_of,
    name_of,
    required_module,
    span_of,
    text_of,
)
from judge.codegraph.source_text import content_hash

if TYPE_CHECKING:
    from tree_sitter import Node


class TypescriptTreeReader(TypescriptExpressionReader):
    """Walk a tree once."""

    def __init__(self, facts: FileFacts) -> None:
        """Add to *facts*."""
        super().__init__(facts)
        self._exported: list[tuple[str, str]] = []

    def read(self, root: "Node") -> None:
        """Read the file, with a digest of the source that binds each name of the module."""
        sources: dict[str, list[str]] = {}
        for statement in root.named_children:
            self.bound.clear()
            self.visit(statement)
            digest = content_hash(statement.text or b"") if self.bound else ""
            for name in self.bound:
                sources.setdefault(name, []).append(digest)
        for inner, outer in self._exported:
            if inner in self.scopes[0].names:
                self.bind(0, outer, ir.Alias(tuple(self.scopes[0].names[inner])))
                sources[outer] = sources.get(inner, [])
        self.facts.fingerprints = {
            name: content_hash("".join(parts).encode())[:12] for name, parts in sources.items()
        }

    # --- classes ----------------------------------------------------------------------------

    def visit_class_declaration(self, node: "Node") -> None:
        self._read_class(name_of(node), node, node.child_by_field_name("body"))

    visit_abstract_class_declaration = visit_class_declaration
    visit_interface_declaration = visit_class_declaration
    visit_enum_declaration = visit_class_declaration
    visit_module = visit_class_declaration

    def visit_class(self, node: "Node") -> None:
        self._read_class("", node, node.child_by_field_name("body"))

    def _read_class(self, name: str, node: "Node", body: "Node | None") -> None:
        """Read a class, or what has members like one; it is called *name*, if anything."""
        around = self.scope
        with self._type_parameters(node) as type_params:
            place = self.open_scope("class", name or f"<class {span_of(node)[0]}>", node)
            self.scopes[place].type_params = type_params
            if name:
                self.bind(around, name, ir.ClassBinding(place))
            for clause in heritage_clauses(node):
                for base in clause.named_children:
                    fact = self.visit(base)
                    if base.type != "type_arguments":
                        self._inherit(place, fact, is_base=clause.type != "implements_clause")
            outer, self.scope = self.scope, place
            for child in body.named_children if body is not None else ():
                if node.type == "enum_declaration" and child.type == "property_identifier":
                    self._variable(child, child, ir.Call(ir.Name(outer, name)))
                else:
                    self.visit(child)
            self.scope = outer

    @contextmanager
    def _type_parameters(self, node: "Node") -> Iterator[list[int]]:
        """Inside, the type parameters of *node* are visible, whose bindings are at these places."""
        clause = node.child_by_field_name("type_parameters")
        with self.block(node) if clause is not None else nullcontext():
            yield self._bind_type_parameters(clause)

    def _bind_type_parameters(self, clause: "Node | None") -> list[int]:
        """Bind type parameters in the scope at hand; the places of their bindings."""
        places = []
        for one in clause.named_children if clause is not None else ():
            bound = self.visit(one.child_by_field_name("constraint"))
            self.visit(one.child_by_field_name("value"))
            places.append(len(self.bindings))
            self.bind(self.scope, name_of(one), ir.TypeParameter(places[-1], bound))
        return places

    def visit_constraint(self, node: "Node") -> ir.Expr:
        return self.visit_type_annotation(node)

    def _inherit(self, place: int, fact: ir.Expr, *, is_base: bool) -> None:
        """Note that the class at *place* inherits what *fact* means."""
        head = fact.receiver if isinstance(fact, ir.Subscript) else fact
        self._as_kind("inherits", head)
        if is_base:
            self.scopes[place].bases.append(fact)

    def visit_internal_module(self, node: "Node") -> None:
        """Read a namespace as a class whose members see one another, as if they stood outside."""
        place, around = len(self.scopes), self.scopes[self.scope].names
        self.visit_class_declaration(node)
        for name, places in self.scopes[place].names.items():
            around.setdefault(name, []).extend(places)

    def _as_kind(self, kind: str, fact: ir.Expr) -> None:
        """Call the last occurrence of *fact* one of this *kind*."""
        for place in range(len(self.occurrences) - 1, -1, -1):
            one = self.occurrences[place]
            if one.target is fact:
                self.occurrences[place] = replace(one, kind=kind)
                return

    # --- functions --------------------------------------------------------------------------

    def visit_method_definition(self, node: "Node") -> None:
        # What an object has is not found by its name alone.
        is_member = self.scopes[self.scope].kind == "class"
        self._define(name_of(node) if is_member else "", node, has_this=not is_static(node))

    visit_method_signature = visit_method_definition
    visit_abstract_method_signature = visit_method_definition

    def visit_function_declaration(self, node: "Node") -> ir.Expr:
        self._define(name_of(node), node)
        return ir.UNKNOWN

    visit_generator_function_declaration = visit_function_declaration
    visit_function_signature = visit_function_declaration

    def visit_arrow_function(self, node: "Node") -> ir.Expr:
        self._define("", node)
        return ir.UNKNOWN

    visit_function_expression = visit_arrow_function
    visit_generator_function = visit_arrow_function

    def _define(self, name: str, node: "Node", *, has_this: bool = False) -> None:
        """Read a function or method with its parameters; it is called *name*, if anything."""
        place = self.open_scope("function", name or f"<function {span_of(node)[0]}>", node)
        outer, self.scope = self.scope, place
        scope = self.scopes[place]
        parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        body = node.child_by_field_name("body")
        scope.type_params = self._bind_type_parameters(node.child_by_field_name("type_parameters"))
        if has_this:
            scope.params.append(Parameter(THIS, "p", None, None))
            self.bind(place, THIS, ir.ParameterBinding(place, 0))
        for one in each_parameter(parameters):
            self._parameter(one, place)
        scope.returns = self.read_field(node, "return_type")
        if body is not None and body.type == "statement_block":
            for child in body.named_children:
                self.visit(child)
        elif body is not None:
            scope.returned.append(self.visit(body))
        self.scope = outer
        if name:
            self.bind(outer, name, ir.FunctionBinding(place))

    def _parameter(self, node: "Node", place: int) -> None:
        self.visit_decorators(node)
        pattern = node.child_by_field_name("pattern") or node
        annotation = self.read_field(node, "type")
        value = self.read_field(node, "value")
        scope = self.scopes[place]
        scope.params.append(Parameter(text_of(pattern), "p", annotation, value))
        index = len(scope.params) - 1
        if pattern.type == "identifier":
            self.bind(place, text_of(pattern), ir.ParameterBinding(place, index))
        else:
            known = ir.AnnotatedVariable(annotation, None) if annotation is not None else ir.UNKNOWN
            self.bind_pattern(pattern, known)
        if text_of(node).startswith(("private ", "public ", "protected ", "readonly ")):
            # It declares a field as well.
            field = ir.AnnotatedVariable(annotation or ir.UNKNOWN, None)
            self._variable(node, pattern, field, scope.parent)

    def visit_return_statement(self, node: "Node") -> None:
        if node.named_children:
            self.scopes[self.scope].returned.append(self.visit(node.named_children[0]))

    # --- variables --------------------------------------------------------------------------

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
        annotation = self.read_field(node, "type")
        value = self.visit(node.child_by_field_name("value"))
        return ir.AnnotatedVariable(annotation, value) if annotation is not None else value

    def visit_type_alias_declaration(self, node: "Node") -> None:
        value = node.child_by_field_name("value")
        if value is not None and value.type == "object_type":
            self._read_class(name_of(node), node, value)
            return
        with self._type_parameters(node):
            found = self.visit(value)
        self._outer_variable(node, node.child_by_field_name("name"), found)

    def visit_variable_declarator(self, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            self._outer_variable(node, name, self._value_of(node))
        elif value.type in FUNCTIONS:
            self._define(text_of(name), value)
        elif value.type == "class":
            self._read_class(text_of(name), value, value.child_by_field_name("body"))
        elif (source := required_module(value)) is not None:
            self._import_names(name, source)
        elif name.type == "identifier":
            self._outer_variable(node, name, self._value_of(node))
        else:
            self.bind_pattern(name, self._value_of(node))

    def _outer_variable(self, node: "Node", name: "Node | None", value: ir.Expr) -> None:
        """Bind what *node* declares; it is a symbol unless it belongs to a function or block."""
        if self.scopes[self.scope].kind in ("function", "block"):
            self.bind(self.scope, text_of(name), value)
        else:
            self._variable(node, name, value)

    def _variable(
        self, node: "Node", name: "Node | None", value: ir.Expr, scope: int | None = None
    ) -> None:
        """Bind the variable or field *name* that *node* declares, and make it a symbol."""
        scope = self.scope if scope is None else scope
        self.bind(scope, text_of(name), value)
        self.facts.variables.append(VariableSymbol(scope, text_of(name), span_of(node)))

    # --- imports and exports ----------------------------------------------------------------

    def visit_import_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        for clause in node.named_children:
            if clause.type == "import_clause":
                for part in clause.named_children:
                    if part.type == "identifier":
                        self._import_name(part, part, import_of(source, DEFAULT))
                    else:
                        self._import_names(part, source)
            elif clause.type == "import_require_clause":
                self._import_names(clause, clause.child_by_field_name("source"))

    def _import_names(self, part: "Node", source: "Node | None") -> None:
        """Bind what *part* of an import takes: names of the module at *source*, or all of it."""
        if part.type not in ("named_imports", "object_pattern"):
            whole = part if part.type == "identifier" else part.named_children[0]
            self._import_name(whole, whole, import_of(source))
            return
        for one in part.named_children:
            name = one.child_by_field_name("name") or one.child_by_field_name("key") or one
            alias = one.child_by_field_name("alias") or one.child_by_field_name("value") or name
            self._import_name(one, alias, import_of(source, text_of(name)))

    def _import_name(self, node: "Node", alias: "Node", value: ir.ImportFrom) -> None:
        self.bind(self.scope, text_of(alias), value)
        self.note(node, "imports", value)

    def visit_export_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        declared = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        is_default = any(child.type == DEFAULT for child in node.children)
        if declared is not None and is_default:
            self._export_default(declared)
            return
        if declared is not None:
            self.visit(declared)
            return
        clause = next((c for c in node.named_children if c.type == "export_clause"), None)
        if node.named_children[0].type == "namespace_export":
            self._import_names(node.named_children[0], source)
        elif source is not None and clause is None:
            level, module = module_of(source)
            self.facts.stars.append((level, module))
            self.note(node, "imports", ir.StarImport(level, module))
        for one in clause.named_children if clause is not None else ():
            self._export_name(one, source)

    def _export_default(self, node: "Node") -> None:
        name = node.child_by_field_name("name") or node
        if name.type in NAMES:
            self.visit(node)
            self._exported.append((text_of(name), DEFAULT))
        elif node.type in FUNCTIONS:
            self._define(DEFAULT, node)
        elif node.type.startswith("class"):
            self._read_class(DEFAULT, node, node.child_by_field_name("body"))
        else:
            self.bind(0, DEFAULT, self.visit(node))

    def _export_name(self, node: "Node", source: "Node | None") -> None:
        name = node.child_by_field_name("name") or node
        alias = node.child_by_field_name("alias") or name
        if source is not None:
            self._import_name(node, alias, import_of(source, text_of(name)))
            return
        self.visit_identifier(name)
        if text_of(alias) != text_of(name):
            self._exported.append((text_of(name), text_of(alias)))
