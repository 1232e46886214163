"""No disguised citation of a missing reference passes the check.

Good replies get one citation of a missing reference, disguised at random. The suite
tries 3,000; `FUZZED_REPLIES=100000 pytest tests/unit/judging/verdicts/test_disguised_citations.py`
tries that many. What passes is read by a separate reader of brackets, which uses Unicode's
categories and none of Judge's code.
"""

import html
import json
import os
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from urllib.parse import unquote

import pytest

from judge.types.replies import CheckedReply, ModelReply
from tests.unit.judging.verdicts.replies import REFERENCES, check, good_reply, personas

REPLIES = int(os.environ.get("FUZZED_REPLIES", "3000"))

# --- a reader of brackets

PARENTHESES = frozenset("()（）﹙﹚")
WINDOW = 30


def is_edge(character: str, category: str) -> bool:
    return (
        unicodedata.category(character) == category
        and character not in PARENTHESES
        and "QUOTATION" not in unicodedata.name(character)
    )


EVERY = [chr(point) for point in range(sys.maxunicode + 1)]
OPENERS = [character for character in EVERY if is_edge(character, "Ps")]
CLOSERS = [character for character in EVERY if is_edge(character, "Pe")]
EDGES = frozenset(OPENERS + CLOSERS)
EXACT = re.compile(
    r"(?<!\\)[\[【［〔]\s*\d+(?:\s*(?:[,;，；、&‐‑‒–—―−~-]|and)\s*\d+)*\s*[\]】］〕]"
)


