"""How often a model, asked by Judge, agrees with a crowd, and what changes its mind.

    python -m benchmarks.verdicts --posts POSTS.jsonl --kept RUN.jsonl [--other-side] [--changed]

Any configured model: the settings are those of `judge serve` (JUDGE_MODEL, a key). POSTS has a post
a line: `id`, `query`, `context`, and the crowd's `verdict` with its `share` of the votes. NTA and
NAH are our No, YTA our Yes, ESH our Partially; posts on which less than `--share` of the crowd
agrees are left out.

Balanced accuracy is the mean over the verdicts of the share judged as the crowd did: most posts are
NTA, so that plain accuracy flatters a judge who always says No. With `--other-side` the other side
tells the same facts too. With `--changed` each post is judged again under changes that must not
matter. Answers are kept in RUN as they come, without a word of the posts, and a run goes on where
it ended; a kept answer is not paid for twice.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

from judge.bootstrap.services import open_services
from judge.errors import InvalidRequest, JudgeError
from judge.judging.pipeline import Pipeline
from judge.settings import load_settings
from judge.types.request_fields import parse_fields
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult
from tests.fakes.journal import RecordingJournal

CROWD: Final = {"NTA": "No", "NAH": "No", "YTA": "Yes", "ESH": "Partially"}
PLAIN: Final = "as told"
SHARE: Final = 0.7
"""Least share of the crowd; below it the crowd itself is undecided."""
RESAMPLES: Final = 2000
"""Of the bootstrap over posts; the interval holds 95 % of them."""

_RELATION = re.compile(
    r"\b([Mm]y (?:husband|wife|boyfriend|girlfriend|partner|brother|sister|mother|mum|mom|father|"
    r"dad|friend|boss|roommate|flatmate|neighbou?r|son|daughter))\b(?! [A-Z])"
)


@dataclass(frozen=True, slots=True)
class Post:
    """A dispute, and the verdict of the crowd in our words."""

    id: str
    query: str
    context: str
    crowd: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a post, told in the way that *change* names."""

    id: str
    change: str
    verdicts: tuple[str, ...] = ()
    """Of each persona; empty where no verdict came."""
    both_right: bool | None = None
    """Whether a persona told both sides that they are right; None if the other was not heard."""
    error: str = ""
    seconds: float = 0.0
    tokens: int = 0

    @property
    def verdict(self) -> str:
        """What most personas say; without a majority it is Partially."""
        [(word, count), *_] = Counter(self.verdicts).most_common(1) or [("", 0)]
        return word if 2 * count > len(self.verdicts) else "Partially" if self.verdicts else ""


def _with_name(name: str) -> Callable[[Post], Post | None]:
    def change(post: Post) -> Post | None:
        told = _RELATION.sub(rf"\1 {name}", post.context, count=1)
        return Post(post.id, post.query, told, post.crowd) if told != post.context else None

    return change


def _question_first(post: Post) -> Post:
    return Post(post.id, post.query, f"{post.query}\n\n{post.context}", post.crowd)


def _told_by_a_friend(post: Post) -> Post:
    context = f"A friend of mine wrote this, and asks for themselves: “{post.context}”"
    return Post(post.id, f"About my friend, who asks: “{post.query}”", context, post.crowd)


CHANGES: Final[Mapping[str, Callable[[Post], Post | None]]] = {
    "name (Daniel)": _with_name("Daniel"),
    "name (Mohammed)": _with_name("Mohammed"),
    "question first": _question_first,
    "told by a friend": _told_by_a_friend,
}
"""Changes that must not matter; None where a post has no place for one."""


def read_posts(lines: Iterable[str], *, share: float = SHARE) -> list[Post]:
    """The posts of *lines* on which at least *share* of the crowd agrees."""
    rows = (json.loads(line) for line in lines if line.strip())
    return [
        Post(row["id"], row["query"], row["context"], CROWD[row["verdict"]])
        for row in rows
        if row["share"] >= share
    ]


async def ask(pipeline: Pipeline, post: Post, change: str, *, other_side: bool) -> Answer:
    """The answer to one *post*; an error is an answer too."""
    started = time.monotonic()
    try:
        fields = {"context": post.context, "query": post.query, "hear_other_side": other_side}
        request = parse_fields(JudgeRequest, fields)
        result = await pipeline.judge(request, request_id=post.id)
    except (JudgeError, InvalidRequest) as error:
        return Answer(post.id, change, error=type(error).__name__)
    return _answer(result, post, change, time.monotonic() - started)


def _answer(result: JudgeResult, post: Post, change: str, seconds: float) -> Answer:
    other = result.other_side
    return Answer(
        id=post.id,
        change=change,
        verdicts=tuple(p.verdict for p in result.personas if p.verdict is not None),
        both_right=None if other is None or other.agrees is None else not other.agrees,
        seconds=round(seconds, 2),
        tokens=result.usage.total,
    )


