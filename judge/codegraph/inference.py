"""Expressions -> types: the heart of "whose method is called here?".

Types come from annotations where there are any, else from what is assigned, returned and yielded.
Nothing is guessed: an expression whose type cannot be told has none, and what is asked of it
becomes a possible use, not an exact one.
"""

from collections.abc import Iterable
from typing import NamedTuple

from judge.codegraph.annotations import (
    Annotations,
    Mapping,
    Type,
    Types,
    classes_of,
    substitute,
    type_variables,
    union,
)
from judge.codegraph.classes import Classes
from judge.codegraph.containers import Containers
from judge.codegraph.externals import CONTAINER_METHODS, FUNCTION_RESULTS
from judge.codegraph.facts import Expr
from judge.codegraph.resolver import Ref, Resolver, declared

#: Chains of calls longer than this are given up; Python's own stack is the limit.
_MAX_DEPTH = 60
_LITERALS = {"str", "int", "float", "bool", "bytes", "complex"}


class Member(NamedTuple):
    """What an attribute is bound to, where, and how type variables read there."""

    ref: Ref
    receiver: Type
    mapping: Mapping


class Inference:
    """Infer types in all files, remembering what it found."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.annotations = Annotations(resolver)
        self.classes = Classes(resolver, self.annotations)
        self.containers = Containers(self)
        self._known: dict[int, Types] = {}
        self._results: dict[tuple[str, int, Type | None], Types] = {}
        self._depth = 0

    # --- expressions ------------------------------------------------------------------------

    def types(self, path: str, expr: Expr) -> Types:
        """The types that *expr*, an expression of the file at *path*, may have."""
        key = id(expr)
        known = self._known.get(key)
        if known is not None:
            return known
        if self._depth > _MAX_DEPTH:
            return ()
        self._known[key] = ()
        self._depth += 1
        found = self._types(path, expr)
        self._depth -= 1
        self._known[key] = found
        return found

    def _types(self, path: str, expr: Expr) -> Types:  # noqa: C901, PLR0911, PLR0912 - a table
        match expr[0]:
            case "v" | "j":
                return union(self.bound(ref) for ref in self.resolver.bindings(path, expr))
            case "n":
                refs = iter(self.resolver.lookup(path, expr[1], expr[2]))
                return union(self.bound(ref, outside=True) for ref in refs)
            case "a":
                return union(self.attribute(one, expr[2]) for one in self.types(path, expr[1]))
            case "c":
                return self._call(path, expr)
            case "u":
                return union(self.types(path, part) for part in expr[1:])
            case "f":
                return next((t for part in expr[1:] if (t := self.types(path, part))), ())
            case "k":
                return (("O", f"builtins.{expr[1]}"),) if expr[1] in _LITERALS else ()
            case "l":
                return (("B", expr[1], union(self.types(path, part) for part in expr[2:])),)
            case "d":
                return (("B", "dict", self.types(path, expr[1]), self.types(path, expr[2])),)
            case "t":
                return (("B", "tuple", *[self.types(path, part) for part in expr[1:]]),)
            case "w":
                return self.containers.awaited(self.types(path, expr[1]))
            case "e" | "E":
                return self.containers.elements(self.types(path, expr[1]), expr[0] == "E")
            case "x" | "X":
                return self.containers.entered(self.types(path, expr[1]), expr[0] == "X")
            case "o":
                return self.containers.part(self.types(path, expr[2]), expr[1])
            case "s":
                return self._subscript(path, expr)
            case "b":
                return self._operation(path, expr)
            case "i" | "!":
                return self._narrowed(path, expr)
            case "L":
                return (("B", "callable", self.types(path, expr[1])),)
            case "ann":
                return self._declared(path, expr, outside=False)
            case "Y":
                return self._sent(path, expr[1])
        return ()

    def bound(self, ref: Ref, receiver: Type | None = None, *, outside: bool = False) -> Types:
        """The types of what a name is bound to.

        *outside*: seen from another scope, where only a declared type can be relied on.
        """
        path, value = ref
        match value[0]:
            case "def":
                return (("F", path, value[1], receiver),)
            case "cls":
                return (("C", path, value[1], ()),)
            case "module":
                return (("M", path),)
            case "namespace":
                return (("N", value[1]),)
            case "ext":
                return (("Z", value[1]),)
            case "imp" | "mod" | "top":
                return union(self.bound(r, outside=True) for r in self.resolver.follow(path, value))
            case "par":
                return self._parameter(path, value[1], value[2])
            case "ann":
                return self._declared(path, value, outside=outside)
        return self.types(path, value)

    def _declared(self, path: str, value: Expr, *, outside: bool) -> Types:
        allowed = substitute(self.annotations.types(path, value[1]), {})
        if value[2] is None or (outside and allowed):
            return allowed
        assigned = self.types(path, value[2])
        if not allowed:
            return assigned
        return tuple(one for one in assigned if self._fits(one, allowed)) or allowed

    def _fits(self, one: Type, allowed: Types) -> bool:
        return one[0] == "I" and any(
            other[0] == "I" and self.classes.is_subclass(one[1], one[2], (other[1], other[2]))
            for other in allowed
        )

    def _parameter(self, path: str, place: int, index: int) -> Types:
        function = self.resolver.scope(path, place)
        parameter = function.params[index]
        me = self._own_type(path, place) if index == 0 and parameter.kind == "p" else ()
        if parameter.annotation is not None:
            types = self.annotations.types(path, parameter.annotation)
            owner = self._own_type(path, place)
            found = substitute(types, {"Self": owner}) or me
            if parameter.kind == "*":
                return (("B", "list", found),)
            if parameter.kind == "**":
                return (("B", "dict", (("O", "builtins.str"),), found),)
            return found
        if me:
            return me
        return self.types(path, parameter.default) if parameter.default is not None else ()

    def _own_type(self, path: str, place: int) -> Types:
        """The type of the first parameter of a method: its class or an instance of it."""
        function = self.resolver.scope(path, place)
        owner = function.parent
        if self.resolver.scope(path, owner).kind != "class":
            return ()
        traits = self.classes.traits(path, place)
        if "static" in traits:
            return ()
        made = "class" in traits or function.name in ("__new__", "__init_subclass__")
        return (("C" if made else "I", path, owner, ()),)

    def _subscript(self, path: str, expr: Expr) -> Types:
        types = self.types(path, expr[1])
        classes = [one for one in types if one[0] == "C"]
        if classes:
            arguments = tuple(self.annotations.types(path, index) for index in expr[2:])
            return tuple((*one[:3], arguments) for one in classes)
        if any(one[0] == "Z" for one in types):
            return classes_of(self.annotations.types(path, expr)) or types
        index = expr[2][2] if len(expr[2]) > 2 and expr[2][1] == "int" else None
        return self.containers.item(types, index)

    def _sent(self, path: str, place: int) -> Types:
        """What `yield` gives back: the second argument of a declared `Generator`."""
        returns = self.resolver.scope(path, place).returns
        types = self.annotations.types(path, returns) if returns is not None else ()
        return union(one[3] for one in types if one[0] == "B" and len(one) > 3)

    def _operation(self, path: str, expr: Expr) -> Types:
        left = self.types(path, expr[2])
        found = union(self.invoke(one, expr[1]) for one in left)
        if found or not left:
            return found
        if all(one[0] == "O" for one in left):
            reflected = expr[1].replace("__", "__r", 1)
            right = self.types(path, expr[3])
            return union(self.invoke(one, reflected) for one in right) or left
        return tuple(one for one in left if one[0] == "B")

    def _narrowed(self, path: str, expr: Expr) -> Types:
        types = self.types(path, expr[1])
        classes = self._flat(self.types(path, expr[2]))
        ours = [one for one in classes if one[0] == "C"]
        if expr[0] == "!":
            return tuple(one for one in types if not self._is_any(one, ours))
        if not classes:
            return types
        kept = [one for one in types if self._is_any(one, ours)]
        if kept and len(kept) == len(types):
            return types
        for cls in ours:
            if not any(k[0] == "I" and self._is_any(k, [cls]) for k in kept):
                above = [t for t in types if t[0] == "I" and self._is_above(t, cls)]
                if above or not types or not kept:
                    kept.append(("I", *cls[1:]))
        if not ours:
            kept = [one for one in types if one[0] == "I" and self._derives(one, classes)]
            return tuple(kept) or tuple(("O", one[1]) for one in classes if one[0] == "Z")
        return tuple(kept)

    def _derives(self, one: Type, classes: Types) -> bool:
        """Whether an instance may belong to classes from outside, as far as we can tell."""
        names = {cls[1].rpartition(".")[2] for cls in classes if cls[0] == "Z"}
        outside = self.classes.lineage(one[1], one[2]).outside
        named = {base[1].rpartition(".")[2] for base in outside if base[0] in "OB"}
        return bool(names & named) or any(
            cls[0] == "Z" and cls[1].startswith(("collections.abc.", "typing.")) for cls in classes
        )

    def _flat(self, types: Types) -> Types:
        found: list[Type] = []
        for one in types:
            if one[0] == "B" and one[1] in ("tuple", "list"):
                found.extend(inner for argument in one[2:] for inner in self._flat(argument))
            else:
                found.append(one)
        return tuple(found)

    def _is_any(self, one: Type, classes: Iterable[Type]) -> bool:
        return one[0] == "I" and any(
            self.classes.is_subclass(one[1], one[2], (cls[1], cls[2])) for cls in classes
        )

    def _is_above(self, one: Type, cls: Type) -> bool:
        return self.classes.is_subclass(cls[1], cls[2], (one[1], one[2]))

    # --- attributes -------------------------------------------------------------------------

    def members(self, one: Type, name: str) -> list[Member]:
        """What the attribute *name* of the type *one* is bound to."""
        match one[0]:
            case "I" | "C":
                return self._class_members(one, name, 0)
            case "super":
                return self._class_members(one[3], name, 1, after=(one[1], one[2]))
            case "M":
                return [Member(ref, one, {}) for ref in self.resolver.member(one[1], name)]
            case "N":
                ref = self.resolver.module("", f"{one[1]}.{name}")
                return [Member(ref, one, {})] if ref.value[0] != "ext" else []
            case "Z":
                return [Member(Ref("", ("ext", f"{one[1]}.{name}")), one, {})]
        return []

    def _class_members(
        self, one: Type, name: str, skip: int, after: tuple[str, int] | None = None
    ) -> list[Member]:
        ancestors = self.classes.lineage(one[1], one[2]).ancestors
        if after is not None:
            places = [n for n, a in enumerate(ancestors) if (a.path, a.scope) == after]
            ancestors = ancestors[places[0] if places else 0 :]
        own = dict(zip(self.classes.parameters(one[1], one[2]), one[3], strict=False))
        for path, scope, mapping in ancestors[skip:]:
            cls = self.resolver.scope(path, scope)
            facts = self.resolver.load(path)
            assert facts is not None
            places = cls.names.get(name, [])
            if not any(facts.values[place][0] in ("def", "cls") for place in places):
                places = places + cls.attributes.get(name, [])
            if places:
                inner = {k: substitute(v, own) for k, v in mapping.items()} if mapping else own
                refs = declared([Ref(path, facts.values[place]) for place in places])
                return [Member(ref, one, inner) for ref in refs]
        return []

    def attribute(self, one: Type, name: str) -> Types:
        """The types of the attribute *name* of the type *one*."""
        if one[0] == "B":
            if (one[1], name) == ("raised", "value"):
                return one[2]  # type: ignore[no-any-return]
            known = (one[1], name) in CONTAINER_METHODS
            return (("method", one, name),) if known else ()
        if one[0] == "O":
            return (("method", one, name),)
        members = self.members(one, name)
        if one[0] in ("I", "C"):
            members = self._effective(members)
        found = union(self._member_types(member) for member in members)
        if not members and one[0] == "I":
            return union(self.attribute(base, name) for base in self.containing(one))
        return found

    def containing(self, one: Type) -> Types:
        """The containers that the class of the instance *one* derives from: `list[Row]`."""
        own = dict(zip(self.classes.parameters(one[1], one[2]), one[3], strict=False))
        bases = self.classes.lineage(one[1], one[2]).outside
        return substitute(tuple(base for base in bases if base[0] == "B"), own)

    def _effective(self, members: list[Member]) -> list[Member]:
        """Of several definitions of a method, those that decide its type."""
        defs = [m for m in members if m.ref.value[0] == "def"]
        if len(defs) < 2 or len(defs) != len(members):
            return members
        traits = [self.classes.traits(m.ref.path, m.ref.value[1]) for m in defs]
        chosen = [m for m, t in zip(defs, traits, strict=True) if "overload" in t]
        chosen = chosen or [m for m, t in zip(defs, traits, strict=True) if "property" in t]
        return chosen or defs[-1:]

    def _member_types(self, member: Member) -> Types:
        ref, receiver, mapping = member
        tag = ref.value[0]
        if receiver[0] not in ("I", "C", "super"):
            return self.bound(ref, outside=True)
        actual = receiver[3] if receiver[0] == "super" else receiver
        if tag == "def":
            if "property" in self.classes.traits(ref.path, ref.value[1]):
                return self.result(("F", ref.path, ref.value[1], actual))
            return (("F", ref.path, ref.value[1], actual),)
        if tag == "ann":
            types = self.annotations.types(ref.path, ref.value[1])
            found = substitute(types, {**mapping, "Self": (("I", *actual[1:]),)})
            return found or (self.types(ref.path, ref.value[2]) if ref.value[2] else ())
        if tag not in ("cls", "imp") and self.classes.is_enum(actual[1], actual[2]):
            return (("I", *actual[1:]),)
        return self._descriptor(self.bound(ref, outside=True), actual)

    def _descriptor(self, types: Types, owner: Type) -> Types:
        """What `__get__` gives, for an attribute whose type has one."""
        if owner[0] != "I" or not any(
            one[0] == "I" and self._class_members(one, "__get__", 0) for one in types
        ):
            return types
        return union(self.invoke(one, "__get__") or (one,) for one in types)

    # --- calls ------------------------------------------------------------------------------

    def _call(self, path: str, expr: Expr) -> Types:
        function = expr[1]
        if function[0] == "n" and function[2] == "super":
            return self._super(path, function[1])
        arguments = [(path, argument) for argument in expr[2:]]
        functions = self._matching(self.types(path, function), arguments)
        return union(self.result(one, arguments) for one in functions)

    def _matching(self, functions: Types, arguments: list[tuple[str, Expr]]) -> Types:
        """Of the overloads in *functions*, those that accept *arguments*; else all."""
        overloads = [
            one
            for one in functions
            if one[0] == "F" and "overload" in self.classes.traits(one[1], one[2])
        ]
        if len(overloads) < 2:
            return functions
        kept = [one for one in overloads if self._accepts(one, arguments)]
        return tuple(kept) or functions

    def _accepts(self, function: Type, arguments: list[tuple[str, Expr]]) -> bool:
        _, path, place, receiver = function
        scope = self.resolver.scope(path, place)
        bound = self.resolver.scope(path, scope.parent).kind == "class" and receiver is not None
        params = [p for p in scope.params if p.kind == "p"][1 if bound else 0 :]
        for place_, parameter in enumerate(params):
            if parameter.annotation is None:
                continue
            allowed = self.annotations.types(path, parameter.annotation)
            given = arguments[place_] if place_ < len(arguments) else None
            if allowed == (("O", "literal"),) and (given is None or given[1][0] != "k"):
                return parameter.default is not None and given is None
            if given is not None and self._excludes(allowed, self.types(*given)):
                return False
        return True

    def _excludes(self, allowed: Types, given: Types) -> bool:
        """Whether no type of *given*, all being known, can be one of *allowed*."""
        plain = all(one[0] in "IO" for one in (*allowed, *given))
        if not allowed or not given or not plain or ("O", "literal") in allowed:
            return False
        names = {one[1] for one in allowed if one[0] == "O"}
        return not any(
            one[1] in names if one[0] == "O" else self._fits(one, allowed) for one in given
        )

    def instances(self, classes: Types) -> Types:
        """Instances of *classes*, which may come in tuples."""
        return tuple(("I", *cls[1:]) for cls in self._flat(classes) if cls[0] == "C")

    def _super(self, path: str, place: int) -> Types:
        while place > 0:
            parent = self.resolver.scope(path, place).parent
            if parent > 0 and self.resolver.scope(path, parent).kind == "class":
                own = self._own_type(path, place) or (("I", path, parent, ()),)
                return (("super", path, parent, own[0]),)
            place = parent
        return ()

    def invoke(self, one: Type, method: str) -> Types:
        """The types of `one.method()`."""
        if not method:
            return ()
        return union(self.result(function) for function in self.attribute(one, method))

    def result(self, function: Type, arguments: list[tuple[str, Expr]] | None = None) -> Types:
        """The types of a call of *function* with these positional *arguments*."""
        match function[0]:
            case "C":
                return self._instance(function, arguments or [])
            case "F":
                return self._function_result(function, arguments or [])
            case "I":
                return self.invoke(function, "__call__")
            case "B" if function[1] == "callable" and len(function) > 2:
                return function[2]  # type: ignore[no-any-return]
            case "method":
                return self.containers.method(function[1], function[2])
            case "Z":
                return self._outside(function[1], arguments or [])
        return ()

    def _instance(self, cls: Type, arguments: list[tuple[str, Expr]]) -> Types:
        if self._hides_its_type(cls):
            return ()
        parameters = self.classes.parameters(cls[1], cls[2])
        if not parameters or cls[3]:
            return (("I", *cls[1:]),)
        mapping: Mapping = {}
        for member in self._class_members(cls, "__init__", 0):
            if member.ref.value[0] == "def":
                self._match(member.ref.path, member.ref.value[1], 1, arguments, mapping)
        return (("I", cls[1], cls[2], tuple(mapping.get(name, ()) for name in parameters)),)

    def _hides_its_type(self, cls: Type) -> bool:
        """Whether `__new__` is declared to return something that cannot be told."""
        for member in self._class_members(cls, "__new__", 0):
            if member.ref.value[0] == "def":
                returns = self.resolver.scope(member.ref.path, member.ref.value[1]).returns
                if returns is not None:
                    return not self.annotations.types(member.ref.path, returns)
        return False

    def _function_result(self, function: Type, arguments: list[tuple[str, Expr]]) -> Types:
        _, path, place, receiver = function
        scope = self.resolver.scope(path, place)
        if scope.returns is None:
            key = (path, place, receiver)
            if key not in self._results:
                self._results[key] = ()
                self._results[key] = self._inferred_result(function)
            return self._results[key]
        types = self.annotations.types(path, scope.returns)
        if any(type_variables(types)):
            types = substitute(types, self._mapping(function, arguments))
        if scope.is_async and not scope.yielded:
            types = (("B", "awaitable", types),)
        return self._managed(path, place, types)

    def _inferred_result(self, function: Type) -> Types:
        _, path, place, receiver = function
        scope = self.resolver.scope(path, place)
        if scope.yielded:
            kind = "aiterator" if scope.is_async else "iterator"
            made = union(self.types(path, part) for part in scope.yielded)
            return self._managed(path, place, (("B", kind, made),))
        types = union(self.types(path, part) for part in scope.returned)
        own = self._own_type(path, place)
        if receiver is not None and own and self._is_any(receiver, own):
            types = tuple(receiver if one == own[0] else one for one in types)
        return (("B", "awaitable", types),) if scope.is_async else types

    def _managed(self, path: str, place: int, types: Types) -> Types:
        kinds = self.classes.traits(path, place) & {"context", "acontext"}
        if not kinds:
            return types
        kind = next(iter(kinds))
        return (("B", kind, self.containers.elements(types, kind == "acontext")),)

    def _mapping(self, function: Type, arguments: list[tuple[str, Expr]]) -> Mapping:
        """What the type variables of a function stand for in this call."""
        _, path, place, receiver = function
        mapping: Mapping = {}
        skip = 0
        if receiver is not None and receiver[0] in "IC":
            owner = (path, self.resolver.scope(path, place).parent)
            me = ("I", *receiver[1:])
            mapping["Self"] = (me,)
            for ancestor in self.classes.lineage(receiver[1], receiver[2]).ancestors:
                if (ancestor.path, ancestor.scope) == owner:
                    names = self.classes.parameters(receiver[1], receiver[2])
                    own = dict(zip(names, receiver[3], strict=False))
                    mapping |= {k: substitute(v, own) for k, v in ancestor.mapping.items()}
                    mapping |= own
            traits = self.classes.traits(path, place)
            if receiver[0] == "I" or "class" in traits:
                skip = 0 if "static" in traits else 1
            if skip:
                self._match_receiver(path, place, receiver, mapping)
        self._match(path, place, skip, arguments, mapping)
        return mapping

    def _match_receiver(self, path: str, place: int, receiver: Type, mapping: Mapping) -> None:
        params = self.resolver.scope(path, place).params
        if params and params[0].annotation is not None:
            pattern = self.annotations.types(path, params[0].annotation)
            self._unify(pattern, (receiver,), mapping)

    def _match(
        self,
        path: str,
        place: int,
        skip: int,
        arguments: list[tuple[str, Expr]],
        mapping: Mapping,
    ) -> None:
        params = self.resolver.scope(path, place).params[skip:]
        for parameter, (where, argument) in zip(params, arguments, strict=False):
            if parameter.annotation is not None:
                pattern = self.annotations.types(path, parameter.annotation)
                if any(type_variables(pattern)):
                    self._unify(pattern, self.types(where, argument), mapping)

    def _unify(self, pattern: Types, actual: Types, mapping: Mapping) -> None:
        for one in pattern:
            if one[0] == "T":
                mapping[one[1]] = union((mapping.get(one[1], ()), actual))
            elif one[0] == "B" and len(one) > 2:
                self._unify(one[2], self._inside(one, actual), mapping)
            elif one[0] == "I" and one[3]:
                for other in actual:
                    if other[0] == "I" and other[1:3] == one[1:3]:
                        for inner, given in zip(one[3], other[3], strict=False):
                            self._unify(inner, given, mapping)

    def _inside(self, pattern: Type, actual: Types) -> Types:
        """The part of *actual* that stands where *pattern* has its first argument."""
        match pattern[1]:
            case "type":
                return tuple(("I", *one[1:]) for one in actual if one[0] == "C")
            case "callable":
                return union(self.result(one) for one in actual)
            case "awaitable":
                return self.containers.awaited(actual)
        return self.containers.elements(actual, pattern[1] == "aiterator")

    def _outside(self, name: str, arguments: list[tuple[str, Expr]]) -> Types:
        """The types of a call of something outside the repository."""
        rule = FUNCTION_RESULTS.get(name)
        if rule is None:
            return (("O", name),)
        if rule == "cast" and arguments:
            return substitute(self.annotations.types(*arguments[0]), {})
        return self.containers.made(rule, [self.types(*argument) for argument in arguments])
