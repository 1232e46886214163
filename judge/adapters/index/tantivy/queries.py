"""Builds Tantivy queries from a query and a scope: what filters, what ranks, what is relevant."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import tantivy
from tantivy import FieldType, Occur, Query

from judge.adapters.index.tantivy.schema import LabelKind, english, label, microseconds
from judge.text.index_tokens import searchable
from judge.text.ranking import idf, proof_counts, query_term_weight
from judge.types.search import AnyOf, Clause, Scope, SearchQuery

HEADS_BOOST = 0.5
"""The weight of a word in a title or heading, relative to the same word in the text."""

QueryParts = list[tuple[Occur, Query]]
Field = Literal["body", "heads"]
"""`body` holds text and headings."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The query that finds and ranks passages.

    Nothing is relevant unless a passage scores at least PROOF in `proof`, if there is one.
    """

    query: Query
    proof: Query | None = None


class QueryBuilder:
    """Builds queries for one commit of the index; document frequencies are those in *scope*."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, scope: Scope) -> None:
        self._schema = schema
        self._searcher = searcher
        self._filter = scope_query(schema, scope) if scope.clauses else None
        self._total = searcher.num_docs if self._filter is None else self._count(self._filter)
        self._frequency = cache(self._count_frequency)

    def build(self, query: SearchQuery, scope: Scope) -> QueryPlan:
        """The plan for *query*, which must not be empty, in *scope*."""
        filters = self._filters(query, scope)
        counts = Counter(stem for word in query.words for stem in _stems(word))
        proof = proof_counts({stem: self._frequency(stem) for stem in counts}, self._total)
        fields: tuple[tuple[Field, float], ...] = (("body", 1.0), ("heads", HEADS_BOOST))
        ranked = [
            (Occur.Should, self._scored([stem], boost * query_term_weight(counts[stem]), field))
            for stem in counts
            for field, boost in fields
        ]
        if query.phrases:
            return QueryPlan(Query.boolean_query([*self._phrases(query), *ranked, *filters]))
        found = Query.boolean_query([(Occur.Must, Query.boolean_query(ranked)), *filters])
        counted = [
            Query.const_score_query(self._words([stem]), count) for stem, count in proof.items()
        ]
        return QueryPlan(found, Query.boolean_query([(Occur.Must, any_of(counted)), *filters]))

    def scope_filter(self, query: SearchQuery, scope: Scope) -> Query:
        """The filter of a vector search: *scope*, required phrases and excluded words."""
        filters = [*self._filters(query, scope), *self._phrases(query)]
        return Query.boolean_query([(Occur.Must, Query.all_query()), *filters])

    def _phrases(self, query: SearchQuery) -> QueryParts:
        return [(Occur.Must, self._scored(_stems(phrase))) for phrase in query.phrases]

    def _filters(self, query: SearchQuery, scope: Scope) -> QueryParts:
        excluded = [(Occur.MustNot, self._words(_stems(words))) for words in query.excluded]
        return [*excluded, *_scope_parts(self._schema, scope)]

    def _scored(self, stems: Sequence[str], boost: float = 1.0, field: Field = "body") -> Query:
        """The word or phrase with *boost*, scored by its IDF in the text in the builder's scope.

        Tantivy's own score takes the IDF in *field* of the whole index.
        """
        total = self._searcher.num_docs
        frequencies = [self._searcher.doc_freq(field, stem) for stem in stems]
        own = sum(idf(frequency, max(frequency, total)) for frequency in frequencies)
        # Deleted passages are counted until they are merged away.
        wanted = sum(
            idf(frequency, max(frequency, self._total)) for frequency in map(self._frequency, stems)
        )
        query = self._words(stems, field)
        return Query.boost_query(query, boost * wanted / own) if own else query

    def _words(self, stems: Sequence[str], field: Field = "body") -> Query:
        """The query for a word or phrase."""
        if len(stems) > 1:
            return Query.phrase_query(self._schema, field, list(stems))
        return any_of([Query.term_query(self._schema, field, stem) for stem in stems])

    def _count_frequency(self, stem: str) -> int:
        if self._filter is None:
            return self._searcher.doc_freq("body", stem)
        return self._count(self._filter.and_must_match(self._words([stem])))

    def _count(self, query: Query) -> int:
        return count_of(self._searcher.search(query, limit=1))


def _stems(text: str) -> list[str]:
    return english().analyze(searchable(text))


def count_of(result: tantivy.SearchResult) -> int:
    """The total number of hits of *result*."""
    # The type stubs of tantivy 0.27 lack this attribute.
    return result.count  # type: ignore[attr-defined,no-any-return]


def scope_query(schema: tantivy.Schema, scope: Scope) -> Query:
    """Matches the passages in *scope*."""
    return Query.boolean_query([(Occur.Must, Query.all_query()), *_scope_parts(schema, scope)])


def _scope_parts(schema: tantivy.Schema, scope: Scope) -> QueryParts:
    return [
        (Occur.MustNot, _clause_query(schema, clause))
        if clause.is_excluded
        else (Occur.Must, Query.const_score_query(_clause_query(schema, clause), 0.0))
        for clause in scope.clauses
    ]


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
