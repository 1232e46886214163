"""Python source -> the facts of one file, the way into the reader."""

import ast

from judge.codegraph.facts import FileFacts, new_facts
from judge.codegraph.read.newer_syntax import downgraded
from judge.codegraph.read.statement_reader import StatementReader
from judge.codegraph.read.syntax_trees import first_line
from judge.codegraph.source_text import content_hash


def read_python(text: str) -> FileFacts:
    """The facts of the Python source *text*; raise SyntaxError when it does not parse."""
    tree, type_params = _parsed(text)
    # As the parser counts them: a form feed ends no line.
    lines = text.split("\n")
    reader = StatementReader(new_facts(len(lines) - (not lines[-1]) or 1), type_params)
    place, digest = (0, 0), ""
    for statement in tree.body:
        reader.top_level(statement)
        if place != (place := (first_line(statement), statement.end_lineno or 0)):
            source = "\n".join(lines[place[0] - 1 : place[1]])
            digest = content_hash(source.encode("utf-8", "surrogatepass"))
        reader.end_statement(digest)
    return reader.end_file()


def _parsed(text: str) -> tuple[ast.Module, dict[int, list[tuple[int, str]]]]:
    """The tree of *text* and, by line, type parameters that this Python cannot parse."""
    try:
        return ast.parse(text), {}
    except SyntaxError:
        newer = downgraded(text)
        if newer.text == text:
            raise
        return ast.parse(newer.text), newer.type_params
