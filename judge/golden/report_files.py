"""A run as files: an HTML page for people who don't code, and JUnit's XML for build servers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from judge.golden.cases import StoredCase
from judge.golden.replay import Outcome
from judge.golden.reports import (
    Section,
    as_words,
    beside_section,
    broken_rules,
    failure_lines,
    made_with,
)
from judge.golden.results import CaseScore, Result, Run, by_case

SAMPLES_SHOWN = 20
"""Answers shown for a case, those that failed first."""

RUNS_SHOWN = 30
"""Earlier runs in the line of a case, the newest last."""

STYLE = Path(__file__).with_name("report.css")

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STATES = {"failed": "Not as expected", "unscored": "No answer to score", "passed": "As expected"}

_READ = "help detail paraphrase summary personas other_side citations references warnings".split()
"""The keys of a body that a reader wants, in this order."""

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


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
    cases: Sequence[StoredCase], runs: Mapping[str, Run], history: Iterable[Run] = ()
) -> str:
    """One page without scripts or external resources; *history* has earlier runs, oldest first.

    All text of cases, pages and models in it is escaped.
    """
    rows = [(label, *made_with(run).values()) for label, run in runs.items()]
    headings = ("Run", "Date", "Model", "Prompt", "Sources", "Sources file")
    sections = [Section(headings=headings, rows=rows), *map(broken_rules, runs.values())]
    if len(runs) > 1:
        sections.insert(1, beside_section(runs))
    by_name = {stored.name: stored for stored in cases}
    earlier = [by_case(run) for run in history]
    articles = [
        _article(
            title,
            score,
            by_name[score.name],
            [run[score.name] for run in earlier if score.name in run],
        )
        for title, score in sorted(_scores(runs), key=lambda one: list(STATES).index(one[1].state))
    ]
    return f"""\
<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>Golden cases</title>
<style>{STYLE.read_text()}</style></head><body><h1>Golden cases</h1>
{"".join(map(_section, sections))}
<main>
{"".join(articles)}
</main></body></html>
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


def _details(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def _article(title: str, score: CaseScore, stored: StoredCase, history: Sequence[CaseScore]) -> str:
    case = stored.case
    replies = "recorded from a real model" if case.recorded else "written by hand"
    request = f"<p>{escape(case.input.context)}</p><p><b>{escape(case.input.query)}</b></p>"
    shown = sorted(score.results, key=lambda result: result.state == "passed")[:SAMPLES_SHOWN]
    return f"""\
<article class="{score.state}">
<h2>{escape(title)}</h2>
<p class="state">{STATES[score.state]}: {score} answers</p>
<p class="history">Over time: {"".join(map(_mark, history[-RUNS_SHOWN:]))}</p>
<p>{escape(case.about)}</p>
{_details(f"The dispute (the replies were {replies})", request)}
{"".join(part for result in shown for part in _answer_parts(result))}
</article>
"""


def _mark(score: CaseScore) -> str:
    """One run of a case in the line of its history."""
    run = score.results[0]
    title = f"{run.date}, {run.model or 'no model'}: {score} as expected"
    sign = str(score) if run.is_live else {"passed": "✓", "failed": "✗"}.get(score.state, "?")
    return f'<span class="{score.state}" title="{escape(title)}">{sign}</span> '


def _answer_parts(result: Result) -> Iterator[str]:
    """One answer: why it failed, the model's replies, and the text."""
    yield f"<h3>Answer {result.number}</h3>"
    if lines := "\n".join(failure_lines(result)):
        yield f"<pre>{escape(lines)}</pre>"
    if result.prompt_change:
        yield _details("Words changed in the prompt", f"<pre>{escape(result.prompt_change)}</pre>")
    if result.grades:
        graded = [(grade.question, str(grade)) for grade in result.grades]
        yield _section(Section(headings=("The model was asked", "It said"), rows=graded))
    if answer := result.answer:
        if rules := [f"{d.rule} in {d.field}: expected {d.expected}" for d in answer.defects]:
            replies = [(reply.text,) for reply in answer.replies]
            replied = Section(lines=rules, headings=("Replies",), rows=replies)
            yield _details("What the model replied, and the rules that it broke", _section(replied))
        yield _details("The answer", f"<pre>{escape(answer_text(answer))}</pre>")


def answer_text(answer: Outcome) -> str:
    """*answer* for people: what it says, with its citations, references and warnings."""
    return "\n".join(_outline({key: answer.body[key] for key in _READ if answer.body.get(key)}))


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
