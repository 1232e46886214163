"""Helpers for the syntax trees of Python's `ast`."""

import ast
from collections.abc import Iterator

from codegraph.facts import ParameterKind

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *[decorator.lineno for decorator in decorators]])


def each_parameter(
    arguments: ast.arguments,
) -> Iterator[tuple[ParameterKind, ast.arg, ast.expr | None]]:
    """Kind, name and default of every parameter, in the order of the signature."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(positional) - len(arguments.defaults))
    for parameter, default in zip(positional, [*without, *arguments.defaults], strict=True):
        yield "p", parameter, default
    if arguments.vararg:
        yield "*", arguments.vararg, None
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield "k", parameter, default
    if arguments.kwarg:
        yield "**", arguments.kwarg, None


def chain_key(node: ast.expr) -> str | None:
    """The environment's key for a variable or member access chain (`a.b.c`); None for others."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (inner := chain_key(node.value)) is not None:
        return f"{inner}.{node.attr}"
    if isinstance(node, ast.NamedExpr):
        return node.target.id
    return None


def is_named_like_a_class(function: ast.expr) -> bool:
    """Whether the last name of *function* is capitalised, as PEP 8 names classes, or is `cls`."""
    name: str = getattr(function, "id", None) or getattr(function, "attr", None) or ""
    return name == "cls" or name.lstrip("_")[:1].isupper()


def parse_type(text: str, line: int) -> ast.expr | None:
    """The type written in the string *text* on *line*; None when it is no expression."""
    try:
        inner = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    for part in ast.walk(inner):
        if isinstance(part, ast.expr):
            part.lineno = part.end_lineno = line
    return inner


def fixture_name(decorator: ast.expr) -> str:
    """`x` of a decorator like `@pytest.fixture(name="x")`; else empty."""
    match decorator:
        case ast.Call(func=ast.Attribute(attr="fixture") | ast.Name(id="fixture")):
            for keyword in decorator.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value or "")
    return ""
