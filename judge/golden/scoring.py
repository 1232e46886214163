"""Judge cases one by one or many times, and score each answer."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from judge.golden.case_reader import StoredCase
from judge.golden.case_runner import Outcome, RunConfig, is_unanswered, run_case
from judge.golden.cases import Expected
from judge.golden.differences import Difference, differences, live_expectations
from judge.golden.grading import grade_all
from judge.golden.replay import ReplayedReply
from judge.golden.scores import Grade, Sample, ScoredCase, outcome_of
from judge.ports import LanguageModel
from judge.types.replies import Usage

AT_ONCE = 4
"""Live requests in flight: quick enough, and far below anyone's rate limit."""


async def replay_all(cases: Sequence[StoredCase], config: RunConfig) -> list[ScoredCase]:
    """Each case judged once, with its own replies."""
    return [score(stored, 1, await run_case(stored, config), config) for stored in cases]


async def ask_all(
    cases: Sequence[StoredCase],
    config: RunConfig,
    *,
    repeat: int,
    note: Callable[[ScoredCase], None] = lambda _: None,
) -> list[ScoredCase]:
    """Each case judged *repeat* times by the model of *config*; *note* is told each when it is."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(stored: StoredCase, number: int) -> ScoredCase:
        async with turns:
            judged = score(stored, number, await run_case(stored, config), config)
            if config.model is not None:
                judged = await grade(stored, judged, config.model, timeout_s=config.deadline_s)
        note(judged)
        return judged

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(ask(stored, number))
            for stored in cases
            for number in range(1, repeat + 1)
        ]
    return [task.result() for task in tasks]


def score(stored: StoredCase, number: int, outcome: Outcome, config: RunConfig) -> ScoredCase:
    """What *outcome* comes to; a live one is unscored when the model gave no answer at all."""
    is_unscored = is_unanswered(outcome, config)
    attempts = [*outcome.attempts, ReplayedReply(Usage()), ReplayedReply(Usage())]
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
        usage=_usage(outcome),
        is_live=config.model is not None,
        at=config.started,
        sources_file=config.sources_file,
    )
    lasting = sample.is_live or not config.is_exact
    return _held(stored, sample, outcome, lasting=lasting)


def _usage(outcome: Outcome) -> Usage:
    """The tokens of *outcome*, with those for the other side; where it failed, of its attempts."""
    if outcome.status == 200:
        return Usage(**outcome.body["usage"])
    return sum((attempt.usage for attempt in outcome.attempts), Usage())


async def score_again(
    stored: StoredCase, sample: Sample, config: RunConfig | None = None
) -> ScoredCase:
    """A live *sample* whose answer was kept, held to what its case expects now.

    The model of *config* grades it anew. Without, it keeps its grades of questions that are still
    asked, and a question without any leaves it unscored.
    """
    assert sample.answer is not None
    judged = _held(stored, sample, outcome_of(sample.answer), lasting=True)
    if not sample.is_scored:
        return judged
    if config and config.model:
        return await grade(stored, judged, config.model, timeout_s=config.deadline_s)
    graded = {grade.question: grade for grade in sample.grades}
    asked = [rubric.question for rubric in stored.case.expected.graded]
    return _with_grades(judged, tuple(graded.get(one, Grade(one)) for one in asked))


async def grade(
    stored: StoredCase, judged: ScoredCase, model: LanguageModel, *, timeout_s: float
) -> ScoredCase:
    """*judged* with the grades of *model*, where the case asks for them and there is a verdict."""
    outcome = judged.outcome
    if not stored.case.expected.graded or outcome.status != 200:
        return judged
    grades, used = await grade_all(stored.case, outcome.body, model, timeout_s=timeout_s)
    sample = replace(judged.sample, usage=judged.sample.usage + used)
    return _with_grades(replace(judged, sample=sample), grades)


def _held(stored: StoredCase, sample: Sample, outcome: Outcome, *, lasting: bool) -> ScoredCase:
    case = stored.case
    if lasting:
        case = case.model_copy(update={"expected": live_expectations(case.expected)})
    found = differences(case, outcome) if sample.is_scored else ()
    sample = replace(sample, failed=_fields(found), floor=case.expected.floor)
    return ScoredCase(sample, found, outcome, case.expected)


def _with_grades(judged: ScoredCase, grades: tuple[Grade, ...]) -> ScoredCase:
    """What fails is a difference; what is open leaves a sample without any unscored."""
    failed, opened = _graded(judged.expected, grades)
    found = (*judged.differences, *failed)
    sample = replace(judged.sample, grades=grades, failed=_fields(found))
    if opened and not found:
        sample = replace(sample, is_scored=False, reason=f"Not graded: {opened[0]}")
    return replace(judged, sample=sample, differences=found)


def _graded(expected: Expected, grades: tuple[Grade, ...]) -> tuple[list[Difference], list[str]]:
    """What the grades fail in, and the questions that they leave open."""
    pairs = list(enumerate(zip(expected.graded, grades, strict=True), 1))
    failed = [
        Difference(f"graded {n}", f"{rubric.question} yes: {rubric.at_least:.0%}", str(one))
        for n, (rubric, one) in pairs
        if one.state(rubric) == "failed"
    ]
    return failed, [r.question for _, (r, one) in pairs if one.state(r) == "unscored"]


def _fields(found: Sequence[Difference]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(difference.field for difference in found))
