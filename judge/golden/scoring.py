"""Judges cases, once or repeatedly, and scores each answer; a model may grade answers too."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from judge.errors import ContentBlocked, ModelUnavailable
from judge.golden.cases import GoldenCase, StoredCase
from judge.golden.differences import Difference, differences, live_expectations, word_diff
from judge.golden.replay import RunConfig, run_case
from judge.golden.results import Grade, Result, Run
from judge.judging.prompts import INSTRUCTIONS
from judge.judging.verdicts.reply_schema import TEXT, object_schema, without_fence
from judge.text.untrusted import quoted_text
from judge.types.replies import Prompt, Usage

Item = TypeVar("Item")
Output = TypeVar("Output")

MAX_IN_FLIGHT = 4  # live requests at a time: far below any rate limit

Answered = dict[tuple[str, int], Result]
"""Results by case and number."""


async def judge_all(
    cases: Sequence[StoredCase],
    config: RunConfig,
    *,
    repeat: int = 1,
    known: Answered | None = None,
    on_scored: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Each case judged and scored *repeat* times, unless its result is *known*.

    Each new result is put into *known* at once.
    """
    results = {} if known is None else known

    async def judge(item: tuple[StoredCase, int]) -> Result:
        stored, number = item
        key = stored.name, number
        if key not in results:
            results[key] = await _score(stored, number, config)
            on_scored()
        return results[key]

    return await gather_limited(judge, product(cases, range(1, repeat + 1)))


async def gather_limited(
    work: Callable[[Item], Awaitable[Output]], items: Iterable[Item]
) -> list[Output]:
    """The results of *work* on *items*, MAX_IN_FLIGHT at a time; raises its first error."""
    semaphore = asyncio.Semaphore(MAX_IN_FLIGHT)

    async def limited(item: Item) -> Output:
        async with semaphore:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(limited(item)) for item in items]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


async def _score(stored: StoredCase, number: int, config: RunConfig) -> Result:
    """*stored* judged, its answer graded by a real model, and scored."""
    outcome, versions = await run_case(stored, config), config.knowledge_for(stored).versions
    usage = sum((reply.usage for reply in outcome.replies), Usage())
    if outcome.status == 200:
        usage = Usage(**outcome.body["usage"])  # with what refused calls cost
    result = Result(
        case=stored.name,
        number=number,
        floor=stored.case.expected.floor,
        rules=outcome.rules,
        model=outcome.replies[0].model if outcome.replies else "",
        prompt_version=versions.prompt,
        sources_version=versions.sources,
        usage=usage,
        is_live=config.is_live,
        at=config.started,
        sources_file=config.sources_file,
        answer=outcome,
    )
    if config.is_live:
        result = await _graded(stored, result, config)
    return _rescored(stored, result, is_exact=config.is_exact and not config.is_live)


async def score_again(
    stored: StoredCase, result: Result, config: RunConfig | None = None
) -> Result:
    """A live *result* whose answer was stored, scored by what its case expects now.

    The model of *config* grades it again. Without *config* it keeps the grades of questions that
    the case still has, and a question without a grade leaves it unscored.
    """
    if config:
        result = await _graded(stored, result, config)
    else:
        known = {grade.question: grade for grade in result.grades}
        questions = [rubric.question for rubric in stored.case.expected.graded]
        grades = tuple(known.get(question, Grade(question)) for question in questions)
        result = replace(result, grades=grades)
    return _rescored(stored, result, is_exact=False)


async def find_answered(
    before: Run, cases: Sequence[StoredCase], config: RunConfig, repeat: int
) -> Answered:
    """The answers of an interrupted run that need not be asked for.

    Only those of the same model to the prompt that would be sent now.
    """
    by_name = {stored.name: stored for stored in cases}
    replay = replace(config, model=None)
    prompts = {stored.name: (await run_case(stored, replay)).prompts[:1] for stored in cases}
    models = {"", config.model.name if config.model else ""}  # "" if the answer was blocked
    answered = {}
    for result in before:
        prompt = result.answer.prompts[:1] if result.answer and result.is_live else None
        is_same = prompt == prompts.get(result.case, ()) and result.model in models
        if is_same and result.number <= repeat:
            now = replace(result, at=config.started, sources_file=config.sources_file)
            answered[result.case, result.number] = await score_again(by_name[result.case], now)
    return {key: result for key, result in answered.items() if result.state != "unscored"}


