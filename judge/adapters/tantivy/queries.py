"""Our scope and question -> Tantivy's queries: what filters, what ranks, and what is relevant."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import tantivy
from tantivy import FieldType, Occur, Query

from judge.adapters.minimum_should_match import Disjunction, minimum_should_match
from judge.adapters.tantivy.schema import LabelKind, label, microseconds
from judge.text.english import strip_accents
from judge.text.relevance import requirement
from judge.types.search import Clause, Scope, SearchQuery

HEADS_BOOST = 0.2
"""How much a word in a title or heading counts beside the same word in the text."""

Parts = list[tuple[Occur, Query]]


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What finds and ranks passages; unless `proof` finds one too, none of them is relevant."""

    found: Query
    proof: Query | None = None


class QueryBuilder:
    """Builds the queries of one moment of the index: rarity is measured by *searcher*."""

    def __init__(
        self,
        schema: tantivy.Schema,
        analyzer: tantivy.TextAnalyzer,
        searcher: tantivy.Searcher,
    ) -> None:
        self._schema = schema
        self._analyzer = analyzer
        self._searcher = searcher

    def build(self, query: SearchQuery, scope: Scope) -> QueryPlan:
        """How to look for *query*, which is not empty, in *scope*."""
        stems = list(dict.fromkeys(s for word in query.words for s in self._stems(word)))
        limits = [*self._excluded(query), *_filters(self._schema, scope)]
        if query.phrases:
            asked = self._phrases(query)
            return QueryPlan(Query.boolean_query(asked + self._ranking(stems) + limits))
        frequencies = [self._frequency(stem) for stem in stems]
        required = requirement(frequencies, self._searcher.num_docs)
        if not stems or sum(required.weights) < required.needed:
            return QueryPlan(Query.empty_query())
        known = sorted(
            ((w, s) for w, s, f in zip(required.weights, stems, frequencies, strict=True) if f),
            reverse=True,
        )
        ranked = Query.boolean_query(self._ranking([stem for _, stem in known]))
        found = [(Occur.Must, ranked), *self._holding(known, required.floor), *limits]
        enough = self._holding(known, required.needed)
        return QueryPlan(_all(found), _all(enough + limits) if enough else None)

    def within(self, query: SearchQuery, scope: Scope) -> Query | None:
        """Where to look for what *query* means; None is everywhere.

        That is in *scope*, with the phrases and without the words that are excluded.
        """
        limits = [*self._excluded(query), *_filters(self._schema, scope), *self._phrases(query)]
        if not limits:
            return None
        return Query.boolean_query([(Occur.Must, Query.all_query()), *limits])

    def _phrases(self, query: SearchQuery) -> Parts:
        return [(Occur.Must, self._anywhere(self._stems(p))) for p in query.phrases]

    def _holding(self, known: list[tuple[int, str]], needed: int) -> Parts:
        """The filter for words that weigh *needed* together; none when any of them does."""
        lightest, heaviest = known[-1][0], known[0][0]
        if lightest >= needed:
            return []
        if lightest == heaviest:
            # Counting is cheaper than weighing, and here it is the same.
            terms: Parts = [(Occur.Should, self._anywhere([stem])) for _, stem in known]
            enough = Query.boolean_query(terms, math.ceil(needed / lightest))
        else:
            enough = self._tree(minimum_should_match([pair for pair in known if pair[0]], needed))
        return [(Occur.Must, Query.const_score_query(enough, 0.0))]

    def _tree(self, tree: Disjunction) -> Query:
        return _any(
            [
                _all([(Occur.Must, self._anywhere([stem])), *self._then(rest)])
                for stem, rest in tree.branches
            ]
        )

    def _then(self, rest: Disjunction | None) -> Parts:
        return [] if rest is None else [(Occur.Must, self._tree(rest))]

    def _excluded(self, query: SearchQuery) -> Iterator[tuple[Occur, Query]]:
        for excluded in query.excluded:
            yield Occur.MustNot, self._anywhere(self._stems(excluded))

    def _stems(self, text: str) -> list[str]:
        return self._analyzer.analyze(strip_accents(text))

    def _frequency(self, stem: str) -> int:
        return self._searcher.doc_freq("body", stem)

    def _ranking(self, stems: list[str]) -> Parts:
        """What scores the words, once more in the headings."""
        terms = [Query.term_query(self._schema, "body", stem) for stem in stems]
        heads = [Query.term_query(self._schema, "heads", stem) for stem in stems]
        terms += [Query.boost_query(head, HEADS_BOOST) for head in heads]
        return [(Occur.Should, term) for term in terms]

    def _anywhere(self, stems: list[str]) -> Query:
        """The word or phrase, wherever it stands."""
        if not stems:
            return Query.empty_query()
        if len(stems) == 1:
            return Query.term_query(self._schema, "body", stems[0])
        return Query.phrase_query(self._schema, "body", list(stems))


def _filters(schema: tantivy.Schema, scope: Scope) -> Iterator[tuple[Occur, Query]]:
    for clause in scope.clauses:
        if clause.is_excluded:
            yield Occur.MustNot, _holds(schema, clause)
        else:
            yield Occur.Must, Query.const_score_query(_holds(schema, clause), 0.0)


def _holds(schema: tantivy.Schema, clause: Clause) -> Query:
    """The passages for which *clause*, taken as positive, is true."""
    if clause.kind == "modified":
        return _modified(schema, clause)
    if clause.kind != "folder":
        return labelled(schema, clause.kind, clause.values)
    if not clause.is_recursive:
        return labelled(schema, "folder", [f"/{value}" for value in clause.values])
    return Query.all_query() if "" in clause.values else labelled(schema, "below", clause.values)


def _modified(schema: tantivy.Schema, clause: Clause) -> Query:
    after = None if clause.after is None else microseconds(clause.after)
    before = None if clause.before is None else microseconds(clause.before) - 1
    return Query.range_query(schema, "modified", FieldType.Integer, after, before)


def labelled(schema: tantivy.Schema, kind: LabelKind, values: Iterable[str]) -> Query:
    """The passages that have one of these labels at least."""
    terms = dict.fromkeys(label(kind, value) for value in values)
    return _any([Query.term_query(schema, "labels", term) for term in terms])


def _all(parts: Parts) -> Query:
    return parts[0][1] if len(parts) == 1 else Query.boolean_query(parts)


def _any(queries: list[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, query) for query in queries])
