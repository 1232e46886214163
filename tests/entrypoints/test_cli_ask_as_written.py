"""A verdict that is streamed to a terminal."""

from dataclasses import replace

from judge.entrypoints.cli.ask import VerdictLayout, WrittenVerdict
from judge.types.replies import Defect
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    FieldChecked,
    ReferencesReady,
    Restarted,
)
from tests.entrypoints.test_cli_ask_output import NOW, REFERENCE, RESULT
from tests.fakes.clock import FakeClock

PARAPHRASE = FieldChecked("paraphrase", RESULT.paraphrase, ())
THERAPIST = FieldChecked("personas.0", RESULT.personas[0], ())
SUMMARY = FieldChecked("summary", RESULT.summary, ())
BROKEN = Defect("citation", "summary", "[9]", "a number from 1 to 1", is_hard=True)


def watched() -> tuple[WrittenVerdict, FakeClock]:
    clock = FakeClock(NOW)
    return WrittenVerdict(VerdictLayout(NOW), clock), clock


def test_each_field_is_printed_on_arrival_with_its_time_on_stderr(capsys):
    written, clock = watched()
    for step in (DomainDetected("tenancy", ()), ReferencesReady((REFERENCE,)), AttemptStarted(1)):
        written.show(step)
    clock.advance(1.25)
    written.show(PARAPHRASE)
    clock.advance(3)
    written.show(THERAPIST)
    out, err = capsys.readouterr()
    assert out == (
        "You want the boiler repaired.\n\n"
        "Therapist: No\n  You are tired [1].\n  - Rest.\n  - Breathe.\n  - Talk.\n\n"
    )
    assert err == (
        "[0.0 s] domain tenancy, references: 1; asking the model\n"
        "[1.2 s] paraphrase\n"
        "[4.2 s] Therapist\n"
    )


def test_fields_already_printed_are_not_repeated_with_the_verdict(capsys):
    written, _ = watched()
    for step in (PARAPHRASE, THERAPIST, SUMMARY):
        written.show(step)
    rest = "\n\n".join(VerdictLayout(NOW).parts(RESULT, written.paragraphs))
    assert rest.startswith("Analyst: no verdict\n")
    whole = "\n\n".join(VerdictLayout(NOW).parts(RESULT))
    told = capsys.readouterr().out.split("\n\n")
    assert sorted([*told[:-1], *rest.split("\n\n")]) == sorted(whole.split("\n\n"))


def test_withdrawn_fields_are_named_and_printed_again(capsys):
    written, _ = watched()
    for step in (PARAPHRASE, THERAPIST, Restarted((BROKEN,))):
        written.show(step)
    assert "is asked again; no longer valid: paraphrase, Therapist" in capsys.readouterr().err
    written.show(replace(THERAPIST, value=RESULT.personas[1]))
    assert capsys.readouterr().out.startswith("Analyst: no verdict")
    written.show(Restarted(()))
    assert "begins anew; no longer valid: Analyst" in capsys.readouterr().err
    assert written.paragraphs == set()


def test_failure_says_which_printed_fields_are_complete(capsys):
    written, clock = watched()
    written.give_up()
    assert capsys.readouterr().err == ""
    written.show(PARAPHRASE)
    clock.advance(30)
    written.give_up()
    assert "[30.0 s] no verdict follows; complete parts: paraphrase\n" in (capsys.readouterr().err)
