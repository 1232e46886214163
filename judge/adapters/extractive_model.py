"""The language model for when there is none: it quotes the references and gives no verdict.

It answers the same prompt in the same JSON as a real one, so that the pipeline checks its
replies by the same rules. Pure arithmetic on words: no network, and always the same answer.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

import Stemmer

from judge.types.judging import JudgeRequest, ModelReply, Prompt, Reference

NAME: Final = "extractive"
PERSONAS: Final = ("Therapist", "Analyst", "Coach")

QUERY_WEIGHT: Final = 2.0
"""A word of the question counts this much more than one of the story around it."""

LENGTH_BIAS: Final = 8
"""Words added to a sentence's length before dividing by it, so that headlines don't win."""

MAX_QUOTE_CHARS: Final = 360
"""Two of them and the words around them fit the 960 characters of a summary."""

MAX_ECHO_CHARS: Final = 150
"""Of the question, in a paraphrase of at most 240 characters."""

MAX_TITLE_CHARS: Final = 100
MIN_WORDS: Final = 3
"""What a quote needs to be verified."""

NO_MODEL: Final = "No verdict: no language model is configured or available"
SUMMARY: Final = NO_MODEL + ", so this only quotes the references that fit best."
NOTHING: Final = NO_MODEL + ", and there is no reference on this to quote."
NO_VIEW: Final = "Without a language model there is no view of this kind, and nothing to quote."
LEAD: Final = "This may bear on it, in the words of the reference."

POINTS: Final = (
    ("Say how this affects you.", "Ask what the other side needs."),
    ("List the facts you both accept.", "Gather dates, messages and agreements."),
    ("Decide what you want from this.", "Choose one next step and a date for it."),
)
"""For each persona in turn; the third point is where to read on."""
READ_ON: Final = "Read it in full: {}."
NO_PAGE: Final = "Ask again when a language model is available."

_BRACKETS: Final = re.compile(r"[\[\]【】［］〔〕]")
"""What a citation is written with: nothing we quote or repeat may look like one."""

_WORD: Final = re.compile(r"[^\W_]+")
_BREAK: Final = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)]*+\s++(?=[\"'“‘(]*+[A-ZÀ-Þ0-9£€$])")
"""Where a sentence may end; linear in time, since each run of marks is tried once."""

_ABBREVIATIONS: Final = frozenset(
    "e.g i.e cf vs viz approx Mr Mrs Ms Dr Prof Rev St No Nos s ss para paras reg Art p pp".split()
)
_NO_START: Final = " \t.,;:!?…)-–—"
_NO_END: Final = " \t.,;:!?…(-–—"

_STOP_WORDS: Final = frozenset(
    """a about after all also am an and any are as at be because been before being but by can
    could did do does doing don for from get had has have having he her here hers him his how i
    if in into is it its just me my no nor not now of on or other our out over own re s said say
    she should so some such t than that the their them then there these they this those to too
    up us ve very was we were what when where which while who whom why will with would you
    your""".split()
)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a reference, exactly as they stand there."""

    reference: Reference
    text: str
    is_cut: bool
    is_question: bool

    @property
    def cited(self) -> str:
        """The words in quotation marks with their mark, one sentence."""
        return f"“{self.text}{' …' if self.is_cut else ''}” [{self.reference.number}]."


class ExtractiveModel:
    """A LanguageModel that chooses sentences; see the module."""

    name: str = NAME
    gives_verdicts: bool = False

    def __init__(self, persona_names: Sequence[str] = PERSONAS) -> None:
        self._persona_names = tuple(persona_names)
        self._stemmer = Stemmer.Stemmer("english")

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """The best quotations; at once, so that neither time nor room matters, and no error."""
        del timeout_s, has_more_room
        quotes = self._ranked(prompt)
        reply = _reply(prompt.request, quotes, self._persona_names)
        return ModelReply(json.dumps(reply, ensure_ascii=False), NAME)

    def _ranked(self, prompt: Prompt) -> list[Quote]:
        """All that can be quoted, what answers the query best first; ties in reading order."""
        quotes = list(_quotes(prompt.references))
        stems = [self._stems(quote.text) for quote in quotes]
        frequency = Counter(stem for words in stems for stem in set(words))
        query = set(self._stems(prompt.request.query))
        story = set(self._stems(prompt.request.context))

        def score(words: Sequence[str]) -> float:
            """Rare words shared, by the square root of the length."""
            total = sum(
                math.log(1 + len(quotes) / frequency[stem])
                * (QUERY_WEIGHT * (stem in query) + (stem in story))
                for stem in set(words)
            )
            return total / math.sqrt(LENGTH_BIAS + len(words))

        # A heading such as "Who repairs the boiler?" matches best and answers nothing.
        ranking = sorted(
            range(len(quotes)), key=lambda at: (quotes[at].is_question, -score(stems[at]))
        )
        return [quotes[at] for at in ranking]

    def _stems(self, text: str) -> list[str]:
        words = (word for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS)
        stems: list[str] = self._stemmer.stemWords(list(words))
        return stems


