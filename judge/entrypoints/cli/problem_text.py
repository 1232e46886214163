"""A JudgeError in words for the terminal, with all that helps to go on."""

from judge.entrypoints.cli.plain_text import one_line
from judge.errors import BadScope, ContentBlocked, InvalidReply, JudgeError, ModelUnavailable
from judge.types.results import HelpLine


def format_problem(error: JudgeError) -> str:
    """What happened and what to do next; some errors bring a list."""
    lines = [one_line(line) for line in str(error).splitlines()]
    match error:
        case ContentBlocked():
            lines += [f"  {format_help_line(line)}" for line in error.help_lines]
        case InvalidReply():
            lines += [f"  {one_line(str(defect))}" for defect in error.defects]
        case BadScope() if error.valid:
            lines.append(one_line(f"Valid are: {', '.join(error.valid)}."))
        case ModelUnavailable() if error.hint:
            lines.append(one_line(f"What to do: {error.hint}."))
        case _:
            pass
    return "\n".join(lines)


def format_help_line(line: HelpLine) -> str:
    """Somebody to turn to, on one line."""
    return one_line(", ".join(part for part in (line.title, line.phone, line.url) if part))
