"""Builds Tantivy queries from a query and a scope: what filters, what ranks, what is relevant."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import tantivy
from tantivy import FieldType, Occur, Query

from judge.adapters.index.tantivy.schema import LabelKind, english, label, microseconds
from judge.text.index_tokens import searchable
from judge.text.ranking import idf, query_term_weight, requirement
from judge.types.search import AnyOf, Clause, Scope, SearchQuery

HEADS_BOOST = 0.5
"""The weight of a word in a title or heading, relative to the same word in the text."""

PAIR_BOOST = 0.3
"""The weight of two words side by side as in the question, in addition to their own scores."""

MAX_PAIRS = 8
"""The rarest pairs of a long question; all would take as long as the search itself."""

MIN_WORDS_FOR_PAIRS = 4
"""Pairs matter less to a shorter question."""

QueryParts = list[tuple[Occur, Query]]


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The query that finds and ranks passages, and the phrases that rescore the best hits.

    Nothing is relevant unless a passage scores at least `needed` in `relevance_check`.
    """

    query: Query
    rescore: tuple[Query, ...] = ()
    relevance_check: Query | None = None
    needed: int = 0


class QueryBuilder:
    """Builds queries for one snapshot of the index; document frequencies are those in *scope*."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, scope: Scope) -> None:
        self._schema = schema
        self._searcher = searcher
        self._filter = scope_query(schema, scope) if scope.clauses else None
        self._total = searcher.num_docs if self._filter is None else self._count(self._filter)
        self._frequency = cache(self._count_frequency)

    def build(self, query: SearchQuery, scope: Scope) -> QueryPlan:
        """The plan for *query*, which must not be empty, in *scope*."""
        counts = Counter(stem for word in query.words for stem in self._stems(word))
        filters = [*self._excluded(query), *_filters(self._schema, scope)]
        if query.phrases:
            ranked = [part for stem in counts for part in self._ranking(stem, counts)]
            matching = Query.boolean_query([*self._phrases(query), *ranked, *filters])
            return QueryPlan(matching, self._pairs(query))
        required = requirement({stem: self._frequency(stem) for stem in counts}, self._total)
        if required is None:
            return QueryPlan(Query.empty_query())
        selective = [part for stem in required.selective for part in self._ranking(stem, counts)]
        common = [part for stem in required.common for part in self._ranking(stem, counts)]
        optional = [
            (Occur.Should, self._scored(stems))
            for stems in map(self._stems, query.optional_phrases)
            if len(stems) > 1
        ]
        matching = Query.boolean_query(
            [(Occur.Must, Query.boolean_query(selective)), *common, *optional, *filters]
        )
        weights = [
            Query.const_score_query(self._term_or_phrase([stem]), weight)
            for weight, stem in required.present
            if weight
        ]
        check = Query.boolean_query([(Occur.Must, any_of(weights)), *filters])
        return QueryPlan(matching, self._pairs(query), check, required.needed)

    def scope_filter(self, query: SearchQuery, scope: Scope) -> Query:
        """The filter of a vector search: *scope*, required phrases and excluded words."""
        filters = [*self._excluded(query), *_filters(self._schema, scope), *self._phrases(query)]
        return Query.boolean_query([(Occur.Must, Query.all_query()), *filters])

    def _phrases(self, query: SearchQuery) -> QueryParts:
        return [(Occur.Must, self._scored(self._stems(phrase))) for phrase in query.phrases]

    def _excluded(self, query: SearchQuery) -> QueryParts:
        stemmed = map(self._stems, query.excluded)
        return [(Occur.MustNot, self._term_or_phrase(stems)) for stems in stemmed]

    def _ranking(self, stem: str, counts: Counter[str]) -> Iterator[tuple[Occur, Query]]:
        """What scores *stem* in the text and in the headings, by its count in the query."""
        weight = query_term_weight(counts[stem])
        yield Occur.Should, self._scored([stem], weight)
        yield Occur.Should, self._scored([stem], HEADS_BOOST * weight, "heads")

    def _pairs(self, query: SearchQuery) -> tuple[Query, ...]:
        """The queries that score words side by side as in the question."""
        if len(set(query.words)) < MIN_WORDS_FOR_PAIRS:
            return ()
        stemmed = [stems for pair in query.pairs if len(stems := self._stems(pair)) > 1]
        by_frequency = sorted((min(map(self._frequency, stems)), stems) for stems in stemmed)
        pairs = [stems for frequency, stems in by_frequency if frequency][:MAX_PAIRS]
        return tuple(self._scored(pair, PAIR_BOOST) for pair in pairs)

    def _scored(
        self, stems: list[str], boost: float = 1.0, field: Literal["body", "heads"] = "body"
    ) -> Query:
        """The term or phrase with *boost*, scored by its IDF in the text in the builder's scope.

        Tantivy's own score takes the IDF in *field* of the whole index.
        """
        total = self._searcher.num_docs
        frequencies = [self._searcher.doc_freq(field, stem) for stem in stems]
        own = sum(idf(frequency, max(frequency, total)) for frequency in frequencies)
        # Deleted passages are counted until they are merged away.
        wanted = sum(
            idf(frequency, max(frequency, self._total)) for frequency in map(self._frequency, stems)
        )
        query = self._term_or_phrase(stems, field)
        return Query.boost_query(query, boost * wanted / own) if own else query

    def _term_or_phrase(self, stems: list[str], field: Literal["body", "heads"] = "body") -> Query:
        """The query for a term or phrase; `body` holds text and headings."""
        if not stems:
            return Query.empty_query()
        if len(stems) == 1:
            return Query.term_query(self._schema, field, stems[0])
        return Query.phrase_query(self._schema, field, list(stems))

    def _count_frequency(self, stem: str) -> int:
        if self._filter is None:
            return self._searcher.doc_freq("body", stem)
        return self._count(self._filter.and_must_match(self._term_or_phrase([stem])))

    def _count(self, query: Query) -> int:
        return count_of(self._searcher.search(query, limit=1))

    def _stems(self, text: str) -> list[str]:
        return english().analyze(searchable(text))


def count_of(result: tantivy.SearchResult) -> int:
    """The total number of hits of *result*."""
    # The type stubs of tantivy 0.27 lack this attribute.
    return result.count  # type: ignore[attr-defined,no-any-return]


def _filters(schema: tantivy.Schema, scope: Scope) -> QueryParts:
    return [
        (Occur.MustNot, _clause_query(schema, clause))
        if clause.is_excluded
        else (Occur.Must, Query.const_score_query(_clause_query(schema, clause), 0.0))
        for clause in scope.clauses
    ]


def scope_query(schema: tantivy.Schema, scope: Scope) -> Query:
    """Matches the passages in *scope*."""
    return Query.boolean_query([(Occur.Must, Query.all_query()), *_filters(schema, scope)])


def _clause_query(schema: tantivy.Schema, clause: Clause | AnyOf) -> Query:
    """Matches the passages that fulfil *clause*, whether or not it is excluded."""
    if isinstance(clause, AnyOf):
        return any_of([scope_query(schema, scope) for scope in clause.scopes])
    if clause.kind == "modified":
        after = None if clause.after is None else microseconds(clause.after)
        before = None if clause.before is None else microseconds(clause.before) - 1
        return Query.range_query(schema, "modified", FieldType.Integer, after, before)
    if clause.kind != "folder":
        return label_query(schema, clause.kind, clause.values)
    if not clause.is_recursive:
        return label_query(schema, "folder", [f"/{value}" for value in clause.values])
    return Query.all_query() if "" in clause.values else label_query(schema, "below", clause.values)


def label_query(schema: tantivy.Schema, kind: LabelKind, values: Iterable[str]) -> Query:
    """Matches the passages that have at least one of the labels."""
    terms = dict.fromkeys(label(kind, value) for value in values)
    return any_of([Query.term_query(schema, "labels", term) for term in terms])


def any_of(queries: Sequence[Query]) -> Query:
    """The disjunction of *queries*; without any it matches nothing."""
    return Query.boolean_query([(Occur.Should, query) for query in queries])
