"""Text of pages, models and people, and of our errors, made safe for a terminal."""

import re
import unicodedata
from textwrap import fill
from typing import TYPE_CHECKING

from judge.errors import BadScope, InvalidReply, JudgeError, ModelUnavailable

if TYPE_CHECKING:
    from judge.types.results import HelpLine

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor moves
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
"""Terminal control sequences and their parameters (ECMA-48); each alternative takes linear time."""

_LINE_END = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")


def one_line(text: str) -> str:
    """*text* on one line, without control sequences of terminals."""
    return " ".join(_visible(_ESCAPES.sub("", text)).split())


def plain_lines(text: str) -> str:
    """*text* with its lines and indents, without control sequences of terminals."""
    lines = _LINE_END.split(_ESCAPES.sub("", text))
    return "\n".join("\t".join(map(_visible, line.split("\t"))) for line in lines)


def _visible(text: str) -> str:
    """*text* without format characters (Cf), and with a space for each control character."""
    return "".join(
        c if c.isprintable() else "" if unicodedata.category(c) == "Cf" else " " for c in text
    )


def wrapped(text: str, width: int, indent: str = "", hanging: str | None = None) -> str:
    """*text* in lines of at most *width* columns; a longer word, such as a URL, stays whole."""
    return fill(
        one_line(text),
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def format_problem(error: JudgeError) -> str:
    """What happened and what to do next; some errors add a list."""
    lines = [one_line(line) for line in str(error).splitlines()]
    match error:
        case InvalidReply():
            lines += [f"  {one_line(str(defect))}" for defect in error.defects]
        case BadScope() if error.valid:
            lines.append(one_line(f"Valid are: {', '.join(error.valid)}."))
        case ModelUnavailable() if error.hint:
            lines.append(one_line(f"What to do: {error.hint}."))
        case _:
            pass
    lines += [f"  {format_help_line(line)}" for line in error.help_lines]
    return "\n".join(lines)


def format_help_line(line: "HelpLine") -> str:
    """A help line as one line of text."""
    return one_line(", ".join(part for part in (line.title, line.phone, line.url) if part))
