"""Which disputes call for care, and who is shown as help."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.bootstrap import compile_knowledge
from judge.errors import ConfigurationError
from judge.judging.dispute import read_dispute
from judge.judging.safety import (
    SafetyFindings,
    compile_safety,
    explain_safety,
    find_safety,
    merged_help,
)
from judge.judging.sources import SafetyRule, parse_sources
from judge.types.results import HelpLine
from tests.cpu_time import cpu_seconds

ROOT = Path(__file__).parents[3]
RULES = compile_knowledge("[domains.any]").catalog.safety
WATCH = compile_safety(RULES)
SENTENCES: dict[str, list[str]] = tomllib.loads(
    (ROOT / "tests" / "fixtures" / "safety_sentences.toml").read_text()
)
LOOK_ALIKES = SENTENCES["look_alikes"]
SERIOUS = {kind: said for kind, said in SENTENCES.items() if kind != "look_alikes"}
LISTENERS = HelpLine("Listeners", "https://listeners.example/", "116 000")
CHAT = HelpLine("Chat", "https://chat.example/")


def needs_care(text: str) -> bool:
    return find_safety(WATCH, read_dispute(text, "Am I being unreasonable?")).needs_care


def care_for(text: str, *rules: SafetyRule) -> bool:
    return find_safety(compile_safety(rules), read_dispute(text, "")).needs_care


def rule(*terms: str, patterns: tuple[str, ...] = (), harmless: tuple[str, ...] = ()) -> SafetyRule:
    return SafetyRule(terms, patterns, (LISTENERS,), harmless)


class TestOurSentences:
    """Measured on our own set, which says how well the rules know such sentences and no more."""

    def test_the_set_is_large_enough_and_half_of_it_look_alikes(self):
        serious = sum(len(said) for said in SERIOUS.values())
        assert serious + len(LOOK_ALIKES) >= 60
        assert 0.4 <= len(LOOK_ALIKES) / (serious + len(LOOK_ALIKES)) <= 0.6

    def test_recall_and_precision_are_high(self):
        serious = [text for said in SERIOUS.values() for text in said]
        found = sum(needs_care(text) for text in serious)
        false = sum(needs_care(text) for text in LOOK_ALIKES)
        assert found / len(serious) >= 0.95
        assert found / (found + false) >= 0.85

    @pytest.mark.parametrize("kind", SERIOUS)
    def test_every_kind_is_recognised(self, kind):
        assert sum(needs_care(text) for text in SERIOUS[kind]) >= len(SERIOUS[kind]) - 1


class TestHelp:
    @pytest.mark.parametrize(
        ("text", "phone"),
        [
            ("My husband hits me.", "0808 2000 247"),
            ("I'm afraid of him.", "999"),
            ("My ex is stalking me.", "0808 802 0300"),
            ("I want to kill myself.", "116 123"),
            ("He hits our daughter.", "0808 800 5000"),
            ("My drink was spiked.", "0808 500 2222"),
            ("They have found me a husband.", "020 7008 0151"),
            ("My boss has my passport.", "08000 121 700"),
            ("The carer hit my nan.", "0808 808 8141"),
            ("We have nowhere to sleep tonight.", "0808 800 4444"),
        ],
    )
    def test_the_lines_fit_the_trouble(self, text, phone):
        care = find_safety(WATCH, read_dispute(text, "Am I unreasonable?"))
        assert phone in [line.phone for line in care.help]

    def test_a_harmless_dispute_gets_none(self):
        assert (
            find_safety(WATCH, read_dispute("My flatmate ate my cheese.", "Why?"))
            == SafetyFindings()
        )

    def test_the_question_is_read_too(self):
        assert find_safety(WATCH, read_dispute("We had a row.", "He hits me, is that normal?")).help

    def test_the_lines_of_several_rules_stand_in_their_order_and_once(self):
        care = find_safety(WATCH, read_dispute("He hits me and tracks my every move.", ""))
        phones = [line.phone for line in care.help]
        assert phones[0] == "999"
        assert phones.count("0808 2000 247") == 1
        assert "0808 802 0300" in phones

    def test_a_rule_without_lines_still_asks_for_care(self):
        watch = compile_safety([SafetyRule(("danger",), (), ())])
        assert find_safety(watch, read_dispute("There is danger.", "")) == SafetyFindings(
            needs_care=True
        )

    def test_a_number_is_shown_once_and_without_one_the_address_counts(self):
        again = HelpLine("The same, renamed", "https://other.example/", "116 000")
        assert merged_help([LISTENERS, CHAT, again, CHAT]) == (LISTENERS, CHAT)

    def test_every_line_of_ours_can_be_reached(self):
        lines = [line for rule in RULES for line in rule.help]
        assert lines
        assert all(line.url.startswith("https://") for line in lines)
        assert all(rule.help for rule in RULES)


class TestMatching:
    def test_terms_are_whole_words(self):
        assert not care_for("therapists", rule("rapist", "rap"))
        assert care_for("A rapist.", rule("rapist"))

    @pytest.mark.parametrize(
        "text",
        [
            "He won't stop",
            "he WON’T\n  stop!",
            "he wont stop",
            "he w\u200bon't st\u00adop",
            "ｈｅ　ｗｏｎ＇ｔ　ｓｔｏｐ",
        ],
    )
    def test_case_space_apostrophes_and_hidden_characters_hide_nothing(self, text):
        assert care_for(text, rule("won't stop"))

    def test_hyphens_and_spaces_are_the_same(self):
        assert care_for("I self-harm", rule("self harm"))
        assert care_for("I self harm", rule("self-harm"))

    def test_a_term_does_not_reach_into_the_next_sentence(self):
        assert not care_for("He hits. Me, I cook.", rule("hits me"))

    def test_terms_that_begin_alike_are_all_looked_for(self):
        assert care_for("he hits us", rule("hits me", "hits us"))

    def test_a_pattern_may_have_capitals_and_curly_apostrophes(self):
        assert care_for("i'm AFRAID", rule(patterns=(r"I’m (?:afraid|scared)",)))
        assert care_for("word", rule(patterns=(r"\Aword\Z",)))

    @pytest.mark.parametrize(
        "said",
        ["he *hits* me", "he “hits” me", "he 'hits' me", "he __hits__ me", "he 😡 hits me"],
    )
    def test_what_sets_a_word_off_hides_it_from_no_pattern(self, said):
        assert care_for(said, rule(patterns=(r"\bhe hits me\b",)))
        assert not care_for(said, rule("hits me", harmless=(r"\bhe hits me\b",)))

    def test_patterns_of_ours_need_no_apostrophes(self):
        assert needs_care("My boyfriend wont let me see my friends.")
        assert needs_care("He said hell kill me if I go.")

    def test_what_is_harmless_is_taken_out_for_all_rules(self):
        rules = (rule("killing me"), rule("other", harmless=(r"\bjob is killing me\b",)))
        assert not care_for("This job is killing me.", *rules)
        assert care_for("This job is killing me and he is killing me.", *rules)

    def test_nothing_new_is_made_by_taking_something_out(self):
        assert not care_for("he hits the road me", rule("hits me", harmless=("the road",)))

    def test_without_rules_nothing_calls_for_care(self):
        assert not care_for("I want to die.")

    @given(st.text(max_size=300), st.text(max_size=60))
    def test_any_text_can_be_looked_at(self, context, query):
        care = find_safety(WATCH, read_dispute(context, query))
        assert care.needs_care or not care.help

    @pytest.mark.parametrize("unit", ["he has ", "i am 14 hits ", "he threw a ", "kill me ", "a"])
    def test_no_text_is_slow(self, unit):
        text = (unit * 8000)[:8000]
        assert cpu_seconds(lambda: find_safety(WATCH, read_dispute(text, ""))) < 0.25


class TestConfiguration:
    def test_harmless_phrases_are_part_of_a_rule(self):
        catalog = parse_sources(
            "[[safety]]\nterms = ['a b']\nharmless = ['x a b']\n[domains.any]\n"
        )
        assert catalog.safety == (SafetyRule(("a b",), (), (), ("x a b",)),)

    def test_a_harmless_phrase_that_could_be_slow_is_refused(self):
        with pytest.raises(ConfigurationError, match=r"safety\[1\]\.harmless\[1\]: could be slow"):
            parse_sources("[[safety]]\nterms = ['a']\nharmless = ['(a+)+']\n[domains.any]\n")


class TestExplanation:
    def test_it_names_the_rule_what_met_it_and_what_was_taken_out(self):
        rules = compile_safety(
            [
                SafetyRule(
                    ("hits me",), (r"\bkills? me\b",), (), (r"\bkills me laughing\b",), "violence"
                ),
                SafetyRule(("locked in",), (), (), (), "control"),
            ]
        )
        dispute = read_dispute("She kills me laughing. He hits me, hits me, will kill me.", "Odd?")
        found = explain_safety(rules, dispute)
        assert [(one.rule, one.found) for one in found.reasons] == [
            ("violence", ("hits me", "kill me"))
        ]
        assert found.harmless == ("kills me laughing",)
        assert not explain_safety(rules, read_dispute("She sings.", "Odd?")).reasons
