"""Types that hold other types: elements, items, context managers and awaitables."""

from typing import TYPE_CHECKING

from judge.codegraph.infer.annotations import Type, Types, classes_of, union
from judge.codegraph.infer.standard_library import CONTAINER_METHODS

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_ELEMENT_KINDS = ("list", "set", "iterator", "generator", "dict")


class ContainerTypes:
    """Look into containers; *inference* answers for the classes of the repository."""

    def __init__(self, inference: "TypeEvaluator") -> None:
        self._inference = inference

    def elements(self, types: Types, is_async: bool = False) -> Types:  # noqa: FBT001, FBT002 - from a tag
        """What a `for` or `async for` over *types* meets."""
        return union(self._elements(one, is_async=is_async) for one in types)

    def _elements(self, one: Type, *, is_async: bool) -> Types:
        if one[0] == "B":
            if one[1] == "tuple":
                return union(one[2:])
            wanted = ("aiterator", "generator") if is_async else _ELEMENT_KINDS
            return one[2] if one[1] in wanted and len(one) > 2 else ()
        if one[0] == "C" and self._inference.classes.is_enum(one[1], one[2]):
            return (("I", *one[1:]),)
        if one[0] != "I":
            return ()
        if is_async:
            return self._async_elements(one)
        made = self._inference.calls.invoke(one, "__iter__")
        found = union(
            self._inference.calls.invoke(m, "__next__")
            if m[0] == "I"
            else self._elements(m, is_async=False)
            for m in made
        )
        return found or self._inherited(one) or self._inference.calls.invoke(one, "__getitem__")

    def _async_elements(self, one: Type) -> Types:
        made = self._inference.calls.invoke(one, "__aiter__")
        return union(
            self.awaited(self._inference.calls.invoke(m, "__anext__"))
            if m[0] == "I"
            else self._elements(m, is_async=True)
            for m in made
        )

    def _inherited(self, one: Type) -> Types:
        """The elements of a class that derives from a container, such as `list[Row]`."""
        bases = self._inference.members.containing(one)
        return union(self._elements(base, is_async=False) for base in bases)

    def item(self, types: Types, index: int | None) -> Types:
        """What `types[index]` gives; *index* is None when it is no plain number."""
        return union(self._item(one, index) for one in types)

    def _item(self, one: Type, index: int | None) -> Types:
        parts: tuple[Types, ...] = one[2:]
        if one[0] == "B":
            if one[1] == "tuple" and index is not None and -len(parts) <= index < len(parts):
                return parts[index]
            if one[1] == "dict":
                return parts[1] if len(parts) > 1 else ()
            return self._elements(one, is_async=False)
        if one[0] != "I":
            return ()
        found = self._inference.calls.invoke(one, "__getitem__")
        return found or union(
            self._item(base, index) for base in self._inference.members.containing(one)
        )

    def part(self, types: Types, index: int) -> Types:
        """What the target number *index* gets when *types* are unpacked."""
        return union(self._part(one, index) for one in types)

    def _part(self, one: Type, index: int) -> Types:
        bases = self._inference.members.containing(one) if one[0] == "I" else (one,)
        found = union(self._item(b, index) for b in bases if b[:2] == ("B", "tuple"))
        return found or self._elements(one, is_async=False)

    def awaited(self, types: Types) -> Types:
        """What `await` gives."""
        found = []
        for one in types:
            if one[0] == "B" and one[1] == "awaitable":
                found.append(one[2] if len(one) > 2 else ())
            elif one[0] == "I":
                made = self._inference.calls.invoke(one, "__await__")
                found.append(union(m[4] for m in made if m[0] == "B" and len(m) > 4))
                found.append(self.awaited(self._inference.members.containing(one)))
        return union(found)

    def entered(self, types: Types, is_async: bool) -> Types:  # noqa: FBT001 - from a tag
        """What `with` or `async with` binds."""
        found = []
        for one in types:
            if one[0] == "B" and one[1] in ("context", "acontext"):
                found.append(one[2] if len(one) > 2 else ())
            elif one[0] == "I":
                method = "__aenter__" if is_async else "__enter__"
                made = self._inference.calls.invoke(one, method)
                found.append(self.awaited(made) if is_async else made)
            elif one[0] == "O":
                found.append((one,))
        return union(found)

    def method(self, one: Type, name: str) -> Types:  # noqa: PLR0911 - a table
        """The types of a call of the method *name* of a container."""
        arguments = one[2:] if one[0] == "B" else ()
        first: Types = arguments[0] if arguments else ()
        last: Types = arguments[1] if len(arguments) > 1 else ()
        match CONTAINER_METHODS.get((one[1], name)):
            case "0":
                return first
            case "1":
                return last
            case "same":
                return (one,)
            case "values":
                return (("B", "iterator", last),)
            case "keys":
                return (("B", "iterator", first),)
            case "item":
                return (("B", "tuple", first, last),)
            case "items":
                return (("B", "iterator", (("B", "tuple", first, last),)),)
            case "awaitable":
                return (("B", "awaitable", first),)
            case "get":
                return (("B", "awaitable", first), *first)
        return ()

    def made(self, rule: str, arguments: list[Types]) -> Types:  # noqa: C901, PLR0911, PLR0912 - a table
        """The types of a call from outside whose result follows *rule*."""
        first = arguments[0] if arguments else ()
        match rule:
            case "same":
                return first
            case "element":
                return self.elements(first)
            case "async element":
                return (("B", "awaitable", self.elements(first, is_async=True)),)
            case "element or argument":
                return union(arguments) if len(arguments) > 1 else self.elements(first)
            case "list" | "set" | "iterator":
                return (("B", rule, self.elements(first)),)
            case "second iterator":
                return (("B", "iterator", self.elements(union(arguments[1:2]))),)
            case "chain":
                return (("B", "iterator", union(self.elements(one) for one in arguments)),)
            case "enumerate":
                return (("B", "iterator", (("B", "tuple", (), self.elements(first)),)),)
            case "zip":
                pairs = [self.elements(one) for one in arguments]
                return (("B", "iterator", (("B", "tuple", *pairs),)),)
            case "map" | "partial":
                return self._applied(rule, first)
            case "dict":
                return tuple(one for one in first if one[1:2] == ("dict",)) or (("B", "dict"),)
            case "defaultdict":
                made = union(self._inference.calls.result(one) for one in first)
                return (("B", "dict", (), made),)
            case "type":
                return classes_of(first)
            case "raises":
                raised = self._inference.narrowing.instances(first)
                return (("B", "context", (("B", "raised", raised),)),)
            case "awaited":
                return self.awaited(first)
            case "awaitable":
                return (("B", "awaitable", self.awaited(first)),)
        return (("B", rule, first),)

    def _applied(self, rule: str, functions: Types) -> Types:
        made = union(self._inference.calls.result(one) for one in functions)
        return (("B", "iterator" if rule == "map" else "callable", made),)
