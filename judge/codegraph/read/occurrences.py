"""All names met in a file -> those that may mean a symbol; variables of functions are left out.

A name that one scope binds both by a definition or an import and in other ways is one symbol, as
it is for language servers: `try: from fast import f`, then `except ImportError: f = None`, or
`f = cached(f)` after `def f`. Every mention of it counts, assignments too.
"""

from msgspec.structs import replace

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, Occurrence

#: Bindings that give a name a meaning beyond the file's variables.
_DEFINING = (ir.FunctionBinding, ir.ClassBinding, ir.ImportFrom)


class OccurrenceFilter:
    """Tell the occurrences of symbols apart, once a file has been read to its end."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._scopes, self._bindings = facts.scopes, facts.bindings
        self._defined_beside = self._shared_names()
        self._variables = {
            place
            for scope, name in {(one.scope, one.name) for one in facts.variables}
            for place in facts.scopes[scope].names.get(name, ())
        }

    def of_symbols(self) -> list[Occurrence]:
        """Those that may mean a symbol, each with all that its name may be bound to."""
        found = []
        for occurrence in self._facts.occurrences:
            target = self._before_tests(occurrence.target)
            match target:
                case ir.Variable(bindings=bindings):
                    if meant := self._meant(bindings):
                        found.append(replace(occurrence, target=ir.Variable(meant)))
                case ir.Name() as name if not self._names_a_symbol(name):
                    pass
                case _ if target is not occurrence.target:
                    found.append(replace(occurrence, target=target))
                case _:
                    found.append(occurrence)
        return found

    def _before_tests(self, target: ir.Target) -> ir.Target:
        """What is named by a variable that tests such as `isinstance` have narrowed."""
        match target:
            case ir.Variable(bindings=(place,)):
                known = self._bindings[place]
                if isinstance(known, ir.Narrowed) and isinstance(
                    known.value, ir.Variable | ir.Name
                ):
                    return self._before_tests(known.value)
        return target

    def _shared_names(self) -> dict[int, list[int]]:
        """Each other binding of a defined name -> the definitions of that name in its scope."""
        found: dict[int, list[int]] = {}
        for scope in self._scopes:
            for places in scope.names.values():
                if len(places) > 1:
                    defining = [p for p in places if isinstance(self._bindings[p], _DEFINING)]
                    if defining:
                        found.update(dict.fromkeys(set(places).difference(defining), defining))
        return found

    def _meant(self, bindings: tuple[int, ...]) -> tuple[int, ...]:
        """The bindings of a variable that matter, when one of them may be a symbol."""
        shared = [s for p in bindings for s in self._defined_beside.get(p, ())]
        if shared:
            return tuple(dict.fromkeys([*bindings, *shared]))
        return bindings if any(map(self._may_be_symbol, bindings)) else ()

    def _may_be_symbol(self, place: int) -> bool:
        return place in self._variables or isinstance(self._bindings[place], ir.DEFINING_BINDINGS)

    def _names_a_symbol(self, name: ir.Name) -> bool:
        """Whether a name that was looked up turned out to be more than a variable."""
        place = name.scope
        while place >= 0:
            scope = self._scopes[place]
            if name.name in scope.names and scope.kind != "class":
                found = scope.names[name.name]
                return any(map(self._may_be_symbol, found))
            place = scope.parent
        return bool(self._facts.stars)
