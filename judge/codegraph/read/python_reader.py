"""Python source -> the facts of one file, the way into the reader."""

import ast
import hashlib

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, VariableSymbol, new_facts
from judge.codegraph.read.newer_syntax import downgraded
from judge.codegraph.read.occurrences import OccurrenceFilter
from judge.codegraph.read.statement_reader import StatementReader
from judge.codegraph.read.syntax_trees import first_line


def read_python(text: str) -> FileFacts:
    """The facts of the Python source *text*; raise SyntaxError when it does not parse."""
    tree, type_params = _parsed(text)
    # As the parser counts them: a form feed ends no line.
    lines = text.split("\n")
    facts = new_facts(len(lines) - (not lines[-1]) or 1)
    reader = StatementReader(facts, type_params)
    bound_by: dict[str, list[str]] = {}
    place, digest = (0, 0), ""
    for statement in tree.body:
        bound = reader.top_level(statement)
        if place != (place := (first_line(statement), statement.end_lineno or 0)):
            digest = _digest(lines[place[0] - 1 : place[1]])
        for name in bound:
            bound_by.setdefault(name, []).append(digest)
    facts.variables = [
        VariableSymbol(scope, name, span)
        for (scope, name), span in reader.variables.items()
        if name != "__all__" and not _is_defined(facts, scope, name)
    ]
    facts.occurrences = OccurrenceFilter(facts).of_symbols()
    facts.fingerprints = {name: _digest(sources) for name, sources in bound_by.items()}
    return facts


def _is_defined(facts: FileFacts, scope: int, name: str) -> bool:
    """Whether a definition or import of that name stands in the scope and is the symbol."""
    places = facts.scopes[scope].names.get(name, ())
    return any(isinstance(facts.bindings[place], ir.DEFINING_BINDINGS) for place in places)


def _parsed(text: str) -> tuple[ast.Module, dict[int, list[tuple[int, str]]]]:
    """The tree of *text* and, by line, type parameters that this Python cannot parse."""
    try:
        return ast.parse(text), {}
    except SyntaxError:
        newer = downgraded(text)
        if newer.text == text:
            raise
        return ast.parse(newer.text), newer.type_params


def _digest(sources: list[str]) -> str:
    text = "\n".join(sources).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=6).hexdigest()
