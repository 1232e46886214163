"""TypeScript source -> the facts of one file, through tree-sitter; needs the extra `typescript`.

Reads definitions, imports and occurrences, and types that are declared or evident (`new A()`).
Blocks are scopes; of flow analysis there is only what `instanceof` tells.
"""

import re
from collections import ChainMap
from itertools import chain, repeat, takewhile
from typing import TYPE_CHECKING

from codegraph import ir
from codegraph.facts import FileFacts, Parameter, VariableSymbol, new_facts
from codegraph.read import typescript_expression_reader as tree

if TYPE_CHECKING:
    from tree_sitter import Node

#: `<in out T>` (TypeScript 4.7) and `export type *` (5.0), which the grammar does not know.
_NEWER = re.compile(
    rb"(?<![\w$.])(?:in[ \t]+)?(?:out|in)(?=[ \t]+[A-Z])|(?<=\bexport )type(?=[ \t]*\*)"
)
#: A file with at most this share of syntax errors is read; others are searched as text.
_MAX_ERROR_SHARE = 0.05
_DEFAULT = "default"
#: Modifiers with which a constructor parameter declares a field, too.
_FIELD_MODIFIERS = ("accessibility_modifier", "override_modifier", "readonly")
#: Modifiers of a method -> the Python decorators with the same effect.
_DECORATORS = {"static": "classmethod", "get": "property"}


def read_typescript(text: str, *, is_jsx: bool) -> FileFacts | None:
    """The facts of the TypeScript source *text*, or None when the extra is not installed.

    Raise SyntaxError when it does not parse.
    """
    try:
        import tree_sitter_typescript as grammar  # noqa: PLC0415 - an extra
        from tree_sitter import Language, Parser  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    language = grammar.language_tsx() if is_jsx else grammar.language_typescript()
    parser, source = Parser(Language(language)), text.encode()
    root = parser.parse(source).root_node
    if root.has_error:
        source = _NEWER.sub(lambda match: b" " * len(match[0]), source)
        root = parser.parse(source).root_node
    if _error_bytes(root) > _MAX_ERROR_SHARE * len(source):
        raise SyntaxError("tree-sitter cannot parse enough of it")
    reader = _TypescriptReader(new_facts(text.count("\n") + 1))
    reader.narrowed = ChainMap()
    for statement in root.named_children:
        reader.visit(statement)
    return reader.finish()


def _error_bytes(root: "Node") -> int:
    """How many bytes of a file are in nodes that the grammar could not parse."""
    size, pending = 0, [root]
    for node in pending:
        if node.type == "ERROR":
            size += node.end_byte - node.start_byte
        elif node.has_error:
            pending += node.children
    return size


