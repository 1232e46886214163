"""Which disputes suggest danger, and which help lines they get."""

import tomllib
from pathlib import Path

import pytest

from benchmarks import care as sentences
from judge.bootstrap.sources import compile_knowledge
from judge.judging.care import (
    SafetyFindings,
    care_lines,
    compile_safety,
    find_safety,
)
from judge.library.dispute import read_dispute
from judge.library.sources.catalog import SafetyRule
from judge.types.results import HelpLine

ROOT = Path(__file__).parents[3]
RULES = compile_knowledge("[domains.any]").catalog.safety
WATCH = compile_safety(RULES)
SENTENCES: dict[str, list[str]] = tomllib.loads(
    (ROOT / "tests" / "fixtures" / "safety_sentences.toml").read_text()
)
LOOK_ALIKES = SENTENCES["look_alikes"]
SERIOUS = {kind: said for kind, said in SENTENCES.items() if kind != "look_alikes"}
LISTENERS = HelpLine("Listeners", "https://listeners.example/", "116 000")


def needs_care(text: str) -> bool:
    return bool(find_safety(WATCH, read_dispute(text, "Am I being unreasonable?")).reasons)


def care_for(text: str, *rules: SafetyRule) -> bool:
    return bool(find_safety(compile_safety(rules), read_dispute(text, "")).reasons)


def rule(*terms: str, patterns: tuple[str, ...] = (), harmless: tuple[str, ...] = ()) -> SafetyRule:
    return SafetyRule(terms, patterns, (LISTENERS,), harmless)


class TestSafetySentences:
    """Measured on the project's own sentences, not on independent ones."""

    def test_recall_and_precision_are_high(self):
        serious = [text for said in SERIOUS.values() for text in said]
        found = sum(needs_care(text) for text in serious)
        false = sum(needs_care(text) for text in LOOK_ALIKES)
        assert found / len(serious) >= 0.95
        assert found / (found + false) >= 0.85

    @pytest.mark.parametrize("kind", SERIOUS)
    def test_at_most_one_sentence_of_each_kind_is_missed(self, kind):
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
    def test_help_lines_match_the_danger(self, text, phone):
        for dispute in (read_dispute(text, "Am I unreasonable?"), read_dispute("A row.", text)):
            lines = care_lines(WATCH, find_safety(WATCH, dispute))
            assert phone in [line.phone for line in lines]

    def test_harmless_dispute_gets_no_help_lines(self):
        assert (
            find_safety(WATCH, read_dispute("My flatmate ate my cheese.", "Why?"))
            == SafetyFindings()
        )

    def test_help_lines_of_several_rules_are_in_their_order_without_duplicates(self):
        care = find_safety(WATCH, read_dispute("He hits me and tracks my every move.", ""))
        phones = [line.phone for line in care_lines(WATCH, care)]
        assert phones[0] == "999"
        assert phones.count("0808 2000 247") == 1
        assert "0808 802 0300" in phones


class TestMatching:
    def test_terms_match_only_whole_words(self):
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
    def test_term_matches_in_any_case_spacing_apostrophe_and_with_hidden_characters(self, text):
        assert care_for(text, rule("won't stop"))

    def test_hyphens_and_spaces_match_each_other(self):
        assert care_for("I self-harm", rule("self harm"))
        assert care_for("I self harm", rule("self-harm"))

    def test_term_does_not_match_across_a_sentence_end(self):
        assert not care_for("He hits. Me, I cook.", rule("hits me"))

    @pytest.mark.parametrize(
        "said",
        ["he *hits* me", "he “hits” me", "he 'hits' me", "he __hits__ me", "he 😡 hits me"],
    )
    def test_emphasised_word_is_matched_by_patterns(self, said):
        assert care_for(said, rule(patterns=(r"\bhe hits me\b",)))
        assert not care_for(said, rule("hits me", harmless=(r"\bhe hits me\b",)))

    def test_shipped_patterns_match_words_without_apostrophes(self):
        assert needs_care("My boyfriend wont let me see my friends.")
        assert needs_care("He said hell kill me if I go.")

    def test_harmless_phrase_is_removed_for_all_rules(self):
        rules = (rule("killing me"), rule("other", harmless=(r"\bjob is killing me\b",)))
        assert not care_for("This job is killing me.", *rules)
        assert care_for("This job is killing me and he is killing me.", *rules)


