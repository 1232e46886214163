"""The language model for when there is none: it quotes the references and gives no verdict.

It answers the same prompt in the same JSON as a real one, so that the pipeline checks its
replies by the same rules. Pure arithmetic on words: no network, and always the same answer.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from judge.ports import OnText, ignore_text
from judge.text.brackets import in_parentheses
from judge.text.english import content_stems, fold_space, words
from judge.text.source_sentences import source_sentences
from judge.types.references import Reference
from judge.types.replies import ModelReply, Prompt
from judge.types.requests import JudgeRequest

NAME: Final = "extractive"
PERSONAS: Final = ("Therapist", "Analyst", "Coach")

QUERY_WEIGHT: Final = 2.0
"""A word of the question counts this much more than one of the context."""

LENGTH_BIAS: Final = 8
"""Words added to a sentence's length before dividing by it, so that headlines don't win."""

MOST_PAGES: Final = 2
"""Quoted at most, the best ones: there is nobody here to decline those that fit less. Passages of
the person's own documents are quoted all the same."""

MAX_QUOTE_CHARS: Final = 360
"""Two of them and the words around them fit the 960 characters of a summary."""

MAX_ECHO_CHARS: Final = 150
"""Of the question, in a paraphrase of at most 240 characters."""

MAX_TITLE_CHARS: Final = 100
MIN_WORDS: Final = 3
"""Shorter sentences are labels, not worth a quotation."""

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

_NO_START: Final = " \t.,;:!?…)-–—"
_NO_END: Final = " \t.,;:!?…(-–—"

_NUMBER_IN_PARENTHESES: Final = re.compile(r"\((\d+)\)")
"""What `[1]` of a question has become; at the end of a clause it would read as a citation."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a reference, exactly as they stand there."""

    reference: Reference
    sentence: int
    """Its number in the reference, from 1."""
    text: str
    is_cut: bool
    is_question: bool

    @property
    def cited(self) -> str:
        """The words in quotation marks with their mark, one sentence."""
        return f"“{self.text}{' …' if self.is_cut else ''}” [{self.reference.number}]."


class ExtractiveModel:
    """A LanguageModel that chooses sentences; *persona_names* are those the checks expect."""

    name: str = NAME
    gives_verdicts: bool = False

    def __init__(self, persona_names: Callable[[], Sequence[str]] = lambda: PERSONAS) -> None:
        self._persona_names = persona_names

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        has_more_room: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """The best quotations; at once, so that neither time nor room matters, and no error."""
        reply = _reply(prompt.request, _ranked(prompt), self._persona_names())
        return ModelReply(json.dumps(reply, ensure_ascii=False), NAME)


def _ranked(prompt: Prompt) -> list[Quote]:
    """All that can be quoted, what answers the query best first; ties in reading order."""
    quotes = list(_quotes(_best(prompt.references)))
    stems = [content_stems(quote.text) for quote in quotes]
    frequency = Counter(stem for own in stems for stem in set(own))
    query = set(content_stems(prompt.request.query))
    context = set(content_stems(prompt.request.context))

    def score(own: Sequence[str]) -> float:
        """Rare words shared, by the square root of the length."""
        total = sum(
            math.log(1 + len(quotes) / frequency[stem])
            * (QUERY_WEIGHT * (stem in query) + (stem in context))
            for stem in dict.fromkeys(own)  # a set's order, and so the sum, differs each run
        )
        return total / math.sqrt(LENGTH_BIAS + len(own))

    # A heading such as "Who repairs the boiler?" matches best and answers nothing.
    ranking = sorted(range(len(quotes)), key=lambda at: (quotes[at].is_question, -score(stems[at])))
    return [quotes[at] for at in ranking]


def _best(references: Sequence[Reference]) -> list[Reference]:
    """The first pages, which fit best, and all passages."""
    pages = [reference for reference in references if reference.kind == "page"]
    return [*pages[:MOST_PAGES], *(one for one in references if one.kind == "passage")]


def _quotes(references: Sequence[Reference]) -> Iterator[Quote]:
    """Every sentence worth quoting, once."""
    seen: set[str] = set()
    for reference in references:
        for number, sentence in enumerate(source_sentences(reference.text), start=1):
            quote = _quote(reference, number, sentence)
            if len(words(quote.text)) >= MIN_WORDS and quote.text not in seen:
                seen.add(quote.text)
                yield quote


def _quote(reference: Reference, number: int, sentence: str) -> Quote:
    whole = sentence.lstrip(_NO_START).rstrip(_NO_END)
    text = _cut(whole, MAX_QUOTE_CHARS)
    is_cut = text != whole or sentence.endswith(("...", "…"))
    return Quote(reference, number, text, is_cut, is_question=sentence.endswith("?"))


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
    used: dict[int, set[int]] = {}
    for quote in [*summary, *others]:
        used.setdefault(quote.reference.number, set()).add(quote.sentence)
    return {
        "paraphrase": _paraphrase(request),
        "personas": [
            _persona(name, at, others[at] if others else None)
            for at, name in enumerate(persona_names)
        ],
        "summary": " ".join([SUMMARY if quotes else NOTHING, *(quote.cited for quote in summary)]),
        "references_help": bool(quotes),
        "quotes": [{"number": n, "sentences": sorted(at)} for n, at in sorted(used.items())],
    }


def _paraphrase(request: JudgeRequest) -> str:
    query = _NUMBER_IN_PARENTHESES.sub(r"\1", in_parentheses(fold_space(request.query)))
    echo = _cut(query, MAX_ECHO_CHARS)
    if not words(echo):
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
    title = in_parentheses(fold_space(quote.reference.title)).rstrip(".")
    return READ_ON.format(_cut(title, MAX_TITLE_CHARS) or f"reference {quote.reference.number}")
