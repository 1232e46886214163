"""Python source -> the facts of one file, the way into the reader."""

import ast
import hashlib

from judge.codegraph.facts import FileFacts
from judge.codegraph.read.newer_syntax import downgraded
from judge.codegraph.read.occurrences import OccurrenceFilter
from judge.codegraph.read.statement_reader import StatementReader
from judge.codegraph.read.syntax_trees import first_line


def read_python(text: str) -> FileFacts:
    """The facts of the Python source *text*; raise SyntaxError when it does not parse."""
    tree, type_params = _parsed(text)
    reader = StatementReader(type_params)
    lines = text.splitlines()
    bound_by: dict[str, list[str]] = {}
    for statement in tree.body:
        bound = reader.top_level(statement)
        source = "\n".join(lines[first_line(statement) - 1 : statement.end_lineno])
        for name in bound:
            bound_by.setdefault(name, []).append(source)
    reader.module.span = (1, max(len(lines), 1))
    symbols = OccurrenceFilter(reader.scopes, reader.bindings, has_stars=bool(reader.stars))
    return FileFacts(
        scopes=reader.scopes,
        bindings=reader.bindings,
        occurrences=symbols.of_symbols(reader.occurrences),
        stars=reader.stars,
        exports=reader.exports,
        fingerprints={name: _digest(sources) for name, sources in bound_by.items()},
    )


def _parsed(text: str) -> tuple[ast.Module, dict[int, list[str]]]:
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
