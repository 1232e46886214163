"""A run as files: an HTML page for people who don't code, and JUnit's XML for build servers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from judge.golden.cases import StoredCase
from judge.golden.reports import Section, as_words, failure_lines, made_with
from judge.golden.results import CaseScore, Result, Run, by_case

SAMPLES_SHOWN = 20  # for a case, those that failed first
RUNS_SHOWN = 30
STYLE = Path(__file__).with_name("report.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STATES = {"failed": "Not as expected", "unscored": "No answer to score", "passed": "As expected"}
_SIGNS = {"failed": "✗", "unscored": "?", "passed": "✓"}

_READ = "help detail paraphrase summary personas other_side citations references warnings".split()
# What XML 1.0 cannot hold, not even escaped:
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _scores(runs: Mapping[str, Run]) -> list[tuple[str, CaseScore]]:
    """A title and the score of each case in each run."""
    return [
        (f"{score.name} ({label})" if label else score.name, score)
        for label, run in runs.items()
        for score in by_case(run).values()
    ]


def as_junit(runs: Mapping[str, Run]) -> bytes:
    """One test case for each golden case; an unscored case is an error, not a failure."""
    scores = _scores(runs)
    states = Counter(score.state for _, score in scores)
    counts = {"tests": len(scores), "failures": states["failed"], "errors": states["unscored"]}
    attributes = {"name": "judge golden"} | {key: str(n) for key, n in counts.items()}
    suite = ET.Element("testsuite", attributes)
    for title, score in scores:
        case = ET.SubElement(suite, "testcase", classname="golden", name=_safe(title))
        if score.state != "passed":
            kind = "failure" if score.state == "failed" else "error"
            lines = (line for result in score.results for line in failure_lines(result))
            ET.SubElement(case, kind, message=f"{score} passed").text = _safe("\n".join(lines))
    ET.indent(suite)
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _safe(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def as_html(
    cases: Sequence[StoredCase],
    runs: Mapping[str, Run],
    summary: Iterable[Section] = (),
    history: Iterable[Run] = (),
) -> str:
    """One page without scripts or external resources; *history* has earlier runs, oldest first.

    All text of cases, pages and models in it is escaped.
    """
    rows = [(label, *made_with(run).values()) for label, run in runs.items()]
    headings = ("Run", "Date", "Model", "Prompt", "Sources", "Sources file")
    made = Section(headings=headings, rows=rows)
    by_name = {stored.name: stored for stored in cases}
    over_time: dict[str, list[str]] = {stored.name: [] for stored in cases}
    for score in (score for run in history for score in by_case(run).values()):
        sign = str(score) if score.results[0].is_live else _SIGNS[score.state]
        over_time.setdefault(score.name, []).append(sign)
    articles = [
        _article(title, score, by_name[score.name], over_time[score.name][-RUNS_SHOWN:])
        for title, score in sorted(_scores(runs), key=lambda one: list(STATES).index(one[1].state))
    ]
    return f"""\
<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>Golden cases</title>
<style>{STYLE.read_text()}</style></head><body><h1>Golden cases</h1>
{"".join(map(_section, (made, *summary)))}
<main>{"".join(articles)}</main></body></html>
"""


def _section(section: Section) -> str:
    """*section* as a title, paragraphs and a table."""
    parts = [f"<p>{escape(line)}</p>" for line in (section.title, *section.lines) if line]
    if section.rows:
        rows = [[escape(str(cell)) for cell in row] for row in section.rows]
        head = "".join(f"<th>{escape(heading)}</th>" for heading in section.headings)
        body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
        parts.append(f"<table><tr>{head}</tr>{body}</table>")
    return "".join(parts)


def _details(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def _article(title: str, score: CaseScore, stored: StoredCase, over_time: Sequence[str]) -> str:
    case = stored.case
    replies = "recorded from a real model" if case.recorded else "written by hand"
    about = f"The dispute (the replies were {replies})"
    asked = f"{case.input.context}\n\n{case.input.query}"
    state = f"{STATES[score.state]}: {score} answers."
    samples = sorted(score.results, key=lambda result: result.state == "passed")[:SAMPLES_SHOWN]
    return f"""\
<article class="{score.state}"><h2>{escape(title)}</h2>
{_section(Section(state, [f"Over time: {' '.join(over_time)}", case.about]))}
{_details(about, asked)}
{"".join(part for result in samples for part in _answer_parts(result))}
</article>
"""


def _answer_parts(result: Result) -> Iterator[str]:
    """One answer: why it failed, the model's replies, and the text."""
    yield f"<h3>Answer {result.number}</h3>"
    if lines := "\n".join(failure_lines(result)):
        yield f"<pre>{escape(lines)}</pre>"
    if result.prompt_change:
        yield _details("Words changed in the prompt", result.prompt_change)
    if result.grades:
        graded = [(grade.question, str(grade)) for grade in result.grades]
        yield _section(Section(headings=("The model was asked", "It said"), rows=graded))
    if answer := result.answer:
        if answer.defects:
            rules = [f"{d.rule} in {d.field}: expected {d.expected}" for d in answer.defects]
            replied = "\n\n".join((*rules, *(reply.text for reply in answer.replies)))
            yield _details("The rules that were broken, and what the model replied", replied)
        read = {key: answer.body[key] for key in _READ if answer.body.get(key)}
        yield _details("The answer", "\n".join(_outline(read)))


def _outline(value: Mapping[str, Any] | Sequence[Any], indent: str = "") -> Iterator[str]:
    """*value* as an indented list of its keys and texts."""
    items = value.items() if isinstance(value, Mapping) else [("-", item) for item in value]
    for key, below in items:
        mark = key if key == "-" else f"{key}:"
        if isinstance(below, Mapping | list):
            yield f"{indent}{mark}"
            yield from _outline(below, f"{indent}  ")
        else:
            yield f"{indent}{mark} {as_words(below)}"
