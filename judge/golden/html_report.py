"""The report for people who don't code: one HTML file, without scripts or anything from outside.

Each case with its dispute, what was expected beside what was found, the verdict, and what changed
since an earlier run. The filter works by style sheet alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from judge.golden.answer_changes import AnswerChange, answer_changes, prompt_changes
from judge.golden.case_reader import StoredCase
from judge.golden.cases import Expected
from judge.golden.difference_text import as_words
from judge.golden.evaluators import EVALUATORS
from judge.golden.html_changes import answer_html, diff_html, replies_html
from judge.golden.scores import CaseScore, Sample, ScoredCase, State, answer_of, with_answer

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
white-space:pre-wrap;overflow-wrap:anywhere}th{background:#f3f3f3}label{margin-right:1rem}
.state{font-weight:700}summary{cursor:pointer}
ins{background:#d3f3db;color:#0b3d17}del{background:#fbdcd9;color:#6b140d}
mark{color:inherit;background:#cdebd5}mark.bare{background:#ffe6a3}mark.against{background:#fbc9c4}
p.rests,p.bare,p.against{font-size:.9em;margin:.2rem 0}
tr.moved>td{border-color:#8a6100;border-width:2px}td>p,td>h4,td>ul{margin:.2rem 0}
pre,.diff{white-space:pre-wrap;background:#f6f6f6;padding:.5rem;overflow-wrap:anywhere}
#only-changed:checked~main article:not(.changed),
#only-passed:checked~main article:not(.passed),#only-failed:checked~main article:not(.failed),
#only-unscored:checked~main article:not(.unscored){display:none}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}th{background:#2a2a2a}
pre,.diff{background:#222}ins{background:#12421f;color:#d3f3db}del{background:#5c1812;color:#fbdcd9}
mark{background:#1d4d2b}mark.bare{background:#5c4500}mark.against{background:#6b1a13}}
"""


def as_html(
    cases: Sequence[StoredCase],
    scores: Sequence[CaseScore],
    judged: Sequence[ScoredCase],
    before: Sequence[Sample] = (),
) -> str:
    """The whole report, with what changed since the run *before*.

    Every word of a case, page or model in it is escaped.
    """
    changes = answer_changes(before, [with_answer(one) for one in judged])
    by_name = {stored.name: stored for stored in cases}
    moved = {change.after.case for change in changes if change.body}
    ranked = sorted(scores, key=lambda one: (_FIRST.index(one.state), one.name not in moved))
    articles = [
        "\n".join(
            _article(
                by_name[score.name],
                score,
                _shown(score, judged),
                {one.after.number: one for one in changes if one.after.case == score.name},
            )
        )
        for score in ranked
    ]
    overview = [*_versions(before, judged), *_overview(scores, changes)]
    return "\n".join([*_head(), *overview, "<main>", *articles, "</main></body></html>\n"])


def _head() -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield (
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    )
    yield '<meta name="viewport" content="width=device-width"><title>Golden cases</title>'
    yield f"<style>{_STYLE}</style></head><body><h1>Golden cases</h1>"


def _versions(before: Sequence[Sample], judged: Sequence[ScoredCase]) -> Iterator[str]:
    """The date and the versions of this run, and of the one before."""
    runs = [("This run", [one.sample for one in judged]), ("The run before", before)]
    yield "<table><tr><th>Run</th><th>Date</th><th>Model</th><th>Prompt</th><th>Sources</th></tr>"
    for title, samples in runs:
        if samples:
            first = samples[0]
            cells = [
                title,
                f"{first.at:%d %B %Y %H:%M:%S} UTC" if first.at else "",
                ", ".join(sorted({one.model for one in samples} - {""})),
                first.prompt_version,
                f"{first.sources_version} {first.sources_file}",
            ]
            yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    yield "</table>"


def _since(changes: Sequence[AnswerChange]) -> Iterator[str]:
    """What changed since the run before, with each change of the prompt once."""
    if not changes:
        yield "<p>There is no earlier run to compare the answers with.</p>"
        return
    moved = [one for one in changes if one.body]
    yield (
        f"<p>Since the run before, {sum(bool(one.prompts) for one in changes)} prompts and "
        f"{len(moved)} answers changed, of {len(changes)}.</p>"
    )
    for parts, cases in prompt_changes(changes):
        named = "case" if len(cases) == 1 else "cases"
        yield f"<details open><summary>The prompt, in {len(cases)} {named}</summary>"
        yield f'<p>{escape(", ".join(cases))}</p><div class="diff">{diff_html(parts)}</div>'
        yield "</details>"


