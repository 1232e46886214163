"""Compares runs, and tells of one or two in sections for the terminal and the HTML page alike."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Literal, NamedTuple, get_args

from judge.golden.differences import Difference, body_differences, masked, word_diff
from judge.golden.rates import Interval, Paired, newcombe, paired, wilson
from judge.golden.results import CaseScore, Prices, Result, Run, State, by_case, cost_of
from judge.text.english import counted
from judge.types.replies import Usage

MAX_VALUE = 240  # characters of a value that are shown;
BEFORE = 60  # so many of them stand before the first difference


@dataclass(frozen=True, slots=True)
class Section:
    """A title, lines below it, and a table; each may be empty. None in a cell is a dash."""

    title: str = ""
    lines: Sequence[str] = ()
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()


def failure_lines(result: Result) -> Iterator[str]:
    """Why *result* did not pass: the differences, and what the case lacks; nothing if it did."""
    if result.state == "passed":
        return
    if result.reason:
        yield f"unscored: {result.reason}"
    for difference in result.differences:
        yield from difference_lines(difference)
    if "prompt_digest" in result.failed:
        update = f"`judge golden update {result.case}`"
        yield f"The prompt has changed. If that is intended, {update} accepts it."
    for part in result.answer.missing if result.answer else ():
        yield f"The case does not have {part}."


def difference_lines(*differences: Difference) -> list[str]:
    """Three lines each: the field, what was expected (-) and what was found (+)."""
    lines = []
    for difference in differences:
        expected, found = as_words(difference.expected), as_words(difference.found)
        same = len(commonprefix((expected, found)))  # noqa: RUF071 - of characters, not of paths
        lines.append(difference.field)
        part = slice(max(0, same - BEFORE), max(MAX_VALUE, same - BEFORE + MAX_VALUE))
        for sign, text in (("-", expected), ("+", found)):
            lines.append(f"  {sign} {text if len(text) <= MAX_VALUE else f'…{text[part]}…'}")
    return lines


def as_words(value: object) -> str:
    """*value* for people: a text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def failure_sections(run: Run) -> Iterator[Section]:
    """Each answer that did not pass, then each change of the prompt with the cases that have it."""
    for result in run:
        if lines := list(failure_lines(result)):
            yield Section(f"{result.case}, answer {result.number}", lines)
    first = {result.case: result.prompt_change for result in run if result.number == 1}
    yield from _prompt_sections("Words changed in the prompt of", first)


def _prompt_sections(title: str, changes: Mapping[str, str]) -> Iterator[Section]:
    for change in dict.fromkeys(filter(None, changes.values())):
        names = ", ".join(name for name, own in changes.items() if own == change)
        yield Section(f"{title} {names}:", [change])


def summary_sections(runs: Mapping[str, Run], prices: Prices | None) -> Iterator[Section]:
    """Each of *runs*; then how many answers passed side by side, and what chance may explain."""
    for label, run in runs.items():
        if len(runs) > 1:
            yield Section(label)
        yield from _run_sections(run, prices)
    if len(runs) > 1:
        (first, before), *others = runs.items()
        compared = ((label, paired_difference(compare_runs(before, run))) for label, run in others)
        lines = [f"{label} against {first}: {difference}" for label, difference in compared]
        scores = [by_case(run) for run in runs.values()]
        rows = [(name, *(str(each.get(name, "-")) for each in scores)) for name in scores[0]]
        yield Section("Side by side", lines, ("Case", *runs), rows)


def _run_sections(run: Run, prices: Prices | None) -> Iterator[Section]:
    """The state of each case; with *prices* also the rules that were broken, and what it cost."""
    scores = by_case(run).values()
    if prices is None:
        rows = [(score.name, score.state, score.failed) for score in scores]
        yield Section(headings=("Case", "State", "Not as expected"), rows=rows)
    else:
        headings = ("Case", "State", "Passed", "Rate", "95 %", "Floor", "Not as expected")
        yield Section(headings=headings, rows=[_live_row(score) for score in scores])
        yield _broken_rules(run)
        usage = sum((result.usage for result in run), Usage())
        cost = cost_of(run, prices)
        price = "unknown" if cost is None else f"{cost:.4f} {prices.currency}".strip()
        yield Section(
            f"Tokens: {usage.input_tokens} in, {usage.output_tokens} out, {usage.thinking_tokens} "
            f"thinking. Cost: {price}."
        )
    states = Counter(score.state for score in scores)
    counts = [f"{states[state]} {state}" for state in get_args(State) if states[state]]
    yield Section(f"{counted(len(scores), 'case')}: {', '.join(counts)}.")


def _live_row(score: CaseScore) -> Sequence[str | None]:
    lost = len(score.results) - score.scored
    return (
        score.name,
        score.state,
        f"{score.passes}/{score.scored}" + f" ({lost} unscored)" * bool(lost),
        None if score.rate is None else f"{score.rate:.0%}",
        str(wilson(score.passes, score.scored)),
        f"{score.results[0].floor:.0%}",
        score.failed,
    )


