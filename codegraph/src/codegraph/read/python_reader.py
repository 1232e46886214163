"""Python source -> the facts of one file: the entry point of the Python reader."""

import ast

from codegraph.facts import FileFacts, new_facts
from codegraph.read.statement_reader import StatementReader
from codegraph.read.syntax_trees import first_line
from codegraph.source_text import content_hash


def read_python(text: str) -> FileFacts:
    """The facts of the Python source *text*; raise SyntaxError when it does not parse."""
    tree = ast.parse(text)
    # Split as the parser counts lines: `splitlines` would also split at a form feed.
    lines = text.split("\n")
    reader = StatementReader(new_facts(len(lines) - (not lines[-1]) or 1))
    span, digest = (0, 0), ""
    for statement in tree.body:
        reader.read_top_level(statement)
        if span != (span := (first_line(statement), statement.end_lineno or 0)):
            source = "\n".join(lines[span[0] - 1 : span[1]])
            digest = content_hash(source.encode("utf-8", "surrogatepass"))
        reader.end_statement(digest)
    return reader.finish()
