"""A run for people and build servers: the reasons of failures, an HTML page, and JUnit's XML."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from os.path import commonprefix
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from judge.golden.case_reader import StoredCase
from judge.golden.comparison import AnswerChange, DiffPart, answer_changes, diff, prompt_changes
from judge.golden.differences import Difference
from judge.golden.replay import ReplayedReply
from judge.golden.results import Answer, CaseScore, Result, Run, State, by_case

MAX_VALUE = 240
"""Characters of a value that are shown, of which BEFORE stand before the first difference."""
BEFORE = 60

SAMPLES_SHOWN = 20
"""Answers shown for a case, those that failed first."""

STYLE = Path(__file__).with_name("report.css")

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

TITLES: Mapping[State, str] = {
    "failed": "not as expected",
    "unscored": "no answer to score",
    "passed": "as expected",
}

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def failure_lines(result: Result) -> Iterator[str]:
    """Why *result* did not pass: the differences, and what the case lacks; nothing if it did."""
    if result.has_passed:
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
        if score.state == "passed":
            continue
        kind = "failure" if score.state == "failed" else "error"
        failure = ET.SubElement(
            case, kind, message=f"{score.passes} of {len(score.results)} passed"
        )
        failure.text = _safe("\n".join(line for r in score.results for line in failure_lines(r)))
    ET.indent(suite)
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _safe(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def as_html(cases: Sequence[StoredCase], results: Run, before: Run = ()) -> str:
    """One page without scripts or external resources, with what changed since the run *before*.

    All text of cases, pages and models in it is escaped.
    """
    scores = sorted(by_case(results), key=lambda score: list(TITLES).index(score.state))
    changes = answer_changes(before, results)
    changed = {change.after.case for change in changes if change.is_change}
    by_number = {(change.after.case, change.after.number): change for change in changes}
    counts = Counter(score.state for score in scores)
    filters = {"all": "all", "changed": f"changed ({len(changed)})"}
    filters |= {state: f"{title} ({counts[state]})" for state, title in TITLES.items()}
    by_name = {stored.name: stored for stored in cases}
    articles = (
        _article(score, by_name[score.name], by_number, is_changed=score.name in changed)
        for score in scores
    )
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width"><title>Golden cases</title>',
            f"<style>{STYLE.read_text()}</style></head><body><h1>Golden cases</h1>",
            _runs_table(("This run", results), ("The run before", before)),
            *_summary(changes),
            *(
                f'<input type="radio" name="only" id="only-{name}"{" checked" * (name == "all")}>'
                f'<label for="only-{name}">{label}</label>'
                for name, label in filters.items()
            ),
            "<main>",
            *articles,
            "</main></body></html>\n",
        ]
    )


def _table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = ("".join(f"<td>{escape(as_words(cell))}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in body)}</table>"


def _details(title: str, body: str, *, is_open: bool = False) -> str:
    return f"<details{' open' * is_open}><summary>{escape(title)}</summary>{body}</details>"


def _runs_table(*runs: tuple[str, Run]) -> str:
    rows = [
        (
            title,
            f"{run[0].at:%d %B %Y %H:%M:%S} UTC" if run[0].at else "",
            ", ".join(sorted({result.model for result in run if result.model})),
            run[0].prompt_version,
            f"{run[0].sources_version} {run[0].sources_file}",
        )
        for title, run in runs
        if run
    ]
    return _table(("Run", "Date", "Model", "Prompt", "Sources"), rows)


def _summary(changes: Sequence[AnswerChange]) -> Iterator[str]:
    if not changes:
        yield "<p>There is no earlier run to compare the answers with.</p>"
        return
    prompts, answers = sum(bool(c.prompt) for c in changes), sum(bool(c.body) for c in changes)
    counts = f"{prompts} prompts and {answers} answers changed, of {len(changes)}"
    yield f"<p>Since the run before, {counts}.</p>"
    for parts, cases in prompt_changes(changes).items():
        yield _details(f"The prompt of {', '.join(cases)}", _diff(parts), is_open=True)


def _diff(parts: Iterable[DiffPart]) -> str:
    forms = {"same": "{}", "removed": "<del>{}</del>", "added": "<ins>{}</ins>"}
    return f"<pre>{''.join(forms[kind].format(escape(text)) for kind, text in parts)}</pre>"


def _article(
    score: CaseScore,
    stored: StoredCase,
    changes: Mapping[tuple[str, int], AnswerChange],
    *,
    is_changed: bool,
) -> str:
    case, low, high = stored.case, *score.interval
    rate = f": {score.passes} of {score.scored} answers ({low:.0%} to {high:.0%} in the long run)"
    title = TITLES[score.state].capitalize() + rate * (len(score.results) > 1)
    replies = "recorded from a real model" if case.recorded else "written by hand"
    request = f"<p>{escape(case.input.context)}</p><p><b>{escape(case.input.query)}</b></p>"
    shown = sorted(score.results, key=lambda result: result.has_passed)[:SAMPLES_SHOWN]
    return "\n".join(
        [
            f'<article class="{score.state}{" changed" * is_changed}">',
            f"<h2>{escape(score.name)}</h2>",
            f'<p class="state">{title}</p><p>{escape(case.about)}</p>',
            _details(f"The dispute (the replies were {replies})", request),
            *(
                part
                for result in shown
                for part in _answer_parts(result, changes.get((score.name, result.number)))
            ),
            "</article>",
        ]
    )


def _answer_parts(result: Result, change: AnswerChange | None) -> Iterator[str]:
    """One answer: why it failed, the model's replies, and the text with what changed in it."""
    yield f"<h3>Answer {result.number}</h3><p>{escape(result.reason)}</p>"
    if result.differences:
        rows = [(d.field, d.expected, d.found) for d in result.differences]
        yield _table(("What", "Expected", "Found"), rows)
    if result.grades:
        graded = [(grade.question, str(grade)) for grade in result.grades]
        yield _table(("The model was asked", "It said"), graded)
    if result.missing and not result.has_passed:
        yield f"<p>The case does not have {escape(', '.join(result.missing))}.</p>"
    if not result.answer:
        return
    if not result.has_passed or any(reply.rules for reply in result.answer.replies):
        replies = [("; ".join(_broken_rules(reply)), reply.text) for reply in result.answer.replies]
        yield _details("What the model replied", _table(("Rules that it broke", "Reply"), replies))
    text = answer_text(result.answer)
    if change and change.body and change.before.answer:
        parts = diff(answer_text(change.before.answer), text)
        yield _details("The answer changed", _diff(parts), is_open=True)
    yield _details("The answer", f"<pre>{escape(text)}</pre>")


