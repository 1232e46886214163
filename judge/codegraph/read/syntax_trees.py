"""Small questions about syntax trees."""

import ast

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *[decorator.lineno for decorator in decorators]])


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The default of each parameter that has one, by name."""
    positional = [*arguments.posonlyargs, *arguments.args]
    found = dict(
        zip((p.arg for p in reversed(positional)), reversed(arguments.defaults), strict=False)
    )
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            found[parameter.arg] = default
    return found


def chain_key(node: ast.expr) -> str | None:
    """`a.b.c` for a chain of plain names, under which a narrowed type is kept; else None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (inner := chain_key(node.value)) is not None:
        return f"{inner}.{node.attr}"
    if isinstance(node, ast.NamedExpr):
        return node.target.id
    return None


def all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter, in the order of the signature."""
    rest = [arguments.vararg] if arguments.vararg else []
    keywords = [arguments.kwarg] if arguments.kwarg else []
    return [*arguments.posonlyargs, *arguments.args, *rest, *arguments.kwonlyargs, *keywords]


def instance_test(test: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
    """The subject and the classes of `isinstance(subject, classes)` or `type(subject) is X`."""
    if isinstance(test, ast.Call) and len(test.args) == 2:
        if isinstance(test.func, ast.Name) and test.func.id == "isinstance":
            return test.args[0], test.args[1]
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        left = test.left
        if (
            isinstance(test.ops[0], (ast.Is, ast.Eq))
            and isinstance(left, ast.Call)
            and isinstance(left.func, ast.Name)
            and left.func.id == "type"
            and len(left.args) == 1
        ):
            return left.args[0], test.comparators[0]
    return None, None


def is_named_like_a_class(function: ast.expr) -> bool:
    """Whether the last name of *function* is written as PEP 8 writes classes, or is `cls`."""
    name: str = getattr(function, "id", None) or getattr(function, "attr", None) or ""
    return name == "cls" or name.lstrip("_")[:1].isupper()


def parse_type_parameter(line: int, text: str) -> tuple[str, ast.expr | None]:
    """The name and the bound of a type parameter on *line*: `T`, `T: Base = int`, `*Ts`."""
    declared, _, bound = text.partition("=")[0].partition(":")
    return declared.strip("* "), parse_type(bound, line)


def parse_type(text: str, line: int) -> ast.expr | None:
    """The type that the string *text* on *line* names; None where it is no expression."""
    try:
        inner = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    for part in ast.walk(inner):
        if isinstance(part, ast.expr):
            part.lineno = part.end_lineno = line
    return inner
