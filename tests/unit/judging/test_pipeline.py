"""The pipeline: each step, and what happens when one fails."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.sources import compile_knowledge
from judge.errors import (
    BadScope,
    ContentBlocked,
    DeadlineExceeded,
    InvalidReply,
    ModelUnavailable,
    UnknownDomain,
)
from judge.golden.replay import ReplayFetcher
from judge.library.search.service import CitablePassageFinder, DocumentSearch
from judge.ports import LanguageModel, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt, Usage
from judge.types.requests import JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    JudgeResult,
    ReferencesReady,
    Restarted,
    Step,
)
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.passages import document
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.fakes.search_index import FakeIndex

SOURCES = """
vocabulary = false
[domains.tenancy]
title = "Renting"
[domains.tenancy.terms]
landlord = 3
[[domains.tenancy.sources]]
url = "https://a.example/repairs"
title = "Repairs"
topics = ["boiler"]
[[domains.tenancy.sources]]
url = "https://b.example/scotland"
title = "Boiler repairs in Scotland"
topics = ["boiler"]
nations = ["scotland"]
[[domains.tenancy.sources]]
url = "https://c.example/deposits"
title = "Deposits"
topics = ["deposit"]

[domains.workplace]
title = "Work"
[domains.workplace.terms]
boss = 3
[[domains.workplace.sources]]
url = "https://d.example/work"
title = "Work"