def _broken_rules(reply: ReplayedReply) -> Sequence[str]:
    broken = [f"{d.rule} in {d.field}: expected {d.expected}" for d in reply.defects]
    return broken or reply.rules


def answer_text(answer: Answer) -> str:
    """*answer* as plain text: help, verdict, other side, citations, references and warnings."""
    return "\n".join(_text_lines(answer.status, answer.body))


def _text_lines(status: int, body: Mapping[str, Any]) -> Iterator[str]:
    for line in body.get("help", ()):
        yield f"Help: {', '.join(str(value) for value in line.values() if value)}"
    if status != 200:
        yield f"No verdict: {body.get('detail', status)}"
        return
    yield from (body["paraphrase"], "", body["summary"], "")
    for persona in body["personas"]:
        yield f"{persona['name']}: {persona['verdict'] or 'no verdict'}. {persona['rationale']}"
        yield from (f"- {point}" for point in persona["key_points"])
    if other := body.get("other_side"):
        yield f"\nThe other side: {other['retelling'] or other['note']}"
        for persona in other["personas"]:
            yield f"{persona['name']} to the other side: {persona['verdict']}."
            yield persona["rationale"]
    yield ""
    yield from map(_citation, body["citations"])
    for reference in body["references"]:
        yield f"[{reference['number']}] {reference['text']} ({reference['url']})"
    yield from (f"Warning: {warning}" for warning in body["warnings"])


def _citation(citation: Mapping[str, Any]) -> str:
    where = f"[{citation['number']}] in {citation['field']}"
    if not citation["quote"]:
        return f"{where}: no sentence is named"
    how = "contradicts" if citation.get("contradicts") else "rests on"
    support = citation["support"]
    supported = "" if support is None else f" (supported {support:.0%})"
    return f"{where} {how} “{citation['quote']}”{supported}"
