"""Builds Tantivy queries from a query and a scope: what filters, what ranks, what is relevant."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tantivy
from tantivy import FieldType, Occur, Query

from judge.adapters.index.tantivy.schema import LabelKind, label, microseconds
from judge.text.bm25 import query_term_weight
from judge.text.relevance import Requirement, idf, requirement
from judge.text.unspaced import searchable
from judge.types.search import AnyOf, Clause, Scope, SearchQuery

HEADS_BOOST = 0.5
"""The weight of a word in a title or heading, relative to the same word in the text."""

IDF_POWER = 0.5
"""In a long question a word's score is multiplied by its relative IDF to this power, since a few
words tell what it is about."""

MIN_WORDS_FOR_IDF_POWER = 8
"""In a shorter question each word matters."""

OPTIONAL_PHRASE_BOOST = 1.0
"""The weight of an optional phrase, in addition to the scores of its words."""

PAIR_BOOST = 0.3
"""The weight of two words side by side as in the question, in addition to their own scores."""

MAX_PAIRS = 8
"""The highest: all pairs of a long question would take as long as the search itself."""

MIN_WORDS_FOR_PAIRS = 4
"""Pairs matter less to a shorter question, and would make it take half as long again."""

QueryParts = list[tuple[Occur, Query]]


@dataclass(frozen=True, slots=True)
class RelevanceCheck:
    """Asks for one passage within `filters` whose words weigh at least `needed` together.

    The score of each query in `words` is the weight of its word.
    """

    words: tuple[Query, ...]
    needed: int
    filters: QueryParts


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The query that finds and ranks passages, and the phrases that rescore the best hits.

    If there is a `relevance_check` and no passage meets it, nothing is relevant.
    """

    query: Query
    rescore: tuple[Query, ...] = ()
    relevance_check: RelevanceCheck | None = None


class QueryBuilder:
    """Builds queries for one snapshot of the index; document frequencies are those in *scope*."""

    def __init__(
        self,
        schema: tantivy.Schema,
        analyzer: tantivy.TextAnalyzer,
        searcher: tantivy.Searcher,
        scope: Scope,
    ) -> None:
        self._schema = schema
        self._analyzer = analyzer
        self._searcher = searcher
        self._filter = scope_query(schema, scope) if scope.clauses else None
        self._total = searcher.num_docs if self._filter is None else self._count(self._filter)
        self._frequencies: dict[str, int] = {}

    def build(self, query: SearchQuery, scope: Scope) -> QueryPlan:
        """The plan for *query*, which must not be empty, in *scope*."""
        term_counts = Counter(s for word in query.words for s in self._stems(word))
        filters = [*self._excluded(query), *_filters(self._schema, scope)]
        if query.phrases:
            parts = [*self._phrases(query), *_should(self._scores(term_counts)), *filters]
            return QueryPlan(Query.boolean_query(parts), self._pairs(query))
        required = requirement({stem: self._frequency(stem) for stem in term_counts}, self._total)
        if required is None:
            return QueryPlan(Query.empty_query())
        ranked = (Occur.Must, self._ranked(required, term_counts))
        matching = all_of([ranked, *self._optional_phrases(query), *filters])
        return QueryPlan(matching, self._pairs(query), self._relevance_check(required, filters))

    def scope_filter(self, query: SearchQuery, scope: Scope) -> Query | None:
        """The filter of a vector search: *scope*, required phrases and excluded words.

        None when there are none of these.
        """
        filters = [*self._excluded(query), *_filters(self._schema, scope), *self._phrases(query)]
        if not filters:
            return None
        return Query.boolean_query([(Occur.Must, Query.all_query()), *filters])

    def _phrases(self, query: SearchQuery) -> QueryParts:
        return [(Occur.Must, self._scored(self._stems(p))) for p in query.phrases]

    def _relevance_check(self, required: Requirement, filters: QueryParts) -> RelevanceCheck | None:
        """What one passage must have for any to be relevant; None when each word is enough."""
        if required.present[-1][0] >= required.needed:
            return None
        words = tuple(
            Query.const_score_query(self._term_or_phrase([stem]), weight)
            for weight, stem in required.present
            if weight
        )
        return RelevanceCheck(words, required.needed, filters)

    def _ranked(self, required: Requirement, term_counts: Mapping[str, int]) -> Query:
        """Matches passages with a selective word; all words score, by their counts in the query."""
        scores = self._scores({stem: term_counts[stem] for _, stem in required.present})
        ranked = Query.boolean_query(_should({stem: scores[stem] for stem in required.selective}))
        # The common words are in most passages: scoring those that are found takes less time.
        for query in [query for stem in required.common for query in scores[stem]]:
            ranked = Query.boolean_query([(Occur.Must, ranked), (Occur.Should, query)])
        return ranked

    def _excluded(self, query: SearchQuery) -> Iterator[tuple[Occur, Query]]:
        for excluded in query.excluded:
            yield Occur.MustNot, self._term_or_phrase(self._stems(excluded))

    def _stems(self, text: str) -> list[str]:
        return self._analyzer.analyze(searchable(text))

    def _frequency(self, stem: str) -> int:
        if stem not in self._frequencies:
            self._frequencies[stem] = (
                self._searcher.doc_freq("body", stem)
                if self._filter is None
                else self._count(self._filter.and_must_match(self._term_or_phrase([stem])))
            )
        return self._frequencies[stem]

    def _count(self, query: Query) -> int:
        return count_of(self._searcher.search(query, limit=1))

    def _idf(self, stem: str) -> float:
        frequency = self._frequency(stem)
        # Deleted passages are counted until they are merged away.
        return idf(frequency, max(frequency, self._total))

    def _scored(self, stems: list[str], boost: float = 1.0) -> Query:
        """The term or phrase with *boost*, scored by its IDF in the builder's scope.

        Tantivy's own score takes the IDF in the whole index.
        """
        if self._filter is not None and stems:
            total = self._searcher.num_docs
            frequencies = [self._searcher.doc_freq("body", stem) for stem in stems]
            own = sum(idf(frequency, max(frequency, total)) for frequency in frequencies)
            boost *= sum(map(self._idf, stems)) / own
        query = self._term_or_phrase(stems)
        return query if boost == 1 else Query.boost_query(query, boost)

    def _scores(self, term_counts: Mapping[str, int]) -> dict[str, list[Query]]:
        """The queries that score each stem in the text and in the headings."""
        total = self._searcher.num_docs
        idfs = {stem: self._idf(stem) for stem in term_counts}
        highest = max(idfs.values(), default=1.0)
        power = IDF_POWER if len(term_counts) >= MIN_WORDS_FOR_IDF_POWER else 0
        scores: dict[str, list[Query]] = {}
        for stem, stem_idf in idfs.items():
            weight = query_term_weight(term_counts[stem]) * (stem_idf / highest) ** power
            scores[stem] = [self._scored([stem], weight)]
            if frequency := self._searcher.doc_freq("heads", stem):
                # Scored by its IDF in the text: a common word may be in few headings.
                share = stem_idf / idf(frequency, max(frequency, total))
                head = Query.term_query(self._schema, "heads", stem)
                scores[stem].append(Query.boost_query(head, HEADS_BOOST * weight * share))
        return scores

    def _pairs(self, query: SearchQuery) -> tuple[Query, ...]:
        """The queries that score words side by side as in the question."""
        if len(set(query.words)) < MIN_WORDS_FOR_PAIRS:
            return ()
        stemmed = [stems for pair in query.pairs if len(stems := self._stems(pair)) > 1]
        by_frequency = sorted((min(map(self._frequency, stems)), stems) for stems in stemmed)
        pairs = [stems for frequency, stems in by_frequency if frequency][:MAX_PAIRS]
        return tuple(self._scored(pair, PAIR_BOOST) for pair in pairs)

    def _optional_phrases(self, query: SearchQuery) -> Iterator[tuple[Occur, Query]]:
        for phrase in query.optional_phrases:
            stems = self._stems(phrase)
            if len(stems) > 1:
                yield Occur.Should, self._scored(stems, OPTIONAL_PHRASE_BOOST)

    def _term_or_phrase(self, stems: list[str]) -> Query:
        """The query for a term or phrase in `body`, which holds text and headings."""
        if not stems:
            return Query.empty_query()
        if len(stems) == 1:
            return Query.term_query(self._schema, "body", stems[0])
        return Query.phrase_query(self._schema, "body", list(stems))


