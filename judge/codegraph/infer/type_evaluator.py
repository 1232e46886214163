"""Expressions -> types: the heart of "whose method is called here?".

Types come from annotations where there are any, else from what is assigned, returned and yielded.
Nothing is guessed: an expression whose type cannot be told has none, and what is asked of it
becomes a possible use, not an exact one. `members`, `calls`, `narrowing` and `containers` each
know one kind of expression and ask back here for the parts of it.
"""

from typing import Any

from judge.codegraph.facts import Expr
from judge.codegraph.infer.annotations import (
    AnnotationEvaluator,
    RecursionLimit,
    Type,
    Types,
    classes_of,
    substitute,
    union,
)
from judge.codegraph.infer.calls import CallEvaluator
from judge.codegraph.infer.class_hierarchy import ClassHierarchy
from judge.codegraph.infer.containers import ContainerTypes
from judge.codegraph.infer.member_access import MemberAccess
from judge.codegraph.infer.name_resolver import Declaration, NameResolver
from judge.codegraph.infer.narrowing import TypeNarrowing
from judge.codegraph.infer.pytest_fixtures import PytestFixtures

_LITERALS = {"str", "int", "float", "bool", "bytes", "complex"}


class TypeEvaluator:
    """Infer types in all files, remembering what it found."""

    def __init__(self, resolver: NameResolver, *, declared_for: str | None = None) -> None:
        """*declared_for*: the file that may rely on nothing but what is declared.

        Then functions that don't declare their results give nothing known, and a submodule is an
        attribute of its package only when that file or the package imports it.
        """
        self.resolver = resolver
        self.declared_for = declared_for
        self._depth = RecursionLimit()
        self.annotations = AnnotationEvaluator(resolver, self._depth)
        self.classes = ClassHierarchy(resolver, self.annotations, self._depth)
        self.members = MemberAccess(self)
        self.calls = CallEvaluator(self)
        self.narrowing = TypeNarrowing(self)
        self.containers = ContainerTypes(self)
        self._fixtures = PytestFixtures(self)
        self._known: dict[int, Types | None] = {}
        self._doubtful: list[tuple[dict[Any, Any], Any]] = []
        self._met_itself = False

    def types(self, path: str, expr: Expr) -> Types:
        """The types that *expr*, an expression of the file at *path*, may have."""
        key = id(expr)
        if key in self._known:
            known = self._known[key]
            self._met_itself |= known is None
            return known or ()
        if self._depth.is_exhausted():
            return ()
        self._known[key] = None
        self._depth.level += 1
        found = self._types(path, expr)
        self._depth.level -= 1
        self._known[key] = found
        if not found:
            self.doubt(self._known, key)
        if self._depth.level == 0 and self._met_itself:
            self._forget_doubtful()
        return found

    def doubt(self, known: dict[Any, Any], key: Any) -> None:
        """Note that nothing is *known* under *key*, perhaps because a question met itself.

        Types may depend on one another in a circle. What a question further down does not learn
        for that reason may be learnt when it is asked first.
        """
        if self._met_itself:
            self._doubtful.append((known, key))

    def _forget_doubtful(self) -> None:
        for known, key in self._doubtful:
            known.pop(key, None)
        self._doubtful.clear()
        self._met_itself = False

    def _types(self, path: str, expr: Expr) -> Types:  # noqa: C901, PLR0911, PLR0912 - a table
        match expr[0]:
            case "v" | "j":
                return union(self.bound(ref) for ref in self.resolver.bindings(path, expr))
            case "n":
                refs = iter(self.resolver.lookup(path, expr[1], expr[2]))
                return union(self.bound(ref, outside=True) for ref in refs)
            case "a":
                return union(
                    self.members.attribute(one, expr[2]) for one in self.types(path, expr[1])
                )
            case "c":
                return self.calls.call(path, expr)
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
                return self.narrowing.narrowed(path, expr)
            case "L":
                return (("B", "callable", self.types(path, expr[1])),)
            case "ann":
                return self._declared(path, expr, outside=False)
            case "Y":
                return self._sent(path, expr[1])
        return ()

    def bound(  # noqa: PLR0911 - a table
        self, ref: Declaration, receiver: Type | None = None, *, outside: bool = False
    ) -> Types:
        """The types of what a name is bound to.

        *outside*: seen from another scope, where only a declared type can be relied on.
        """
        path, value = ref
        match value[0]:
            case "def":
                return self.calls.decorated(path, value[1]) or (("F", path, value[1], receiver),)
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
        return tuple(one for one in assigned if self.narrowing.fits(one, allowed)) or allowed

    def _parameter(self, path: str, place: int, index: int) -> Types:
        function = self.resolver.scope(path, place)
        parameter = function.params[index]
        me = self.own_type(path, place) if index == 0 and parameter.kind == "p" else ()
        if parameter.annotation is not None:
            types = self.annotations.types(path, parameter.annotation)
            owner = self.own_type(path, place)
            found = substitute(types, {"Self": owner}) or me
            if parameter.kind == "*":
                return (("B", "list", found),)
            if parameter.kind == "**":
                return (("B", "dict", (("O", "builtins.str"),), found),)
            return found
        if me:
            return me
        if parameter.default is not None:
            return self.types(path, parameter.default)
        return self._fixtures.given(path, place, parameter.name) if not self.declared_for else ()

    def own_type(self, path: str, place: int) -> Types:
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
            made = self.annotations.types(path, expr)
            return classes_of(made) or tuple(("B", "callable", (one,)) for one in made) or types
        index = expr[2][2] if len(expr[2]) > 2 and expr[2][1] == "int" else None
        return self.containers.item(types, index)

    def _sent(self, path: str, place: int) -> Types:
        """What `yield` gives back: the second argument of a declared `Generator`."""
        returns = self.resolver.scope(path, place).returns
        types = self.annotations.types(path, returns) if returns is not None else ()
        return union(one[3] for one in types if one[0] == "B" and len(one) > 3)

    def _operation(self, path: str, expr: Expr) -> Types:
        left = self.types(path, expr[2])
        if expr[1] == "__or__" and any(one[0] in "CZ" for one in left):
            return union((left, self.types(path, expr[3])))
        found = union(self.calls.invoke(one, expr[1]) for one in left)
        if found or not left:
            return found
        if all(one[0] == "O" for one in left):
            reflected = expr[1].replace("__", "__r", 1)
            right = self.types(path, expr[3])
            return union(self.calls.invoke(one, reflected) for one in right) or left
        return tuple(one for one in left if one[0] == "B")