def _broken_rules(run: Run) -> Section:
    """How many replies were asked for again; and of each rule, the share of replies that broke it.

    The rule that costs most second calls is the first.
    """
    first = [result.rules[0] for result in run if result.rules]
    second = [result.rules[1] for result in run if len(result.rules) > 1]
    counts = [Counter(rule for rules in each for rule in set(rules)) for each in (first, second)]
    ranked = sorted(counts[0] | counts[1], key=lambda r: (-counts[0][r], -counts[1][r], r))
    rows = [
        (rule, _share(counts[0][rule], len(first)), _share(counts[1][rule], len(second)))
        for rule in ranked
    ]
    title = f"Asked again: {_share(len(second), len(first))} first replies."
    return Section(title, headings=("Rule broken", "First replies", "Second replies"), rows=rows)


def _share(count: int, of: int) -> str:
    return f"{count} of {of}" + (f" ({count / of:.0%})" if of else "")


Direction = Literal["worse", "gone", "unscored", "better", "new", "same"]


class CaseChange(NamedTuple):
    """A case in two runs; one of them may lack it.

    *rates* are the shares that passed before and after, None where nothing was scored; *interval*
    the 95 % interval of their change, None in replays, which never vary; *prompt* and *body* what
    changed in the first answers that were kept in both.
    """

    name: str
    direction: Direction
    rates: tuple[float | None, float | None]
    interval: Interval | None
    prompt: str
    body: Sequence[Difference]
    is_change: bool


def compare_runs(before: Run, after: Run) -> list[CaseChange]:
    """Each case of either run, worse ones first, then by name."""
    old, new = by_case(before), by_case(after)
    changes = [_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: get_args(Direction).index(change.direction))


def _change(name: str, old: CaseScore | None, new: CaseScore | None) -> CaseChange:
    if not old or not new:
        rates = old and old.rate, new and new.rate
        return CaseChange(name, "new" if new else "gone", rates, None, "", (), is_change=True)
    direction: Direction = "same"
    interval, prompt, body = None, "", list[Difference]()
    if old.rate is None or new.rate is None:
        direction = "unscored"
    elif old.rate != new.rate:
        direction = "better" if new.rate > old.rate else "worse"
    if direction != "unscored" and new.results[0].is_live:
        interval = newcombe((old.passes, old.scored), (new.passes, new.scored))
    pairs = zip(old.results, new.results, strict=False)
    for one, other in ((first.answer, second.answer) for first, second in pairs):
        if one and other:
            prompt = word_diff("\n\n".join(one.prompts), "\n\n".join(other.prompts))
            body = list(body_differences(masked(one.body), masked(other.body), is_exact=True))
            break
    is_change = bool(direction != "same" or old.failed != new.failed or prompt or body)
    return CaseChange(name, direction, (old.rate, new.rate), interval, prompt, body, is_change)


def paired_difference(changes: Sequence[CaseChange]) -> Paired | None:
    """The difference over the cases that were scored in both runs; None without any."""
    pairs = (change.rates for change in changes)
    rates = [(old, new) for old, new in pairs if old is not None and new is not None]
    return paired(rates) if rates else None


def comparison_sections(
    before: Run, after: Run, changes: Sequence[CaseChange]
) -> Iterator[Section]:
    """What changed from one run to another: rates, answers and prompts."""
    changed = [change for change in changes if change.is_change]
    headings = ("Case", "Change", "Before", "After", "95 % of the change", "Prompt", "Answer")
    yield Section(headings=headings, rows=[_change_row(change) for change in changed])
    yield Section(
        f"{counted(len(changed), 'case')} changed, {len(changes) - len(changed)} unchanged."
    )
    if after[0].is_live and (difference := paired_difference(changes)):
        yield Section(f"Over all cases: {difference}")
    for change in changed:
        if change.body:
            yield Section(f"The answer of {change.name}", difference_lines(*change.body))
    yield from _prompt_sections("The prompt of", {change.name: change.prompt for change in changed})
    old, new = made_with(before), made_with(after)
    lines = [
        f"The {kind} changed from {old[kind] or 'none'} to {new[kind] or 'none'}."
        for kind in list(old)[1:]
        if old[kind] != new[kind]
    ]
    yield Section(f"Before: {before[0].date}. After: {after[0].date}.", lines)


def _change_row(change: CaseChange) -> Sequence[object]:
    certainty = ""
    if change.interval and change.direction in {"better", "worse"}:
        is_clear = change.interval.low > 0 or change.interval.high < 0
        certainty = ", clearly" if is_clear else ", perhaps by chance"
    rates = (None if rate is None else f"{rate:.0%}" for rate in change.rates)
    interval = change.interval and "{:+.0%} to {:+.0%}".format(*change.interval)
    parts = ("changed" if part else "unchanged" for part in (change.prompt, change.body))
    return change.name, f"{change.direction}{certainty}", *rates, interval, *parts


def made_with(run: Run) -> Mapping[str, str]:
    """When *run* began, and by which model, prompt and sources it was made."""
    fields = {"model": "model", "prompt": "prompt_version", "sources": "sources_version"}
    fields["sources file"] = "sources_file"
    return {"date": run[0].date} | {
        kind: ", ".join(sorted({str(getattr(result, field)) for result in run} - {""}))
        for kind, field in fields.items()
    }
