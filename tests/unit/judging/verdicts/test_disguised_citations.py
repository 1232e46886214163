"""No mark of a missing reference leaves, however it is disguised, as a reader of its own sees it.

A few hundred replies are tried each time, and FUZZED_REPLIES of them (10,000) by the slow test;
100,000 take a quarter of an hour.
"""

import html
import json
import os
import random
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

import pytest

from judge.judging.prompts import DEFAULT_PERSONAS, render_prompt
from judge.judging.verdicts.check import check_reply
from judge.types.replies import CheckedReply, ModelReply
from tests.unit.judging.verdicts.replies import REFERENCES, REQUEST, check, good_reply, personas

SLOW_REPLIES = int(os.environ.get("FUZZED_REPLIES", "5000"))
PROMPTS = {n: render_prompt(REQUEST, REFERENCES[:n], DEFAULT_PERSONAS) for n in (2, 3)}
PAIRS = ("[]", "【】", "［］", "〔〕", "⟦⟧", "〖〗")

# --- a reader of marks that shares nothing with Judge's

SQUARE = re.compile(r"[\[【［〔⟦〖]([^\[\]【】［］〔〕⟦⟧〖〗]*)[\]】］〕⟧〗]")
WORDS = re.compile(
    r"\b(?:references?|refs?|sources?|notes?|footnotes?|citations?|docs?|see|also|cf|nos?|numbers?"
    r"|and|or|to|through|the|st|nd|rd|th)\b|\bp(?:age|p)?\.? *\d+|\bpara(?:graph)?\.? *\d+"
)
NUMBER_WORDS = {"nine": 9, "twelve": 12, "ninth": 9, "ix": 9, "xii": 12}


