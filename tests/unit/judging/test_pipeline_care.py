"""The pipeline's help lines, safety instructions, assumed nation and budget."""

from dataclasses import replace

import pytest

from judge.bootstrap.sources import compile_knowledge
from judge.errors import BudgetSpent, ContentBlocked
from judge.golden.replay import ReplayFetcher
from judge.ports import LanguageModel
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult, OtherSide
from tests.fakes.clock import FakeClock
from tests.fakes.country import UK
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.unit.judging.test_pipeline import GOOD, HARD, World, reply

SOURCES = """
vocabulary = false
[blocked]
help = [
  { title = "Samaritans again", url = "https://www.samaritans.org/", phone = "116 123" },
  { title = "Advice", url = "https://advice.example/", phone = "0800 1" },
]
[[safety]]
terms = ["kill myself"]
help = [{ title = "Samaritans", url = "https://www.samaritans.org/contact", phone = "116 123" }]

[domains.tenancy.terms]
landlord = 3
[[domains.tenancy.sources]]
url = "https://a.example/england"
title = "Repairs"
nations = ["england"]

[domains.workplace.terms]
boss = 3
[[domains.workplace.sources]]
url = "https://b.example/everywhere"
title = "Work"
[[domains.workplace.sources]]
url = "https://b.example/all"
title = "Work"
nations = ["england", "scotland", "wales", "northern-ireland"]
[[domains.workplace.help]]
title = "Conciliators"
url = "https://work.example/"
[[domains.workplace.help]]
title = "The same listeners"
url = "https://work.example/listeners"
phone = "116 123"
"""
TEXT = "Landlords are responsible for repairs to the boiler."
HEARING = "Your boss has to listen to a complaint about pay."
PAGES = {
    "https://a.example/england": TEXT,
    "https://b.example/everywhere": HEARING,
    "https://b.example/all": HEARING,
}
EMERGENCY = [line.title for line in UK.emergency]
ASSUMED = "No part of the United Kingdom is named: the law of England was assumed."
SAD = "I want to kill myself because my landlord will not repair the boiler."


async def judge(
    model: LanguageModel,
    context: str,
    *,
    fallback: LanguageModel | None = None,
    pages: dict[str, str | None] | None = None,
    hear_other_side: bool = False,
    sources: str = SOURCES,
) -> JudgeResult:
    clock, journal, knowledge = FakeClock(), RecordingJournal(), compile_knowledge(sources)

    fetcher = ReplayFetcher(PAGES if pages is None else pages)
    pipeline = build_pipeline(knowledge, text_retriever(fetcher, clock, journal), model, fallback)
    request = JudgeRequest(
        context=context, query="Am I being unreasonable?", hear_other_side=hear_other_side
    )
    return await pipeline.judge(request, request_id="r1")


class TestCare:
    async def test_dispute_with_danger_has_help_lines_and_safety_instructions_in_each_prompt(
        self,
    ) -> None:
        model = ScriptedModel(HARD, GOOD)
        result = await judge(model, SAD)
        assert [line.phone for line in result.help] == ["116 123"]
        assert all("put safety first" in prompt.instructions for prompt in model.prompts)
        assert len(model.prompts) == 2

    async def test_other_side_is_not_heard_if_somebody_may_be_in_danger(self) -> None:
        model = ScriptedModel(GOOD, GOOD)
        result = await judge(model, SAD, hear_other_side=True)
        assert result.other_side == OtherSide.unheard(
            "Where somebody may be in danger the other side is not heard."
        )
        assert len(model.prompts) == 1

    async def test_help_of_the_domain_follows_that_of_safety_without_duplicates(self) -> None:
        uncited = reply("Talk to them.", [])
        result = await judge(ScriptedModel(uncited), "I want to kill myself because of my boss.")
        assert [line.title for line in result.help] == ["Samaritans", "Conciliators"]
        result = await judge(ScriptedModel(uncited), "My boss is so mean to all of us.")
        assert [line.title for line in result.help] == ["Conciliators", "The same listeners"]

    async def test_refused_dispute_with_danger_has_its_own_help_lines_first_without_duplicates(
        self,
    ) -> None:
        with pytest.raises(ContentBlocked) as caught:
            await judge(ScriptedModel(ContentBlocked("SAFETY")), SAD)
        assert [line.title for line in caught.value.help_lines] == ["Samaritans", "Advice"]

    @pytest.mark.parametrize(
        ("context", "titles"),
        [
            ("My boss is so mean to all of us.", [*EMERGENCY, "Conciliators"]),
            ("My landlord is mean to me.", EMERGENCY),
        ],
    )
    async def test_refused_dispute_without_general_help_lines_has_those_of_country_and_domain(
        self, context: str, titles: list[str]
    ) -> None:
        sources = SOURCES[: SOURCES.index("[blocked]")] + SOURCES[SOURCES.index("[[safety]]") :]
        with pytest.raises(ContentBlocked) as caught:
            await judge(ScriptedModel(ContentBlocked("SAFETY")), context, sources=sources)
        assert [line.title for line in caught.value.help_lines] == titles
        assert "help lines" in str(caught.value)


class TestNations:
    async def test_assumed_nation_is_a_warning(self) -> None:
        result = await judge(ScriptedModel(GOOD), "My landlord will not mend the boiler.")
        assert result.warnings == (ASSUMED,)


class TestBudget:
    async def test_spent_budget_is_an_error_before_any_page_or_model_call(self) -> None:
        async def check() -> None:
            raise BudgetSpent("Spent.")

        model = ScriptedModel(GOOD)
        world = World(model)
        world.pipeline = replace(world.pipeline, check_budget=check)
        with pytest.raises(BudgetSpent):
            await world.judge()
        assert (model.calls, world.steps, world.journal.events) == ([], [], [])

    async def test_fallback_does_not_answer_for_a_spent_budget(self) -> None:
        fallback = ScriptedModel(GOOD)
        with pytest.raises(BudgetSpent):
            await judge(
                ScriptedModel(BudgetSpent("Spent.")),
                "My landlord is mean to me.",
                fallback=fallback,
            )
        assert fallback.calls == []