def parse_sentences(text: str) -> list[str]:
    """The sentences of *text*, in order and verbatim, without the white space around them."""
    sentences: list[str] = []
    start = 0
    for end in _BREAK.finditer(text):
        # Twelve characters hold every abbreviation, and keep this linear.
        words = text[max(start, end.start() - 12) : end.start()].split()
        last = words[-1].lstrip("(“‘\"'") if words else ""
        is_item_number = last.isdigit() and not text[start : end.start()].strip(f"{last} ")
        if last in _ABBREVIATIONS or (len(last) == 1 and last.isupper()) or is_item_number:
            continue
        sentences.append(text[start : end.end()].strip())
        start = end.end()
    return [*sentences, text[start:].strip()] if text[start:].strip() else sentences


def _quotes(references: Sequence[Reference]) -> Iterator[Quote]:
    """Every sentence worth quoting, once, and nothing in it that looks like a citation."""
    seen: set[str] = set()
    for reference in references:
        for piece in _BRACKETS.split(reference.text):
            for sentence in parse_sentences(piece):
                quote = _quote(reference, sentence)
                if len(quote.text.split()) >= MIN_WORDS and quote.text not in seen:
                    seen.add(quote.text)
                    yield quote


def _quote(reference: Reference, sentence: str) -> Quote:
    whole = sentence.lstrip(_NO_START).rstrip(_NO_END)
    text = _cut(whole, MAX_QUOTE_CHARS)
    is_cut = text != whole or sentence.endswith(("...", "…"))
    return Quote(reference, text, is_cut, is_question=sentence.endswith("?"))


def _cut(text: str, max_chars: int) -> str:
    """At most the first *max_chars* of *text*, ending with a whole word."""
    if len(text) <= max_chars:
        return text
    return text[: max_chars + 1].rpartition(" ")[0].rstrip(_NO_END)


def _reply(
    request: JudgeRequest, quotes: Sequence[Quote], persona_names: Sequence[str]
) -> dict[str, object]:
    """The wire form of a reply: two quotes in the summary, the next ones for the personas."""
    summary = quotes[:2]
    others = list(islice(cycle(quotes[2:] or quotes), len(persona_names))) if quotes else []
    used = {quote.reference.number: quote.text for quote in reversed([*summary, *others])}
    return {
        "paraphrase": _paraphrase(request),
        "personas": [
            _persona(name, at, others[at] if others else None)
            for at, name in enumerate(persona_names)
        ],
        "summary": " ".join([SUMMARY if quotes else NOTHING, *(quote.cited for quote in summary)]),
        "quotes": [{"number": number, "quote": text} for number, text in sorted(used.items())],
    }


def _paraphrase(request: JudgeRequest) -> str:
    query = " ".join(_BRACKETS.sub(" ", request.query).split())
    echo = _cut(query, MAX_ECHO_CHARS)
    if not echo:
        return "You describe a disagreement and ask for a view of it."
    return f"You describe a disagreement and ask: “{echo}{' …' if echo != query else ''}”"


def _persona(name: str, at: int, quote: Quote | None) -> dict[str, object]:
    return {
        "name": name,
        "verdict": None,
        "rationale": f"{LEAD} {quote.cited}" if quote else NO_VIEW,
        "key_points": [*POINTS[at % len(POINTS)], _read_on(quote) if quote else NO_PAGE],
    }


def _read_on(quote: Quote) -> str:
    title = " ".join(_BRACKETS.sub(" ", quote.reference.title).split()).rstrip(".")
    return READ_ON.format(_cut(title, MAX_TITLE_CHARS) or quote.reference.url)
