"""All names met in a file -> the uses that may mean a symbol; mere variables are left out.

A name that one scope binds both by a definition or an import and in other ways is one symbol, as
it is for language servers: `try: from fast import f`, then `except ImportError: f = None`, or
`f = cached(f)` after `def f`. Every mention of it counts, assignments too.
"""

from judge.codegraph.facts import SYMBOL_TAGS, Expr, LexicalScope, Use

#: Bindings that give a name a meaning beyond the file's variables.
_DEFINING = frozenset({"def", "cls", "imp"})


class OccurrenceFilter:
    """Tell the uses of symbols apart, once a file has been read to its end."""

    def __init__(self, scopes: list[LexicalScope], values: list[Expr], *, has_stars: bool) -> None:
        self._scopes = scopes
        self._values = values
        self._has_stars = has_stars
        self._siblings = self._shared_names()

    def of(self, uses: list[Use]) -> list[Use]:
        """Those of *uses* that may mean a symbol, with all that their names may be bound to."""
        found = []
        for use in uses:
            fact = use[3]
            if fact[0] == "v":
                places = self._meant(fact)
                if places:
                    found.append((*use[:3], ("v", *places)))
            elif fact[0] != "n" or self._names_a_symbol(fact):
                found.append(use)
        return found

    def _shared_names(self) -> dict[int, list[int]]:
        """Each other binding of a defined name -> the definitions of that name in its scope."""
        siblings: dict[int, list[int]] = {}
        for scope in self._scopes:
            for places in scope.names.values():
                if len(places) > 1:
                    defining = [p for p in places if self._values[p][0] in _DEFINING]
                    others = [p for p in places if p not in defining] if defining else []
                    siblings.update(dict.fromkeys(others, defining))
        return siblings

    def _meant(self, fact: Expr) -> list[int]:
        """The bindings of the variable *fact* that matter, when one of them may be a symbol."""
        shared = [s for p in fact[1:] for s in self._siblings.get(p, ())]
        if shared or any(self._values[p][0] in SYMBOL_TAGS for p in fact[1:]):
            return list(dict.fromkeys([*fact[1:], *shared]))
        return []

    def _names_a_symbol(self, fact: Expr) -> bool:
        """Whether a name that was looked up turned out to be more than a variable."""
        place, name = fact[1], fact[2]
        while place >= 0:
            scope = self._scopes[place]
            if name in scope.names and scope.kind != "class":
                tags = (self._values[found] for found in scope.names[name])
                return any(value[0] in SYMBOL_TAGS for value in tags)
            place = scope.parent
        return self._has_stars
