"""How a verdict is printed for people."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from judge.entrypoints.cli.ask import VerdictLayout
from judge.entrypoints.cli.output import Terminal
from judge.entrypoints.cli.plain_text import one_line
from judge.types.references import Reference
from judge.types.replies import VERDICT_SENTENCES, Citation, PersonaVerdict, Usage
from judge.types.requests import DomainScore
from judge.types.results import (
    HelpLine,
    JudgeResult,
    OtherSide,
    OtherVerdict,
    Timings,
    Versions,
)

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
REFERENCE = Reference(
    number=1,
    kind="page",
    url="https://advice.example/repairs",
    title="Repairs",
    text="Your landlord has to keep the boiler in working order.",
    fetched_at=NOW - timedelta(hours=3),
    stale=False,
    cited=True,
)
RESULT = JudgeResult(
    id="r1",
    paraphrase="You want the boiler repaired.",
    summary="You are not being unreasonable [1].",
    personas=(
        PersonaVerdict("Therapist", "No", "Rest first", "You are tired [1].", ("Rest.", "Talk.")),
        PersonaVerdict("Coach", "Yes", VERDICT_SENTENCES["Yes"], "Too loud.", ("Knock.",)),
        PersonaVerdict("Analyst", None, "", "Nothing to say.", ("Count.",)),
    ),
    domain="tenancy",
    domain_scores=(DomainScore("tenancy", 6.5, ("landlord", "boiler")),),
    references=(REFERENCE,),
    snippets=(),
    citations=(),
    evidence="grounded",
    help=(),
    warnings=(),
    other_side=None,
    model="a-model",
    degraded=False,
    attempts=1,
    versions=Versions("p", "s"),
    usage=Usage(),
    timings_ms=Timings(10, 1490, 1500),
    next_steps=(),
)
EVERYTHING = """\
You want the boiler repaired.

Verdict
You are not being unreasonable [1].

Therapist: Rest first
  No, you are not being unreasonable.
  You are tired [1].
  - Rest.
  - Talk.

Coach: Yes, you are being unreasonable.
  Too loud.
  - Knock.

Analyst: no verdict
  Nothing to say.
  - Count.

References
  [1] Repairs (fetched 15 January 2026)
      https://advice.example/repairs
      Your landlord has to keep the boiler in working order.