def as_seen(text: str) -> str:
    """*text* as it may be displayed: entities and escapes decoded, invisible characters removed."""
    for _ in range(3):
        text = html.unescape(unquote(text))
        text = re.sub(r"\\(?:u00|x)([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)
    return "".join(
        c for c in text if c.isspace() or unicodedata.category(c) not in {"Cf", "Cc", "Cs", "Co"}
    )


def has_digit(text: str) -> bool:
    return any(unicodedata.numeric(character, None) is not None for character in text)


def brackets_with_a_digit(text: str) -> Iterator[str]:
    """From each opening sign to the next edge, and to each closing sign from the one before."""
    seen = as_seen(text)
    edges = [at for at, character in enumerate(seen) if character in EDGES]
    for nth, at in enumerate(edges):
        if seen[at] in OPENERS:
            end = edges[nth + 1] + 1 if nth + 1 < len(edges) else len(seen)
            start = max(0, at - 1) if seen[at - 1 : at] == "\\" else at
            stretch = seen[start : end if seen[end - 1] in CLOSERS else min(end, at + WINDOW)]
        else:
            start = edges[nth - 1] if nth else 0
            stretch = seen[
                start if seen[start] in OPENERS else max(start + 1, at - WINDOW) : at + 1
            ]
        if has_digit(stretch):
            yield stretch
    yield from (found for found in re.findall(r"<[^<>]*>", seen) if has_digit(found))


def assert_only_real_references_are_cited(reply: CheckedReply, count: int) -> None:
    texts = [reply.paraphrase, reply.summary]
    for one in reply.personas:
        texts += [one.rationale, *one.key_points]
    for text in texts:
        for stretch in brackets_with_a_digit(text):
            assert EXACT.fullmatch(stretch), (stretch, text)
            assert all(1 <= int(n) <= count for n in re.findall(r"\d+", stretch)), (stretch, text)


# --- citations in disguise

Rng = random.Random
NUMBERS = (
    "9",
    "99",
    "0",
    "2024",
    "９",
    "٩",
    "९",
    "⁹",
    "₉",
    "⑨",
    "Ⅸ",
    "九",
    "𝟗",
    "❾",
    "007",
    "4294967297",
)
AROUND_A_NUMBER = (
    "{}", " {} ", "\n{}\n", "\t{}", "\u00a0{}", "-{}", "+{}", "#{}", "^{}", "†{}", "{}†source",
    "{}a",
    "{}.", "{},", "{}.5", "1, {}", "1,{}", "{}, 1", "1 or {}", "1 to {}", "1/{}", "1-{}", "1–{}",
    "1..{}", "1 and {}", "1 & {}", "1; {}", "1 {}", "see {}", "see also {}", "cf. {}", "ref {}",
    "Ref{}", "ref. no. {}", "reference {}", "source: {}", "note {}", "{}: gov.uk", "{}, p. 4",
    "{}, para. 2", "§{}", "'{}'", '"{}"', "“{}”", "_{}_", "*{}*", "**{}**", "~~{}~~", "`{}`",
    "({})", "({}", "{})", "<b>{}</b>", "{}\u0338", "{}\ufe0f\u20e3", "doc_{}", "id={}", "{}|1",
    "\\{}",
)  # fmt: skip
AROUND_THE_CITATION = (
    "{}", "{}", "{}", "**{}**", "*{}*", "_{}_", "~~{}~~", "`{}`", "({})", "“{}”",
    '"{}"', "<sup>{}</sup>",
    "<b>{}</b>", "<cite>{}</cite>", "{}(https://a.example/page)", "{}: https://a.example", " {} ",
    "\n\n{}\n", "> {}", "- {}", "{}[1]", "[1]{}", "[1], {}", "see {}", "{}{{}}",
)  # fmt: skip
HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u202c\u2066\U000e0020\x01\x7f\ue000"


def in_brackets(rng: Rng, inside: str) -> str:
    return rng.choice(OPENERS) + inside + rng.choice(CLOSERS)


def in_square_brackets(rng: Rng, inside: str) -> str:
    return f"[{inside}]"


def half_open(rng: Rng, inside: str) -> str:
    """An opening or a closing bracket alone, with the number beside it."""
    if rng.random() < 0.5:
        return rng.choice(OPENERS) + inside
    return inside + rng.choice(CLOSERS)


def with_mismatched_brackets(rng: Rng, inside: str) -> str:
    return rng.choice(["[{})", "({}]", "[{}[", "]{}]", "[{}>", "<{}]", "[{}|", "[{}／"]).format(
        inside
    )


def nested(rng: Rng, inside: str) -> str:
    for _ in range(rng.randint(2, 5)):
        inside = in_brackets(rng, inside)
    return inside


def escaped(rng: Rng, inside: str) -> str:
    slashes = "\\" * rng.randint(1, 3)
    return f"{slashes}[{inside}{slashes}]"


def in_codes(rng: Rng, inside: str) -> str:
    return rng.choice(CODED)(inside)


def coded(before: str, after: str) -> Callable[[str], str]:
    return lambda inside: before + inside + after


CODED = [
    coded(*pair)
    for pair in (
        ("&#91;", "&#93;"), ("&#x5b;", "&#x5D;"), ("&#0091;", "&#00093;"), ("&lbrack;", "&rbrack;"),
        ("&lsqb;", "&rsqb;"), ("&amp;#91;", "&amp;#93;"), ("&amp;lbrack;", "&amp;rbrack;"),
        ("&lbrace;", "&rcub;"), ("&LeftDoubleBracket;", "&RightDoubleBracket;"), ("&lang;",
        "&rang;"),
        ("&#12304;", "&#12305;"), ("&#x27e6;", "&#x27e7;"), ("&lceil;", "&rfloor;"), ("&#91; ",
        " &#93"),
        ("%5B", "%5D"), ("%5b", "%5d"), ("%255B", "%255D"), ("%7B", "%7D"), ("[", "&#93;"),
        ("&#91;", "]"),
        ("\\u005b", "\\u005d"), ("\\x5B", "\\x5D"), ("\\[", "\\]"), ("%5B", "]"),
    )
]  # fmt: skip


def in_angles(rng: Rng, inside: str) -> str:
    inside = re.sub(r"[<>]|</?b>", "", inside)
    if rng.random() < 0.3:
        return rng.choice(["‹{}›", "«{}»", "＜{}＞", "&lt;{}&gt;", "<!-- {} -->", "<{}/>"]).format(
            inside
        )
    name = rng.choice(["ref ", "cite ", "", "sup id=", "source n="])
    return f"<{name}{inside}>"


def in_an_element(rng: Rng, inside: str) -> str:
    inside = re.sub(r"[<>]|</?b>", "", inside)
    name = rng.choice(
        ["cite", "sup", "ref", "source", "a href='#n'", "footnote", "sub", "q", "CITE"]
    )
    return f"<{name}>{inside}</{name.split()[0]}>"


def in_a_link(rng: Rng, inside: str) -> str:
    number = "".join(c for c in inside if c.isalnum()) or "9"
    target = rng.choice(["{}", "#{}", "#fn{}", "note-{}", "#cite_note-{}", "{} 'source'"])
    return f"[{rng.choice(['here', 'source', 'see', '^', ''])}]({target.format(number)})"


def in_a_footnote(rng: Rng, inside: str) -> str:
    return rng.choice(["[^{}]", "[^fn{}]", "^[{}]", "[[^{}]]", "[@{}]", "[@doc{}]"]).format(inside)


DISGUISES = (
    in_brackets, in_brackets, in_square_brackets, half_open, with_mismatched_brackets, nested,
    escaped, in_codes, in_codes, in_angles, in_an_element, in_a_link, in_a_footnote,
)  # fmt: skip


def with_hidden_characters(rng: Rng, text: str) -> str:
    for _ in range(rng.choice([0, 0, 0, 1, 2, 5])):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(HIDDEN) + text[at:]
    return text


def disguise(rng: Rng) -> str:
    number = rng.choice(NUMBERS)
    inside = rng.choice(AROUND_A_NUMBER).replace("{}", number)
    disguised = rng.choice(DISGUISES)(rng, inside)
    return with_hidden_characters(rng, rng.choice(AROUND_THE_CITATION).replace("{}", disguised))


# --- the replies they are put into

SUMMARIES = (
    "You are not unreasonable: it is for them [1], and notice is needed [2].",
    "Your landlord is responsible for repairs to the boiler [1]. Notice of 24 hours is due [2].",
    "Both say so [1, 2]. Write to them today and keep a copy.",
    "It is fair to ask. They must keep the heating in working order 【1】, within reason [2].",
    "You asked twice, in May and June, and waited 14 days (2 weeks); that is patient [1][2].",
    "As [1] puts it, repairs are theirs. See also [2].",
)
PLACES = ("summary", "rationale", "paraphrase", "key_points")


def insert(rng: Rng, text: str, piece: str) -> str:
    """*piece* between two words of *text*, or joined to one."""
    gaps = [0, len(text), *(found.start() for found in re.finditer(r" (?!\d)", text))]
    at = rng.choice(gaps)
    return text[:at] + rng.choice([" ", "", " as the law says "]) + piece + text[at:]


def disguised_reply(rng: Rng, piece: str) -> str:
    place = rng.choice(PLACES)
    summary = rng.choice(SUMMARIES)
    if place == "summary":
        document = good_reply(summary=insert(rng, summary, piece))
    elif place == "rationale":
        document = good_reply(
            summary=summary, personas=personas(rationale=insert(rng, rng.choice(SUMMARIES), piece))
        )
    elif place == "paraphrase":
        document = good_reply(paraphrase=insert(rng, "You want the boiler mended.", piece))
    else:
        points = ["Write today", insert(rng, "Keep copies of letters", piece), "Name a date"]
        document = good_reply(summary=summary, personas=personas(key_points=points))
    return json.dumps(document, ensure_ascii=rng.random() < 0.5)


def test_replies_are_good_without_the_inserted_citation() -> None:
    for said in SUMMARIES:
        assert check(good_reply(summary=said)).defects == ()


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.timeout(0)  # a long run is asked for
def test_no_disguised_citation_of_a_missing_reference_passes(count: int) -> None:
    rng = random.Random(20260115 + count)
    for _ in range(REPLIES // 2):
        piece = disguise(rng)
        reply = disguised_reply(rng, piece)
        checked = check(ModelReply(reply, "m"), REFERENCES[:count])
        if checked.reply is not None:
            assert_only_real_references_are_cited(checked.reply, count)
        assert [d.rule for d in checked.defects if d.is_hard], (piece, reply)


@pytest.mark.timeout(0)
def test_random_brackets_that_pass_cite_only_existing_references() -> None:
    """With valid citations among them, so that some replies pass."""
    rng = random.Random(7)
    pieces = ["[1]", "[2]", "[1, 2]", "【2】", "[1-2]", "[sic]", "1", "2", "9", " ", "\\",
              "&#91;", "%5D",
              "a", "see ", ". ", "\u200b", "(", ")", "<", ">", *OPENERS, *CLOSERS]  # fmt: skip
    left = 0
    for _ in range(REPLIES // 2):
        soup = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 9)))
        checked = check(ModelReply(disguised_reply(rng, soup), "m"))
        if checked.reply is not None:
            left += 1
            assert_only_real_references_are_cited(checked.reply, 2)
    assert left > REPLIES / 20


