"""What containers, context managers and awaitables hold: their elements, items and results."""

from typing import TYPE_CHECKING

from codegraph import ir
from codegraph.infer import types as ty

if TYPE_CHECKING:
    from codegraph.infer.type_evaluator import TypeEvaluator

_ITERABLE = ("list", "set", "iterator", "generator", "dict")
_ASYNC_ITERABLE = ("aiterator", "generator")


class ContainerTypes:
    """Infer the types inside containers; *evaluator* infers those of the repository's classes."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def unwrapped(self, types: ty.Types, how: str) -> ty.Types:
        """What `for`, `async for`, `with`, `async with` or `await` (*how*) yields from *types*."""
        if how == "await":
            return self.awaited(types)
        unwrap = self._entered if how.endswith("with") else self._elements_of
        return ty.union(unwrap(t, is_async=how.startswith("async")) for t in types)

    def elements(self, types: ty.Types, *, is_async: bool = False) -> ty.Types:
        """The elements over which a `for` or `async for` iterates."""
        return ty.union(self._elements_of(t, is_async=is_async) for t in types)

    def _elements_of(self, type_: ty.Type, *, is_async: bool = False) -> ty.Types:
        match type_:
            case ty.Generic(kind="tuple"):
                return ty.union(type_.arguments)
            case ty.Generic(kind=kind):
                iterable = _ASYNC_ITERABLE if is_async else _ITERABLE
                return type_.argument(0) if kind in iterable else ()
            case ty.ClassObject(cls=cls) if self._evaluator.classes.is_enum(cls):
                return (ty.instance_of(type_),)
            case ty.Instance():
                return () if is_async else self._iterated(type_)
        return ()

    def _iterated(self, type_: ty.Instance) -> ty.Types:
        method_result = self._evaluator.calls.method_result
        elements = ty.union(
            method_result(iterator, "__next__")
            if isinstance(iterator, ty.Instance)
            else self._elements_of(iterator)
            for iterator in method_result(type_, "__iter__")
        )
        return elements or method_result(type_, "__getitem__")

    def item(self, types: ty.Types, index: int | None) -> ty.Types:
        """The types of `types[index]`; *index* is None when it is no literal integer."""
        return ty.union(self._item_of(t, index) for t in types)

    def _item_of(self, type_: ty.Type, index: int | None) -> ty.Types:
        match type_:
            case ty.Generic(kind="dict"):
                return type_.argument(1)
            case ty.Generic(kind=kind, arguments=parts):
                if kind == "tuple" and index is not None and -len(parts) <= index < len(parts):
                    return parts[index]
                return self._elements_of(type_)
            case ty.Instance():
                if index is not None and (field := self._field_name(type_, index)):
                    return self._evaluator.members.attribute_types(type_, field)
                result = self._evaluator.calls.method_result(type_, "__getitem__")
                bases = self._evaluator.members.generic_bases(type_) if not result else ()
                return result or ty.union(self._item_of(base, index) for base in bases)
        return ()

    def _field_name(self, type_: ty.Instance, index: int) -> str:
        """The name of field number *index* of a named tuple; empty for other classes."""
        classes, resolver = self._evaluator.classes, self._evaluator.resolver
        if "typing.NamedTuple" not in classes.external_base_names(type_.cls):
            return ""
        # The direct subclass of NamedTuple declares the fields, and comes last in the order.
        cls = classes.mro(type_.cls).ancestors[-1].cls
        fields = [
            name
            for name, indices in resolver.scope(cls).names.items()
            if isinstance(resolver.facts(cls.path).bindings[indices[0]], ir.AnnotatedVariable)
        ]
        return fields[index] if -len(fields) <= index < len(fields) else ""

    def awaited(self, types: ty.Types) -> ty.Types:
        """The results of `await` on *types*."""
        results = []
        for type_ in types:
            if isinstance(type_, ty.Generic) and type_.kind == "awaitable":
                results.append(type_.argument(0))
            elif isinstance(type_, ty.Instance):
                # `await` returns the third argument of `Generator[…, …, Result]`.
                generators = self._evaluator.calls.method_result(type_, "__await__")
                results += [g.argument(2) for g in generators if isinstance(g, ty.Generic)]
        return ty.union(results)

    def _entered(self, type_: ty.Type, *, is_async: bool) -> ty.Types:
        match type_:
            case ty.Generic(kind="context" | "acontext"):
                return type_.argument(0)
            case ty.Instance():
                method = "__aenter__" if is_async else "__enter__"
                entered = self._evaluator.calls.method_result(type_, method)
                return self.awaited(entered) if is_async else entered
        return ()

    def results(self, functions: ty.Types) -> ty.Types:
        """The results of calling *functions*."""
        return ty.union(self._evaluator.calls.result(t) for t in functions)
