"""Calls: which overload is meant, what type variables stand for, and what comes back."""

from typing import TYPE_CHECKING

from judge.codegraph.facts import Expr
from judge.codegraph.infer.annotations import (
    Mapping,
    Type,
    Types,
    classes_of,
    substitute,
    type_variables,
    union,
)
from judge.codegraph.infer.standard_library import FUNCTION_RESULTS

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

#: A positional argument, with the file in which it is written.
Argument = tuple[str, Expr]


class CallEvaluator:
    """Infer what calls return, from annotations or else from what is returned and yielded."""

    def __init__(self, inference: "TypeEvaluator") -> None:
        self._inference = inference
        self._decorated: dict[tuple[str, int], Types] = {}
        self._results: dict[tuple[str, int, Type | None], Types] = {}

    def call(self, path: str, expr: Expr) -> Types:
        """The types of the call *expr* in the file at *path*."""
        function = expr[1]
        if function[0] == "n" and function[2] == "super":
            return self._super(path, function[1])
        arguments = [(path, argument) for argument in expr[2:]]
        functions = self._matching(self._inference.types(path, function), arguments)
        return union(self.result(one, arguments) for one in functions)

    def _matching(self, functions: Types, arguments: list[Argument]) -> Types:
        """Of the overloads in *functions*, those that accept *arguments*; else all."""
        overloads = [
            one
            for one in functions
            if one[0] == "F" and "overload" in self._inference.classes.traits(one[1], one[2])
        ]
        if len(overloads) < 2:
            return functions
        kept = [one for one in overloads if self._accepts(one, arguments)]
        return tuple(kept) or functions

    def _accepts(self, function: Type, arguments: list[Argument]) -> bool:
        _, path, place, receiver = function
        scope = self._inference.resolver.scope(path, place)
        bound = (
            self._inference.resolver.scope(path, scope.parent).kind == "class"
            and receiver is not None
        )
        params = [p for p in scope.params if p.kind == "p"][1 if bound else 0 :]
        for place_, parameter in enumerate(params):
            if parameter.annotation is None:
                continue
            allowed = self._inference.annotations.types(path, parameter.annotation)
            given = arguments[place_] if place_ < len(arguments) else None
            if allowed == (("O", "literal"),) and (given is None or given[1][0] != "k"):
                return parameter.default is not None and given is None
            if given is not None and self._excludes(allowed, self._inference.types(*given)):
                return False
        return True

    def _excludes(self, allowed: Types, given: Types) -> bool:
        """Whether no type of *given*, all being known, can be one of *allowed*."""
        plain = all(one[0] in "IO" for one in (*allowed, *given))
        if not allowed or not given or not plain or ("O", "literal") in allowed:
            return False
        names = {one[1] for one in allowed if one[0] == "O"}
        return not any(
            one[1] in names if one[0] == "O" else self._inference.narrowing.fits(one, allowed)
            for one in given
        )

    def _super(self, path: str, place: int) -> Types:
        while place > 0:
            parent = self._inference.resolver.scope(path, place).parent
            if parent > 0 and self._inference.resolver.scope(path, parent).kind == "class":
                own = self._inference.own_type(path, place) or (("I", path, parent, ()),)
                return (("super", path, parent, own[0]),)
            place = parent
        return ()

    def decorated(self, path: str, place: int) -> Types:
        """The objects that decorators put in the place of a function, when they do."""
        key = (path, place)
        known = self._decorated.get(key)
        if known is None:
            known = self._decorated[key] = ()
            for decorator in reversed(self._inference.resolver.scope(path, place).decorators):
                given = self._inference.types(path, decorator)
                made = union(self.result(one) for one in given if not self._gives_back(one))
                known = tuple(one for one in made if one[0] == "I") or known
            self._decorated[key] = known
        return known

    def _gives_back(self, decorator: Type) -> bool:
        """Whether a decorator is declared to return the type that it is given."""
        if decorator[0] != "F":
            return False
        returns = self._inference.resolver.scope(decorator[1], decorator[2]).returns
        if returns is None:
            return False
        types = self._inference.annotations.types(decorator[1], returns)
        return any(type_variables(types))

    def invoke(self, one: Type, method: str) -> Types:
        """The types of `one.method()`."""
        if not method:
            return ()
        return union(
            self.result(function) for function in self._inference.members.attribute(one, method)
        )

    def result(self, function: Type, arguments: list[Argument] | None = None) -> Types:  # noqa: PLR0911 - a table
        """The types of a call of *function* with these positional *arguments*."""
        match function[0]:
            case "C":
                return self._instance(function, arguments or [])
            case "F":
                return self._function_result(function, arguments or [])
            case "I":
                return self.invoke(function, "__call__")
            case "B" if function[1] == "callable" and len(function) > 2:
                return tuple(one for one in function[2] if one[0] != "T")
            case "method":
                return self._inference.containers.method(function[1], function[2])
            case "Z":
                return self._outside(function[1], arguments or [])
        return ()

    def _instance(self, cls: Type, arguments: list[Argument]) -> Types:
        if self._hides_its_type(cls):
            return ()
        parameters = self._inference.classes.parameters(cls[1], cls[2])
        if not parameters or cls[3]:
            return (("I", *cls[1:]),)
        mapping: Mapping = {}
        for member in self._inference.members.class_members(cls, "__init__", 0):
            if member.ref.value[0] == "def":
                self._match(member.ref.path, member.ref.value[1], 1, arguments, mapping)
        return (("I", cls[1], cls[2], tuple(mapping.get(name, ()) for name in parameters)),)

    def _hides_its_type(self, cls: Type) -> bool:
        """Whether `__new__` is declared to return something that cannot be told."""
        for member in self._inference.members.class_members(cls, "__new__", 0):
            if member.ref.value[0] == "def":
                returns = self._inference.resolver.scope(
                    member.ref.path, member.ref.value[1]
                ).returns
                if returns is not None:
                    return not self._inference.annotations.types(member.ref.path, returns)
        return False

    def _function_result(self, function: Type, arguments: list[Argument]) -> Types:
        _, path, place, receiver = function
        scope = self._inference.resolver.scope(path, place)
        if scope.returns is None:
            if self._inference.declared_for is not None:
                return ()
            key = (path, place, receiver)
            if key not in self._results:
                self._results[key] = ()
                self._results[key] = self._inferred_result(function)
                if not self._results[key]:
                    self._inference.doubt(self._results, key)
            return self._results[key]
        types = self._inference.annotations.types(path, scope.returns)
        if any(type_variables(types)):
            types = substitute(types, self._mapping(function, arguments))
        if scope.is_async and not scope.yielded:
            types = (("B", "awaitable", types),)
        return self._managed(path, place, types)

    def _inferred_result(self, function: Type) -> Types:
        _, path, place, receiver = function
        scope = self._inference.resolver.scope(path, place)
        if scope.yielded:
            kind = "aiterator" if scope.is_async else "iterator"
            made = union(self._inference.types(path, part) for part in scope.yielded)
            return self._managed(path, place, (("B", kind, made),))
        types = union(self._inference.types(path, part) for part in scope.returned)
        types = self._as_received(types, self._inference.own_type(path, place), receiver)
        return (("B", "awaitable", types),) if scope.is_async else types

    def _as_received(self, types: Types, own: Types, receiver: Type | None) -> Types:
        """*types*, where a method's own class means that of the receiver: `cls()`, `self`."""
        if receiver is None or not own or receiver[0] not in "IC":
            return types
        if not self._inference.classes.is_subclass(receiver[1], receiver[2], own[0][1:3]):
            return types
        return tuple(
            (one[0], *receiver[1:]) if one[0] in "IC" and one[1:] == own[0][1:] else one
            for one in types
        )

    def _managed(self, path: str, place: int, types: Types) -> Types:
        kinds = self._inference.classes.traits(path, place) & {"context", "acontext"}
        if not kinds:
            return types
        kind = next(iter(kinds))
        return (("B", kind, self._inference.containers.elements(types, kind == "acontext")),)

    def _mapping(self, function: Type, arguments: list[Argument]) -> Mapping:
        """What the type variables of a function stand for in this call."""
        _, path, place, receiver = function
        mapping: Mapping = {}
        skip = 0
        if receiver is not None and receiver[0] in "IC":
            owner = (path, self._inference.resolver.scope(path, place).parent)
            me = ("I", *receiver[1:])
            mapping["Self"] = (me,)
            for ancestor in self._inference.classes.lineage(receiver[1], receiver[2]).ancestors:
                if (ancestor.path, ancestor.scope) == owner:
                    names = self._inference.classes.parameters(receiver[1], receiver[2])
                    own = dict(zip(names, receiver[3], strict=False))
                    mapping |= {k: substitute(v, own) for k, v in ancestor.mapping.items()}
                    mapping |= own
            traits = self._inference.classes.traits(path, place)
            if receiver[0] == "I" or "class" in traits:
                skip = 0 if "static" in traits else 1
            if skip:
                self._match_receiver(path, place, receiver, mapping)
        self._match(path, place, skip, arguments, mapping)
        return mapping

    def _match_receiver(self, path: str, place: int, receiver: Type, mapping: Mapping) -> None:
        params = self._inference.resolver.scope(path, place).params
        if params and params[0].annotation is not None:
            pattern = self._inference.annotations.types(path, params[0].annotation)
            self._unify(pattern, (receiver,), mapping)

    def _match(
        self,
        path: str,
        place: int,
        skip: int,
        arguments: list[Argument],
        mapping: Mapping,
    ) -> None:
        params = self._inference.resolver.scope(path, place).params[skip:]
        for parameter, (where, argument) in zip(params, arguments, strict=False):
            if parameter.annotation is not None:
                pattern = self._inference.annotations.types(path, parameter.annotation)
                if any(type_variables(pattern)):
                    self._unify(pattern, self._inference.types(where, argument), mapping)

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
                return self._inference.containers.awaited(actual)
        return self._inference.containers.elements(actual, pattern[1] == "aiterator")

    def _outside(self, name: str, arguments: list[Argument]) -> Types:
        """The types of a call of something outside the repository."""
        rule = FUNCTION_RESULTS.get(name)
        if rule is None:
            return (("O", name),)
        if rule == "cast" and arguments:
            return substitute(self._inference.annotations.types(*arguments[0]), {})
        if rule == "new type" and len(arguments) > 1:
            return classes_of(self._inference.annotations.types(*arguments[1]))
        return self._inference.containers.made(
            rule, [self._inference.types(*argument) for argument in arguments]
        )
