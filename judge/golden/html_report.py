"""The report for people who don't code: one HTML file, without scripts or anything from outside.

Each case with its dispute, what was expected beside what was found, and the verdict. The filter
works by style sheet alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from judge.golden.case_reader import StoredCase
from judge.golden.cases import Expected
from judge.golden.difference_text import as_words
from judge.golden.evaluators import EVALUATORS
from judge.golden.scores import CaseScore, ScoredCase, State

SAMPLES_SHOWN = 20
"""Answers shown of one case; those that were not as expected come first."""

TITLES: Mapping[State, str] = {
    "passed": "As expected",
    "failed": "Not as expected",
    "unscored": "No answer to score",
}

_FIRST: Sequence[State] = ("failed", "unscored", "passed")

FIELDS: Mapping[str, str] = {
    "status": "How the request ended (200 is a verdict)",
    "type": "The kind of refusal",
    "domain": "The subject area",
    "attempts": "How often the model was asked",
    "evidence": "How well the verdict is backed by its references",
    "degraded": "Whether a stand-in answered",
    "references": "How many references were used",
    "summary_matches": "What the summary must look like",
    "therapist_verdict": "The Therapist's verdict",
    "analyst_verdict": "The Analyst's verdict",
    "coach_verdict": "The Coach's verdict",
    "expect_citation": "Whether something is cited",
    "defects": "The rules that the replies broke",
    "second_prompt_names": "What the model is told when asked again",
    "prompt_digest": "The fingerprint of what the model was sent",
}
"""Each field that a case can expect, in plain words."""

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;
color:#1b1b1b;background:#fff}
h1{font-size:1.6rem}article{border:1px solid #ccc;border-left-width:.5rem;border-radius:.3rem;
padding:.5rem 1rem;margin:1rem 0;overflow-wrap:anywhere}
.passed{border-left-color:#1a7f37}.failed{border-left-color:#b42318}
.unscored{border-left-color:#8a6100}
table{border-collapse:collapse;width:100%;table-layout:fixed}
th,td{border:1px solid #ddd;padding:.4rem;text-align:left;vertical-align:top;
white-space:pre-wrap}th{background:#f3f3f3}label{margin-right:1rem}
.state{font-weight:700}summary{cursor:pointer}
#only-passed:checked~main article:not(.passed),#only-failed:checked~main article:not(.failed),
#only-unscored:checked~main article:not(.unscored){display:none}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}th{background:#2a2a2a}}
"""


def as_html(
    cases: Sequence[StoredCase], scores: Sequence[CaseScore], judged: Sequence[ScoredCase]
) -> str:
    """The whole report; every word of a case, page or model in it is escaped."""
    by_name = {stored.name: stored for stored in cases}
    ranked = sorted(scores, key=lambda score: _FIRST.index(score.state))
    articles = [
        "\n".join(_article(by_name[score.name], score, _shown(score, judged))) for score in ranked
    ]
    return "\n".join([*_head(), *_overview(scores), "<main>", *articles, "</main></body></html>\n"])


def _head() -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield (
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    )
    yield '<meta name="viewport" content="width=device-width"><title>Golden cases</title>'
    yield f"<style>{_STYLE}</style></head><body><h1>Golden cases</h1>"


def _overview(scores: Sequence[CaseScore]) -> Iterator[str]:
    states = [score.state for score in scores]
    counts = {state: states.count(state) for state in TITLES}
    counted = ", ".join(
        f"{count} {TITLES[state].lower()}" for state, count in counts.items() if count
    )
    yield f"<p>{len(scores)} stored disputes were judged: {counted}.</p>"
    yield '<input type="radio" name="only" id="only-all" checked><label for="only-all">all</label>'
    for state, title in TITLES.items():
        yield (
            f'<input type="radio" name="only" id="only-{state}">'
            f'<label for="only-{state}">{title.lower()} ({counts[state]})</label>'
        )


def _shown(score: CaseScore, judged: Sequence[ScoredCase]) -> list[ScoredCase]:
    own = [one for one in judged if one.sample.case == score.name]
    return sorted(own, key=lambda one: one.sample.has_passed)[:SAMPLES_SHOWN]


