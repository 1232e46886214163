"""Facts of all files -> the nodes and edges of one file; the way into this room.

The linker asks, for every occurrence in a file, which definitions it means. It also says what it
looked up on the way, so that the next build links again only the files whose answers may have
changed.
"""

from collections.abc import Collection
from typing import NamedTuple

from judge.codegraph import ir
from judge.codegraph.facts import MEMBERS, VariableSymbol
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.name_resolver import Declaration, LoadFacts, NameResolver
from judge.codegraph.infer.type_evaluator import TypeEvaluator
from judge.codegraph.models import Edge, Node
from judge.codegraph.module_index import ModuleIndex


class LinkedFile(NamedTuple):
    """A file's part of the graph, and what it depends on elsewhere."""

    nodes: list[Node]
    edges: list[Edge]
    asked: dict[str, set[str]]


class FileLinker:
    """Links the file at *path*.

    *known_names* are those of all modules and of what they define, as `defined_names` gives them.
    """

    def __init__(
        self,
        path: str,
        modules: ModuleIndex,
        load: LoadFacts,
        known_names: Collection[str],
    ) -> None:
        self._path = path
        self._modules = modules
        self._known_names = known_names
        self._resolver = NameResolver(modules, load)
        self._evaluator = TypeEvaluator(self._resolver)
        self._declared = TypeEvaluator(self._resolver, declared_only=True)
        self._ids: dict[ty.Definition, str] = {}
        self._scopes = self._resolver.facts(path).scopes
        self._own_ids = [self._id(ty.Definition(path, place)) for place in range(len(self._scopes))]
        self._own_variables = [
            (self._variable_id(path, one), one)
            for one in self._resolver.facts(path).variables
            if not self._is_inherited(one)
        ]
        self._defined_at = {(name, one.span[0]) for name, one in self._own_variables}

    def _is_inherited(self, variable: VariableSymbol) -> bool:
        """Whether this is only assigned to, and a base class says what it is."""
        scope = self._scopes[variable.scope]
        if scope.kind != "class" or variable.name in scope.names:
            return False
        receiver = ty.Instance(ty.Definition(self._path, variable.scope))
        members = self._evaluator.members.find(receiver, variable.name)
        found = {(one.declaration.path, one.declaration.place) for one in members}
        return found.isdisjoint((self._path, place) for place in scope.attributes[variable.name])

    def link(self) -> LinkedFile:
        """Say what each name in the file means."""
        found: dict[Edge, None] = {}
        for occurrence in self._resolver.facts(self._path).occurrences:
            src = self._own_ids[occurrence.scope]
            targets = self._targets(occurrence.target, occurrence.kind)
            kind, line = occurrence.kind, occurrence.line
            is_direct = bool(targets) and self._is_direct(occurrence.target)
            for dst, confidence in targets:
                if (dst, line) not in self._defined_at:
                    found[Edge(src, dst, kind, self._path, line, confidence, is_direct)] = None
        found.update(dict.fromkeys(self._overrides()))
        return LinkedFile(
            self._definitions(),
            list(found),
            self._resolver.asked,
        )

    def _definitions(self) -> list[Node]:
        nodes: list[Node] = []
        seen: dict[str, int] = {}

        def numbered(name: str) -> str:
            """A name of its own for each definition: `f`, `f~2`."""
            count = seen[name] = seen.get(name, 0) + 1
            return name if count == 1 else f"{name}~{count}"

        module = self._modules.names[self._path]
        for place, scope in enumerate(self._scopes):
            if scope.kind == "block":
                continue
            name = self._own_ids[place]
            qualified = name[len(self._path) + 1 :]
            fqn = f"{module}.{qualified}" if qualified else module
            line = scope.line if place else scope.span[0]
            nodes.append(Node(numbered(name), fqn, self._kind(place), self._path, scope.span, line))
        for name, variable in self._own_variables:
            fqn = f"{module}.{name[len(self._path) + 1 :]}"
            kind, span = _variable_kind(variable), variable.span
            nodes.append(Node(numbered(name), fqn, kind, self._path, span, span[0]))
        return nodes

    def _kind(self, place: int) -> str:
        scope = self._scopes[place]
        if scope.kind == "function" and self._scopes[scope.parent].kind == "class":
            return "method"
        return scope.kind

    def _id(self, definition: ty.Definition) -> str:
        """The id of a definition; definitions of one name in one scope share it."""
        known = self._ids.get(definition)
        if known is None:
            path, place = definition
            parts: list[str] = []
            while place > 0:
                scope = self._resolver.scope(ty.Definition(path, place))
                if scope.kind != "block":
                    parts.append(scope.name)
                place = scope.parent
            qualified = ".".join(reversed(parts))
            known = self._ids[definition] = f"{path}:{qualified}" if qualified else path
        return known

    def _variable_id(self, path: str, variable: VariableSymbol) -> str:
        outer = self._id(ty.Definition(path, variable.scope))
        return f"{outer}.{variable.name}" if variable.scope else f"{path}:{variable.name}"

    def _targets(self, target: ir.Target, kind: str) -> list[tuple[str, str]]:
        """The ids that an occurrence means, each with its confidence."""
        match target:
            case ir.Attribute():
                return self._attribute_targets(target)
            case ir.FieldUse():
                return self._field_targets(target)
            case ir.ImportFrom(name="*"):
                found = []
            case _:
                declarations = self._resolver.resolve(self._path, target)
                found = [symbol for one in declarations for symbol in self._symbols(one)]
        if isinstance(target, ir.ImportFrom):
            module = self._modules.absolute(self._path, target.level, target.module)
            found += self._symbols(self._resolver.module(self._path, module))
        confidence = "text" if kind == "exports" else "exact"
        return [(symbol, confidence) for symbol in dict.fromkeys(found)]

    def _attribute_targets(self, attribute: ir.Attribute) -> list[tuple[str, str]]:
        """The members that `receiver.name` may mean.

        They are exact when declarations alone lead to them, inferred when it takes the result of
        a function that does not declare it, and possible when the receiver's type is
        unknown, or a class that lacks them.
        """
        name = attribute.name
        self._resolver.ask(MEMBERS, name)
        is_defined = name in self._known_names
        if not is_defined and f".{name}" not in self._known_names:
            return []
        types = self._evaluator.types(self._path, attribute.receiver)
        found = self._members(self._evaluator, types, name)
        if not found:
            # Attributes have common names: to note each that may be meant tells nobody anything.
            is_possible = is_defined and self._may_be_more(types)
            return [(f"*.{name}", "possible")] if is_possible else []
        declared = self._declared.types(self._path, attribute.receiver)
        exact = self._members(self._declared, declared, name)
        return [(target, "exact" if target in exact else "inferred") for target in found]

    def _may_be_more(self, types: ty.Types) -> bool:
        """Whether *types* that lack what is asked of them are unknown, or only known in part.

        A mixin asks of `self` what others bring, and a decorator may give a function attributes.
        """
        return not types or any(map(self._is_open, types))

    def _is_open(self, one: ty.Type) -> bool:
        if isinstance(one, (ty.Instance, ty.ClassObject)):
            return not self._evaluator.classes.mro(one.cls).external
        return isinstance(one, ty.FunctionObject)

    def _is_direct(self, target: ir.Target) -> bool:
        """Whether a receiver is known to the class, so that no override of *target* is meant."""
        if not isinstance(target, ir.Attribute):
            return False
        types = self._evaluator.types(self._path, target.receiver)
        if types and all(isinstance(one, ty.SuperObject) for one in types):
            return True
        declarations = self._resolver.resolve(self._path, target.receiver)
        return bool(declarations) and all(map(self._is_known_class, declarations))

    def _is_known_class(self, declaration: Declaration) -> bool:
        """Whether this is a class, or what calling one gives."""
        path, value, _ = declaration
        if isinstance(value, ir.Call):
            called = self._resolver.resolve(path, value.function)
            return bool(called) and all(isinstance(d.value, ir.ClassBinding) for d in called)
        return isinstance(value, ir.ClassBinding)

    def _field_targets(self, use: ir.FieldUse) -> list[tuple[str, str]]:
        """The fields that a keyword of a generated constructor, or a key, means."""
        self._resolver.ask(MEMBERS, use.name)
        if f".{use.name}" not in self._known_names:
            return []
        found: list[tuple[str, str]] = []
        for evaluator, confidence in ((self._declared, "exact"), (self._evaluator, "inferred")):
            types = tuple(
                one for one in evaluator.types(self._path, use.owner) if self._has_fields(one, use)
            )
            found += [(one, confidence) for one in self._members(evaluator, types, use.name)]
        return list({target: (target, sure) for target, sure in reversed(found)}.values())

    def _has_fields(self, one: ty.Type, use: ir.FieldUse) -> bool:
        """Whether *use* means a field: of a class without a written constructor, or a key."""
        members = self._evaluator.members
        match one, use.is_key:
            case ty.ClassObject(), False:
                names = ("__init__", "__new__", use.name)
                written = (members.class_members(one, name) for name in names)
                return not any(member.function for found in written for member in found)
            case ty.Instance(cls=cls), True:
                bases = self._evaluator.classes.external_base_names(cls)
                return any(name.rpartition(".")[2] == "TypedDict" for name in bases)
        return False

    def _members(self, evaluator: TypeEvaluator, types: ty.Types, name: str) -> list[str]:
        members = (member for one in types for member in evaluator.members.find(one, name))
        found = (one for m in members for one in self._resolver.resolve_alias(m.declaration))
        return list(dict.fromkeys(symbol for one in found for symbol in self._symbols(one)))

    def _symbols(self, declaration: Declaration) -> list[str]:
        path, value, place = declaration
        match value:
            case ir.FunctionBinding(scope=scope) | ir.ClassBinding(scope=scope):
                return [self._id(ty.Definition(path, scope))]
            case ty.ModuleObject():
                return [path]
        variable = self._resolver.variable_symbol(path, place) if place >= 0 else None
        return [self._variable_id(path, variable)] if variable is not None else []

    def _overrides(self) -> list[Edge]:
        """An edge from each method to the one that it replaces."""
        edges = []
        for place, scope in enumerate(self._scopes):
            if self._kind(place) != "method":
                continue
            cls = ty.Definition(self._path, scope.parent)
            inherited = self._evaluator.members.find(
                ty.SuperObject(cls, ty.Instance(cls)), scope.name
            )
            for member in inherited[:1]:
                for target in self._symbols(member.declaration):
                    src = self._own_ids[place]
                    edges.append(Edge(src, target, "overrides", self._path, scope.line, "exact"))
        return edges


def _variable_kind(variable: VariableSymbol) -> str:
    if variable.scope:
        return "field"
    return "constant" if variable.name.isupper() else "variable"
