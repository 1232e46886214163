"""Keeps the occurrences that may refer to a symbol, and drops those of local variables.

A name that one scope binds both by a definition or import and by assignment is one symbol, as it
is for language servers: `try: from fast import f`, then `except ImportError: f = None`, or
`f = cached(f)` after `def f`. Every occurrence of it counts, assignments too.
"""

from msgspec.structs import replace

from codegraph import ir
from codegraph.facts import FileFacts, Occurrence

#: Definitions with which the other bindings of the name in its scope share one symbol.
_DEFINITIONS = (ir.FunctionBinding, ir.ClassBinding, ir.ImportFrom)


class OccurrenceFilter:
    """Select the occurrences of symbols, once the whole file has been read."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._scopes, self._bindings = facts.scopes, facts.bindings
        self._shared_definitions = self._find_shared_definitions()
        self._variables = {
            index
            for scope, name in {(v.scope, v.name) for v in facts.variables}
            for index in facts.scopes[scope].names.get(name, ())
        }

    def of_symbols(self) -> list[Occurrence]:
        """The occurrences that may refer to a symbol, with all bindings that its name may have."""
        selected = []
        for occurrence in self._facts.occurrences:
            target = self._without_narrowing(occurrence.target)
            match target:
                case ir.Variable(bindings=bindings):
                    if symbols := self._symbol_bindings(bindings):
                        selected.append(replace(occurrence, target=ir.Variable(symbols)))
                case ir.Name() as name if not self._names_a_symbol(name):
                    pass
                case _ if target is not occurrence.target:
                    selected.append(replace(occurrence, target=target))
                case _:
                    selected.append(occurrence)
        return selected

    def _without_narrowing(self, target: ir.Target) -> ir.Target:
        """*target*, or the variable or name that it was before tests narrowed its type."""
        match target:
            case ir.Variable(bindings=(index,)):
                match self._bindings[index]:
                    case ir.Narrowed(value=ir.Variable() | ir.Name() as value):
                        return self._without_narrowing(value)
        return target

    def _find_shared_definitions(self) -> dict[int, list[int]]:
        """For each binding beside a definition of the same name and scope: those definitions."""
        shared: dict[int, list[int]] = {}
        for scope in self._scopes:
            for indices in scope.names.values():
                if len(indices) > 1:
                    defining = [i for i in indices if isinstance(self._bindings[i], _DEFINITIONS)]
                    if defining:
                        shared.update(dict.fromkeys(set(indices).difference(defining), defining))
        return shared

    def _symbol_bindings(self, bindings: tuple[int, ...]) -> tuple[int, ...]:
        """*bindings* and the definitions that share their symbol; empty for a local variable."""
        shared = [d for b in bindings for d in self._shared_definitions.get(b, ())]
        if shared:
            return tuple(dict.fromkeys([*bindings, *shared]))
        return bindings if any(map(self._may_be_symbol, bindings)) else ()

    def _may_be_symbol(self, index: int) -> bool:
        return index in self._variables or isinstance(self._bindings[index], ir.DEFINING_BINDINGS)

    def _names_a_symbol(self, name: ir.Name) -> bool:
        """Whether looking *name* up finds more than a local variable."""
        index = name.scope
        while index >= 0:
            scope = self._scopes[index]
            if name.name in scope.names and scope.kind != "class":
                return any(map(self._may_be_symbol, scope.names[name.name]))
            index = scope.parent
        return bool(self._facts.star_imports)
