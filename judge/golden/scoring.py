"""Judge cases one by one or many times, and score each answer."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from judge.golden.case_reader import StoredCase
from judge.golden.case_runner import Outcome, RunConfig, is_unanswered, run_case
from judge.golden.differences import Difference, differences, live_expectations
from judge.golden.grading import grade_all
from judge.golden.replay import ReplayedReply
from judge.golden.scores import Grade, Sample, ScoredCase, outcome_of
from judge.types.replies import Usage

AT_ONCE = 4
"""Live requests in flight: quick enough, and far below anyone's rate limit."""

NOTHING = Usage()

Graded = tuple[tuple[Grade, ...], Usage]
"""What a model said to the questions of a case, and what that cost."""


async def replay_all(cases: Sequence[StoredCase], config: RunConfig) -> list[ScoredCase]:
    """Each case judged once, with its own replies."""
    return [score(stored, 1, await run_case(stored, config), config) for stored in cases]


async def ask_all(
    cases: Sequence[StoredCase],
    config: RunConfig,
    *,
    repeat: int,
    note: Callable[[ScoredCase], None],
) -> list[ScoredCase]:
    """Each case judged *repeat* times by the model of *config*; *note* is told each when it is."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(stored: StoredCase, number: int) -> ScoredCase:
        async with turns:
            outcome = await run_case(stored, config)
            graded = await _graded(stored, outcome, config)
        judged = score(stored, number, outcome, config, graded)
        note(judged)
        return judged

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(ask(stored, number))
            for stored in cases
            for number in range(1, repeat + 1)
        ]
    return [task.result() for task in tasks]


def score(
    stored: StoredCase,
    number: int,
    outcome: Outcome,
    config: RunConfig,
    graded: Graded = ((), NOTHING),
) -> ScoredCase:
    """What *outcome* comes to, with the grades that a model gave it.

    A live one is unscored when the model gave no answer at all.
    """
    is_unscored = is_unanswered(outcome, config)
    attempts = [*outcome.attempts, ReplayedReply(NOTHING), ReplayedReply(NOTHING)]
    sample = Sample(
        case=stored.name,
        number=number,
        floor=stored.case.expected.floor,
        is_scored=not is_unscored,
        reason=str(outcome.error) if is_unscored else "",
        first_rules=attempts[0].rules,
        second_rules=attempts[1].rules,
        attempts=len(outcome.attempts),
        model=attempts[0].model,
        prompt_version=outcome.versions.prompt,
        sources_version=outcome.versions.sources,
        usage=_usage(outcome) + graded[1],
        is_live=config.model is not None,
        at=config.started,
        sources_file=config.sources_file,
        grades=graded[0],
    )
    return _held(stored, sample, outcome, lasting=sample.is_live or not config.is_exact)


def _usage(outcome: Outcome) -> Usage:
    """The tokens of *outcome*, with those for the other side; where it failed, of its attempts."""
    if outcome.status == 200:
        return Usage(**outcome.body["usage"])
    return sum((attempt.usage for attempt in outcome.attempts), NOTHING)


async def score_again(
    stored: StoredCase, sample: Sample, config: RunConfig | None = None
) -> ScoredCase:
    """A live *sample* whose answer was kept, held to what its case expects now.

    The model of *config* grades it anew. Without, it keeps its grades of questions that are still
    asked, and a question without any leaves it unscored.
    """
    assert sample.answer is not None
    outcome = outcome_of(sample.answer)
    if sample.is_scored and config:
        grades, used = await _graded(stored, outcome, config)
        sample = replace(sample, grades=grades, usage=sample.usage + used)
    elif sample.is_scored:
        known = {grade.question: grade for grade in sample.grades}
        asked = [rubric.question for rubric in stored.case.expected.graded]
        sample = replace(sample, grades=tuple(known.get(one, Grade(one)) for one in asked))
    return _held(stored, sample, outcome, lasting=True)


async def _graded(stored: StoredCase, outcome: Outcome, config: RunConfig) -> Graded:
    """What the real model says to the questions of the case, if there is a verdict to grade."""
    if config.model is None or outcome.status != 200:
        return (), NOTHING
    return await grade_all(stored.case, outcome.body, config.model, timeout_s=config.deadline_s)


def _held(stored: StoredCase, sample: Sample, outcome: Outcome, *, lasting: bool) -> ScoredCase:
    """*sample* held to what is expected; an open question leaves one without a fault unscored."""
    expected = stored.case.expected
    expected = live_expectations(expected) if lasting else expected
    sample = replace(sample, floor=expected.floor)
    if not sample.is_scored:
        return ScoredCase(sample, (), outcome, expected)
    pairs = list(zip(expected.graded, sample.grades, strict=False))
    failed = (
        Difference(f"graded {n}", f"{rubric.question} yes: {rubric.at_least:.0%}", str(one))
        for n, (rubric, one) in enumerate(pairs, 1)
        if one.state(rubric) == "failed"
    )
    found = (*differences(expected, outcome), *failed)
    opened = [rubric.question for rubric, one in pairs if one.state(rubric) == "unscored"]
    if opened and not found:
        sample = replace(sample, is_scored=False, reason=f"Not graded: {opened[0]}")
    failed_fields = tuple(dict.fromkeys(difference.field for difference in found))
    return ScoredCase(replace(sample, failed=failed_fields), found, outcome, expected)
