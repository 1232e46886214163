"""`isinstance` and assignments to declared variables: which of the possible types remain."""

from collections.abc import Iterable

from judge.codegraph.infer import types as ty
from judge.codegraph.infer.class_hierarchy import ClassHierarchy


def is_any(
    classes: ClassHierarchy, one: ty.Type, others: Iterable[ty.ClassObject | ty.Instance]
) -> bool:
    """Whether *one* is an instance of the class of one of *others*, or of a subclass."""
    return isinstance(one, ty.Instance) and any(
        classes.is_subclass(one.cls, other.cls) for other in others
    )


def narrowed(
    classes: ClassHierarchy, types: ty.Types, tested: ty.Types, *, holds: bool
) -> ty.Types:
    """What is left of *types* where `isinstance` with the classes *tested* holds, or fails."""
    ours = [one for one in ty.unpacked(tested) if isinstance(one, ty.ClassObject)]
    if not holds:
        return tuple(one for one in types if not is_any(classes, one, ours))
    if not ours:
        return types
    found = tuple(one for one in types if is_any(classes, one, ours))
    return found or tuple(ty.instance_of(cls) for cls in ours)