def _article(stored: StoredCase, score: CaseScore, shown: Sequence[ScoredCase]) -> Iterator[str]:
    case = stored.case
    yield f'<article class="{score.state}"><h2>{escape(score.name)}</h2>'
    yield f'<p><span class="state">{TITLES[score.state]}</span>{_rate(score)}</p>'
    yield f"<p>{escape(case.about)}</p>" if case.about else ""
    source = "recorded from a real model" if case.recorded else "written by hand"
    yield f"<details><summary>The dispute (the replies were {source})</summary>"
    yield f"<p>{escape(case.input.context)}</p><p><b>{escape(case.input.query)}</b></p></details>"
    for one in shown:
        yield from _sample(one, is_alone=len(score.samples) == 1)
    yield "</article>"


def _rate(score: CaseScore) -> str:
    if len(score.samples) == 1 or score.rate is None:
        return ""
    return (
        f": {score.passes} of {score.scored} answers ({score.rate:.0%}; in the long run between "
        f"{score.spread.low:.0%} and {score.spread.high:.0%}); {score.floor:.0%} are asked for"
    )


def _sample(one: ScoredCase, *, is_alone: bool) -> Iterator[str]:
    if not is_alone:
        outcome = "as expected" if one.sample.has_passed else "not as expected"
        yield f"<h3>Answer {one.sample.number}: {outcome}</h3>"
    if one.sample.reason:
        yield f"<p>{escape(one.sample.reason)}</p>"
    if one.outcome.missing and not one.sample.has_passed:
        yield f"<p>The case does not have {escape(', '.join(one.outcome.missing))}.</p>"
    if one.sample.is_scored:
        yield "<table><tr><th>What</th><th>Expected</th><th>Found</th></tr>"
        yield from (_row(*row) for row in _compared(one))
        yield "</table>"
    yield "<details><summary>The answer</summary>"
    yield from _answer(one.outcome.status, one.outcome.body)
    yield "</details>"


def _compared(one: ScoredCase) -> Iterator[tuple[str, object, object]]:
    """What, expected and found: first what is not as expected, then the rest."""
    for difference in one.differences:
        yield _in_words(difference.field), difference.expected, f"✗ {as_words(difference.found)}"
    wrong = {difference.field for difference in one.differences}
    if "status" in wrong:  # Then nothing else was looked at.
        return
    for name in Expected.model_fields:
        wanted = getattr(one.expected, name)
        if name in FIELDS and wanted not in (None, ()) and name not in wrong:
            yield _in_words(name), wanted, "✓"
    if one.outcome.status == 200:
        for name, wanted in one.expected.evaluators.items():
            if name not in wrong:
                yield _in_words(name), EVALUATORS[name].answer(wanted), "✓"


def _in_words(name: str) -> str:
    return EVALUATORS[name].question if name in EVALUATORS else FIELDS.get(name, name)


def _row(what: str, expected: object, found: object) -> str:
    cells = (what, as_words(expected), as_words(found))
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _answer(status: int, body: Mapping[str, Any]) -> Iterator[str]:
    for line in body.get("help", ()):
        yield f"<p>Help: {escape(', '.join(filter(None, map(str, line.values()))))}</p>"
    if status != 200:
        yield f"<p>No verdict: {escape(str(body.get('detail', status)))}</p>"
        return
    yield f"<p>{escape(body['paraphrase'])}</p><p><b>{escape(body['summary'])}</b></p>"
    for persona in body["personas"]:
        verdict = persona["verdict"] or "no verdict"
        yield f"<h4>{escape(persona['name'])}: {escape(verdict)}</h4>"
        yield f"<p>{escape(persona['rationale'])}</p>"
        points = "".join(f"<li>{escape(point)}</li>" for point in persona["key_points"])
        yield f"<ul>{points}</ul>"
    for reference in body["references"]:
        words = f"[{reference['number']}] {reference['text']} ({reference['url']})"
        yield f"<p>{escape(words)}</p>"
    yield "".join(f"<p>Warning: {escape(warning)}</p>" for warning in body["warnings"])
