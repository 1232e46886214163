"""Attributes of a type: what they are bound to, and what types they have."""

from typing import TYPE_CHECKING, NamedTuple

from judge.codegraph.infer.annotations import Mapping, Type, Types, substitute, union
from judge.codegraph.infer.name_resolver import Declaration, declared
from judge.codegraph.infer.standard_library import CONTAINER_METHODS

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator


class Member(NamedTuple):
    """What an attribute is bound to, where, and how type variables read there."""

    ref: Declaration
    receiver: Type
    mapping: Mapping


class MemberAccess:
    """Look up attributes along the method resolution order."""

    def __init__(self, inference: "TypeEvaluator") -> None:
        self._inference = inference

    def find(self, one: Type, name: str) -> list[Member]:
        """What the attribute *name* of the type *one* is bound to."""
        match one[0]:
            case "I" | "C":
                return self.class_members(one, name, 0)
            case "super":
                return self.class_members(one[3], name, 1, after=(one[1], one[2]))
            case "M":
                refs = self._inference.resolver.member(one[1], name)
                return [Member(ref, one, {}) for ref in refs if self._is_imported(ref, one[1])]
            case "N":
                ref = self._inference.resolver.module("", f"{one[1]}.{name}")
                return [Member(ref, one, {})] if ref.value[0] != "ext" else []
            case "Z":
                return [Member(Declaration("", ("ext", f"{one[1]}.{name}")), one, {})]
        return []

    def _is_imported(self, ref: Declaration, package: str) -> bool:
        """Whether a submodule is imported where that matters; other things always are."""
        asking, resolver = self._inference.declared_for, self._inference.resolver
        if asking is None or ref.value[0] != "module":
            return True
        name = resolver.modules.names[ref.path]
        return resolver.imports_module(asking, name) or any(
            resolver.imports_module(path, name, inside=True) for path in (package, f"{package}i")
        )

    def class_members(
        self, one: Type, name: str, skip: int, after: tuple[str, int] | None = None
    ) -> list[Member]:
        """What *name* is bound to in the class of *one* or an ancestor.

        What methods assign to `self` does not hide a method or property of an ancestor. The first
        *skip* classes in lookup order are passed over, counted from the class *after* when it is
        given: that is how `super()` looks.
        """
        ancestors = self._inference.classes.lineage(one[1], one[2]).ancestors
        if after is not None:
            places = [n for n, a in enumerate(ancestors) if (a.path, a.scope) == after]
            ancestors = ancestors[places[0] if places else 0 :]
        own = dict(zip(self._inference.classes.parameters(one[1], one[2]), one[3], strict=False))
        assigned: list[Member] = []
        for path, scope, mapping in ancestors[skip:]:
            refs, is_in_body = self._bindings(path, scope, name)
            inner = {k: substitute(v, own) for k, v in mapping.items()} if mapping else own
            members = [Member(ref, one, inner) for ref in refs]
            if is_in_body:
                is_defined = any(ref.value[0] == "def" for ref in refs)
                return members if is_defined or not assigned else assigned
            assigned = assigned or members
        return assigned

    def _bindings(self, path: str, scope: int, name: str) -> tuple[list[Declaration], bool]:
        """What one class binds *name* to, and whether its body does, not its methods alone."""
        cls = self._inference.resolver.scope(path, scope)
        in_body = cls.names.get(name, [])
        in_methods = cls.attributes.get(name, [])
        if not in_body and not in_methods:
            return [], False
        facts = self._inference.resolver.load(path)
        assert facts is not None
        is_defined = any(facts.values[place][0] in ("def", "cls") for place in in_body)
        places = in_body if is_defined else in_body + in_methods
        return declared([Declaration(path, facts.values[place]) for place in places]), bool(in_body)

    def attribute(self, one: Type, name: str) -> Types:
        """The types of the attribute *name* of the type *one*."""
        if one[0] == "B":
            if (one[1], name) == ("raised", "value"):
                return one[2]  # type: ignore[no-any-return]
            known = (one[1], name) in CONTAINER_METHODS
            return (("method", one, name),) if known else ()
        if one[0] == "O":
            return (("method", one, name),)
        members = self.find(one, name)
        if one[0] in ("I", "C"):
            members = self._effective(members)
        found = union(self._member_types(member) for member in members)
        return found if members else self._implied(one, name)

    def _implied(self, one: Type, name: str) -> Types:
        """The types of an attribute that no class or module of ours binds."""
        if one[0] == "I" and name == "__class__":
            return (("C", *one[1:]),)
        if one[0] in ("C", "super") and name == "__new__":
            made = one[3] if one[0] == "super" else one
            return (("B", "callable", (("I", *made[1:]),)),)
        bases = self.containing(one) if one[0] == "I" else ()
        found = union(self.attribute(base, name) for base in bases)
        return found or self._made_up(one, name)

    def _made_up(self, one: Type, name: str) -> Types:
        """What `__getattr__` of a class or module is declared to give for *name*."""
        if name.startswith("__") or one[0] not in ("I", "M"):
            return ()
        functions = (
            m for member in self.find(one, "__getattr__") for m in self._member_types(member)
        )
        return union(
            self._inference.calls.result(function)
            for function in functions
            if function[0] == "F"
            and self._inference.resolver.scope(function[1], function[2]).returns is not None
        )

    def containing(self, one: Type) -> Types:
        """The containers that the class of the instance *one* derives from: `list[Row]`."""
        own = dict(zip(self._inference.classes.parameters(one[1], one[2]), one[3], strict=False))
        bases = self._inference.classes.lineage(one[1], one[2]).outside
        return substitute(tuple(base for base in bases if base[0] == "B"), own)

    def _effective(self, members: list[Member]) -> list[Member]:
        """Of several definitions of a method, those that decide its type."""
        defs = [m for m in members if m.ref.value[0] == "def"]
        if len(defs) < 2 or len(defs) != len(members):
            return members
        traits = [self._inference.classes.traits(m.ref.path, m.ref.value[1]) for m in defs]
        chosen = [m for m, t in zip(defs, traits, strict=True) if "overload" in t]
        chosen = chosen or [m for m, t in zip(defs, traits, strict=True) if "property" in t]
        return chosen or defs[-1:]

    def _member_types(self, member: Member) -> Types:
        ref, receiver, mapping = member
        tag = ref.value[0]
        if receiver[0] not in ("I", "C", "super"):
            return self._inference.bound(ref, outside=True)
        actual = receiver[3] if receiver[0] == "super" else receiver
        if tag == "def":
            if "property" in self._inference.classes.traits(ref.path, ref.value[1]):
                return self._inference.calls.result(("F", ref.path, ref.value[1], actual))
            return (("F", ref.path, ref.value[1], actual),)
        if tag == "ann":
            types = self._inference.annotations.types(ref.path, ref.value[1])
            found = substitute(types, {**mapping, "Self": (("I", *actual[1:]),)})
            return found or (self._inference.types(ref.path, ref.value[2]) if ref.value[2] else ())
        if tag not in ("cls", "imp") and self._inference.classes.is_enum(actual[1], actual[2]):
            return (("I", *actual[1:]),)
        return self._descriptor(self._inference.bound(ref, outside=True), actual)

    def _descriptor(self, types: Types, owner: Type) -> Types:
        """What `__get__` gives, for an attribute whose type has one."""
        if owner[0] != "I" or not any(
            one[0] == "I" and self.class_members(one, "__get__", 0) for one in types
        ):
            return types
        return union(self._inference.calls.invoke(one, "__get__") or (one,) for one in types)
