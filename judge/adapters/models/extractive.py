"""Stands in for a language model: it quotes the references and gives no verdict.

It replies to the same prompt with the same JSON as a real model, so that the pipeline checks its
replies by the same rules. It only scores sentences by their words: no network, deterministic.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, zip_longest
from typing import Final

from judge.ports import OnText, ignore_text
from judge.text.english import content_stems, fold_space, source_sentences, words
from judge.text.untrusted import in_parentheses, without_brackets
from judge.types.references import Reference
from judge.types.replies import ModelReply, Prompt

NAME: Final = "extractive"

MAX_PAGES: Final = 2
"""Only the best pages are quoted, and none that does not fit clearly, since no model rejects it.
Passages of the person's own documents are always quoted."""

MAX_QUOTE_CHARS: Final = 360
"""Two quotes and the words around them fit the 960 characters of a summary."""

NO_MODEL: Final = "No verdict: no language model is configured or available"
SUMMARY: Final = NO_MODEL + ", so this only quotes the references that fit best."
NOTHING: Final = NO_MODEL + ", and there is no reference on this to quote."
NO_VIEW: Final = "Without a language model there is no view of this kind, and nothing to quote."
ASK_AGAIN: Final = "Ask again when a language model is available."
LEAD: Final = "This may bear on it, in the words of the reference."

PARAPHRASE: Final = "You describe a disagreement and ask for a view of it."
POINTS: Final = (
    "List the facts that you both accept.",
    "Decide what you want from this, and by when.",
)

_STRIPPED_START: Final = " \t.,;:!?…)-–—"
_STRIPPED_END: Final = " \t.,;:!?…(-–—"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a reference, verbatim but for brackets."""

    reference: Reference
    sentence: int
    """Its number in the reference, from 1."""
    text: str
    is_cut: bool
    is_question: bool

    @property
    def cited(self) -> str:
        """The quotation with its citation, as one sentence."""
        return f"“{self.text}{' …' if self.is_cut else ''}” [{self.reference.number}]."


class ExtractiveModel:
    """A LanguageModel that selects sentences."""

    name: str = NAME
    gives_verdicts: bool = False

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """The best quotations, at once: time-out and room do not matter, and it raises nothing."""
        reply = _reply(prompt, _ranked(prompt))
        return ModelReply(json.dumps(reply, ensure_ascii=False), NAME)


def _ranked(prompt: Prompt) -> list[Quote]:
    """All quotes, those that answer the query best first; ties in reading order."""
    # The first pages of those that fit clearly, and all passages.
    references = prompt.references
    pages = [one for one in references if one.kind == "page" and one.number not in prompt.doubtful]
    passages = [one for one in references if one.kind == "passage"]
    quotes = list(_quotes([*pages[:MAX_PAGES], *passages]))
    stems = [content_stems(quote.text) for quote in quotes]
    frequency = Counter(stem for quote_stems in stems for stem in set(quote_stems))
    query = set(content_stems(prompt.request.query))
    context = set(content_stems(prompt.request.context))

    def score(quote_stems: Sequence[str]) -> float:
        """The IDF of the shared words, twice that in the question, by the root of the length.

        Eight more words are counted as its length, so that headlines don't win.
        """
        total = sum(
            math.log(1 + len(quotes) / frequency[stem])
            * (2.0 * (stem in query) + (stem in context))
            for stem in dict.fromkeys(quote_stems)  # in a set's order the sum would vary
        )
        return total / math.sqrt(8 + len(quote_stems))

    # A heading such as "Who repairs the boiler?" matches best and answers nothing.
    ranking = sorted(range(len(quotes)), key=lambda at: (quotes[at].is_question, -score(stems[at])))
    return [quotes[at] for at in ranking]


def _quotes(references: Sequence[Reference]) -> Iterator[Quote]:
    """Every sentence worth quoting, without duplicates."""
    seen: set[str] = set()
    for reference in references:
        for number, sentence in enumerate(source_sentences(reference.text), start=1):
            quote = _quote(reference, number, sentence)
            # Shorter sentences are labels.
            if len(words(quote.text)) >= 3 and quote.text not in seen:
                seen.add(quote.text)
                yield quote


def _quote(reference: Reference, number: int, sentence: str) -> Quote:
    sentence = sentence.removesuffix(" …")  # another passage of the page follows
    trimmed = sentence.lstrip(_STRIPPED_START).rstrip(_STRIPPED_END)
    text = _cut(trimmed, MAX_QUOTE_CHARS)
    is_cut = text != trimmed or sentence.endswith(("...", "…"))
    # A bracket that another sentence closes would take in the citations between them.
    text = without_brackets(text)
    return Quote(reference, number, text, is_cut, is_question=sentence.endswith("?"))


def _cut(text: str, max_chars: int) -> str:
    """At most the first *max_chars* of *text*, ending with a whole word."""
    if len(text) <= max_chars:
        return text
    return text[: max_chars + 1].rpartition(" ")[0].rstrip(_STRIPPED_END)


def _reply(prompt: Prompt, quotes: Sequence[Quote]) -> dict[str, object]:
    """The JSON of a reply: two quotes in the summary, the next ones for the personas."""
    summary = quotes[:2]
    others = [*islice(cycle(quotes[2:] or quotes), len(prompt.personas))]
    used: dict[int, set[int]] = {}
    for quote in [*summary, *others]:
        used.setdefault(quote.reference.number, set()).add(quote.sentence)
    return {
        "paraphrase": PARAPHRASE,
        "personas": [
            {
                "name": persona.name,
                "verdict": None,
                "rationale": f"{LEAD} {quote.cited}" if quote else NO_VIEW,
                "key_points": [*POINTS, _read_on(quote) if quote else ASK_AGAIN],
            }
            for persona, quote in zip_longest(prompt.personas, others)
        ],
        "summary": " ".join([SUMMARY if quotes else NOTHING, *(quote.cited for quote in summary)]),
        "references_help": bool(quotes),
        "quotes": [{"number": n, "sentences": sorted(at)} for n, at in sorted(used.items())],
    }


def _read_on(quote: Quote) -> str:
    title = in_parentheses(fold_space(quote.reference.title)).rstrip(".")
    return f"Read it in full: {_cut(title, 100) or f'reference {quote.reference.number}'}."
