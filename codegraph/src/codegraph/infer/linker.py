"""Facts of all files -> the nodes and edges of one file; the entry point of `infer/`.

For every occurrence in a file, the linker finds the definitions that it refers to. It also returns
what it looked up on the way, so that the next build links again only the files whose look-ups may
have changed.
"""

from collections.abc import Collection
from typing import cast

from codegraph import ir
from codegraph.facts import VariableSymbol
from codegraph.infer import types as ty
from codegraph.infer.name_resolver import MAX_BINDINGS, Declaration, LoadFacts, NameResolver
from codegraph.infer.type_evaluator import TypeEvaluator
from codegraph.models import Confidence, Edge, EdgeKind, Node, NodeKind, Part, symbol_id
from codegraph.module_index import ModuleIndex


class FileLinker:
    """Links the file at *path*.

    *known_names* are the names of all modules and `defined_names` of all files.
    """

    def __init__(
        self, path: str, modules: ModuleIndex, load: LoadFacts, known_names: Collection[str]
    ) -> None:
        self._path = path
        self._modules = modules
        self._known_names = known_names
        self._resolver = NameResolver(modules, load)
        self._evaluator = TypeEvaluator(self._resolver)
        self._declared_evaluator = TypeEvaluator(self._resolver, declared_only=True)
        self._ids: dict[ty.Definition, str] = {}
        self._scopes = self._resolver.facts(path).scopes
        self._own_ids = [self._id(ty.Definition(path, index)) for index in range(len(self._scopes))]
        self._own_variables = [
            (self._variable_id(path, variable), variable)
            for variable in self._resolver.facts(path).variables
            if not self._is_inherited(variable)
        ]
        self._defined_at = {(name, variable.span[0]) for name, variable in self._own_variables}

    def _is_inherited(self, variable: VariableSymbol) -> bool:
        """Whether the class only assigns to *variable*, and a base class declares it."""
        scope = self._scopes[variable.scope]
        if scope.kind != "class" or variable.name in scope.names:
            return False
        receiver = ty.Instance(ty.Definition(self._path, variable.scope))
        members = self._evaluator.classes.find(receiver, variable.name)
        declared = {(m.declaration.path, m.declaration.binding) for m in members}
        return declared.isdisjoint((self._path, i) for i in scope.attributes[variable.name])

    def link(self) -> tuple[Part, set[str]]:
        """The file's part of the graph, and what linking it looked up."""
        edges: dict[Edge, None] = {}
        for occurrence in self._resolver.facts(self._path).occurrences:
            src = self._own_ids[occurrence.scope]
            targets = self._targets(occurrence.target, occurrence.kind)
            kind, line = cast("EdgeKind", occurrence.kind), occurrence.line
            is_direct = bool(targets) and self._is_direct(occurrence.target)
            for dst, confidence in targets:
                if (dst, line) not in self._defined_at:
                    edges[Edge(src, dst, kind, line, confidence, is_direct)] = None
        edges.update(dict.fromkeys(self._overrides()))
        nodes = self._nodes()
        # By target, those of the file first, so that answers do not depend on unrelated lines.
        symbols = [*(symbol_id(node.id) for node in nodes), *(edge.dst for edge in edges)]
        order = {symbol: index for index, symbol in enumerate(dict.fromkeys(symbols))}
        by_target = sorted(edges, key=lambda edge: order[edge.dst])
        return Part(nodes, by_target, self._aliases()), self._resolver.lookups

    def _aliases(self) -> dict[str, list[str]]:
        """The symbols that the module imports or exports under another name, by that name."""
        bindings = self._resolver.facts(self._path).bindings
        aliases: dict[str, list[str]] = {}
        for name, indices in self._scopes[0].names.items():
            for value in (bindings[index] for index in indices[:MAX_BINDINGS]):
                if isinstance(value, (ir.ImportFrom, ir.Alias)) and value.name != name:
                    found = self._resolver.resolve(self._path, value)
                    symbols = [symbol for d in found for symbol in self._symbols(d)]
                    if symbols:
                        aliases.setdefault(name, []).extend(symbols)
        return aliases

    def _nodes(self) -> list[Node]:
        nodes: list[Node] = []
        seen: dict[str, int] = {}

        def numbered(name: str) -> str:
            """A unique id for each definition of a name: `f`, `f~2`."""
            count = seen[name] = seen.get(name, 0) + 1
            return name if count == 1 else f"{name}~{count}"

        module = self._modules.names[self._path]
        for index, scope in enumerate(self._scopes):
            if scope.kind == "block":
                continue
            name = self._own_ids[index]
            qualified = name[len(self._path) + 1 :]
            fqn = f"{module}.{qualified}" if qualified else module
            line = scope.line if index else scope.span[0]
            nodes.append(Node(numbered(name), fqn, self._kind(index), scope.span, line))
        for name, variable in self._own_variables:
            fqn = f"{module}.{name[len(self._path) + 1 :]}"
            kind, span = _variable_kind(variable.scope, variable.name), variable.span
            nodes.append(Node(numbered(name), fqn, kind, span, span[0]))
        return nodes

    def _kind(self, index: int) -> NodeKind:
        scope = self._scopes[index]
        if scope.is_object:
            return _variable_kind(scope.parent, scope.name)
        if scope.kind == "function" and self._scopes[scope.parent].kind == "class":
            return "method"
        return cast("NodeKind", scope.kind)

    def _id(self, definition: ty.Definition) -> str:
        """The id of a definition; definitions of one name in one scope share it."""
        symbol = self._ids.get(definition)
        if symbol is None:
            path, index = definition
            parts: list[str] = []
            while index > 0:
                scope = self._resolver.scope(ty.Definition(path, index))
                if scope.kind != "block":
                    parts.append(scope.name)
                index = scope.parent
            qualified = ".".join(reversed(parts))
            symbol = self._ids[definition] = f"{path}:{qualified}" if qualified else path
        return symbol

    def _variable_id(self, path: str, variable: VariableSymbol) -> str:
        outer = self._id(ty.Definition(path, variable.scope))
        return f"{outer}.{variable.name}" if variable.scope else f"{path}:{variable.name}"

    def _targets(self, target: ir.Target, kind: str) -> list[tuple[str, Confidence]]:
        """The ids of the symbols that an occurrence refers to, each with its confidence."""
        match target:
            case ir.Attribute():
                return self._attribute_targets(target)
            case ir.FieldUse():
                return self._field_targets(target)
            case ir.FixtureUse(scope=scope, name=name):
                fixture = self._evaluator.fixture(ty.Definition(self._path, scope), name)
                return [(self._id(fixture), "inferred")] if fixture is not None else []
            case ir.ImportFrom(name="*"):
                symbols = []
            case _:
                declarations = self._resolver.resolve(self._path, target)
                symbols = [symbol for d in declarations for symbol in self._symbols(d)]
        if isinstance(target, ir.ImportFrom):
            module = self._modules.absolute(self._path, target.level, target.module)
            symbols += self._symbols(self._resolver.module(self._path, module))
        confidence: Confidence = "text" if kind == "exports" else "exact"
        return [(symbol, confidence) for symbol in dict.fromkeys(symbols)]

    def _attribute_targets(self, attribute: ir.Attribute) -> list[tuple[str, Confidence]]:
        """The members that `receiver.name` may refer to.

        They are exact when declared types alone lead to them, inferred when that takes the result
        of a function without a declared return type, and possible when the receiver's type is
        unknown, or a class without such a member.
        """
        name = attribute.name
        self._resolver.lookups.add(f".{name}")
        is_defined = name in self._known_names
        if not is_defined and f".{name}" not in self._known_names:
            return []
        types = self._evaluator.types(self._path, attribute.receiver)
        targets = self._members(self._evaluator, types, name)
        if not targets:
            # Names of variables and fields are too common to list possible uses.
            # A mixin uses members of other classes, and a decorator may add some to a function.
            is_possible = is_defined and (not types or any(map(self._has_unknown_members, types)))
            return [(f"*.{name}", "possible")] if is_possible else []
        declared = self._declared_evaluator.types(self._path, attribute.receiver)
        exact = self._members(self._declared_evaluator, declared, name)
        return [(target, "exact" if target in exact else "inferred") for target in targets]

    def _has_unknown_members(self, type_: ty.Type) -> bool:
        if isinstance(type_, (ty.Instance, ty.ClassObject)):
            return not self._evaluator.classes.mro(type_.cls).external
        return isinstance(type_, ty.FunctionObject)

    def _is_direct(self, target: ir.Target) -> bool:
        """Whether the receiver's exact class is known, so that *target* cannot be an override."""
        if not isinstance(target, ir.Attribute):
            return False
        types = self._evaluator.types(self._path, target.receiver)
        if types and all(isinstance(t, ty.SuperObject) for t in types):
            return True
        declarations = self._resolver.resolve(self._path, target.receiver)
        return bool(declarations) and all(map(self._is_known_class, declarations))

    def _is_known_class(self, declaration: Declaration) -> bool:
        """Whether *declaration* is a class or a call of one."""
        path, value, _ = declaration
        if isinstance(value, ir.Call):
            callees = self._resolver.resolve(path, value.function)
            return bool(callees) and all(isinstance(d.value, ir.ClassBinding) for d in callees)
        return isinstance(value, ir.ClassBinding)

    def _field_targets(self, use: ir.FieldUse) -> list[tuple[str, Confidence]]:
        """The fields that a keyword of a generated constructor, or a key, refers to."""
        self._resolver.lookups.add(f".{use.name}")
        if f".{use.name}" not in self._known_names:
            return []
        fields: dict[str, Confidence] = {}
        for evaluator in (self._evaluator, self._declared_evaluator):
            owners = evaluator.types(self._path, use.owner)
            types = tuple(owner for owner in owners if self._has_fields(owner, use))
            confidence: Confidence = "inferred" if evaluator is self._evaluator else "exact"
            members = reversed(self._members(evaluator, types, use.name))
            fields |= dict.fromkeys(members, confidence)
        return list(fields.items())

    def _has_fields(self, type_: ty.Type, use: ir.FieldUse) -> bool:
        """Whether *use* is a field: of a class without its own constructor, or of a TypedDict."""
        classes = self._evaluator.classes
        match type_, use.is_key:
            case ty.ClassObject(), False:
                names = ("__init__", "__new__", use.name)
                found = (member for name in names for member in classes.class_members(type_, name))
                return not any(member.function for member in found)
            case ty.ClassObject(cls=cls), True:
                return classes.is_enum(cls)
            case ty.Instance(cls=cls), True:
                bases = classes.external_base_names(cls)
                return any(name.rpartition(".")[2] == "TypedDict" for name in bases)
        return False

    def _members(self, evaluator: TypeEvaluator, types: ty.Types, name: str) -> list[str]:
        members = (member for t in types for member in evaluator.classes.find(t, name))
        declarations = (d for m in members for d in self._resolver.resolve_alias(m.declaration))
        return list(dict.fromkeys(symbol for d in declarations for symbol in self._symbols(d)))

    def _symbols(self, declaration: Declaration) -> list[str]:
        path, value, index = declaration
        match value:
            case ir.FunctionBinding(scope=scope) | ir.ClassBinding(scope=scope):
                return [self._id(ty.Definition(path, scope))]
            case ty.ModuleObject():
                return [path]
        variable = self._resolver.variable_symbol(path, index) if index >= 0 else None
        return [self._variable_id(path, variable)] if variable is not None else []

    def _overrides(self) -> list[Edge]:
        """An edge from each method to the method that it overrides."""
        edges = []
        for index, scope in enumerate(self._scopes):
            if self._kind(index) == "method":
                cls = ty.Definition(self._path, scope.parent)
                base = ty.SuperObject(cls, ty.Instance(cls))
                for member in self._evaluator.classes.find(base, scope.name)[:1]:
                    for target in self._symbols(member.declaration):
                        src = self._own_ids[index]
                        edges.append(Edge(src, target, "overrides", scope.line, "exact"))
        return edges


def _variable_kind(scope: int, name: str) -> NodeKind:
    if scope:
        return "field"
    return "constant" if name.isupper() else "variable"