Domain: tenancy (landlord, boiler). Evidence: grounded. Model: a-model.
Attempts: 1. Time: 1.5 s."""


def shown(width=80, is_styled=False, **changes) -> str:
    return "\n\n".join(
        VerdictLayout(Terminal(width, is_styled=is_styled)).parts(replace(RESULT, **changes))
    )


def with_reference(**changes) -> str:
    return shown(references=(replace(REFERENCE, **changes),))


def test_a_verdict_reads_from_summary_to_numbered_references():
    assert shown(width=75) == EVERYTHING


def test_publishers_date_comes_before_the_age():
    text = with_reference(updated=date(2025, 4, 1))
    assert "[1] Repairs (updated 1 April 2025, fetched 15 January 2026)" in text


def test_cited_references_come_first_and_the_rest_take_a_line_each():
    unused = replace(REFERENCE, title="Deposits", cited=False)
    dated = replace(unused, number=3, title="Rent", updated=date(2025, 4, 1))
    second = replace(REFERENCE, number=2)
    text = shown(references=(unused, second, dated))
    assert text.index("[2] Repairs") < text.index("[1] Deposits")
    assert "\n\nLooked at, not used\n  [1] Deposits\n  [3] Rent (updated 1 April 2025)\n\n" in text
    assert text.count(REFERENCE.text) == 1


def test_unhelpful_references_are_only_named():
    text = with_reference(cited=False, text="Not shown.")
    assert "\nReferences\n" not in text
    assert "Not shown." not in text
    assert "so nothing is cited" not in text
    declined = shown(references=(replace(REFERENCE, cited=False),), evidence="not_applicable")
    assert "None of what was looked at bears on this dispute, so nothing is cited." in declined


def test_contradicted_reference_is_marked():
    turned = Citation(1, "summary", 31, 34, REFERENCE.text, "verified", 0.8, contradicts=True)
    text = shown(citations=(turned,), references=(REFERENCE, replace(REFERENCE, number=2)))
    assert "[1] Repairs (fetched 15 January 2026, the answer says the opposite)" in text
    assert "[2] Repairs (fetched 15 January 2026)" in text


def test_warnings_and_help_lines_are_listed():
    text = shown(
        warnings=("The quote is not in the page.",),
        help=(HelpLine("Samaritans", "https://s.example/", "116 123"),),
    )
    assert "Warnings\n  - The quote is not in the page.\n" in text
    assert "Help\n  - Samaritans, 116 123, https://s.example/\n" in text


def test_other_side_comes_after_the_personas():
    said = OtherVerdict("Coach", "Yes", "You did not [1].")
    told = OtherSide("I mended it\x1b[1m.", (said,), agrees=True, note="")
    text = shown(other_side=told)
    assert (
        "\nThe other side\n  I mended it.\n  - Coach: Yes, you are being unreasonable. You" in text
    )
    unheard = shown(other_side=OtherSide.unheard("No time."), warnings=("No time.",))
    assert "The other side\n  No time.\n" in unheard
    assert "Warnings\n  - No time.\n" in unheard


def test_agreement_with_both_sides_is_warned_of_above_the_verdict():
    text = shown(other_side=OtherSide("I did.", (), False, ""), warnings=("Both.", "Stale."))
    assert text.index("Warning\n  - Both.\n") < text.index("Verdict\n")
    assert text.count("Both.") == 1
    assert "Warnings\n  - Stale.\n" in text


def test_headings_are_bold_only_where_colour_is_wanted():
    assert "\x1b[1mVerdict\x1b[0m" in shown(is_styled=True)
    assert "\x1b" not in shown()


def test_control_sequences_are_not_sent_to_the_terminal():
    for hostile, harmless in (
        ("a\x1b[31mb\x1b[0mc", "abc"),
        ("title \x1b]0;owned\x07here", "title here"),
        ("link \x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\", "link here"),
        ("c1 \x9b2Jclear", "c1 clear"),
        ("reset \x1bc now", "reset now"),
        ("cut \x1b", "cut"),
        ("bell\x07 back\x08 space", "bell back space"),
        ("two\r\nlines\u2028three", "two lines three"),
        ("left\u202eright\u2066", "leftright"),
        ("soft\u00adhyphen \u00a0wide", "softhyphen wide"),
        ("half \ud800 pair", "half pair"),
    ):
        assert one_line(hostile) == harmless


hostile_text = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\x9b\x9d\x07\x08\r\n\t[]0;m\u202e\u2028\x7f\x00"),
    ),
    max_size=60,
)


@given(hostile_text)
def test_one_line_holds_only_printable_characters(text):
    line = one_line(text)
    assert line.isprintable()
    assert line == line.strip()
    assert one_line(line) == line


@given(
    texts=st.lists(hostile_text, min_size=9, max_size=9),
    age=st.timedeltas(timedelta(days=-400), timedelta(days=400)),
    flags=st.tuples(st.booleans(), st.booleans()),
    width=st.integers(40, 100),
)
def test_any_verdict_is_formatted_without_control_sequences(texts, age, flags, width):
    reference = Reference(
        1, "page", texts[0], texts[1], texts[2], NOW - age, stale=flags[0], cited=flags[1]
    )
    updated = replace(reference, number=2, updated=(NOW - age).date(), cited=not flags[1])
    text = shown(
        width=width,
        paraphrase=texts[3],
        summary=texts[4],
        personas=(PersonaVerdict(texts[5], "Yes", texts[8], texts[6], (texts[7],)),),
        references=(reference, updated),
        warnings=(texts[8],),
        help=(HelpLine(texts[0], texts[1], texts[2]),),
        domain=texts[3],
        domain_scores=(DomainScore(texts[3], 1.0, (texts[4],)),),
        model=texts[5],
    )
    assert all(line.isprintable() for line in text.split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