class _TypescriptReader(tree.TypescriptExpressionReader):
    """Read definitions, imports and exports."""

    def visit_ERROR(self, node: "Node") -> None:
        """Skip what the grammar could not parse."""

    # --- classes ----------------------------------------------------------------------------

    def visit_class(self, node: "Node") -> None:
        self._class(tree.name_of(node), node, node.child_by_field_name("body"))

    def visit_internal_module(self, node: "Node") -> None:
        """Read a namespace as a class; its members see one another, so bind them outside too."""
        index, outer = len(self.scopes), self.scopes[self.scope].names
        self.visit_class(node)
        for name, bindings in self.scopes[index].names.items():
            outer.setdefault(name, []).extend(bindings)

    def _class(self, name: str, node: "Node", body: "Node | None") -> None:
        """Read a class, interface, enumeration, object type or namespace."""
        self.visit_each(node.children_by_field_name("decorator"))
        with self.in_scope("class", name, node) as scope_index:
            self._type_parameters(node)
            bases = self.scopes[scope_index].bases
            for base in tree.bases_of(node):
                if base.type == "type_arguments":
                    bases[-1] = ir.Subscript(bases[-1], self.visit_each(tree.children_of(base)))
                else:
                    first = len(self.occurrences)
                    bases.append(self.visit(base))
                    self.set_occurrence_kind("inherits", bases[-1], first)
            for child in tree.children_of(body):
                if child.type == "property_identifier":  # a member of an enumeration
                    self._declare(child, child, ir.UNKNOWN)
                elif tree.kind_of(child) == "method":
                    self._method(child)
                else:
                    self.visit(child)
        self.bind(name, ir.ClassBinding(scope_index))

    def _method(self, node: "Node") -> None:
        self.visit_computed_name(node)
        for parameter in tree.parameters_of(node):
            if any(tree.has_keyword(parameter, modifier) for modifier in _FIELD_MODIFIERS):
                declared = self.read_field(parameter, "type") or ir.UNKNOWN
                field = ir.AnnotatedVariable(declared, self.read_field(parameter, "value"))
                self._declare(parameter, parameter.child_by_field_name("pattern"), field)
        self._function(tree.name_of(node), node, has_this=True)

    def visit_field(self, node: "Node") -> None:
        self.visit_each(node.children_by_field_name("decorator"))
        self.visit_computed_name(node)
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if value is not None and tree.kind_of(value) == "function":
            self.read_field(node, "type")
            self._function(tree.text_of(name), value, has_this=True)
        else:
            self._variable(node, name, value)

    def _type_parameters(self, node: "Node") -> None:
        """Bind the type parameters of *node* in the current scope."""
        for parameter in tree.children_of(node.child_by_field_name("type_parameters")):
            bound = self.read_field(parameter, "constraint")
            self.read_field(parameter, "value")
            binding = ir.TypeParameter(len(self.bindings), bound)
            self.scopes[self.scope].type_params.append(self.bind(tree.name_of(parameter), binding))

    def _object(self, name: str, node: "Node", literal: "Node") -> None:
        """Read an object *literal* as a class, of which its properties are members."""
        with self.in_scope("class", name, node) as scope_index:
            self.scopes[scope_index].is_object = True
            for child in tree.children_of(literal):
                if child.type == "pair":
                    self._property(child)
                elif child.type == "method_definition":
                    self._method(child)
                elif child.type == "spread_element":
                    self.scopes[scope_index].bases.append(self.visit(tree.children_of(child)[0]))
                else:
                    if child.type == "shorthand_property_identifier":
                        outer = self.scopes[scope_index].parent
                        self.bind(tree.text_of(child), ir.Alias(outer, tree.text_of(child)))
                    self.visit(child)
        self.bind(name, ir.ClassBinding(scope_index))

    def _property(self, node: "Node") -> None:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        name = tree.text_of(key).strip("\"'`")
        if key is None or value is None or key.type == "computed_property_name":
            self.visit_children(node)
        else:
            self._define(name, node, value, has_this=value.type != "arrow_function")

    def _define(self, name: str, node: "Node", value: "Node", *, has_this: bool = False) -> None:
        """Bind *name*, which *node* defines, to a function, class, object or other *value*."""
        literal, types = tree.object_literal(value)
        if tree.kind_of(value) == "function":
            self._function(name, value, has_this=has_this)
        elif tree.kind_of(value) == "class":
            self._class(name, value, value.child_by_field_name("body"))
        elif literal is not None:
            self.visit_each(types)
            self._object(name, node, literal)
        else:
            read = self.visit(value)
            with self.assigning(*tree.span_of(node)):
                self.bind(name, read)

    # --- functions --------------------------------------------------------------------------

    def visit_function(self, node: "Node") -> ir.Expr:
        return ir.Variable((self._function(tree.name_of(node), node),))

    def visit_method(self, node: "Node") -> None:
        """Read a method of an object literal, which no scope binds by its name."""
        self.visit_computed_name(node)
        self._function(f"<function {tree.span_of(node)[0]}>", node, has_this=True)

    def _function(self, name: str, node: "Node", *, has_this: bool = False) -> int:
        with self.in_scope("function", name, node) as scope_index:
            scope = self.scopes[scope_index]
            self._type_parameters(node)
            modifiers = [word for word in _DECORATORS if tree.has_keyword(node, word)]
            scope.decorators = [ir.Name(ir.BUILTIN, _DECORATORS[word]) for word in modifiers]
            if has_this:
                scope.params.append(Parameter(tree.THIS, "p", None, None))
                self.bind(tree.THIS, ir.ParameterBinding(scope_index, 0))
            elif node.type != "arrow_function":
                self.bind(tree.THIS, ir.UNKNOWN)
            given, self.given = chain(self.given, repeat(None)), ()
            for parameter, value in zip(tree.parameters_of(node), given, strict=False):
                self._parameter(parameter, scope_index, value)
            scope.returns = self.read_field(node, "return_type")
            body = node.child_by_field_name("body")
            if body is not None and body.type == "statement_block":
                self.visit_children(body)
            elif body is not None:
                scope.returned.append(self.visit(body))
        return self.bind(name, ir.FunctionBinding(scope_index))

    def _parameter(self, node: "Node", scope_index: int, given: ir.Expr | None) -> None:
        self.visit_each(node.children_by_field_name("decorator"))
        pattern = node.child_by_field_name("pattern") or node
        annotation, value = self.read_field(node, "type"), self.read_field(node, "value") or given
        params = self.scopes[scope_index].params
        params.append(Parameter(tree.text_of(pattern), "p", annotation, value))
        if pattern.type in ("identifier", tree.THIS):
            self.bind(tree.text_of(pattern), ir.ParameterBinding(scope_index, len(params) - 1))
        else:
            self.bind_pattern(pattern, ir.AnnotatedVariable(annotation or ir.UNKNOWN, given))

    def visit_return_statement(self, node: "Node") -> None:
        self.scopes[self.scope].returned.append(self.visit_inner(node))

    # --- variables --------------------------------------------------------------------------

    def add_variable(self, scope: int, name: str) -> None:
        """Add every definition: a constant and a type of the same name are two symbols."""
        if self._assignment_span is not None:
            self.facts.variables.append(VariableSymbol(scope, name, self._assignment_span))

    def _declare(self, node: "Node", pattern: "Node | None", value: ir.Expr) -> None:
        """Bind the names in *pattern*; in a module or class scope they are symbols."""
        with self.assigning(*tree.span_of(node)):
            self.bind_pattern(pattern, value)

    def visit_type_alias_declaration(self, node: "Node") -> None:
        value = node.child_by_field_name("value")
        if value is not None and value.type == "object_type":
            self._class(tree.name_of(node), node, value)
            return
        with self.in_scope("block", "", node):
            self._type_parameters(node)
            aliased = self.visit(value)
        self._declare(node, node.child_by_field_name("name"), aliased)

    def visit_variable_declarator(self, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if value is not None and tree.kind_of(value) in ("function", "class"):
            self.given = tree.given_by(self.read_field(node, "type"))
            self._define(tree.text_of(name), node, value)
        elif name and value and (source := tree.required_module(value)):
            self._import_names(name, source)
        else:
            self._variable(node, name, value)

    def _variable(self, node: "Node", name: "Node | None", value: "Node | None") -> None:
        """Read a variable; outside functions the members of an object literal are symbols."""
        literal, types = tree.object_literal(value)
        is_local = self.scopes[self.enclosing].kind == "function"
        if literal is None or is_local or not name or not name.type.endswith("identifier"):
            declared, read = self.read_field(node, "type"), self.read_field(node, "value")
            typed = ir.AnnotatedVariable(declared, read) if declared is not None else read
            self._declare(node, name, typed or ir.UNKNOWN)
            return
        self.visit_each(types)
        self._object(tree.text_of(name), node, literal)
        annotation = self.read_field(node, "type")
        if annotation is not None:
            # A use means the member of the literal and of the type.
            self.bind(tree.text_of(name), ir.AnnotatedVariable(annotation, None))

    # --- imports and exports ----------------------------------------------------------------

    def visit_import_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        for clause in node.named_children:
            if clause.type == "import_clause":
                for part in tree.children_of(clause):
                    self._import_names(part, source, _DEFAULT)
            elif clause.type == "import_require_clause":
                self._import_names(clause, clause.child_by_field_name("source"))

    def _import_names(self, part: "Node", source: "Node | None", bare: str = "") -> None:
        """Bind what *part* of an import names: exports of the module *source*, or the module.

        A bare identifier stands for the export called *bare*, or for the module when that is empty.
        """
        if part.type == "identifier":
            self._import_name(part, part, tree.import_of(source, bare))
        elif part.type in ("named_imports", "object_pattern"):
            for child in tree.children_of(part):
                field = child.child_by_field_name
                name = field("name") or field("key") or child
                alias = field("alias") or field("value") or name
                self._import_name(child, alias, tree.import_of(source, tree.text_of(name)))
        else:
            self._import_name(part, tree.children_of(part)[0], tree.import_of(source))

    def _import_name(self, node: "Node", alias: "Node", value: ir.ImportFrom) -> None:
        self.bind(tree.text_of(alias), value)
        self.add_occurrence_at(node, value, "imports")

    def visit_export_statement(self, node: "Node") -> None:
        first, names = len(self.bindings), self.scopes[0].names
        exports = self.facts.exports = self.facts.exports or set()
        self.visit_each(node.children_by_field_name("decorator"))
        source = node.child_by_field_name("source")
        declared = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        part = tree.children_of(node)[0]
        if tree.has_keyword(node, _DEFAULT) or tree.has_keyword(node, "="):
            self._export_default(declared or part)
        elif declared is not None:
            self.visit(declared)
        elif part.type == "export_clause":
            for specifier in tree.children_of(part):
                self._export_name(specifier, source)
                exports.add(tree.text_of(tree.children_of(specifier)[-1]))
        elif part.type == "namespace_export":
            self._import_names(part, source)
        elif source is not None:
            level, module = tree.module_of(source)
            self.facts.star_imports.append((level, module))
            self.add_occurrence_at(node, ir.ImportFrom(level, module, "*"), "imports")
        exports.update(takewhile(lambda name: names[name][0] >= first, reversed(names)))

    def _export_default(self, node: "Node") -> None:
        name = node.child_by_field_name("name") or node
        if tree.kind_of(name) == "identifier":
            self.visit(node)
            self.bind(_DEFAULT, ir.Alias(0, tree.text_of(name)))
        else:
            self._define(_DEFAULT, node, node)

    def _export_name(self, node: "Node", source: "Node | None") -> None:
        name = node.child_by_field_name("name") or node
        alias = node.child_by_field_name("alias") or name
        if source is not None:
            self._import_name(node, alias, tree.import_of(source, tree.text_of(name)))
            return
        self.visit_identifier(name)
        if tree.text_of(alias) != tree.text_of(name):
            self.bind(tree.text_of(alias), ir.Alias(0, tree.text_of(name)))
