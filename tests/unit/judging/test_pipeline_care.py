"""What a judgement adds for people: help, care, whose law was assumed, and a budget that holds."""

import pytest

from judge.bootstrap import compile_knowledge
from judge.errors import BudgetSpent, ContentBlocked, ModelUnavailable
from judge.golden.replay import ReplayFetcher
from judge.ports import LanguageModel
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult, OtherSide
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.unit.judging.test_pipeline import GOOD, HARD, SOFT, reply

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
ASSUMED = "No nation of the United Kingdom is named: the law of England was assumed."
SAD = "I want to kill myself because my landlord is so mean."


async def judge(
    model: LanguageModel,
    context: str,
    *,
    fallback: LanguageModel | None = None,
    pages: dict[str, str | None] | None = None,
    admit: BudgetSpent | None = None,
    hear_other_side: bool = False,
    sources: str = SOURCES,
) -> JudgeResult:
    clock, journal, knowledge = FakeClock(), RecordingJournal(), compile_knowledge(sources)

    async def check() -> None:
        if admit:
            raise admit

    fetcher = ReplayFetcher(PAGES if pages is None else pages)
    pipeline = build_pipeline(
        knowledge, text_retriever(fetcher, clock, journal), model, fallback, check_budget=check
    )
    request = JudgeRequest(
        context=context, query="Am I being unreasonable?", hear_other_side=hear_other_side
    )
    return await pipeline.judge(request, request_id="r1")


class TestCare:
    async def test_help_comes_with_the_verdict_and_both_prompts_ask_for_care(self) -> None:
        model = ScriptedModel(HARD, GOOD)
        result = await judge(model, SAD)
        assert [line.phone for line in result.help] == ["116 123"]
        assert all("put safety first" in prompt.instructions for prompt in model.prompts)
        assert len(model.prompts) == 2

    async def test_whoever_may_be_in_danger_is_not_told_the_other_side(self) -> None:
        model = ScriptedModel(GOOD, GOOD)
        result = await judge(model, SAD, hear_other_side=True)
        assert result.other_side == OtherSide.unheard(
            "Where somebody may be in danger the other side is not heard."
        )
        assert len(model.prompts) == 1

    async def test_help_of_the_domain_comes_after_that_and_none_twice(self) -> None:
        uncited = reply("Talk to them.", [])
        result = await judge(ScriptedModel(uncited), "I want to kill myself because of my boss.")
        assert [line.title for line in result.help] == ["Samaritans", "Conciliators"]
        result = await judge(ScriptedModel(uncited), "My boss is so mean to all of us.")
        assert [line.title for line in result.help] == ["Conciliators", "The same listeners"]

    async def test_a_refused_dispute_shows_its_own_lines_first_and_none_twice(self) -> None:
        with pytest.raises(ContentBlocked) as caught:
            await judge(ScriptedModel(ContentBlocked("SAFETY")), SAD)
        assert [line.title for line in caught.value.help_lines] == ["Samaritans", "Advice"]

    async def test_a_refused_dispute_that_seemed_harmless_shows_the_general_lines(self) -> None:
        with pytest.raises(ContentBlocked) as caught:
            await judge(ScriptedModel(ContentBlocked("SAFETY")), "My landlord is mean to me.")
        assert [line.title for line in caught.value.help_lines] == ["Samaritans again", "Advice"]

    @pytest.mark.parametrize(
        ("context", "titles"),
        [
            ("My boss is so mean to all of us.", ["Conciliators", "The same listeners"]),
            ("My landlord is mean to me.", []),
        ],
    )
    async def test_without_general_lines_a_refused_dispute_shows_those_of_its_domain(
        self, context: str, titles: list[str]
    ) -> None:
        sources = SOURCES[: SOURCES.index("[blocked]")] + SOURCES[SOURCES.index("[[safety]]") :]
        with pytest.raises(ContentBlocked) as caught:
            await judge(ScriptedModel(ContentBlocked("SAFETY")), context, sources=sources)
        assert [line.title for line in caught.value.help_lines] == titles
        assert ("help lines" in str(caught.value)) == bool(titles)


class TestNations:
    async def test_the_law_that_was_assumed_is_told(self) -> None:
        result = await judge(ScriptedModel(GOOD), "My landlord will not mend the boiler.")
        assert result.warnings == (ASSUMED,)

    async def test_nothing_is_assumed_where_the_nation_is_named(self) -> None:
        result = await judge(ScriptedModel(GOOD), "My landlord in Leeds won't mend the boiler.")
        assert [r.url for r in result.references] == ["https://a.example/england"]
        assert result.warnings == ()

    async def test_a_dispute_from_elsewhere_gets_no_page_of_england(self) -> None:
        plain = reply("Ask again in writing.", [])
        result = await judge(ScriptedModel(plain), "My landlord in Glasgow won't mend the boiler.")
        assert (result.references, result.warnings) == ((), ())

    async def test_nothing_is_assumed_where_the_pages_hold_everywhere(self) -> None:
        result = await judge(
            ScriptedModel(GOOD), "My boss will not listen to my complaint about pay."
        )
        assert len(result.references) == 2
        assert result.warnings == ()

    async def test_nothing_is_assumed_for_a_page_that_could_not_be_read(self) -> None:
        plain = reply("Ask again in writing.", [])
        result = await judge(ScriptedModel(plain), "My landlord is mean to me.", pages={})
        assert result.warnings == ("1 of 1 page could not be read and is left out.",)


class TestBudget:
    async def test_a_spent_budget_is_told_before_anything_is_fetched_or_asked(self) -> None:
        model = ScriptedModel(GOOD)
        with pytest.raises(BudgetSpent):
            await judge(model, "My landlord is mean to me.", admit=BudgetSpent("Spent."))
        assert model.calls == []

    async def test_the_fallback_does_not_hide_a_spent_budget(self) -> None:
        fallback = ScriptedModel(GOOD)
        with pytest.raises(BudgetSpent):
            await judge(
                ScriptedModel(BudgetSpent("Spent.")),
                "My landlord is mean to me.",
                fallback=fallback,
            )
        assert fallback.calls == []

    async def test_the_fallback_stands_in_for_a_model_that_is_only_away(self) -> None:
        model, fallback = ScriptedModel(ModelUnavailable("away")), ScriptedModel(GOOD, name="b")
        result = await judge(model, "My landlord is mean to me.", fallback=fallback)
        assert (result.model, result.degraded) == ("b", True)

    async def test_a_first_reply_that_can_be_shown_is_when_the_budget_ends_before_the_second(
        self,
    ) -> None:
        model = ScriptedModel(SOFT, BudgetSpent("Spent."))
        result = await judge(model, "My landlord is mean to me.")
        assert (result.attempts, result.evidence) == (1, "unverified")
