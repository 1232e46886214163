"""A run for people and build servers: the reasons of failures, an HTML page, and JUnit's XML."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from os.path import commonprefix
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from judge.golden.case_files import StoredCase
from judge.golden.case_runner import Outcome
from judge.golden.comparison import differences_in_words, side_by_side
from judge.golden.differences import Difference
from judge.golden.results import (
    RULE_HEADINGS,
    CaseScore,
    Result,
    Run,
    State,
    broken_rules,
    by_case,
)

MAX_VALUE = 240
"""Characters of a value that are shown, of which BEFORE stand before the first difference."""
BEFORE = 60

SAMPLES_SHOWN = 20
"""Answers shown for a case, those that failed first."""

RUNS_SHOWN = 30
"""Earlier runs in the line of a case, the newest last."""

STYLE = Path(__file__).with_name("report.css")

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

TITLES: Mapping[State, str] = {
    "failed": "not as expected",
    "unscored": "no answer to score",
    "passed": "as expected",
}

_READ = "help detail paraphrase summary personas other_side citations references warnings".split()
"""The keys of a body that a reader wants, in this order."""

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def failure_lines(result: Result) -> Iterator[str]:
    """Why *result* did not pass: the differences, and what the case lacks; nothing if it did."""
    if result.state == "passed":
        return
    if result.reason:
        yield f"unscored: {result.reason}"
    for difference in result.differences:
        yield from difference_lines(difference)
    if "prompt_digest" in result.failed:
        update = f"`judge golden update {result.case}`"
        yield f"The prompt has changed. If that is intended, {update} accepts it."
    yield from (f"The case does not have {part}." for part in result.missing)


def difference_lines(difference: Difference) -> list[str]:
    """Three lines: the field, what was expected (-) and what was found (+)."""
    expected, found = as_words(difference.expected), as_words(difference.found)
    start = len(commonprefix((expected, found)))  # noqa: RUF071 - of characters, not of paths
    around = max(0, start - BEFORE)
    return [
        difference.field,
        f"  - {_window(expected, around)}",
        f"  + {_window(found, around)}",
    ]


def as_words(value: object) -> str:
    """*value* for people: a text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _window(text: str, start: int) -> str:
    """*text*, or if it is too long to be shown, the part from *start*."""
    if len(text) <= MAX_VALUE:
        return text
    end = start + MAX_VALUE
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def as_junit(results: Run) -> bytes:
    """One test case for each golden case; an unscored case is an error, not a failure."""
    scores = by_case(results)
    states = Counter(score.state for score in scores)
    counts = {"tests": len(scores), "failures": states["failed"], "errors": states["unscored"]}
    suite = ET.Element(
        "testsuite", {"name": "judge golden", **{key: str(n) for key, n in counts.items()}}
    )
    for score in scores:
        case = ET.SubElement(suite, "testcase", classname="golden", name=_safe(score.name))
        if score.state != "passed":
            kind = "failure" if score.state == "failed" else "error"
            passed = f"{score.passes} of {len(score.results)} passed"
            lines = (line for result in score.results for line in failure_lines(result))
            ET.SubElement(case, kind, message=passed).text = _safe("\n".join(lines))
    ET.indent(suite)
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _safe(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def labelled(runs: Mapping[str, Run]) -> Run:
    """The results of *runs*; of several, each case has the label of its run."""
    return [
        replace(result, case=_labelled(result.case, label))
        for label, run in runs.items()
        for result in run
    ]


def _labelled(name: str, label: str) -> str:
    return f"{name} ({label})" if label else name


def as_html(
    cases: Sequence[StoredCase],
    runs: Mapping[str, Run],
    history: Mapping[str, Sequence[CaseScore]] = {},
) -> str:
    """One page without scripts or external resources; *history* has the scores of earlier runs.

    All text of cases, pages and models in it is escaped.
    """
    scores = sorted(by_case(labelled(runs)), key=lambda score: list(TITLES).index(score.state))
    counts = Counter(score.state for score in scores)
    labels = {"all": "all"} | {state: f"{TITLES[state]} ({counts[state]})" for state in TITLES}
    filters = (
        f'<input type="radio" name="only" id="only-{name}"{" checked" * (name == "all")}>'
        f'<label for="only-{name}">{label}</label>'
        for name, label in labels.items()
    )
    by_name = {_labelled(stored.name, label): stored for stored in cases for label in runs}
    articles = (
        _article(score, by_name[score.name], history.get(by_name[score.name].name, ()))
        for score in scores
    )
    paired = (f"<p>{escape(line)}</p>" for line in differences_in_words(runs))
    beside = _table(("Case", *runs), side_by_side(runs)) if len(runs) > 1 else ""
    return f"""\
<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>Golden cases</title>
<style>{STYLE.read_text()}</style></head><body><h1>Golden cases</h1>
{_table(("Date", "Model", "Prompt", "Sources"), map(_run_row, runs.values()))}
{beside}{"".join(paired)}
{"".join(_rules(run, label) for label, run in runs.items())}
{"".join(filters)}
<main>
{"".join(articles)}
</main></body></html>
"""


def _table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in body)}</table>"


