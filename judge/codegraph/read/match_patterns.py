"""Patterns of a `match` statement: the classes that they test and the names that they bind."""

import ast
from typing import TYPE_CHECKING

from judge.codegraph import ir

if TYPE_CHECKING:
    from judge.codegraph.read.expression_reader import ExpressionReader


def read_pattern(
    reader: "ExpressionReader", pattern: ast.pattern, subject: ir.Expr, key: str | None
) -> ir.Expr:
    """Read *pattern*, matched against *subject*, and return what is known of it then.

    *key* is the variable that holds the subject, when it is one.
    """
    match pattern:
        case ast.MatchClass():
            return _class_pattern(reader, pattern, subject, key)
        case ast.MatchAs(pattern=inner, name=name):
            known = subject if inner is None else read_pattern(reader, inner, subject, key)
            if name is not None:
                reader.bind(name, known)
            return known
        case ast.MatchOr(patterns=patterns):
            return ir.Alternatives(
                tuple(read_pattern(reader, one, subject, None) for one in patterns)
            )
        case ast.MatchValue(value=value):
            reader.visit(value)
        case ast.MatchStar(name=str(name)):
            reader.bind(name, ir.UNKNOWN)
        case ast.MatchSequence(patterns=patterns) | ast.MatchMapping(patterns=patterns):
            for one in patterns:
                read_pattern(reader, one, ir.UNKNOWN, None)
    return subject


def _class_pattern(
    reader: "ExpressionReader", pattern: ast.MatchClass, subject: ir.Expr, key: str | None
) -> ir.Expr:
    cls = reader.visit(pattern.cls)
    known = ir.Narrowed(subject, cls)
    if key is not None:
        reader.environment[key] = (reader.add_binding(known),)
    for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        reader.add_occurrence(inner.lineno, "references", ir.Attribute(ir.Call(cls), name))
        read_pattern(reader, inner, ir.Attribute(known, name), None)
    for inner in pattern.patterns:
        read_pattern(reader, inner, ir.UNKNOWN, None)
    return known
