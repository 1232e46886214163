"""TypeScript source -> the facts of one file, through tree-sitter; the extra `typescript`.

Definitions, imports and what names them are read, and the types that are written down or plain to
see (`new A()`); names are looked up through blocks, and no flow of control is followed.
"""

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, Parameter, VariableSymbol, new_facts
from judge.codegraph.read.typescript_expression_reader import THIS, TypescriptExpressionReader
from judge.codegraph.read.typescript_syntax import (
    bases_of,
    children_of,
    has_word,
    import_of,
    kind_of,
    module_of,
    name_of,
    parameters_of,
    required_module,
    span_of,
    text_of,
)
from judge.codegraph.source_text import content_hash

if TYPE_CHECKING:
    from tree_sitter import Node

#: `<in out T>` and `export type *` of TypeScript 4.7 and 5.0, which the grammar does not know.
_NEWER = re.compile(
    rb"(?<![\w$.])(?:in[ \t]+)?(?:out|in)(?=[ \t]+[A-Z])|(?<=\bexport )type(?=[ \t]*\*)"
)
#: A file of which the grammar knows nearly all is worth more read than searched as text.
_MOST_UNREAD = 0.05
_DEFAULT = "default"
#: What stands before a parameter that declares a field as well.
_FIELD = ("private ", "public ", "protected ", "readonly ")
#: Words before a method -> decorators that make the same of it.
_DECORATORS = {"static": "staticmethod", "get": "property"}


