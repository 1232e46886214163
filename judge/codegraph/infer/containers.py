"""Types that hold other types: elements, items, context managers and awaitables."""

from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.infer import types as ty

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_ITERABLE = ("list", "set", "iterator", "generator", "dict")
_ASYNC_ITERABLE = ("aiterator", "generator")


class ContainerTypes:
    """Look into containers; *evaluator* answers for the classes of the repository."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def taken(self, types: ty.Types, how: str) -> ty.Types:
        """What `for`, `with`, both with `async` before them, or `await` takes from *types*."""
        if how == "await":
            return self.awaited(types)
        take = self._entered if how.endswith("with") else self._elements
        return ty.union(take(one, is_async=how.startswith("async")) for one in types)

    def elements(self, types: ty.Types, *, is_async: bool = False) -> ty.Types:
        """What a `for` or `async for` over *types* meets."""
        return ty.union(self._elements(one, is_async=is_async) for one in types)

    def _elements(self, one: ty.Type, *, is_async: bool = False) -> ty.Types:
        match one:
            case ty.Generic(kind="tuple"):
                return ty.union(one.arguments)
            case ty.Generic(kind=kind):
                return (
                    one.argument(0) if kind in (_ASYNC_ITERABLE if is_async else _ITERABLE) else ()
                )
            case ty.ClassObject(cls=cls) if self._evaluator.classes.is_enum(cls):
                return (ty.instance_of(one),)
            case ty.Instance():
                return () if is_async else self._iterated(one)
        return ()

    def _iterated(self, one: ty.Instance) -> ty.Types:
        invoke = self._evaluator.calls.invoke
        found = ty.union(
            invoke(iterator, "__next__")
            if isinstance(iterator, ty.Instance)
            else self._elements(iterator)
            for iterator in invoke(one, "__iter__")
        )
        return found or invoke(one, "__getitem__")

    def item(self, types: ty.Types, index: int | None) -> ty.Types:
        """What `types[index]` gives; *index* is None when it is no plain number."""
        return ty.union(self._item(one, index) for one in types)

    def _item(self, one: ty.Type, index: int | None) -> ty.Types:
        match one:
            case ty.Generic(kind="tuple", arguments=parts) if index is not None and -len(
                parts
            ) <= index < len(parts):
                return parts[index]
            case ty.Generic(kind="dict"):
                return one.argument(1)
            case ty.Generic():
                return self._elements(one)
            case ty.Instance() if index is not None and (field := self._field(one, index)):
                return self._evaluator.members.attribute(one, field)
            case ty.Instance():
                found = self._evaluator.calls.invoke(one, "__getitem__")
                bases = self._evaluator.members.generic_bases(one) if not found else ()
                return found or ty.union(self._item(base, index) for base in bases)
        return ()

    def _field(self, one: ty.Instance, index: int) -> str:
        """The name of field number *index* of a named tuple; empty when there is none."""
        classes, resolver = self._evaluator.classes, self._evaluator.resolver
        if "typing.NamedTuple" not in classes.external_base_names(one.cls):
            return ""
        # The class that derives from it directly has the fields, and is the last in the order.
        cls = classes.mro(one.cls).ancestors[-1].cls
        fields = [
            name
            for name, places in resolver.scope(cls).names.items()
            if isinstance(resolver.facts(cls.path).bindings[places[0]], ir.AnnotatedVariable)
        ]
        return fields[index] if -len(fields) <= index < len(fields) else ""

    def awaited(self, types: ty.Types) -> ty.Types:
        """What `await` gives."""
        found = []
        for one in types:
            if isinstance(one, ty.Generic) and one.kind == "awaitable":
                found.append(one.argument(0))
            elif isinstance(one, ty.Instance):
                # The third argument of `Generator[…, …, Result]` is what `await` gives.
                made = self._evaluator.calls.invoke(one, "__await__")
                found += [m.argument(2) for m in made if isinstance(m, ty.Generic)]
        return ty.union(found)

    def _entered(self, one: ty.Type, *, is_async: bool) -> ty.Types:
        match one:
            case ty.Generic(kind="context" | "acontext"):
                return one.argument(0)
            case ty.Instance():
                method = "__aenter__" if is_async else "__enter__"
                made = self._evaluator.calls.invoke(one, method)
                return self.awaited(made) if is_async else made
        return ()

    def results(self, functions: ty.Types) -> ty.Types:
        """What calls of *functions* give."""
        return ty.union(self._evaluator.calls.result(one) for one in functions)
