"""Judges disputes with any model behind a server of chat completions.

The dispute of the demo and one without a relevant page, each plain, streamed, and streamed with the
other side. Nothing is scored, since small models break many rules: each request must end in a
verdict or in a problem that says why, and every field shown must be the same in the verdict.
Most of the time is spent in the server.

    python -m benchmarks.any_model --url http://127.0.0.1:11434/v1 --model llama3.2 [--deadline 600]
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge.bootstrap.services import open_services
from judge.demo.example import CONTEXT, QUERY, demo_settings, example_site
from judge.errors import JudgeError
from judge.settings import DemoSettings
from judge.types.requests import JudgeRequest
from judge.types.results import FieldChecked, JudgeResult, ReferencesReady, Restarted, Step
from tests.fakes.journal import RecordingJournal

LATE = (
    "My friend was forty minutes late for dinner again and laughed about it. I had cooked for two "
    "hours, and I told her that she need not come next time."
)
DISPUTES = {
    "the boiler": (CONTEXT, QUERY),
    "the late friend": (LATE, "Am I being unreasonable to be angry with her?"),
}
WAYS = ("plain", "streamed", "other side")


@dataclass
class Judged:
    """The outcome of one dispute, and when its first field was shown."""

    title: str
    way: str
    references: int = 0
    first_field_s: float | None = None
    seconds: float = 0.0
    shown: dict[str, object] = field(default_factory=dict)
    result: JudgeResult | None = None
    error: JudgeError | None = None
    journal: RecordingJournal = field(default_factory=RecordingJournal)

    @property
    def changed(self) -> list[str]:
        """The fields that were shown and differ in the verdict."""
        if self.result is None:
            return []
        told: dict[str, object] = {
            "paraphrase": self.result.paraphrase,
            "summary": self.result.summary,
            **{f"personas.{at}": one for at, one in enumerate(self.result.personas)},
        }
        return [name for name, value in self.shown.items() if told[name] != value]

    def line(self) -> str:
        """A row of the table."""
        result = self.result
        defects = Counter(one["rule"] for one in self.journal.fields_of("reply.defect"))
        named = [one.quote_status for one in result.citations] if result else []
        cells = [
            f"{self.title}, {self.way}",
            f"verdict, {result.evidence}" if result else type(self.error).__name__,
            f"{result.attempts}" if result else "",
            f"{self.first_field_s:.1f} s" if self.first_field_s else "",
            f"{self.seconds:.1f} s",
            ", ".join(f"{rule} {count}" for rule, count in sorted(defects.items())),
            f"{named.count('verified')} of {len(named)}",
            f"{result.usage.output_tokens}" if result else "",
            _other_side(result),
        ]
        return f"| {' | '.join(cells)} |"


def _other_side(result: JudgeResult | None) -> str:
    other = result.other_side if result else None
    return "" if other is None else other.note or f"agrees: {other.agrees}"


async def measure(
    url: str, model: str, *, deadline_s: float, ways: Sequence[str] = WAYS
) -> list[Judged]:
    """Each dispute in each of the *ways*, one after another."""
    chosen = DemoSettings(JUDGE_MODEL=f"openai:{model}", JUDGE_OPENAI_BASE_URL=url)
    rows = []
    with tempfile.TemporaryDirectory() as folder, example_site() as site:
        settings = demo_settings(site, Path(folder), chosen)
        settings = settings.model_copy(update={"deadline_s": deadline_s})
        for title, (context, query) in DISPUTES.items():
            for way in ways:
                judged = Judged(title, way)
                async with open_services(settings, judged.journal) as services:
                    request = JudgeRequest(
                        context=context, query=query, hear_other_side=way == "other side"
                    )
                    await _judge(services.pipeline, request, judged)
                rows.append(judged)
    return rows


async def _judge(pipeline, request: JudgeRequest, judged: Judged) -> None:
    started = time.monotonic()

    def emit(step: Step) -> None:
        if isinstance(step, ReferencesReady):
            judged.references = len(step.references)
        elif isinstance(step, FieldChecked):
            judged.first_field_s = judged.first_field_s or time.monotonic() - started
            judged.shown[step.name] = step.value
        elif isinstance(step, Restarted):
            judged.shown = {}

    try:
        judged.result = await pipeline.judge(
            request, request_id="measured", emit=emit, stream_fields=judged.way != "plain"
        )
    except JudgeError as error:
        judged.error = error
    judged.seconds = time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--deadline", type=float, default=600)
    options = parser.parse_args()
    rows = asyncio.run(measure(options.url, options.model, deadline_s=options.deadline))
    print(
        "| dispute | ended in | asked | first field | whole | defects | sentences named |", end=""
    )
    print(" tokens | other side |\n|---|---|--:|--:|--:|---|--:|--:|---|")
    for judged in rows:
        print(judged.line())
    changed = [
        f"{judged.title}, {judged.way}: {judged.changed}" for judged in rows if judged.changed
    ]
    print(*changed, sep="\n")
    return int(bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())
