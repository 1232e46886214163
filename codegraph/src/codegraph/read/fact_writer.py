"""The base of all readers: adds scopes, bindings and occurrences to the facts of a file.

At the end it keeps the occurrences that may refer to a symbol. A name that one scope binds both by
a definition or import and by assignment is one symbol: `f = None` after `except ImportError`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from codegraph import ir
from codegraph.facts import FileFacts, LexicalScope, Occurrence, ScopeKind, VariableSymbol

#: Definitions with which the other bindings of the name in its scope share one symbol.
_DEFINITIONS = (ir.FunctionBinding, ir.ClassBinding, ir.ImportFrom)
#: The first and the last line, counted from 1.
Span = tuple[int, int]


class FactWriter:
    """Add to *facts*, within the current scope."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.scopes, self.bindings = facts.scopes, facts.bindings
        self.occurrences = facts.occurrences
        self.scope = 0
        #: The scope of the enclosing definition, to which occurrences belong; never a block.
        self.enclosing = 0
        #: Module variables and class attributes, with the lines of their first assignment.
        self.variables: dict[tuple[int, str], Span] = {}
        #: The bindings of definitions, imports, module variables and attributes; see `finish`.
        self._symbol_bindings: set[int] = set()
        #: The lines of the assignment being read; None outside one.
        self._assignment_span: Span | None = None

    def bind(self, name: str, value: ir.Binding) -> int:
        """Bind *name* to *value* in the current scope and return the binding's index."""
        index = self.add_binding(value)
        self.add_name(self.scope, name, index)
        return index

    def add_binding(self, value: ir.Binding) -> int:
        """Append *value* to the bindings and return its index."""
        self.bindings.append(value)
        return len(self.bindings) - 1

    def add_name(self, scope: int, name: str, index: int) -> None:
        """Enter binding number *index* under *name* in the symbol table of *scope*."""
        self.scopes[scope].names.setdefault(name, []).append(index)
        if self.scopes[scope].kind in ("module", "class"):
            self.add_variable(scope, name)

    def add_variable(self, scope: int, name: str) -> None:
        """Add the variable or attribute *name* of *scope*, when an assignment is being read."""
        if self._assignment_span is not None:
            # Function bodies are read later, in any order; the first line is the definition.
            first_span = self.variables.get((scope, name), self._assignment_span)
            self.variables[scope, name] = min(first_span, self._assignment_span)

    def add_occurrence(self, line: int, kind: str, target: ir.Target) -> None:
        """Record that *target* is named on *line*; local variables are filtered out later."""
        self.occurrences.append(Occurrence(line, self.enclosing, kind, target))

    def set_occurrence_kind(self, kind: str, expr: ir.Expr, first: int) -> None:
        """Set the kind of the occurrence of *expr*, or of what it subscripts, from *first* on."""
        named = expr.receiver if isinstance(expr, ir.Subscript) else expr
        for index in range(len(self.occurrences) - 1, first - 1, -1):
            if self.occurrences[index].target is named:
                self.occurrences[index] = replace(self.occurrences[index], kind=kind)
                break

    def add_scope(self, kind: ScopeKind, name: str, line: int, span: Span) -> int:
        """Add a scope inside the current one, without entering it, and return its index."""
        self.scopes.append(LexicalScope(kind, name, self.scope, line, span))
        return len(self.scopes) - 1

    @contextmanager
    def assigning(self, first: int, last: int) -> Iterator[None]:
        """Until the block ends, names that are bound become variables defined on these lines."""
        outer, self._assignment_span = self._assignment_span, (first, last)
        yield
        self._assignment_span = outer

    def finish(self) -> FileFacts:
        """Complete the facts, once the whole file has been read, and return them."""
        facts = self.facts
        facts.variables += [
            VariableSymbol(scope, name, span)
            for (scope, name), span in self.variables.items()
            if name != "__all__"
            and not any(
                isinstance(self.bindings[index], ir.DEFINING_BINDINGS)
                for index in self.scopes[scope].names.get(name, ())
            )
        ]
        self._symbol_bindings = {
            index
            for scope, name in {(v.scope, v.name) for v in facts.variables}
            for index in self.scopes[scope].names.get(name, ())
        }
        self._symbol_bindings.update(
            i for i, value in enumerate(self.bindings) if isinstance(value, ir.DEFINING_BINDINGS)
        )
        facts.occurrences = list(self._occurrences_of_symbols())
        return facts

    # --- the occurrences of symbols ---------------------------------------------------------

    def _occurrences_of_symbols(self) -> Iterator[Occurrence]:
        """The occurrences that may refer to a symbol, with all bindings that its name may have."""
        shared = self._shared_definitions()
        for occurrence in self.occurrences:
            target = self._without_narrowing(occurrence.target)
            if isinstance(target, ir.Variable):
                definitions = [d for b in target.bindings for d in shared.get(b, ())]
                if definitions:
                    target = ir.Variable(tuple(dict.fromkeys([*target.bindings, *definitions])))
                elif self._symbol_bindings.isdisjoint(target.bindings):
                    continue
            elif isinstance(target, ir.Name) and not self._names_a_symbol(target):
                continue
            yield replace(occurrence, target=target)

    def _without_narrowing(self, target: ir.Target) -> ir.Target:
        """*target*, or the variable or name that it was before tests narrowed its type."""
        match target:
            case ir.Variable(bindings=(index,)):
                match self.bindings[index]:
                    case ir.Narrowed(value=ir.Variable() | ir.Name() as value):
                        return self._without_narrowing(value)
        return target

    def _shared_definitions(self) -> dict[int, list[int]]:
        """For each binding beside a definition of the same name and scope: those definitions."""
        shared: dict[int, list[int]] = {}
        for scope in self.scopes:
            for indices in scope.names.values():
                if len(indices) > 1:
                    defining = [i for i in indices if isinstance(self.bindings[i], _DEFINITIONS)]
                    shared.update(dict.fromkeys(set(indices).difference(defining), defining))
        return shared

    def _names_a_symbol(self, name: ir.Name) -> bool:
        """Whether looking *name* up finds more than a local variable."""
        index = name.scope
        while index >= 0:
            scope = self.scopes[index]
            if name.name in scope.names and scope.kind != "class":
                return not self._symbol_bindings.isdisjoint(scope.names[name.name])
            index = scope.parent
        return bool(self.facts.star_imports)
