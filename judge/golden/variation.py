"""How steady a case is: told in other ways, and told by the other side.

The case as it stands is asked first, as often as each variant, so that what a model does of its
own is not held against a variant.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.golden.case_reader import StoredCase
from judge.golden.case_runner import Outcome, RunConfig, is_unanswered, run_case
from judge.golden.retelling import CannotRetell, retell
from judge.golden.run_comparison import newcombe
from judge.golden.variants import Variant, escapes, signature, variants_of

OTHER_SIDE = "the other side tells the story"
RIGHT = "No"
"""To "is the person being unreasonable?": whoever hears it is told that they are right."""

ABSENT = "nothing"

Counts = Mapping[str, Counter[str]]
"""For each field of an outcome, how often it had each value."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Something that a variant changed."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VerdictPair:
    """What one persona most often told each teller of the same dispute."""

    persona: str
    asker: str
    other_side: str

    @property
    def follows_teller(self) -> bool:
        """Whether both were told that they are right."""
        return self.asker == self.other_side == RIGHT


@dataclass(frozen=True, slots=True)
class VariantResult:
    """What came of one variant; without flips its outcome held."""

    name: str
    flips: tuple[Flip, ...] = ()
    pairs: tuple[VerdictPair, ...] = ()
    """Where the other side told the story: the verdicts for both."""

    skipped: str = ""
    """Why the variant was not tried."""

    @property
    def has_flipped(self) -> bool:
        """Whether the telling decided what it must not."""
        return bool(self.flips) or any(pair.follows_teller for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class VariedCase:
    """One case with what came of its variants."""

    case: str
    asked: int
    """How often the case as it stands, and each variant, was answered."""

    spread: Mapping[str, Mapping[str, int]]
    """The fields in which the case as it stands gave several values, and how often each."""

    results: tuple[VariantResult, ...]


async def vary(stored: StoredCase, config: RunConfig, *, repeat: int = 1) -> VariedCase:
    """Judge *stored* as it stands and in its variants, each *repeat* times.

    Raises ModelUnavailable and DeadlineExceeded when the case as it stands gets no answer.
    """
    bases = await _answers(stored, config, repeat)
    before = _counted(bases)
    results = [
        await _judge_variant(variant, before, config, repeat)
        if isinstance(variant, Variant)
        else VariantResult(variant[0], skipped=variant[1])
        for variant in variants_of(stored, config, bases[0])
    ]
    results.append(await _hear_other_side(stored, config, before, repeat))
    varied = {field: counts for field, counts in before.items() if len(counts) > 1}
    spread = {field: dict(counts.most_common()) for field, counts in varied.items()}
    return VariedCase(stored.name, len(bases), spread, tuple(results))


async def _judge_variant(
    variant: Variant, before: Counts, config: RunConfig, repeat: int
) -> VariantResult:
    try:
        outcomes = await _answers(variant.stored, variant.config, repeat)
    except (ModelUnavailable, DeadlineExceeded):
        return VariantResult(variant.name, skipped="no answer came")
    flips = list(_flips(before, _counted(outcomes), is_live=config.model is not None))
    flips += [Flip("prompt", "nothing breaks out", one) for one in escapes(outcomes[0].prompts)]
    return VariantResult(variant.name, tuple(flips))


async def _hear_other_side(
    stored: StoredCase, config: RunConfig, before: Counts, repeat: int
) -> VariantResult:
    if config.model is None:
        return VariantResult(OTHER_SIDE, skipped="only a live answer (--live) can tell")
    try:
        async with asyncio.timeout(config.deadline_s):
            told = await retell(stored.case.input, config.model, timeout_s=config.deadline_s)
        case = stored.case.model_copy(update={"input": told})
        after = _counted(await _answers(replace(stored, case=case), config, repeat))
    except CannotRetell as error:
        return VariantResult(OTHER_SIDE, skipped=str(error))
    except (ModelUnavailable, DeadlineExceeded, ContentBlocked, TimeoutError):
        return VariantResult(OTHER_SIDE, skipped="no answer came")
    return VariantResult(OTHER_SIDE, pairs=tuple(_pairs(before, after)))


def _pairs(before: Counts, after: Counts) -> Iterator[VerdictPair]:
    for field, counts in before.items():
        _, is_verdict, persona = field.partition("verdict of ")
        if is_verdict:
            yield VerdictPair(persona, _commonest(counts), _commonest(after.get(field)))


async def _answers(stored: StoredCase, config: RunConfig, repeat: int) -> list[Outcome]:
    """The outcomes of *repeat* judgements, without those that a real model never answered."""
    outcomes = [await run_case(stored, config) for _ in range(repeat)]
    answered = [one for one in outcomes if not is_unanswered(one, config)]
    if not answered and outcomes[0].error:
        raise outcomes[0].error
    return answered


def _counted(outcomes: Sequence[Outcome]) -> Counts:
    """The values of each field; one that an outcome has not counts as absent."""
    signatures = [dict(signature(outcome)) for outcome in outcomes]
    fields = dict.fromkeys(field for one in signatures for field in one)
    return {field: Counter(one.get(field, ABSENT) for one in signatures) for field in fields}


def _flips(before: Counts, after: Counts, *, is_live: bool) -> Iterator[Flip]:
    """The fields whose commonest value is given less often, and not by chance.

    A replay cannot vary, and of a case asked once nothing is known of chance: every difference
    counts.
    """
    for field, counts in before.items():
        usual = _commonest(counts)
        others = after.get(field, Counter({ABSENT: 1}))
        is_once = not is_live or counts.total() == 1
        rates = (counts[usual], counts.total()), (others[usual], others.total())
        if (is_once and others[usual] == 0) or newcombe(*rates).high < 0:
            yield Flip(field, _in_words(counts), _in_words(others))


def _commonest(counts: Counter[str] | None) -> str:
    return counts.most_common(1)[0][0] if counts else ABSENT


def _in_words(counts: Counter[str]) -> str:
    """The value, or several with how often each was given."""
    if counts.total() == 1:
        return _commonest(counts)
    return ", ".join(f"{value} {count}" for value, count in counts.most_common())
