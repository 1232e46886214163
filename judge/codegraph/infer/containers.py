"""Types that hold other types: elements, items, context managers and awaitables."""

from typing import TYPE_CHECKING

from judge.codegraph.infer.narrowing import instances
from judge.codegraph.infer.standard_library import CONTAINER_METHODS
from judge.codegraph.infer.types import (
    ClassObject,
    ExternalInstance,
    Generic,
    Instance,
    Type,
    Types,
    classes_of,
    generic,
    instance_of,
    union,
)

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_ITERABLE = ("list", "set", "iterator", "generator", "dict")
_ASYNC_ITERABLE = ("aiterator", "generator")


class ContainerTypes:
    """Look into containers; *evaluator* answers for the classes of the repository."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def elements(self, types: Types, *, is_async: bool = False) -> Types:
        """What a `for` or `async for` over *types* meets."""
        return union(self._elements(one, is_async=is_async) for one in types)

    def _elements(self, one: Type, *, is_async: bool = False) -> Types:
        match one:
            case Generic(kind="tuple"):
                return union(one.arguments)
            case Generic(kind=kind):
                return (
                    one.argument(0) if kind in (_ASYNC_ITERABLE if is_async else _ITERABLE) else ()
                )
            case ClassObject(cls=cls) if self._evaluator.classes.is_enum(cls):
                return (instance_of(one),)
            case Instance():
                return () if is_async else self._iterated(one)
        return ()

    def _iterated(self, one: Instance) -> Types:
        invoke = self._evaluator.calls.invoke
        found = union(
            invoke(iterator, "__next__")
            if isinstance(iterator, Instance)
            else self._elements(iterator)
            for iterator in invoke(one, "__iter__")
        )
        return found or invoke(one, "__getitem__")

    def item(self, types: Types, index: int | None) -> Types:
        """What `types[index]` gives; *index* is None when it is no plain number."""
        return union(self._item(one, index) for one in types)

    def _item(self, one: Type, index: int | None) -> Types:
        match one:
            case Generic(kind="tuple", arguments=parts) if index is not None and -len(
                parts
            ) <= index < len(parts):
                return parts[index]
            case Generic(kind="dict"):
                return one.argument(1)
            case Generic():
                return self._elements(one)
            case Instance():
                found = self._evaluator.calls.invoke(one, "__getitem__")
                bases = self._evaluator.members.generic_bases(one) if not found else ()
                return found or union(self._item(base, index) for base in bases)
        return ()

    def awaited(self, types: Types) -> Types:
        """What `await` gives."""
        found = []
        for one in types:
            if isinstance(one, Generic) and one.kind == "awaitable":
                found.append(one.argument(0))
            elif isinstance(one, Instance):
                # The third argument of `Generator[…, …, Result]` is what `await` gives.
                made = self._evaluator.calls.invoke(one, "__await__")
                found += [m.argument(2) for m in made if isinstance(m, Generic)]
        return union(found)

    def entered(self, types: Types, *, is_async: bool) -> Types:
        """What `with` or `async with` binds."""
        return union(self._entered(one, is_async=is_async) for one in types)

    def _entered(self, one: Type, *, is_async: bool) -> Types:
        match one:
            case Generic(kind="context" | "acontext"):
                return one.argument(0)
            case Instance():
                method = "__aenter__" if is_async else "__enter__"
                made = self._evaluator.calls.invoke(one, method)
                return self.awaited(made) if is_async else made
            case ExternalInstance():
                return (one,)
        return ()

    def method_result(self, receiver: Generic, name: str) -> Types:  # noqa: PLR0911 - a table
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
                return generic("iterator", last)
            case "keys":
                return generic("iterator", first)
            case "item":
                return generic("tuple", first, last)
            case "items":
                return generic("iterator", generic("tuple", first, last))
            case "awaitable":
                return generic("awaitable", first)
            case "get":
                return (*generic("awaitable", first), *first)
        return ()

    def external_result(self, rule: str, arguments: list[Types]) -> Types:  # noqa: C901, PLR0911, PLR0912 - a table
        """The types of a call from outside whose result follows *rule*."""
        first = arguments[0] if arguments else ()
        match rule:
            case "same":
                return first
            case "element":
                return self.elements(first)
            case "async element":
                return generic("awaitable", self.elements(first, is_async=True))
            case "element or argument":
                return union(arguments) if len(arguments) > 1 else self.elements(first)
            case "list" | "set" | "iterator":
                return generic(rule, self.elements(first))
            case "second iterator":
                return generic("iterator", self.elements(union(arguments[1:2])))
            case "chain":
                return generic("iterator", union(self.elements(one) for one in arguments))
            case "enumerate":
                return generic("iterator", generic("tuple", (), self.elements(first)))
            case "zip":
                pairs = [self.elements(one) for one in arguments]
                return generic("iterator", generic("tuple", *pairs))
            case "map":
                return generic("iterator", self._results(first))
            case "partial":
                return generic("callable", self._results(first))
            case "dict":
                given = (one for one in first if isinstance(one, Generic) and one.kind == "dict")
                return tuple(given) or generic("dict")
            case "defaultdict":
                return generic("dict", (), self._results(first))
            case "type":
                return classes_of(first)
            case "raises":
                return generic("context", generic("raised", instances(first)))
            case "awaited":
                return self.awaited(first)
            case "awaitable":
                return generic("awaitable", self.awaited(first))
        return generic(rule, first)

    def _results(self, functions: Types) -> Types:
        return union(self._evaluator.calls.result(one) for one in functions)
