"""How much of a citing sentence does the cited reference carry?"""

from judge.english import content_stems, sentences
from judge.verdicts.citations import find_marks

MIN_CONTENT_WORDS = 3
"""Under three content words a share says nothing."""


def support(text: str, start: int, end: int, reference: str) -> float | None:
    """The share (0 to 1) of the content words in the citing sentence that *reference* holds.

    The sentence is the one of *text* around the mark at `[start:end]`; marks do not count as
    words, and neither do stop words. Words are compared as stems. None under three content words.
    """
    claim = set(content_stems(_without_marks(_sentence_around(text, start, end))))
    if len(claim) < MIN_CONTENT_WORDS:
        return None
    return round(len(claim & set(content_stems(reference))) / len(claim), 2)


def _sentence_around(text: str, start: int, end: int) -> str:
    around = (s for s in sentences(text) if s.start <= start and end <= s.end)
    return next((text[span.start : span.end] for span in around), text)


def _without_marks(sentence: str) -> str:
    marks = find_marks(sentence)
    for mark in reversed(marks):
        sentence = sentence[: mark.start] + " " + sentence[mark.end :]
    return sentence
