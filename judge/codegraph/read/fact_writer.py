"""What readers of all languages share: they add bindings and occurrences to the facts of a file."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, LexicalScope, Occurrence, ScopeKind, VariableSymbol
from judge.codegraph.read.occurrences import OccurrenceFilter
from judge.codegraph.source_text import content_hash

#: The first line and the last.
Span = tuple[int, int]


class FactWriter:
    """Add to *facts*, within the scope at hand."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.scopes, self.bindings = facts.scopes, facts.bindings
        self.occurrences = facts.occurrences
        self.scope = 0
        #: The definition that what is named belongs to.
        self.source = 0
        #: Variables of the module and attributes of classes, with where they are first assigned.
        self.variables: dict[tuple[int, str], Span] = {}
        #: The lines of the assignment that is being read.
        self._assigned_at: Span | None = None
        #: Names of the module that the current statement binds, in order.
        self._module_names: dict[str, None] = {}
        #: For each name of the module, digests of the statements that bind it.
        self._bound_by: dict[str, list[str]] = {}

    def bind(self, name: str, value: ir.Binding) -> int:
        """Let *name* stand for *value* in this scope."""
        place = self.add_binding(value)
        self.add_name(self.scope, name, place)
        return place

    def add_binding(self, value: ir.Binding) -> int:
        """Keep *value* and return its place among the bindings."""
        self.bindings.append(value)
        return len(self.bindings) - 1

    def add_name(self, scope: int, name: str, place: int) -> None:
        """Note that *scope* binds *name* to the binding at *place*."""
        self.scopes[scope].names.setdefault(name, []).append(place)
        if scope == 0:
            self._module_names[name] = None
        if self.scopes[scope].kind in ("module", "class"):
            self.add_variable(scope, name)

    def add_variable(self, scope: int, name: str) -> None:
        """Note that an assignment gives *scope* the variable or attribute *name*."""
        if self._assigned_at is not None:
            # Bodies are read later and in no order; the first line is the definition.
            known = self.variables.get((scope, name), self._assigned_at)
            self.variables[scope, name] = min(known, self._assigned_at)

    def add_occurrence(self, line: int, kind: str, target: ir.Target) -> None:
        """Note that *target* is named here; mere variables are left out later."""
        self.occurrences.append(Occurrence(line, self.source, kind, target))

    def as_kind(self, kind: str, fact: ir.Expr, first: int) -> None:
        """Call the occurrence of *fact*, or what it subscripts, from *first* on one of *kind*."""
        named = fact.receiver if isinstance(fact, ir.Subscript) else fact
        for place in range(len(self.occurrences) - 1, first - 1, -1):
            if self.occurrences[place].target is named:
                self.occurrences[place] = replace(self.occurrences[place], kind=kind)
                break

    def open_scope(self, kind: ScopeKind, name: str, line: int, span: Span) -> int:
        """Add a scope within the one at hand; its place."""
        self.scopes.append(LexicalScope(kind, name, self.scope, line, span))
        return len(self.scopes) - 1

    @contextmanager
    def assigning(self, first: int, last: int) -> Iterator[None]:
        """Names bound in this block, on these lines, are variables that others may name."""
        outer, self._assigned_at = self._assigned_at, (first, last)
        yield
        self._assigned_at = outer

    def end_statement(self, digest: str) -> None:
        """Note which names of the module a statement with this *digest* of its source binds."""
        for name in self._module_names:
            self._bound_by.setdefault(name, []).append(digest)
        self._module_names.clear()

    def end_file(self) -> FileFacts:
        """The facts, when all of the file has been read."""
        facts = self.facts
        facts.variables += [
            VariableSymbol(scope, name, span)
            for (scope, name), span in self.variables.items()
            if name != "__all__" and not self._is_defined(scope, name)
        ]
        facts.occurrences = OccurrenceFilter(facts).of_symbols()
        facts.fingerprints = {
            name: content_hash("".join(digests).encode())[:12]
            for name, digests in self._bound_by.items()
        }
        return facts

    def _is_defined(self, scope: int, name: str) -> bool:
        """Whether a definition or import of that name stands in the scope and is the symbol."""
        places = self.scopes[scope].names.get(name, ())
        return any(isinstance(self.bindings[place], ir.DEFINING_BINDINGS) for place in places)