SAID_PLAINLY = {
    "violence": (
        "He rammed my head into the kitchen cupboard because tea was late.",
        "My ex turned up at the door with a hammer because I won't let him have the car back.",
        "He drives really fast when we row and says he will crash the car and take us both out.",
        "My daughter came to lunch with a burst lip. She says she walked into a door.",
        "The man upstairs shouts and then I hear things smashing and her begging him to stop.",
    ),
    "control": (
        "My fiancé has taken my bank card and passport, and I have to ask to go out.",
        "I ended it in March. Since then he's been parked outside my work every day.",
    ),
    "self-harm": (
        "I've got all my tablets saved up in the drawer and I've written the letters.",
        "I started cutting again after my exams, and mum took my phone as a punishment.",
        "My son said at dinner that there's no point being alive.",
        "I keep standing too close to the edge of the platform on the way home.",
    ),
    "child-at-risk": (
        "My ex's new man locks my 5 year old in the shed when he wets the bed.",
        "My mate's three kids are left on their own overnight while she is out clubbing.",
        "A man she met on a game keeps asking her to send pictures and to keep it secret.",
    ),
    "adult-at-risk": (
        "Mum's in a home, and I found her in a wet bed again at noon.",
        "My cousin persuaded my nan to sign the house over to him.",
    ),
    "forced-marriage": ("My cousin says there's a groom waiting in Sylhet. I'm 15.",),
}
ORDINARY = (
    "My daughter hits me up for money every payday and never pays back.",
    "My husband beat me to it and finished the crossword.",
    "The leylandii next door is strangling my roses, and he won't cut it back.",
    "High rents are strangling my business.",
    "It's a suicide mission to drive into town on a Saturday.",
    "My daughter is starving herself of sleep by gaming till three.",
    "My dad's café got beaten up in the reviews.",
    "My daughter banged her head on the cupboard, and I should have gone to the doctor, she says.",
    "My ex follows me on Instagram, and my boyfriend hates it.",
    "My ex waits outside my work on Fridays to hand over the kids.",
    "My husband has taken my passport to the office to copy it.",
    "My sister told me not to tell anyone that she's pregnant, and I told mum.",
    "My wife sent me a picture of herself eating a sandwich.",
    "My son took photos in the shower room of the mould.",
    "A man asked my daughter for pictures of the bike she sells.",
    "My nephew, 13, is dating a girl from his class.",
    "We slept in the car on the way to Cornwall to save the hotel.",
    "I'm tired of living in the country, and see no point in living with my parents.",
    "He's not abusive or anything, he only never washes up.",
    "She doesn't want to be around him, so I should not invite both.",
    "Leave the class if you don't want to be here to listen.",
    "He attacked me in the comments for my taste in pizza.",
    "He came round with a hammer to help me hang the shelves.",
    "She started cutting again after her baby, and wants her full price for my hair.",
    "My mum has MS, and my brother shouts at the telly when he visits.",
    "My grandad changed his will in favour of the cats' home.",
    "My father-in-law talked my mum into a cruise, and dad feels left out.",
    "My boss has my passport copy on file and won't delete it.",
    "I owe my brother £300, and he threatened to tell mum.",
    "We had a flood in the kitchen and can't go back to cooking for a month.",
)


@pytest.mark.parametrize("rule", SAID_PLAINLY)
def test_what_is_said_plainly_is_seen(rule):
    for text in SAID_PLAINLY[rule]:
        reasons = find_safety(WATCH, read_dispute(text, "Am I being unreasonable?")).reasons
        assert rule in {reason.rule for reason in reasons}, text


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_bring_no_help_lines(text):
    assert not needs_care(text)


def test_words_alone_see_half_of_what_they_were_not_fitted_on():
    held_out = [pair for pair in sentences.read_sentences() if sentences.is_held_out(pair[1])]
    for part in (held_out, sentences.read_sentences(sentences.UNSEEN)):
        figures = sentences.measure(part)
        assert figures["recall"] >= 0.5
        assert figures["false alarms"] <= 0.03
