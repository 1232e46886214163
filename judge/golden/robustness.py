"""Measures how robust a case is: in other wordings, and as told by the other side.

The unchanged case is judged first, as often as each variant, so that the random variation of a
model is not taken for an effect. Live, these first answers also hear the other side.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judge.errors import DeadlineExceeded, ModelUnavailable
from judge.golden.case_reader import StoredCase
from judge.golden.case_runner import Outcome, RunConfig, is_unanswered, run_case
from judge.golden.run_comparison import newcombe
from judge.golden.samples import counts_in_words
from judge.golden.variants import (
    VERDICT_PREFIX,
    Variant,
    find_escapes,
    signature,
    variants_of,
    with_request,
)
from judge.judging.other_side.hearing import RIGHT

OTHER_SIDE = "the other side tells the story"
BY_HAND = "only a model's own answer (--live, or recorded) can tell"
ABSENT = "nothing"

Counts = Mapping[str, Counter[str]]
"""For each field of an outcome, how often it had each value."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A field that a variant changed."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VerdictPair:
    """The verdicts of one persona for both sides of a dispute, with their counts.

    `heard` counts the answers, `both_right` those that say to both sides that they are right.
    """

    persona: str
    asker: Mapping[str, int]
    other_side: Mapping[str, int]
    heard: int
    both_right: int

    @property
    def follows_teller(self) -> bool:
        """Whether most answers say to both sides that they are right."""
        return 2 * self.both_right > self.heard


@dataclass(frozen=True, slots=True)
class VariantResult:
    """The result of one variant; without flips, the outcome stayed the same."""

    name: str
    flips: tuple[Flip, ...] = ()
    pairs: tuple[VerdictPair, ...] = ()
    """For OTHER_SIDE: the verdicts for both sides."""

    skipped: str = ""
    """Why the variant was not tried."""

    @property
    def has_flipped(self) -> bool:
        """Whether the variant changed the outcome."""
        return bool(self.flips) or any(pair.follows_teller for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class VariedCase:
    """One case with the results of its variants."""

    case: str
    asked: int
    """How many answers the unchanged case got."""

    spread: Mapping[str, Mapping[str, int]]
    """The fields that varied in answers to the unchanged case: each value with its count."""

    unusual: int
    """How many of its verdicts differ from the commonest verdict of their persona, by chance."""

    verdicts: int
    results: tuple[VariantResult, ...]


async def vary(stored: StoredCase, config: RunConfig, *, repeat: int = 1) -> VariedCase:
    """Judge *stored* unchanged and in its variants, each *repeat* times.

    Raises ModelUnavailable and DeadlineExceeded when the unchanged case gets no answer.
    """
    is_live = config.model is not None
    unchanged = with_request(stored, hear_other_side=True) if is_live else stored
    answers = await _outcomes(unchanged, config, repeat)
    before = _value_counts(answers)
    one_sided = with_request(stored, hear_other_side=False) if is_live else stored
    variants = variants_of(one_sided, config, answers[0])
    results = [await _judge_variant(variant, before, config, repeat) for variant in variants]
    can_tell = is_live or stored.case.recorded
    results.append(_both_sides(answers) if can_tell else VariantResult(OTHER_SIDE, skipped=BY_HAND))
    varied = {field: counts for field, counts in before.items() if len(counts) > 1}
    spread = {field: dict(counts.most_common()) for field, counts in varied.items()}
    verdicts = [counts for field, counts in before.items() if field.startswith(VERDICT_PREFIX)]
    total = sum(counts.total() for counts in verdicts)
    unusual = total - sum(max(counts.values()) for counts in verdicts)
    return VariedCase(stored.name, len(answers), spread, unusual, total, tuple(results))


async def _judge_variant(
    variant: Variant, before: Counts, config: RunConfig, repeat: int
) -> VariantResult:
    if variant.skipped:
        return VariantResult(variant.name, skipped=variant.skipped)
    try:
        outcomes = await _outcomes(variant.stored, variant.config, repeat)
    except (ModelUnavailable, DeadlineExceeded):
        return VariantResult(variant.name, skipped="no answer came")
    flips = list(_flips(before, _value_counts(outcomes), is_live=config.model is not None))
    flips += [
        Flip("prompt", "nothing breaks out", place) for place in find_escapes(outcomes[0].prompts)
    ]
    return VariantResult(variant.name, tuple(flips))


def _both_sides(outcomes: Sequence[Outcome]) -> VariantResult:
    """The verdicts for both sides, from those of *outcomes* in which the other side was heard."""
    bodies = [outcome.body for outcome in outcomes if outcome.body.get("other_side")]
    notes = [body["other_side"]["note"] for body in bodies if not body["other_side"]["personas"]]
    verdicts: dict[str, list[tuple[str, str]]] = {}
    for body in bodies:
        for asker, other in zip(body["personas"], body["other_side"]["personas"], strict=False):
            verdicts.setdefault(asker["name"], []).append((asker["verdict"], other["verdict"]))
    if not verdicts:
        return VariantResult(OTHER_SIDE, skipped=notes[0] if notes else "it did not ask for them")
    return VariantResult(OTHER_SIDE, pairs=tuple(_pair(name, verdicts[name]) for name in verdicts))


def _pair(persona: str, verdicts: Sequence[tuple[str, str]]) -> VerdictPair:
    asker, other = (dict(Counter(side).most_common()) for side in zip(*verdicts, strict=True))
    return VerdictPair(persona, asker, other, len(verdicts), verdicts.count((RIGHT, RIGHT)))


async def _outcomes(stored: StoredCase, config: RunConfig, repeat: int) -> list[Outcome]:
    """The outcomes of *repeat* judgements, without those that a real model did not answer."""
    outcomes = [await run_case(stored, config) for _ in range(repeat)]
    answered = [outcome for outcome in outcomes if not is_unanswered(outcome, config)]
    if not answered and outcomes[0].error:
        raise outcomes[0].error
    return answered


def _value_counts(outcomes: Sequence[Outcome]) -> Counts:
    """The counts of each field's values; ABSENT where an outcome lacks the field."""
    signatures = [signature(outcome) for outcome in outcomes]
    fields = dict.fromkeys(field for item in signatures for field in item)
    return {field: Counter(item.get(field, ABSENT) for item in signatures) for field in fields}


def _flips(before: Counts, after: Counts, *, is_live: bool) -> Iterator[Flip]:
    """The fields whose commonest value is given significantly less often.

    A replay does not vary, and a single answer tells nothing about chance: there every difference
    counts.
    """
    for field, counts in before.items():
        usual = _commonest(counts)
        others = after.get(field, Counter({ABSENT: 1}))
        is_once = not is_live or counts.total() == 1
        rates = (counts[usual], counts.total()), (others[usual], others.total())
        if (is_once and others[usual] == 0) or newcombe(*rates).high < 0:
            yield Flip(field, _in_words(counts), _in_words(others))


def _commonest(counts: Counter[str]) -> str:
    return counts.most_common(1)[0][0]


def _in_words(counts: Counter[str]) -> str:
    """The value of a single outcome, or each of several values with its count."""
    return _commonest(counts) if counts.total() == 1 else counts_in_words(counts)
