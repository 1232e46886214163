"""Which of a domain's pages fit a dispute? Chosen by topics and title alone.

The choice never depends on what is cached, so that the same dispute is shown the same pages.
"""

import functools
import re
from collections.abc import Sequence

from judge.judging.dispute import Dispute, NormalisedText, normalise
from judge.text.english import stems
from judge.types.judgements import SourceSpec

TOPIC = 2.0
"""What a topic counts that the dispute mentions; a topic is chosen by hand for the page."""

TITLE_WORD = 0.5
"""What a word of the title counts; many of them are general."""

QUERY_FACTOR = 1.5
"""What a mention in the question counts more than one in the context."""

OWN_NATION = 4.0
"""What a page counts more that is for the named nation alone: more than a topic."""

SHORTEST_TITLE_WORD = 4
"""Letters; shorter words of a title are mostly "the", "your" and the like."""

_WORD = re.compile(r"[^\W_]+")


def choose_sources(
    sources: Sequence[SourceSpec],
    dispute: Dispute,
    *,
    limit: int,
    nations: frozenset[str] = frozenset(),
) -> tuple[SourceSpec, ...]:
    """The *limit* of *sources* that fit best, best first, ties in the order of the file.

    A source for certain nations is left out when the dispute names only others.
    """
    texts = (_stemmed(dispute.query), _stemmed(dispute.context))
    usable = [s for s in sources if not (nations and s.nations) or nations & set(s.nations)]

    def fit(source: SourceSpec) -> float:
        own = OWN_NATION if source.nations and nations >= set(source.nations) else 0.0
        topics, title = _phrases(source)
        return own + TOPIC * _mentions(topics, texts) + TITLE_WORD * _mentions(title, texts)

    return tuple(sorted(usable, key=fit, reverse=True)[:limit])


def mentioned_topics(source: SourceSpec, dispute: Dispute) -> tuple[str, ...]:
    """The topics of *source* that *dispute* mentions, which is why it would be chosen."""
    texts = (_stemmed(dispute.query), _stemmed(dispute.context))
    return tuple(
        topic
        for topic in source.topics
        if _mentions(frozenset({_stemmed(normalise(topic))}), texts)
    )


@functools.lru_cache(maxsize=1024)
def _phrases(source: SourceSpec) -> tuple[frozenset[str], frozenset[str]]:
    """The stemmed topics of *source*, and the words of its title that are no topics.

    Remembered, since the same few sources are asked about in every request.
    """
    topics = frozenset(_stemmed(normalise(topic)) for topic in source.topics) - {"  "}
    words = (word for word in _WORD.findall(source.title) if len(word) >= SHORTEST_TITLE_WORD)
    return topics, frozenset(_stemmed(normalise(word)) for word in words) - topics


def _stemmed(text: NormalisedText) -> str:
    """The stems of the words of *text*, each between spaces, so that `in` finds whole words."""
    words = (word.removesuffix("'s").replace("'", " ") for word in text.words)
    return f" {' '.join(stems(words))} "


def _mentions(phrases: frozenset[str], texts: tuple[str, str]) -> float:
    """How many of *phrases* the texts hold; those in the first of them, the query, count more."""
    query, context = texts
    return sum(QUERY_FACTOR if phrase in query else float(phrase in context) for phrase in phrases)