def _overview(scores: Sequence[CaseScore], changes: Sequence[AnswerChange]) -> Iterator[str]:
    states = [score.state for score in scores]
    counts = {state: states.count(state) for state in TITLES}
    counted = ", ".join(
        f"{count} {TITLES[state].lower()}" for state, count in counts.items() if count
    )
    yield f"<p>{len(scores)} stored disputes were judged: {counted}.</p>"
    yield from _since(changes)
    changed = len({one.after.case for one in changes if one.is_change})
    labels = {"all": "all", "changed": f"changed ({changed})"}
    labels |= {state: f"{title.lower()} ({counts[state]})" for state, title in TITLES.items()}
    for name, label in labels.items():
        checked = " checked" if name == "all" else ""
        yield f'<input type="radio" name="only" id="only-{name}"{checked}>'
        yield f'<label for="only-{name}">{label}</label>'


def _shown(score: CaseScore, judged: Sequence[ScoredCase]) -> list[ScoredCase]:
    own = [one for one in judged if one.sample.case == score.name]
    return sorted(own, key=lambda one: one.sample.has_passed)[:SAMPLES_SHOWN]


def _article(
    stored: StoredCase,
    score: CaseScore,
    shown: Sequence[ScoredCase],
    changes: Mapping[int, AnswerChange],
) -> Iterator[str]:
    case = stored.case
    changed = " changed" if any(one.is_change for one in changes.values()) else ""
    yield f'<article class="{score.state}{changed}"><h2>{escape(score.name)}</h2>'
    yield f'<p><span class="state">{TITLES[score.state]}</span>{_rate(score)}</p>'
    yield f"<p>{escape(case.about)}</p>" if case.about else ""
    source = "recorded from a real model" if case.recorded else "written by hand"
    yield f"<details><summary>The dispute (the replies were {source})</summary>"
    yield f"<p>{escape(case.input.context)}</p><p><b>{escape(case.input.query)}</b></p></details>"
    for one in shown:
        change = changes.get(one.sample.number)
        yield from _sample(one, change, is_alone=len(score.samples) == 1)
    yield "</article>"


def _rate(score: CaseScore) -> str:
    if len(score.samples) == 1 or score.rate is None:
        return ""
    return (
        f": {score.passes} of {score.scored} answers ({score.rate:.0%}; in the long run between "
        f"{score.spread.low:.0%} and {score.spread.high:.0%}); {score.floor:.0%} are asked for"
    )


def _sample(one: ScoredCase, change: AnswerChange | None, *, is_alone: bool) -> Iterator[str]:
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
    if not one.sample.has_passed or one.outcome.defects:
        yield "<details><summary>What the model replied</summary>"
        yield from replies_html(one.outcome.attempts)
        yield "</details>"
    for parts in change.prompts if change else ():
        yield "<details><summary>The prompt changed</summary>"
        yield f'<div class="diff">{diff_html(parts)}</div></details>'
    is_other = bool(change and change.body)
    moved = " changed" if is_other else " is unchanged" if change else ""
    yield f"<details{' open' if is_other else ''}><summary>The answer{moved}</summary>"
    yield from answer_html(answer_of(one.outcome), change.before.answer if change else None)
    yield "</details>"


def _compared(one: ScoredCase) -> Iterator[tuple[str, object, object]]:
    """What, expected and found: first what is not as expected, then the rest."""
    for difference in one.differences:
        yield _in_words(difference.field), difference.expected, f"✗ {as_words(difference.found)}"
    wrong = {difference.field for difference in one.differences}
    if one.outcome.status != one.expected.status:  # Then nothing else was looked at.
        return
    for name in Expected.model_fields:
        wanted = getattr(one.expected, name)
        if name in FIELDS and wanted not in (None, ()) and name not in wrong:
            yield _in_words(name), wanted, "✓"
    if one.outcome.status == 200:
        for name, wanted in one.expected.evaluators.items():
            if name not in wrong:
                yield _in_words(name), EVALUATORS[name].answer(wanted), "✓"
        for rubric, grade in zip(one.expected.graded, one.sample.grades, strict=False):
            mark = {"passed": "✓", "failed": "✗", "unscored": "not enough answers:"}
            yield "The model was asked", grade.question, f"{mark[grade.state(rubric)]} {grade}"


def _in_words(name: str) -> str:
    return EVALUATORS[name].question if name in EVALUATORS else FIELDS.get(name, name)


def _row(what: str, expected: object, found: object) -> str:
    cells = (what, as_words(expected), as_words(found))
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