def _rescored(stored: StoredCase, result: Result, *, is_exact: bool) -> Result:
    """*result*, whose answer is known, by what its case expects, or any good answer meets.

    A question with too few grades leaves it unscored, unless it fails anyway.
    """
    answer = result.answer
    assert answer is not None
    expected = stored.case.expected
    result = replace(result, floor=expected.floor, reason="", failed=(), differences=())
    if result.is_live and answer.unanswered:
        return replace(result, reason=answer.unanswered)
    held = expected if is_exact else live_expectations(expected)
    found = list(differences(held, answer, stored.evaluators))
    ungraded = []
    pairs = zip(expected.graded, result.grades, strict=False)
    for number, (rubric, grade) in enumerate(pairs, 1):
        if grade.yes + grade.no < rubric.times:
            ungraded.append(f"Not graded: {rubric.question}")
        elif grade.yes < rubric.at_least * rubric.times:
            wanted = f"{rubric.question} yes: {rubric.at_least:.0%}"
            found.append(Difference(f"graded {number}", wanted, str(grade)))
    # A later prompt of a live run is about another reply than the recorded one.
    known = stored.case.prompts[:1] if result.is_live else stored.case.prompts
    changes = map(word_diff, known, answer.prompts) if is_exact or result.is_live else ()
    result = replace(result, prompt_change=" … ".join(filter(None, changes)))
    if ungraded and not found:
        return replace(result, reason=ungraded[0])
    failed = tuple(dict.fromkeys(difference.field for difference in found))
    return replace(result, failed=failed, differences=tuple(found))


_SCHEMA = object_schema(reason=TEXT, answer={"type": "string", "enum": ["yes", "no"]})


class _GradeReply(BaseModel):
    reason: str
    answer: Literal["yes", "no"]


async def _graded(stored: StoredCase, result: Result, config: RunConfig) -> Result:
    """*result* with the grades of the model, if there is a verdict to grade, and what they cost."""
    assert result.answer is not None
    grades, usage = [], result.usage
    for rubric in stored.case.expected.graded if result.answer.status == 200 else ():
        prompt = _grading_prompt(stored.case, rubric.question, result.answer.body)
        replies = [await _grade(prompt, config) for _ in range(rubric.times)]
        answers = [answer for answer, _ in replies]
        grades.append(Grade(rubric.question, answers.count("yes"), answers.count("no")))
        usage = sum((cost for _, cost in replies), usage)
    return replace(result, grades=tuple(grades), usage=usage)


def _grading_prompt(case: GoldenCase, question: str, body: Mapping[str, Any]) -> Prompt:
    """The prompt that asks for a grade; no text in it can break out of its JSON string."""
    answer = [body["summary"]]
    for persona in body["personas"]:
        answer += [f"{persona['name']}: {persona['verdict']}. {persona['rationale']}"]
        answer += [f"- {point}" for point in persona["key_points"]]
    parts = {
        "What happened": case.input.context,
        "What was asked": case.input.query,
        "The answer": "\n".join(answer),
    }
    text = "".join(f"{name}: {quoted_text(part)}\n" for name, part in parts.items())
    instructions = INSTRUCTIONS["grade"].format(question=question)
    return Prompt(instructions, text, case.input, schema=_SCHEMA)


async def _grade(prompt: Prompt, config: RunConfig) -> tuple[str, Usage]:
    """`yes` or `no`, empty without a valid reply; and the tokens that it cost."""
    limit_s, usage = config.deadline_s, Usage()
    assert config.model is not None
    try:
        async with asyncio.timeout(limit_s):
            reply = await config.model.complete(prompt, timeout_s=limit_s, doubles_limit=False)
        usage = reply.usage
        return _GradeReply.model_validate_json(without_fence(reply.text)).answer, usage
    except (ModelUnavailable, ContentBlocked, TimeoutError, ValidationError):
        return "", usage
