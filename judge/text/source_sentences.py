"""The sentences of a source, as they are numbered for a model and held against its claims."""

from functools import lru_cache

from judge.text.english import Span, sentences


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Where the sentences of *text* stand, in order; what has no word belongs to the one before."""
    spans: list[Span] = []
    for span in sentences(text):
        if spans and not any(c.isalnum() for c in text[span.start : span.end]):
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return tuple(spans)


@lru_cache(maxsize=512)
def source_sentences(text: str) -> tuple[str, ...]:
    """The sentences of *text* themselves; remembered, as the same pages are cited all day."""
    return tuple(text[span.start : span.end] for span in sentence_spans(text))
