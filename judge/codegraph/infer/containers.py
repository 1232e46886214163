"""Types that hold other types: elements, items, context managers and awaitables."""

from typing import TYPE_CHECKING

from judge.codegraph.infer import types as ty
from judge.codegraph.infer.narrowing import instances
from judge.codegraph.infer.standard_library import CONTAINER_METHODS

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_ITERABLE = ("list", "set", "iterator", "generator", "dict")
_ASYNC_ITERABLE = ("aiterator", "generator")


class ContainerTypes:
    """Look into containers; *evaluator* answers for the classes of the repository."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

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
            case ty.Instance():
                found = self._evaluator.calls.invoke(one, "__getitem__")
                bases = self._evaluator.members.generic_bases(one) if not found else ()
                return found or ty.union(self._item(base, index) for base in bases)
        return ()

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

    def entered(self, types: ty.Types, *, is_async: bool) -> ty.Types:
        """What `with` or `async with` binds."""
        return ty.union(self._entered(one, is_async=is_async) for one in types)

    def _entered(self, one: ty.Type, *, is_async: bool) -> ty.Types:
        match one:
            case ty.Generic(kind="context" | "acontext"):
                return one.argument(0)
            case ty.Instance():
                method = "__aenter__" if is_async else "__enter__"
                made = self._evaluator.calls.invoke(one, method)
                return self.awaited(made) if is_async else made
            case ty.ExternalInstance():
                return (one,)
        return ()

    def method_result(self, receiver: ty.Generic, name: str) -> ty.Types:  # noqa: PLR0911 - a table
        """The types of a call of the method *name* of a container."""
        first, last = receiver.argument(0), receiver.argument(1)
        match CONTAINER_METHODS.get(f"{receiver.kind}.{name}"):
            case "first argument":
                return first
            case "second argument":
                return last
            case "same":
                return (receiver,)
            case "values":
                return ty.generic("iterator", last)
            case "keys":
                return ty.generic("iterator", first)
            case "item":
                return ty.generic("tuple", first, last)
            case "items":
                return ty.generic("iterator", ty.generic("tuple", first, last))
            case "awaitable":
                return ty.generic("awaitable", first)
            case "get":
                return (*ty.generic("awaitable", first), *first)
        return ()

    def external_result(self, rule: str, arguments: list[ty.Types]) -> ty.Types:  # noqa: C901, PLR0911, PLR0912 - a table
        """The types of a call from outside whose result follows *rule*."""
        first = arguments[0] if arguments else ()
        match rule:
            case "same":
                return first
            case "element":
                return self.elements(first)
            case "async element":
                return ty.generic("awaitable", self.elements(first, is_async=True))
            case "element or argument":
                return ty.union(arguments) if len(arguments) > 1 else self.elements(first)
            case "list" | "set" | "iterator":
                return ty.generic(rule, self.elements(first))
            case "second iterator":
                return ty.generic("iterator", self.elements(ty.union(arguments[1:2])))
            case "chain":
                return ty.generic("iterator", ty.union(self.elements(one) for one in arguments))
            case "enumerate":
                return ty.generic("iterator", ty.generic("tuple", (), self.elements(first)))
            case "zip":
                pairs = [self.elements(one) for one in arguments]
                return ty.generic("iterator", ty.generic("tuple", *pairs))
            case "map":
                return ty.generic("iterator", self._results(first))
            case "partial":
                return ty.generic("callable", self._results(first))
            case "dict":
                given = (one for one in first if isinstance(one, ty.Generic) and one.kind == "dict")
                return tuple(given) or ty.generic("dict")
            case "defaultdict":
                return ty.generic("dict", (), self._results(first))
            case "type":
                return ty.classes_of(first)
            case "raises":
                return ty.generic("context", ty.generic("raised", instances(first)))
            case "awaited":
                return self.awaited(first)
            case "awaitable":
                return ty.generic("awaitable", self.awaited(first))
        return ty.generic(rule, first)

    def _results(self, functions: ty.Types) -> ty.Types:
        return ty.union(self._evaluator.calls.result(one) for one in functions)