async def run(
    pipeline: Pipeline,
    posts: Sequence[Post],
    kept: Path,
    *,
    other_side: bool,
    changes: Iterable[str] = (),
    at_once: int = 4,
) -> list[Answer]:
    """All answers, those in *kept* included; new ones are added to it as they come."""
    answers = read_answers(kept)
    known = {(answer.id, answer.change) for answer in answers if not answer.error}
    answers = [answer for answer in answers if not answer.error]
    told = [(PLAIN, post) for post in posts]
    told += [(name, one) for name in changes for p in posts if (one := CHANGES[name](p))]
    missing = [(name, post) for name, post in told if (post.id, name) not in known]
    slots = asyncio.Semaphore(at_once)

    async def one(change: str, post: Post) -> Answer:
        async with slots:
            return await ask(pipeline, post, change, other_side=other_side and change == PLAIN)

    with kept.open("a", encoding="utf-8") as file:
        tasks = [asyncio.create_task(one(change, post)) for change, post in missing]
        for count, done in enumerate(asyncio.as_completed(tasks), 1):
            answers.append(await done)
            file.write(json.dumps(asdict(answers[-1])) + "\n")
            file.flush()
            print(f"\r{count} of {len(missing)} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return answers


def read_answers(kept: Path) -> list[Answer]:
    """The answers of an earlier run; a line that was cut off is asked again."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    answers = []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        answers.append(Answer(**row | {"verdicts": tuple(row["verdicts"])}))
    return answers


def balanced_accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    """The mean, over the crowd's verdicts, of the share of *pairs* (crowd, judge) that agree."""
    by_crowd: dict[str, list[bool]] = defaultdict(list)
    for crowd, verdict in pairs:
        by_crowd[crowd].append(crowd == verdict)
    return sum(sum(same) / len(same) for same in by_crowd.values()) / len(by_crowd)


def interval(pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """The 95 % interval of `balanced_accuracy` by the bootstrap over posts."""
    chance = random.Random(1)
    values = sorted(
        balanced_accuracy(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES)
    )
    return values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES)]


def report(posts: Sequence[Post], answers: Sequence[Answer]) -> list[str]:
    """The rows of the table, in Markdown."""
    crowd = {post.id: post.crowd for post in posts}
    plain = {a.id: a for a in answers if a.change == PLAIN and a.verdict and a.id in crowd}
    pairs = [(crowd[at], answer.verdict) for at, answer in plain.items()]
    if not pairs:
        return ["No post has a verdict."]
    low, high = interval(pairs)
    rows = [
        f"| posts judged | {len(pairs)} of {len(posts)} |",
        f"| balanced accuracy | {balanced_accuracy(pairs):.2f} ({low:.2f} to {high:.2f}) |",
        f"| plain accuracy | {sum(a == b for a, b in pairs) / len(pairs):.2f} |",
    ]
    for word in sorted(set(crowd.values())):
        told = Counter(verdict for one, verdict in pairs if one == word)
        rows.append(
            f"| crowd says {word} | " + ", ".join(f"{w} {n}" for w, n in told.items()) + " |"
        )
    heard = [a.both_right for a in plain.values() if a.both_right is not None]
    if heard:
        rows.append(f"| both sides told they are right | {sum(heard)} of {len(heard)} |")
    for change in CHANGES:
        changed = [a for a in answers if a.change == change and a.verdict and a.id in plain]
        if changed:
            flips = sum(a.verdict != plain[a.id].verdict for a in changed)
            rows.append(f"| flips: {change} | {flips} of {len(changed)} |")
    times = sorted(a.seconds for a in answers if a.verdict)
    tokens = sum(a.tokens for a in answers)
    late = times[int(0.95 * (len(times) - 1))]
    rows.append(f"| seconds, median and 95 % | {median(times):.1f}, {late:.1f} |")
    rows.append(f"| tokens a dispute, in all | {tokens // len(answers)}, {tokens} |")
    failed = Counter(answer.error for answer in answers if answer.error)
    rows += [f"| {name} | {count} |" for name, count in sorted(failed.items())]
    return ["| | |", "|---|--:|", *rows]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=Path, required=True)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--first", type=int, help="only so many posts")
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--other-side", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    lines = options.posts.read_text(encoding="utf-8").splitlines()
    posts = read_posts(lines, share=options.share)[: options.first]
    async with open_services(load_settings(), RecordingJournal()) as services:
        answers = await run(
            services.pipeline,
            posts,
            options.kept,
            other_side=options.other_side,
            changes=CHANGES if options.changed else (),
            at_once=options.at_once,
        )
    print(*report(posts, answers), sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
