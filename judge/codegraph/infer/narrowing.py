"""`isinstance` and assignments to declared variables: which of the possible types remain."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judge.codegraph.facts import Expr
from judge.codegraph.infer.annotations import Type, Types

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator


class TypeNarrowing:
    """Compare types by the classes they belong to."""

    def __init__(self, inference: "TypeEvaluator") -> None:
        self._inference = inference

    def fits(self, one: Type, allowed: Types) -> bool:
        """Whether *one* is an instance of a class that *allowed* has, or of a subclass."""
        return one[0] == "I" and any(
            other[0] == "I"
            and self._inference.classes.is_subclass(one[1], one[2], (other[1], other[2]))
            for other in allowed
        )

    def narrowed(self, path: str, expr: Expr) -> Types:
        """What `isinstance` (or its failing) leaves of the types of an expression."""
        types = self._inference.types(path, expr[1])
        classes = self.flat(self._inference.types(path, expr[2]))
        ours = [one for one in classes if one[0] == "C"]
        if expr[0] == "!":
            return tuple(one for one in types if not self.is_any(one, ours))
        if not classes:
            return types
        kept = [one for one in types if self.is_any(one, ours)]
        if kept and len(kept) == len(types):
            return types
        for cls in ours:
            if not any(k[0] == "I" and self.is_any(k, [cls]) for k in kept):
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
        outside = self._inference.classes.lineage(one[1], one[2]).outside
        named = {base[1].rpartition(".")[2] for base in outside if base[0] in "OB"}
        return bool(names & named) or any(
            cls[0] == "Z" and cls[1].startswith(("collections.abc.", "typing.")) for cls in classes
        )

    def flat(self, types: Types) -> Types:
        """*types* with what stands in tuples and lists taken out of them."""
        found: list[Type] = []
        for one in types:
            if one[0] == "B" and one[1] in ("tuple", "list"):
                found.extend(inner for argument in one[2:] for inner in self.flat(argument))
            else:
                found.append(one)
        return tuple(found)

    def is_any(self, one: Type, classes: Iterable[Type]) -> bool:
        """Whether *one* is an instance of one of *classes*."""
        return one[0] == "I" and any(
            self._inference.classes.is_subclass(one[1], one[2], (cls[1], cls[2])) for cls in classes
        )

    def _is_above(self, one: Type, cls: Type) -> bool:
        return self._inference.classes.is_subclass(cls[1], cls[2], (one[1], one[2]))

    def instances(self, classes: Types) -> Types:
        """Instances of *classes*, which may come in tuples."""
        return tuple(("I", *cls[1:]) for cls in self.flat(classes) if cls[0] == "C")