def count_of(result: tantivy.SearchResult) -> int:
    """The total number of hits of *result*."""
    # The type stubs of tantivy 0.27 lack this attribute.
    return result.count  # type: ignore[attr-defined,no-any-return]


def _filters(schema: tantivy.Schema, scope: Scope) -> Iterator[tuple[Occur, Query]]:
    for clause in scope.clauses:
        if clause.is_excluded:
            yield Occur.MustNot, _clause_query(schema, clause)
        else:
            yield Occur.Must, Query.const_score_query(_clause_query(schema, clause), 0.0)


def scope_query(schema: tantivy.Schema, scope: Scope) -> Query:
    """Matches the passages in *scope*."""
    parts = list(_filters(schema, scope))
    if all(occur == Occur.MustNot for occur, _ in parts):
        parts.append((Occur.Must, Query.all_query()))
    return all_of(parts)


def _clause_query(schema: tantivy.Schema, clause: Clause | AnyOf) -> Query:
    """Matches the passages that fulfil *clause*, whether or not it is excluded."""
    if isinstance(clause, AnyOf):
        return any_of([scope_query(schema, scope) for scope in clause.scopes])
    if clause.kind == "modified":
        return _modified(schema, clause)
    if clause.kind != "folder":
        return label_query(schema, clause.kind, clause.values)
    if not clause.is_recursive:
        return label_query(schema, "folder", [f"/{value}" for value in clause.values])
    return Query.all_query() if "" in clause.values else label_query(schema, "below", clause.values)


def _modified(schema: tantivy.Schema, clause: Clause) -> Query:
    after = None if clause.after is None else microseconds(clause.after)
    before = None if clause.before is None else microseconds(clause.before) - 1
    return Query.range_query(schema, "modified", FieldType.Integer, after, before)


def label_query(schema: tantivy.Schema, kind: LabelKind, values: Iterable[str | int]) -> Query:
    """Matches the passages that have at least one of the labels."""
    terms = dict.fromkeys(label(kind, value) for value in values)
    return any_of([Query.term_query(schema, "labels", term) for term in terms])


def _should(scores: Mapping[str, list[Query]]) -> QueryParts:
    return [(Occur.Should, query) for queries in scores.values() for query in queries]


def all_of(parts: QueryParts) -> Query:
    """The conjunction of *parts*, of which there is at least one."""
    return parts[0][1] if len(parts) == 1 else Query.boolean_query(parts)


def any_of(queries: Sequence[Query]) -> Query:
    """The disjunction of *queries*, of which there is at least one."""
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, query) for query in queries])
