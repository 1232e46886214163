"""`isinstance` and assignments to declared variables: which of the possible types remain."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.infer import types as ty

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator


class TypeNarrowing:
    """Compare types by the classes they belong to."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def fits(self, one: ty.Type, allowed: ty.Types) -> bool:
        """Whether *one* is an instance of a class that *allowed* has, or of a subclass."""
        return self._is_any(one, [other for other in allowed if isinstance(other, ty.Instance)])

    def narrowed(self, path: str, expr: ir.Narrowed) -> ty.Types:
        """What `isinstance` (or its failing) leaves of the types of an expression."""
        types = self._evaluator.types(path, expr.value)
        classes = _unpacked(self._evaluator.types(path, expr.classes))
        ours = [one for one in classes if isinstance(one, ty.ClassObject)]
        if not expr.holds:
            return tuple(one for one in types if not self._is_any(one, ours))
        return self._narrowed_to(types, ours) if ours else types

    def _narrowed_to(self, types: ty.Types, classes: list[ty.ClassObject]) -> ty.Types:
        """*types* that belong to *classes*, and those of *classes* that may be meant beside."""
        found = [one for one in types if self._is_any(one, classes)]
        if found and len(found) == len(types):
            return types
        for cls in classes:
            if any(self._is_any(one, [cls]) for one in found):
                continue
            if not types or not found or any(self._is_above(one, cls) for one in types):
                found.append(ty.instance_of(cls))
        return tuple(found)

    def _is_above(self, one: ty.Type, cls: ty.ClassObject) -> bool:
        is_subclass = self._evaluator.classes.is_subclass
        return isinstance(one, ty.Instance) and is_subclass(cls.cls, one.cls)

    def _is_any(self, one: ty.Type, classes: Iterable[ty.ClassObject | ty.Instance]) -> bool:
        """Whether *one* is an instance of one of *classes*."""
        return isinstance(one, ty.Instance) and any(
            self._evaluator.classes.is_subclass(one.cls, cls.cls) for cls in classes
        )


def instances(classes: ty.Types) -> ty.Types:
    """Instances of *classes*, which may come in tuples."""
    return tuple(
        ty.instance_of(one) for one in _unpacked(classes) if isinstance(one, ty.ClassObject)
    )


def _unpacked(types: ty.Types) -> ty.Types:
    """*types* with what stands in tuples and lists taken out of them."""
    found: list[ty.Type] = []
    for one in types:
        if isinstance(one, ty.Generic) and one.kind in ("tuple", "list"):
            found.extend(inner for argument in one.arguments for inner in _unpacked(argument))
        else:
            found.append(one)
    return tuple(found)
