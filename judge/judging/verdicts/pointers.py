"""The sentences that a reply relied on: it names their numbers, and the words come from us."""

from collections.abc import Iterable, Mapping, Sequence

from judge.judging.verdicts.reply_schema import PointerBody
from judge.text.source_sentences import source_sentences
from judge.types.references import Reference

PointedSentences = Mapping[int, tuple[str, ...]]
"""For each cited number the sentences named for it that exist; none when none was."""


def pointed_sentences(
    pointers: Sequence[PointerBody], cited: Iterable[int], references: Sequence[Reference]
) -> PointedSentences:
    """The sentences that *pointers* name of each *cited* reference, in reading order."""
    return {number: _named(pointers, references[number - 1]) for number in cited}


def _named(pointers: Sequence[PointerBody], reference: Reference) -> tuple[str, ...]:
    there = source_sentences(reference.text)
    named = {at for p in pointers if p.number == reference.number for at in p.sentences}
    return tuple(sentence for at, sentence in enumerate(there, start=1) if at in named)
