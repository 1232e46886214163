"""Judge cases one by one or many times, and score each answer."""

import asyncio
from collections.abc import Callable, Sequence

from judge.golden.case_reader import StoredCase
from judge.golden.case_runner import Outcome, RunConfig, is_unanswered, run_case
from judge.golden.differences import differences, live_expectations
from judge.golden.replay import ReplayedReply
from judge.golden.scores import Sample, ScoredCase
from judge.types.judgements import Usage

AT_ONCE = 4
"""Live requests in flight: quick enough, and far below anyone's rate limit."""

Advance = Callable[[], None]


async def replay_all(cases: Sequence[StoredCase], config: RunConfig) -> list[ScoredCase]:
    """Each case judged once, with its own replies."""
    return [score(stored, 1, await run_case(stored, config), config) for stored in cases]


async def ask_all(
    cases: Sequence[StoredCase], config: RunConfig, *, repeat: int, advance: Advance = lambda: None
) -> list[ScoredCase]:
    """Each case judged *repeat* times by the model of *config*; *advance* after each time."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(stored: StoredCase, number: int) -> ScoredCase:
        async with turns:
            judged = score(stored, number, await run_case(stored, config), config)
        advance()
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
    case = stored.case
    if config.model is not None:
        case = case.model_copy(update={"expected": live_expectations(case.expected)})
    found = () if is_unscored else differences(case, outcome)
    attempts = [*outcome.attempts, ReplayedReply(Usage()), ReplayedReply(Usage())]
    versions = config.knowledge.versions
    sample = Sample(
        case=stored.name,
        number=number,
        floor=case.expected.floor,
        is_scored=not is_unscored,
        failed=tuple(dict.fromkeys(difference.field for difference in found)),
        reason=str(outcome.error) if is_unscored else "",
        first_rules=attempts[0].rules,
        second_rules=attempts[1].rules,
        attempts=len(outcome.attempts),
        model=attempts[0].model,
        prompt_version=versions.prompt,
        sources_version=versions.sources,
        usage=sum((attempt.usage for attempt in outcome.attempts), Usage()),
    )
    return ScoredCase(sample, found, outcome, case.expected)