def _details(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def _rules(run: Run, label: str) -> str:
    asked_again, rows = broken_rules(run)
    return f"<p>{escape(f'{label}: {asked_again}' if label else asked_again)}</p>" + (
        _table(RULE_HEADINGS, rows) if rows else ""
    )


def _run_row(run: Run) -> Sequence[str]:
    models = ", ".join(sorted({result.model for result in run if result.model}))
    sources = f"{run[0].sources_version} {run[0].sources_file}"
    return run[0].date, models, run[0].prompt_version, sources


def _article(score: CaseScore, stored: StoredCase, history: Sequence[CaseScore]) -> str:
    case, low, high = stored.case, *score.interval
    rate = f": {score.passes} of {score.scored} answers ({low:.0%} to {high:.0%} in the long run)"
    title = TITLES[score.state].capitalize() + rate * (len(score.results) > 1)
    replies = "recorded from a real model" if case.recorded else "written by hand"
    request = f"<p>{escape(case.input.context)}</p><p><b>{escape(case.input.query)}</b></p>"
    shown = sorted(score.results, key=lambda result: result.state == "passed")[:SAMPLES_SHOWN]
    before = "".join(map(_mark, history[-RUNS_SHOWN:]))
    return f"""\
<article class="{score.state}">
<h2>{escape(score.name)}</h2>
<p class="state">{title}</p><p class="history">Over time: {before}</p><p>{escape(case.about)}</p>
{_details(f"The dispute (the replies were {replies})", request)}
{"".join(part for result in shown for part in _answer_parts(result))}
</article>
"""


def _mark(score: CaseScore) -> str:
    """One run of a case in the line of its history."""
    run = score.results[0]
    passed = f"{score.passes} of {len(score.results)}"
    title = f"{run.date}, {run.model or 'no model'}: {passed} as expected"
    sign = passed if run.is_live else {"passed": "✓", "failed": "✗"}.get(score.state, "?")
    return f'<span class="{score.state}" title="{escape(title)}">{sign}</span> '


def _answer_parts(result: Result) -> Iterator[str]:
    """One answer: why it failed, the model's replies, and the text."""
    yield f"<h3>Answer {result.number}</h3>"
    if result.state != "passed":
        yield f"<pre>{escape(chr(10).join(failure_lines(result)))}</pre>"
    if result.prompt_change:
        yield _details("Words changed in the prompt", f"<pre>{escape(result.prompt_change)}</pre>")
    if result.grades:
        graded = [(grade.question, str(grade)) for grade in result.grades]
        yield _table(("The model was asked", "It said"), graded)
    if answer := result.answer:
        if defects := [f"{d.rule} in {d.field}: expected {d.expected}" for d in answer.defects]:
            replies = [(reply.text,) for reply in answer.replies]
            parts = _table(("Rules that were broken",), zip(defects)) + _table(
                ("Replies",), replies
            )
            yield _details("What the model replied", parts)
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