def test_bracket_reader_of_these_tests_finds_every_bracket_with_a_digit() -> None:
    assert list(brackets_with_a_digit("a [1] b ⟦9⟧ \\[2] &#91;9&#93; [sic] (9) <9>")) == [
        "[1]", "[1]", "⟦9⟧", "⟦9⟧", "\\[2]", "[2]", "[9]", "[9]", "<9>",
    ]  # fmt: skip
    assert EXACT.fullmatch("[1, 2]")
    assert not EXACT.fullmatch("\\[1]")


UNBRACKETED = ("({}).", "({}):", "(see {}).", "（{}）。"[:-1] + ".", "ref. {}", "ref {}",
               "reference {}",
               "Source {}", "source no. {}", "(source: {})", "footnote {}", "citation #{}", "^{}",
               "[1]-{}", "[1]/{}", "*({})*.", "({}, 8).")  # fmt: skip


@pytest.mark.parametrize("number", ["9", "0", "12"])
@pytest.mark.parametrize("form", UNBRACKETED)
def test_unbracketed_citation_is_a_bare_defect(form: str, number: str) -> None:
    said = f"It is for them [1] [2], as the law says {form.format(number)} So you may ask."
    assert [d.rule for d in check(good_reply(summary=said)).defects] == ["bare"]


@pytest.mark.parametrize("sign", ["⁹", "⑨", "❾", "⑼", "9\ufe0f\u20e3", "¹²"])
def test_superscript_or_circled_number_is_a_bare_defect(sign: str) -> None:
    said = f"It is for them [1] [2], as the law says{sign}."
    assert [d.rule for d in check(good_reply(summary=said)).defects] == ["bare"]
