"""What would a page be called and found by if it were approved? A proposal for the sources file."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from judge.judging.pages.page_records import PageContent, PageRecord
from judge.judging.sources import SourceCatalog
from judge.judging.sources_file.tables import NATIONS
from judge.text.english import STOP_WORDS, stems, words
from judge.types.references import SourceSpec
from judge.vocabulary.thesaurus import GAP, Thesaurus

MOST_TOPICS = 8
MOST_LAY_PHRASES = 4
"""Of them, what people say for the words of its title and headings."""

HEADING = 3
"""What a word counts more in a heading than in a text."""

FEWEST = 3
"""A word that counts less is hardly a subject of the page."""

LEAST_WORDS = 3
"""Of a page that says nothing so often, its first words are proposed: better than none to edit."""

_PUBLISHER = re.compile(r" \([^()]+\)$")


def propose_source(
    url: str, record: PageRecord, content: PageContent, catalog: SourceCatalog, thesaurus: Thesaurus
) -> SourceSpec:
    """The page at *url*, that was read as *record* and *content*, as one of the sources.

    Its title ends with its publisher as other titles of the same site do. Its topics are what
    people say for its subject and the words that it says most, but for those of its title, by
    which it is found anyway.
    """
    title = content.title or urlsplit(url).path.strip("/").rpartition("/")[2].replace("-", " ")
    return SourceSpec(
        url=url,
        title=f"{title}{_publisher(url, title, catalog)}"[:200] or url[:200],
        topics=tuple(_topics(title, record, content, thesaurus))[:MOST_TOPICS],
        nations=() if set(record.nations) >= set(NATIONS) else record.nations,
        selector="",
    )


def _publisher(url: str, title: str, catalog: SourceCatalog) -> str:
    """What most titles of the same site end with; nothing when *title* has an end of its own."""
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
    for factor, text in [*((HEADING, heading) for heading in headings), *texts]:
        text_words = words(text)
        for word, stem in zip(text_words, stems(text_words)):
            if word.isalpha() and len(word) > 3 and _is_telling(word, thesaurus):
                counts[stem] += factor
                shown.setdefault(stem, word)
    in_title = set(stems(words(title)))
    others = [one for one in counts.most_common() if one[0] not in in_title]
    often = [stem for stem, count in others if count >= FEWEST]
    for stem in often or [stem for stem, _ in others[:LEAST_WORDS]]:
        yield shown[stem]


def _is_telling(word: str, thesaurus: Thesaurus) -> bool:
    return word not in STOP_WORDS and word not in thesaurus.storytelling


def _lay_phrases(text: str, thesaurus: Thesaurus) -> list[str]:
    """What people say for the official words of *text*: of each entry that it has all words of."""
    said = set(stems(words(text)))
    phrases: Iterable[str] = (
        next((phrase for phrase in entry.lay if GAP not in phrase), "")
        for entry in thesaurus.entries
        if entry.official and said.issuperset(entry.official)
    )
    return [phrase for phrase in phrases if phrase][:MOST_LAY_PHRASES]
