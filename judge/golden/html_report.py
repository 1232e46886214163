"""The report for people who don't code: one HTML file, without scripts or external resources.

It shows each case with its dispute, what was expected and found, the verdict, and what changed
since an earlier run. `report.html.jinja` is the template; its filter needs only CSS.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from judge.golden.case_reader import StoredCase
from judge.golden.cases import Expected
from judge.golden.difference_text import as_words
from judge.golden.evaluators import EVALUATORS, Body
from judge.golden.replay import ReplayedReply
from judge.golden.run_comparison import answer_changes, prompt_changes
from judge.golden.samples import Answer, CaseScore, Sample, ScoredCase, State, with_answer

SAMPLES_SHOWN = 20
"""Answers shown for a case, those that failed first."""

TITLES: Mapping[State, str] = {
    "passed": "As expected",
    "failed": "Not as expected",
    "unscored": "No answer to score",
}

_STATE_ORDER: Sequence[State] = ("failed", "unscored", "passed")

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


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of an answer that is shown by itself."""

    words: Sequence[tuple[str, str]]
    """Its text in pieces, each with the kind of its citation: `rests`, `bare`, `against` or ""."""
    heading: str = ""
    points: Sequence[str] = ()
    kind: str = ""
    """For a part about one citation: its kind, as in `words`."""
    is_strong: bool = False


def as_html(
    cases: Sequence[StoredCase],
    scores: Sequence[CaseScore],
    judged: Sequence[ScoredCase],
    before: Sequence[Sample] = (),
) -> str:
    """The whole report, with what changed since the run *before*.

    All text of cases, pages and models in it is escaped.
    """
    changes = answer_changes(before, [with_answer(scored) for scored in judged])
    changed = {change.after.case for change in changes if change.body}
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja").render(
        runs=[("This run", [scored.sample for scored in judged]), ("The run before", before)],
        scores=sorted(
            scores, key=lambda score: (_STATE_ORDER.index(score.state), score.name not in changed)
        ),
        cases={stored.name: stored for stored in cases},
        changes=changes,
        change_of={(change.after.case, change.after.number): change for change in changes},
        prompt_changes=prompt_changes(changes),
        counts=Counter(score.state for score in scores),
        titles=TITLES,
        shown_of=partial(_samples_to_show, judged),
        answer_parts=answer_parts,
        as_words=as_words,
        broken_rules=_broken_rules,
        compared=_compared,
        percent="{:.0%}".format,
    )


def _samples_to_show(judged: Sequence[ScoredCase], score: CaseScore) -> list[ScoredCase]:
    own = [scored for scored in judged if scored.sample.case == score.name]
    return sorted(own, key=lambda scored: scored.sample.has_passed)[:SAMPLES_SHOWN]


def _compared(scored: ScoredCase) -> Iterator[tuple[str, object, object]]:
    """Name, expected and found: first what is not as expected, then the rest."""
    for difference in scored.differences:
        yield _in_words(difference.field), difference.expected, f"✗ {as_words(difference.found)}"
    wrong = {difference.field for difference in scored.differences}
    if scored.answer.status != scored.expected.status:  # Then nothing else was compared.
        return
    for name in Expected.model_fields:
        wanted = getattr(scored.expected, name)
        if name in FIELDS and wanted not in (None, ()) and name not in wrong:
            yield _in_words(name), wanted, "✓"
    if scored.answer.status == 200:
        for name, wanted in scored.expected.evaluators.items():
            if name not in wrong:
                yield _in_words(name), EVALUATORS[name].expected(wanted), "✓"
        for rubric, grade in zip(scored.expected.graded, scored.sample.grades, strict=False):
            mark = {"passed": "✓", "failed": "✗", "unscored": "not enough answers:"}
            yield "The model was asked", grade.question, f"{mark[grade.state(rubric)]} {grade}"


def _in_words(name: str) -> str:
    return EVALUATORS[name].question if name in EVALUATORS else FIELDS.get(name, name)


def _broken_rules(reply: ReplayedReply) -> Sequence[str]:
    broken = [f"{d.rule} in {d.field}: expected {d.expected}" for d in reply.defects]
    return broken or reply.rules


def answer_parts(answer: Answer) -> dict[str, AnswerPart]:
    """The parts of *answer* by names that are the same in every answer to its case."""
    return dict(_parts(answer))


def _parts(answer: Answer) -> Iterator[tuple[str, AnswerPart]]:
    body = answer.body
    for line in body.get("help", ()):
        words = ", ".join(filter(None, map(str, line.values())))
        yield f"help {words}", _plain(f"Help: {words}")
    if answer.status != 200:
        yield "summary", _plain(f"No verdict: {body.get('detail', answer.status)}")
        return
    yield "paraphrase", _plain(body["paraphrase"])
    yield "summary", AnswerPart(_cited(body, "summary", body["summary"]), is_strong=True)
    for index, persona in enumerate(body["personas"]):
        rationale = _cited(body, f"personas.{index}.rationale", persona["rationale"])
        heading = f"{persona['name']}: {persona['verdict'] or 'no verdict'}"
        yield f"persona {index}", AnswerPart(rationale, heading, persona["key_points"])
    for name, words in _other_side(body.get("other_side") or {}):
        yield name, _plain(words)
    counts = Counter[str]()
    for citation in body["citations"]:
        field = citation["field"]
        counts[field] += 1
        yield f"citation {counts[field]} {field}", _plain(_citation(citation), _kind(citation))
    for reference in body["references"]:
        words = f"[{reference['number']}] {reference['text']} ({reference['url']})"
        yield f"reference {reference['number']}", _plain(words)
    for number, warning in enumerate(body["warnings"]):
        yield f"warning {number}", _plain(f"Warning: {warning}")


def _plain(words: str, kind: str = "") -> AnswerPart:
    return AnswerPart(((words, ""),), kind=kind)


def _other_side(other: Body) -> Iterator[tuple[str, str]]:
    """Name and text of the retelling (or why there is none), and of what each persona says."""
    if other:
        yield "other side", f"The other side: {other['retelling'] or other['note']}"
    for index, p in enumerate(other.get("personas", ())):
        words = f"{p['name']} to the other side: {p['verdict']}. {p['rationale']}"
        yield f"other side {index}", words


def _cited(body: Body, field: str, text: str) -> Sequence[tuple[str, str]]:
    """*text* in pieces, each with the kind of its citation."""
    marks = {(c["start"], c["end"]): _kind(c) for c in body["citations"] if c["field"] == field}
    parts, at = [], 0
    for (start, end), kind in sorted(marks.items()):
        parts += [(text[at:start], ""), (text[start:end], kind)]
        at = end
    return [*parts, (text[at:], "")]


def _kind(citation: Mapping[str, Any]) -> str:
    if citation.get("contradicts"):
        return "against"
    return "rests" if citation["quote_status"] == "verified" else "bare"


def _citation(citation: Mapping[str, Any]) -> str:
    where = f"[{citation['number']}] in {citation['field']}"
    if not citation["quote"]:
        return f"{where}: no sentence is named"
    against = "contradicts" if citation.get("contradicts") else "rests on"
    support = citation["support"]
    supported = "" if support is None else f" (supported {support:.0%})"
    return f"{where} {against} “{citation['quote']}”{supported}"
