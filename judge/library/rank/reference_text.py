"""The text of a page as a reference: its lead and the passages that bear most on the dispute."""

from collections.abc import Sequence

from judge.library.extract.page_passages import cut_text
from judge.library.rank.candidates import Candidate

SEPARATOR = " … "
"""Between parts of a page that do not follow one another."""


def reference_text(lead: str, candidate: Candidate, passages: int, max_words: int) -> str:
    """*lead* and the best *passages* of the candidate, in the page's order, joined by ` … `.

    With more than one, each is filled up to *max_words* with what follows and precedes it under the
    same heading, since what answers a question often stands beside the words that found it.
    """
    told = [text for _, text in candidate.page.passages]
    best = [number for number in candidate.passages if not _is_lead(told[number], lead, max_words)]
    taken: set[int] = set()
    windows: list[range] = []
    for number in best:
        if len(windows) < passages and number not in taken:
            is_filled = passages > 1
            window = _window(candidate, number, taken, max_words) if is_filled else [number]
            windows.append(range(min(window), max(window) + 1))
            taken.update(window)
    parts = [lead]
    for window in sorted(windows, key=lambda window: window.start):
        texts = (told[at] for at in window if not _is_lead(told[at], lead, max_words))
        parts.append(cut_text(" ".join(texts), max_words))
    return SEPARATOR.join(filter(None, parts))


def _is_lead(text: str, lead: str, max_words: int) -> bool:
    return cut_text(text, max_words).removesuffix("...") in lead or (
        lead.removesuffix("...") in text and bool(lead)
    )


def _window(candidate: Candidate, number: int, taken: set[int], max_words: int) -> Sequence[int]:
    """*number* and its free neighbours under the same heading, as many as *max_words* allow."""
    passages = candidate.page.passages
    window = [number]
    words = len(passages[number][1].split())
    for step in (1, -1):
        at = number + step
        while 0 <= at < len(passages) and at not in taken:
            heading, text = passages[at]
            words += len(text.split())
            if heading != passages[number][0] or words > max_words:
                break
            window.append(at)
            at += step
    return window