def as_seen(text: str) -> str:
    """*text* as it is displayed: decoded, without tags, emphasis and invisible characters."""
    for _ in range(3):
        text = html.unescape(unquote(text))
        text = re.sub(r"\\(?:u00|x)([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"<[a-zA-Z/][^<>]*>", "", text)
    return "".join(c for c in text if c not in "*_~`\\" and unicodedata.category(c)[0] != "C")


def numbers_in(body: str) -> list[int] | None:
    """The numbers in a bracket that holds nothing but them, separators and reference words."""
    body = "".join(c for c in body.lower() if unicodedata.category(c) not in {"Mn", "Me"})
    # A raised number at a plain one is another: ¹1 is no eleven.
    apart = re.sub(
        r"(?<=[⁰¹²³⁴-⁹])(?=\d(?<![⁰¹²³⁴-⁹]))|(?<=\d)(?<![⁰¹²³⁴-⁹])(?=[⁰¹²³⁴-⁹])", " ", body
    )
    plain = "".join(
        str(int(value)) if (value := unicodedata.numeric(c, 0.5)) == int(value) else c
        for c in apart
    )
    left = WORDS.sub(" ", re.sub(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", " ", plain))
    named = [NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", left) if word in NUMBER_WORDS]
    if any(word not in NUMBER_WORDS for word in re.findall(r"[^\W\d_]+", left)):
        return None
    if re.search(r"\d[.:]\d|[£$€%°=×+<>]|,\d{3}\b", left):
        return None
    return named + [int(number) for number in re.findall(r"\d+", left)] or None


def marks_in(text: str) -> Iterator[list[int]]:
    for match in SQUARE.finditer(as_seen(text)):
        if (numbers := numbers_in(match[1])) is not None:
            yield numbers


def assert_only_real_references_are_cited(reply: CheckedReply, count: int) -> None:
    texts = [reply.paraphrase, reply.summary]
    texts += [text for one in reply.personas for text in (one.rationale, *one.key_points)]
    for text in texts:
        for numbers in marks_in(text):
            assert all(1 <= number <= count for number in numbers), text


# --- citations in disguise

Rng = random.Random
NUMBERS = "9 99 0 2024 ９ ٩ ९ ⁹ ₉ ⑨ 九 𝟗 ❾ ¹² 007 4294967297".split()
AROUND_A_NUMBER = (
    "{}", " {} ", "\n{}\n", "\t{}", "\u00a0{}", "#{}", "^{}", "{}.", "{},", "1, {}", "1,{}",
    "{}, 1", "1 or {}", "1 to {}", "1-{}", "1–{}", "1..{}", "1 and {}", "1 & {}", "1; {}", "1，{}",
    "see {}", "see also {}", "cf. {}", "ref {}", "Ref{}", "ref. no. {}", "reference {}",
    "source: {}", "note {}", "{}, p. 4", "{}, para. 2", "_{}_", "*{}*", "**{}**", "~~{}~~", "`{}`",
    "<b>{}</b>", "&#8203;{}", "{}\u0338", "{}\ufe0f\u20e3",
)  # fmt: skip
WORDED = ("Reference Nine", "the ninth source", "9th reference", "ref IX", "source xii")
AROUND_THE_MARK = (
    "{}", "{}", "**{}**", "*{}*", "~~{}~~", "`{}`", "({})", "<sup>{}</sup>", "<b>{}</b>",
    "&lt;sup&gt;{}&lt;/sup&gt;", "{}(https://a.example/page)", "{}: as it says", "\n\n{}\n", "- {}",
    "{}[1]", "[1]{}", "[1], {}", "[{}]", "see {}",
)  # fmt: skip
EDGES = (
    ("&#91;", "&#93;"), ("&#x5b;", "&#x5D;"), ("&lbrack;", "&rbrack;"), ("&lsqb;", "&rsqb;"),
    ("&amp;#91;", "&amp;#93;"), ("&#12304;", "&#12305;"), ("%5B", "%5D"), ("%255b", "%255d"),
    ("\\u005b", "\\u005d"), ("\\x5B", "\\x5D"), ("\\[", "\\]"), ("[", "&#93;"), ("[", "】"),
)  # fmt: skip
HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u202c\u2066\U000e0020\x01\x7f\ue000"


def disguise(rng: Rng) -> str:
    inside = rng.choice(AROUND_A_NUMBER).replace("{}", rng.choice(NUMBERS))
    if rng.random() < 0.1:
        inside = rng.choice(WORDED)
    opening, closing = rng.choice(EDGES) if rng.random() < 0.4 else rng.choice(PAIRS)
    text = rng.choice(AROUND_THE_MARK).replace("{}", f"{opening}{inside}{closing}")
    for _ in range(rng.choice([0, 0, 1, 3])):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(HIDDEN) + text[at:]
    return text


SUMMARIES = (
    "You are not unreasonable: it is for them [1], and notice is needed [2].",
    "Your landlord is responsible for repairs to the boiler [1]. Notice of 24 hours is due [2].",
    "It is fair to ask. They must keep the heating in working order 【1】, within reason [2].",
)


def insert(rng: Rng, text: str, piece: str) -> str:
    gaps = [0, len(text), *(found.start() for found in re.finditer(r" (?!\d)", text))]
    at = rng.choice(gaps)
    return text[:at] + rng.choice([" ", "", " as the law says "]) + piece + text[at:]


def reply_with(rng: Rng, piece: str) -> str:
    place = rng.randrange(4)
    said = rng.choice(SUMMARIES)
    points = ["Write today", insert(rng, "Keep copies of letters", piece), "Name a date"]
    document = (
        good_reply(summary=insert(rng, said, piece)),
        good_reply(summary=said, personas=personas(rationale=insert(rng, SUMMARIES[0], piece))),
        good_reply(paraphrase=insert(rng, "You want the boiler mended.", piece)),
        good_reply(summary=said, personas=personas(key_points=points)),
    )[place]
    return json.dumps(document, ensure_ascii=rng.random() < 0.5)


def assert_no_mark_of_a_missing_reference_leaves(replies: int, seed: int) -> None:
    """Disguised marks are hard defects; of any soup of brackets only valid marks leave."""
    rng = random.Random(seed)
    soup = ["[1]", "[2]", "[1, 2]", "[1-2]", "[sic]", "1", "2", "9", " ", "\\", "&#91;", "%5D", "a",
            "see ", ". ", ", ", "\u200b", "(", ")", "<", ">", "*", "`", "<b>", "¹", "-", "9 ",
            *"".join(PAIRS)]  # fmt: skip
    left = 0
    for nth in range(replies):
        is_disguise = nth % 2 == 0
        piece = disguise(rng) if is_disguise else "".join(rng.choices(soup, k=rng.randint(1, 9)))
        count = rng.choice([2, 3])
        reply = reply_with(rng, piece)
        checked = check_reply(ModelReply(reply, "m"), PROMPTS[count])
        if is_disguise:
            assert [d.rule for d in checked.defects if d.is_hard], (piece, reply)
        if checked.reply is not None:
            left += 1
            assert_only_real_references_are_cited(checked.reply, count)
    assert left > replies / 20


def test_no_mark_of_a_missing_reference_leaves() -> None:
    assert_no_mark_of_a_missing_reference_leaves(800, seed=20260115)


@pytest.mark.slow
@pytest.mark.timeout(0)  # a long run is asked for
def test_no_mark_of_a_missing_reference_leaves_in_many_replies() -> None:
    assert_no_mark_of_a_missing_reference_leaves(SLOW_REPLIES, seed=7)


def test_reader_of_these_tests_finds_marks_and_no_text() -> None:
    text = "a [1] b ⟦9⟧ \\[2] &#91;ref 9, p. 4&#93; [sic] (9) [2 bed] [09:14] <sup>[1, 2]</sup>"
    assert list(marks_in(text)) == [[1], [9], [2], [9], [1, 2]]
    for said in SUMMARIES:
        assert check(good_reply(summary=said)).defects == ()
