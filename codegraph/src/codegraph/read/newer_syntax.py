"""Source in newer Python -> source that the running Python can parse, line for line.

Type parameters (`def f[T](…)`, `class A[T]:`, `type X = …`, from Python 3.12) are blanked out and
returned separately, so that projects with them are analysed precisely under Python 3.11 too.
"""

import io
import tokenize
from tokenize import TokenInfo
from typing import NamedTuple

#: Tokens after which a statement begins.
_BEFORE_STATEMENTS = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


class DowngradedSource(NamedTuple):
    """Source without type parameters; these, as line and source, by their definition's line."""

    text: str
    type_params: dict[int, list[tuple[int, str]]]


def downgraded(text: str) -> DowngradedSource:
    """*text* with type parameters blanked out; line numbers stay the same."""
    lines, type_params = text.split("\n"), dict[int, list[tuple[int, str]]]()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return DowngradedSource(text, {})
    for index, (word, name, after) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        is_first = not index or tokens[index - 1].type in _BEFORE_STATEMENTS
        is_alias = word.string == "type" and is_first and name.type == tokenize.NAME
        if after.string == "[" and (is_alias or word.string in ("def", "class")):
            end, parameters = _parameters(tokens, index + 2)
            _blank(lines, after.start, end)
            if not is_alias:
                type_params[after.start[0]] = parameters
        elif after.string != "=":
            continue
        if is_alias:
            # `X = …` is left; move it to the column where the statement began.
            _blank(lines, word.start, name.end)
            row, column = word.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + name.string + line[column + len(name.string) :]
    return DowngradedSource("\n".join(lines), type_params)


def _parameters(
    tokens: list[TokenInfo], start: int
) -> tuple[tuple[int, int], list[tuple[int, str]]]:
    """Where the bracket at token *start* closes; line and source of each parameter in it."""
    parts: list[list[TokenInfo]] = []
    depth = 0
    for token in tokens[start:]:
        depth += _BRACKETS.get(token.string, 0)
        if not depth:
            sources = [(p[0].start[0], " ".join(t.string for t in p)) for p in parts if p]
            return token.end, sources
        if depth == 1 and token.string in ("[", ","):
            parts.append([])
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            parts[-1].append(token)
    return tokens[start].start, []


def _blank(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Overwrite *start* to *end* with spaces; several lines are joined by backslashes."""
    for row in range(start[0] - 1, end[0]):
        line = lines[row]
        first = start[1] if row == start[0] - 1 else 0
        if row < end[0] - 1:
            lines[row] = f"{line[:first]} \\"
        else:
            lines[row] = line[:first] + " " * (end[1] - first) + line[end[1] :]