[blocked]
help = [{ title = "Samaritans", url = "https://www.samaritans.org", phone = "116 123" }]
"""
PAGES = {
    "https://a.example/repairs": "Landlords are responsible for repairs to the boiler.",
    "https://b.example/scotland": "In Scotland the repairing standard covers the boiler.",
    "https://c.example/deposits": "A deposit must be kept in a protected scheme.",
    "https://d.example/work": "Your employer should listen to your complaint.",
}
REQUEST = JudgeRequest(context="My landlord will not mend the boiler.", query="Am I being rude?")
POINTER = {"number": 1, "sentences": [1]}


def reply(summary: str = "Repairs are theirs [1].", quotes: Any = (POINTER,), **extra: Any) -> str:
    names = ("Therapist", "Analyst", "Coach")
    personas = [
        {"name": name, "verdict": "No", "rationale": f"{name}.", "key_points": ["a", "b", "c"]}
        for name in names
    ]
    document = {"paraphrase": "The boiler is broken.", "personas": personas, "summary": summary}
    return json.dumps(document | {"quotes": list(quotes)} | extra)


GOOD = reply()
SOFT = reply("As source 9 says, repairs are theirs [1].")
HARD = reply("Repairs are theirs [7].")


KNOWN = compile_knowledge(SOURCES)


class World:
    """A pipeline on fakes, with the steps and journal entries that it wrote."""

    def __init__(
        self,
        model: LanguageModel,
        fallback: LanguageModel | None = None,
        *,
        pages: dict[str, str | None] | None = None,
        index: FakeIndex | None = None,
        deadline_s: float = 30.0,
    ) -> None:
        self.clock = FakeClock()
        self.journal = RecordingJournal()
        self.steps: list[Step] = []
        fetcher = ReplayFetcher(PAGES if pages is None else pages)
        self.pipeline = build_pipeline(
            KNOWN,
            text_retriever(fetcher, self.clock, self.journal),
            model,
            fallback,
            clock=self.clock,
            journal=self.journal,
            deadline_s=deadline_s,
            passages=index
            and CitablePassageFinder(DocumentSearch(index, index, self.clock), self.clock),
        )

    async def judge(self, **changes: Any) -> JudgeResult:
        request = REQUEST.model_copy(update=changes)
        return await self.pipeline.judge(request, request_id="r1", emit=self.steps.append)


class SlowModel:
    """Answers as scripted, then never again."""

    name = "slow"
    gives_verdicts = True

    def __init__(self, *script: str) -> None:
        self._script = list(script)

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        if not self._script:
            await asyncio.Event().wait()
        return ModelReply(self._script.pop(0), self.name)


async def test_second_reply_may_begin_like_the_first_whose_words_the_prompt_repeats() -> None:
    begun = "You are right to ask for it in plain words, since it is cold at home now, and soon. "
    world = World(ScriptedModel(reply(f"{begun}{'Ask them. ' * 3}[1]."), reply(f"{begun}[1].")))
    result = await world.judge()
    assert world.journal.fields_of("reply.defect") == [
        {"rule": "repetition", "attempt": 1, "severity": "soft"}
    ]
    assert result.attempts == 2
    assert not any("repetition" in warning for warning in result.warnings)


async def test_good_reply_becomes_a_result_with_its_references() -> None:
    result = await World(ScriptedModel(GOOD)).judge()
    assert (result.id, result.domain, result.attempts, result.model) == (
        "r1", "tenancy", 1, "scripted",
    )  # fmt: skip
    assert [(r.number, r.url, r.cited) for r in result.references] == [
        (1, "https://a.example/repairs", True),
    ]
    assert [(s.url, s.text) for s in result.snippets] == [
        (r.url, r.text) for r in result.references
    ]
    assert result.evidence == "grounded"
    assert result.domain_scores[0].matched == ("landlord",)
    assert (result.degraded, result.warnings, result.help) == (False, (), ())
    assert result.usage == Usage(100, 50, 25)


async def test_steps_are_emitted_in_order() -> None:
    world = World(ScriptedModel(HARD, GOOD))
    await world.judge()
    assert [type(step) for step in world.steps] == [
        DomainDetected, ReferencesReady, AttemptStarted, Restarted, AttemptStarted,
    ]  # fmt: skip
    ready, restarted = world.steps[1], world.steps[3]
    assert isinstance(ready, ReferencesReady)
    assert [one.number for one in ready.references] == [1]
    assert [s.number for s in world.steps if isinstance(s, AttemptStarted)] == [1, 2]
    assert isinstance(restarted, Restarted)
    assert [defect.value for defect in restarted.defects] == ["[7]"]


async def test_unknown_domain_is_refused_with_the_valid_names() -> None:
    with pytest.raises(UnknownDomain) as caught:
        await World(ScriptedModel()).judge(domain="nope")
    assert caught.value.valid == ("tenancy", "workplace", "default")


async def test_scope_is_refused_while_nothing_is_indexed() -> None:
    for index in (None, FakeIndex()):
        world = World(ScriptedModel(), index=index)
        with pytest.raises(BadScope) as caught:
            await world.judge(scope="@collection:leases")
        assert str(caught.value) == (
            "Nothing is indexed here, so a scope cannot be used. Leave it out."
        )
        assert world.steps == []


CLAUSE = "The landlord mends the boiler within three days of a notice."
LEASE = document(
    CLAUSE,
    "The boiler is serviced yearly.",
    "Boiler words, landlord words: boiler and landlord.",
    id="lease.md",
    collection="leases",
    title="Our lease",
    path="docs/lease.md",
    modified=datetime(2025, 2, 1, 10, 0, 0, 5, tzinfo=UTC),
)


async def test_best_passages_of_a_scope_follow_the_pages_and_can_be_cited() -> None:
    said = reply(
        "Repairs are theirs [1], within three days [2].",
        [POINTER, {"number": 2, "sentences": [1]}],
    )
    world = World(ScriptedModel(said), index=FakeIndex(LEASE))
    result = await world.judge(scope="@collection:leases")
    assert [(r.kind, r.url) for r in result.references][:1] == [
        ("page", "https://a.example/repairs")
    ]
    passages = [r for r in result.references if r.kind == "passage"]
    assert [r.number for r in passages] == [2, 3]
    assert (passages[0].url, passages[0].title, passages[0].text) == (
        "docs/lease.md", "Our lease", CLAUSE,
    )  # fmt: skip
    assert passages[0].fetched_at == datetime(2025, 2, 1, 10, tzinfo=UTC)
    assert (passages[0].cited, passages[1].cited) == (True, False)
    assert [c.quote_status for c in result.citations] == ["verified", "verified"]
    assert result.evidence == "grounded"
    assert not any("could not be read" in warning for warning in result.warnings)


async def test_model_is_asked_once_more_with_the_defects_of_its_reply() -> None:
    model = ScriptedModel(HARD, GOOD, GOOD)
    result = await World(model).judge()
    assert len(model.calls) == 2
    assert '"[7]"' in model.prompts[1].instructions
    assert result.attempts == 2
    assert result.usage == Usage(200, 100, 50)
    assert result.warnings == ()


async def test_two_replies_with_hard_defects_are_an_error_that_lists_both() -> None:
    with pytest.raises(InvalidReply) as caught:
        await World(ScriptedModel(HARD, "{")).judge()
    assert [defect.rule for defect in caught.value.defects] == ["citation", "json"]
    assert caught.value.attempts == 2
    with pytest.raises(ModelUnavailable):
        await World(ScriptedModel(HARD, ModelUnavailable("gone"))).judge()


@pytest.mark.parametrize(
    ("replies", "defects"),
    [
        ((SOFT, HARD), 2),
        ((HARD, SOFT), 1),
        ((reply("No mark.", [], paraphrase="See source 9."), SOFT), 1),
        ((SOFT, reply("No mark.", [], paraphrase="See source 9.")), 1),
    ],
)
async def test_reply_with_fewer_defects_is_shown(replies: tuple[str, str], defects: int) -> None:
    result = await World(ScriptedModel(*replies)).judge()
    assert len(result.warnings) == defects
    assert result.evidence == "unverified"


async def test_version_that_the_model_tells_is_in_the_result_and_in_the_log() -> None:
    world = World(ScriptedModel(ModelReply(GOOD, "scripted", "stop", version="scripted-001")))
    result = await world.judge()
    assert result.versions.model == "scripted-001"
    [fields] = world.journal.fields_of("model.replied")
    assert fields["model_version"] == "scripted-001"


async def test_truncated_reply_is_retried_with_a_doubled_limit() -> None:
    model = ScriptedModel(ModelReply("{", "scripted", "truncated"), GOOD)
    await World(model).judge()
    assert [asked.doubles_limit for asked in model.calls] == [False, True]


async def test_reply_with_a_soft_defect_is_shown_if_the_second_call_fails() -> None:
    world = World(ScriptedModel(SOFT, ModelUnavailable("gone")))
    result = await world.judge()
    assert (result.attempts, result.evidence, result.degraded) == (1, "unverified", True)
    assert result.warnings[-1].startswith("A second reply, which was to mend the first, was lost")
    assert "model.second_attempt_lost" in world.journal.events


async def test_refusal_has_help_lines_and_is_not_retried() -> None:
    model = ScriptedModel(ContentBlocked("SAFETY"), GOOD)
    with pytest.raises(ContentBlocked) as caught:
        await World(model).judge()
    assert [line.phone for line in caught.value.help_lines] == ["116 123"]
    assert len(model.calls) == 1


async def test_fallback_answers_for_an_unavailable_model_with_a_warning() -> None:
    world = World(ScriptedModel(ModelUnavailable("down")), ScriptedModel(GOOD, name="other"))
    result = await world.judge()
    assert (result.model, result.degraded, result.attempts) == ("other", True, 1)
    assert result.warnings == ("The verdict comes from other, which stood in for the usual model.",)
    assert world.journal.fields_of("model.fallback") == [{"reason": "ModelUnavailable"}]


async def test_verdict_with_a_soft_defect_is_preferred_to_an_extractive_fallback() -> None:
    world = World(ScriptedModel(SOFT, ModelUnavailable("down")), ExtractiveModel())
    result = await world.judge()
    assert [persona.verdict for persona in result.personas] == ["No", "No", "No"]
    assert (result.model, result.degraded, result.evidence) == ("scripted", True, "unverified")


async def test_fallback_stands_in_after_two_broken_replies() -> None:
    world = World(ScriptedModel(HARD, HARD), ScriptedModel(GOOD, name="other"))
    result = await world.judge()
    assert (result.model, result.degraded, result.attempts) == ("other", True, 2)
    assert result.usage == Usage(300, 150, 75)
    assert world.journal.fields_of("model.fallback") == [{"reason": "InvalidReply"}]
    for spare in (HARD, ModelUnavailable("down")):
        with pytest.raises(InvalidReply) as caught:
            await World(ScriptedModel(HARD, HARD), ScriptedModel(spare, name="other")).judge()
        assert caught.value.attempts == 2


async def test_fallback_answers_for_a_slow_model_within_the_deadline() -> None:
    world = World(SlowModel(), ExtractiveModel(), deadline_s=0.2)
    result = await world.judge()
    assert (result.model, result.degraded) == ("extractive", True)
    assert [persona.verdict for persona in result.personas] == [None, None, None]
    assert result.warnings[-1] == (
        "No language model has judged this: the references are only quoted."
    )


async def test_a_third_of_the_deadline_is_kept_for_a_fallback_that_judges() -> None:
    model = ScriptedModel(ModelUnavailable("gone"))
    other = ScriptedModel(GOOD, name="other")
    result = await World(model, other, deadline_s=30.0).judge()
    assert (model.calls[0].timeout_s, other.calls[0].timeout_s) == (20, 30)
    assert (result.model, result.degraded) == ("other", True)


async def test_slow_model_without_a_fallback_is_stopped_at_the_deadline() -> None:
    world = World(SlowModel(), deadline_s=0.05)
    with pytest.raises(DeadlineExceeded, match=r"within 0\.05 seconds"):
        await world.judge()
    [told] = world.journal.fields_of("model.unavailable")
    assert told == {"reason": "deadline", "status": 0, "hint": "slow gave no reply in 0.05 seconds"}


async def test_unavailable_page_is_left_out_with_a_warning() -> None:
    pages = dict.fromkeys(PAGES) | {"https://a.example/repairs": PAGES["https://a.example/repairs"]}
    result = await World(ScriptedModel(GOOD), pages=pages).judge()
    assert [r.url for r in result.references] == ["https://a.example/repairs"]
    assert result.warnings == ("1 of 2 pages could not be read and is left out.",)


async def test_dispute_set_in_another_country_is_told_that_its_law_may_differ() -> None:
    told = f"{REQUEST.context} We live in Ohio."
    result = await World(ScriptedModel(GOOD)).judge(context=told)
    assert any(warning.startswith("This seems to be about ") for warning in result.warnings)
    result = await World(ScriptedModel(GOOD)).judge()
    assert not any(warning.startswith("This seems to be about ") for warning in result.warnings)


async def test_each_broken_rule_is_journalled_by_name() -> None:
    world = World(ScriptedModel(HARD, SOFT))
    await world.judge()
    assert world.journal.fields_of("reply.defect") == [
        {"rule": "citation", "attempt": 1, "severity": "hard"},
        {"rule": "bare", "attempt": 2, "severity": "soft"},
    ]


async def test_timings_are_measured_by_step_and_each_attempt_gets_the_remaining_time() -> None:
    class Ticking(ScriptedModel):
        async def complete(self, prompt: Prompt, **options: Any) -> ModelReply:
            reply = await super().complete(prompt, **options)
            world.clock.advance(5)
            return reply

    model = Ticking(HARD, GOOD)
    world = World(model, deadline_s=12)
    timings = (await world.judge()).timings_ms
    assert (timings.references, timings.model, timings.total) == (0.0, 10_000.0, 10_000.0)
    assert [call.timeout_s for call in model.calls] == [12, 7]


async def test_deadline_ends_any_step_that_hangs() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    world = World(ScriptedModel(GOOD), deadline_s=0.05)
    world.pipeline = replace(world.pipeline, check_budget=forever)
    with pytest.raises(DeadlineExceeded):
        await asyncio.wait_for(world.judge(), timeout=10)