def read_typescript(text: str, *, is_jsx: bool) -> FileFacts | None:
    """The facts of the TypeScript source *text*, or None without the extra.

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
        root = parser.parse(_NEWER.sub(_blank, source)).root_node
    if _unread_bytes(root) > _MOST_UNREAD * len(source):
        raise SyntaxError("tree-sitter cannot parse enough of it")
    reader = _TypescriptReader(new_facts(text.count("\n") + 1))
    for statement in root.named_children:
        reader.visit(statement)
        reader.end_statement(content_hash(statement.text or b""))
    return reader.end_file()


def _unread_bytes(root: "Node") -> int:
    """How much of a file stands in what the grammar does not know."""
    unread, waiting = 0, [root]
    for node in waiting:
        if node.type == "ERROR":
            unread += node.end_byte - node.start_byte
        elif node.has_error:
            waiting += node.children
    return unread


def _blank(found: re.Match[bytes]) -> bytes:
    return b" " * len(found[0])


class _TypescriptReader(TypescriptExpressionReader):
    """Read definitions, imports and exports."""

    def visit_ERROR(self, node: "Node") -> None:
        """Take nothing from what the grammar does not know."""

    # --- classes ----------------------------------------------------------------------------

    def visit_class(self, node: "Node") -> None:
        self._class(name_of(node), node, node.child_by_field_name("body"))

    def visit_internal_module(self, node: "Node") -> None:
        """Read a namespace as a class whose members see one another, as if they stood outside."""
        place, around = len(self.scopes), self.scopes[self.scope].names
        self.visit_class(node)
        for name, places in self.scopes[place].names.items():
            around.setdefault(name, []).extend(places)

    def _class(self, name: str, node: "Node", body: "Node | None") -> None:
        """Read a class, or what has members like one."""
        self.visit_each(node.children_by_field_name("decorator"))
        with self.inside("class", name, node) as place:
            self._type_parameters(node)
            bases = self.scopes[place].bases
            for base in bases_of(node):
                if base.type == "type_arguments":
                    bases[-1] = ir.Subscript(bases[-1], self.visit_each(base.named_children))
                else:
                    first = len(self.occurrences)
                    bases.append(self.visit(base))
                    self.as_kind("inherits", bases[-1], first)
            for child in children_of(body):
                if child.type == "property_identifier":  # a member of an enumeration
                    self._declare(child, child, ir.UNKNOWN)
                elif kind_of(child) == "method":
                    self._method(child)
                else:
                    self.visit(child)
        self.bind(name, ir.ClassBinding(place))

    def _method(self, node: "Node") -> None:
        for one in parameters_of(node):
            if text_of(one).startswith(_FIELD):
                field = ir.AnnotatedVariable(self.read_field(one, "type") or ir.UNKNOWN, None)
                self._declare(one, one.child_by_field_name("pattern"), field)
        self._function(name_of(node), node, has_this=not has_word(node, "static"))

    def visit_field(self, node: "Node") -> None:
        self.visit_each(node.children_by_field_name("decorator"))
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if value is not None and kind_of(value) == "function":
            self._function(text_of(name), value, has_this=True)
        else:
            self._declare(node, name, self._value(node))

    def _type_parameters(self, node: "Node") -> None:
        """Bind the type parameters of *node* in the scope at hand."""
        for one in children_of(node.child_by_field_name("type_parameters")):
            bound, _ = self.read_field(one, "constraint"), self.read_field(one, "value")
            fact = ir.TypeParameter(len(self.bindings), bound)
            self.scopes[self.scope].type_params.append(self.bind(name_of(one), fact))

    # --- functions --------------------------------------------------------------------------

    def visit_function(self, node: "Node") -> None:
        self._function(name_of(node), node)

    def visit_method(self, node: "Node") -> None:
        """Read a method of an object, which is not found by its name alone."""
        self._function(f"<function {span_of(node)[0]}>", node, has_this=True)

    def _function(self, name: str, node: "Node", *, has_this: bool = False) -> None:
        with self.inside("function", name, node) as place:
            scope = self.scopes[place]
            self._type_parameters(node)
            words = [word for word in _DECORATORS if has_word(node, word)]
            scope.decorators = [ir.Name(0, _DECORATORS[word]) for word in words]
            if has_this:
                scope.params.append(Parameter(THIS, "p", None, None))
                self.bind(THIS, ir.ParameterBinding(place, 0))
            for one in parameters_of(node):
                self._parameter(one, place)
            scope.returns = self.read_field(node, "return_type")
            body = node.child_by_field_name("body")
            if body is not None and body.type == "statement_block":
                self.visit_children(body)
            elif body is not None:
                scope.returned.append(self.visit(body))
        self.bind(name, ir.FunctionBinding(place))

    def _parameter(self, node: "Node", place: int) -> None:
        self.visit_each(node.children_by_field_name("decorator"))
        pattern = node.child_by_field_name("pattern") or node
        annotation, value = self.read_field(node, "type"), self.read_field(node, "value")
        params = self.scopes[place].params
        params.append(Parameter(text_of(pattern), "p", annotation, value))
        if pattern.type in ("identifier", THIS):
            self.bind(text_of(pattern), ir.ParameterBinding(place, len(params) - 1))
        else:
            self.bind_pattern(pattern, ir.AnnotatedVariable(annotation or ir.UNKNOWN, None))

    def visit_return_statement(self, node: "Node") -> None:
        self.scopes[self.scope].returned.append(self.visit_inner(node))

    # --- variables --------------------------------------------------------------------------

    def add_variable(self, scope: int, name: str) -> None:
        """Note a definition; a constant and a type of one name are two."""
        if self._assigned_at is not None:
            self.facts.variables.append(VariableSymbol(scope, name, self._assigned_at))

    def _declare(self, node: "Node", pattern: "Node | None", value: ir.Expr) -> None:
        """Bind the names in *pattern*, which are symbols of the module or class if it is one's."""
        with self.assigning(*span_of(node)):
            self.bind_pattern(pattern, value)

    def _value(self, node: "Node") -> ir.Expr:
        """What *node* assigns, with the type that it declares."""
        annotation, value = self.read_field(node, "type"), self.read_field(node, "value")
        if annotation is None:
            return value or ir.UNKNOWN
        return ir.AnnotatedVariable(annotation, value)

    def visit_type_alias_declaration(self, node: "Node") -> None:
        value = node.child_by_field_name("value")
        if value is not None and value.type == "object_type":
            self._class(name_of(node), node, value)
            return
        generic = node.child_by_field_name("type_parameters")
        with self.inside("block", "", node) if generic is not None else nullcontext():
            self._type_parameters(node)
            found = self.visit(value)
        self._declare(node, node.child_by_field_name("name"), found)

    def visit_variable_declarator(self, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            self._declare(node, name, self._value(node))
        elif kind_of(value) == "function":
            self._function(text_of(name), value)
        elif kind_of(value) == "class":
            self._class(text_of(name), value, value.child_by_field_name("body"))
        elif (source := required_module(value)) is not None:
            self._import_names(name, source)
        else:
            self._declare(node, name, self._value(node))

    # --- imports and exports ----------------------------------------------------------------

    def visit_import_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        for clause in node.named_children:
            if clause.type == "import_clause":
                for part in clause.named_children:
                    self._import_names(part, source, _DEFAULT)
            elif clause.type == "import_require_clause":
                self._import_names(clause, clause.child_by_field_name("source"))

    def _import_names(self, part: "Node", source: "Node | None", alone: str = "") -> None:
        """Bind what *part* of an import takes: names of the module at *source*, or all of it.

        A name that stands *alone* is one of the module, too, if it is called so there.
        """
        if part.type == "identifier":
            self._import_name(part, part, import_of(source, alone))
        elif part.type not in ("named_imports", "object_pattern"):
            self._import_name(part, part.named_children[0], import_of(source))
        for one in part.named_children if part.type in ("named_imports", "object_pattern") else ():
            name = one.child_by_field_name("name") or one.child_by_field_name("key") or one
            alias = one.child_by_field_name("alias") or one.child_by_field_name("value") or name
            self._import_name(one, alias, import_of(source, text_of(name)))

    def _import_name(self, node: "Node", alias: "Node", value: ir.ImportFrom) -> None:
        self.bind(text_of(alias), value)
        self.note(node, value, "imports")

    def visit_export_statement(self, node: "Node") -> None:
        self.visit_each(node.children_by_field_name("decorator"))
        source = node.child_by_field_name("source")
        declared = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        part = node.named_children[0]
        if declared is not None and has_word(node, _DEFAULT):
            self._export_default(declared)
        elif declared is not None:
            self.visit(declared)
        elif part.type == "export_clause":
            for one in part.named_children:
                self._export_name(one, source)
        elif part.type == "namespace_export":
            self._import_names(part, source)
        elif source is not None:
            level, module = module_of(source)
            self.facts.stars.append((level, module))
            self.note(node, ir.ImportFrom(level, module, "*"), "imports")

    def _export_default(self, node: "Node") -> None:
        name = node.child_by_field_name("name") or node
        if kind_of(name) == "identifier":
            self.visit(node)
            self.bind(_DEFAULT, ir.Alias(0, text_of(name)))
        elif kind_of(node) == "function":
            self._function(_DEFAULT, node)
        elif kind_of(node) == "class":
            self._class(_DEFAULT, node, node.child_by_field_name("body"))
        else:
            value = self.visit(node)
            with self.assigning(*span_of(node)):
                self.bind(_DEFAULT, value)

    def _export_name(self, node: "Node", source: "Node | None") -> None:
        name = node.child_by_field_name("name") or node
        alias = node.child_by_field_name("alias") or name
        if source is not None:
            self._import_name(node, alias, import_of(source, text_of(name)))
            return
        self.visit_identifier(name)
        if text_of(alias) != text_of(name):
            self.bind(text_of(alias), ir.Alias(0, text_of(name)))
