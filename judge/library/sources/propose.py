"""Proposes a title, topics and nations for a page, as a source for the sources file."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from judge.library.nations import NATIONS
from judge.library.pages.page_records import PageContent, PageRecord
from judge.library.sources.catalog import SourceCatalog
from judge.text.english import STOP_WORDS, stems, words
from judge.types.references import SourceSpec
from judge.vocabulary.thesaurus import GAP, Thesaurus

MAX_TOPICS = 8
MAX_LAY_PHRASES = 4
"""Of these topics, how many are lay phrases for the words of the title and headings."""

HEADING_WEIGHT = 3
"""Weight of a word in a heading, beside 1 in other text."""

MIN_WEIGHT = 3
"""A word of less total weight is hardly a subject of the page."""

FALLBACK_WORDS = 3
"""If no word reaches `MIN_WEIGHT`, this many of the commonest are proposed, for people to edit."""

_PUBLISHER = re.compile(r" \([^()]+\)$")


def propose_source(
    url: str, record: PageRecord, content: PageContent, catalog: SourceCatalog, thesaurus: Thesaurus
) -> SourceSpec:
    """A source for the page at *url*, which was read as *record* and *content*.

    Its title ends with the publisher as other titles of the same site do. Its topics are lay
    phrases for its subject and its most frequent words, except those of the title, which are
    searched anyway.
    """
    title = content.title or urlsplit(url).path.strip("/").rpartition("/")[2].replace("-", " ")
    return SourceSpec(
        url=url,
        title=f"{title}{_publisher(url, title, catalog)}"[:200] or url[:200],
        topics=tuple(_topics(title, record, content, thesaurus))[:MAX_TOPICS],
        nations=() if set(record.nations) >= set(NATIONS) else record.nations,
        selector="",
    )


def _publisher(url: str, title: str, catalog: SourceCatalog) -> str:
    """The commonest publisher suffix of the site's titles; "" if *title* has a suffix already."""
    host = urlsplit(url).hostname
    ends = [
        match[0]
        for domain in catalog.domains
        for source in domain.sources
        if urlsplit(source.url).hostname == host and (match := _PUBLISHER.search(source.title))
    ]
    return "" if _PUBLISHER.search(title) else max(ends, key=ends.count, default="")


def _topics(
    title: str, record: PageRecord, content: PageContent, thesaurus: Thesaurus
) -> Iterator[str]:
    headings = dict.fromkeys(passage.heading for passage in content.passages)
    yield from _lay_phrases(f"{title} {' '.join(headings)}", thesaurus)
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    texts = [(1, record.text), *((1, passage.text) for passage in content.passages)]
    for factor, text in [*((HEADING_WEIGHT, heading) for heading in headings), *texts]:
        text_words = words(text)
        for word, stem in zip(text_words, stems(text_words)):
            if word.isalpha() and len(word) > 3 and _is_content_word(word, thesaurus):
                counts[stem] += factor
                shown.setdefault(stem, word)
    in_title = set(stems(words(title)))
    others = [pair for pair in counts.most_common() if pair[0] not in in_title]
    often = [stem for stem, count in others if count >= MIN_WEIGHT]
    for stem in often or [stem for stem, _ in others[:FALLBACK_WORDS]]:
        yield shown[stem]


def _is_content_word(word: str, thesaurus: Thesaurus) -> bool:
    return word not in STOP_WORDS and word not in thesaurus.storytelling


def _lay_phrases(text: str, thesaurus: Thesaurus) -> list[str]:
    """A lay phrase from each thesaurus entry whose official words all occur in *text*."""
    text_stems = set(stems(words(text)))
    phrases: Iterable[str] = (
        next((phrase for phrase in entry.lay if GAP not in phrase), "")
        for entry in thesaurus.entries
        if entry.official and text_stems.issuperset(entry.official)
    )
    return [phrase for phrase in phrases if phrase][:MAX_LAY_PHRASES]
