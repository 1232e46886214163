"""A scope and a query -> Tantivy's queries: what filters, what ranks, and what is relevant."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tantivy
from tantivy import FieldType, Occur, Query

from judge.adapters.tantivy.schema import LabelKind, label, microseconds
from judge.text.bm25 import query_term_weight
from judge.text.relevance import Requirement, idf, requirement
from judge.text.unspaced import searchable
from judge.types.search import AnyOf, Clause, Scope, SearchQuery

HEADS_BOOST = 0.5
"""How much a word in a title or heading counts beside the same word in the text."""

RARITY_POWER = 0.5
"""A word of a long question counts by its rarity, and by so high a power of it again: a few words
tell what it is about."""

LEAST_FOR_RARITY = 8
"""Words; of a shorter question each one matters."""

WISH_BOOST = 1.0
"""How much a phrase that may be there counts beside its words, which count too."""

PAIR_BOOST = 0.3
"""How much two words count beside their own scores when they stand side by side as asked."""

MOST_PAIRS = 8
"""The rarest: of a long story all of them would take as long as finding the passages."""

LEAST_FOR_PAIRS = 4
"""Words; pairs matter less to a shorter question, which would take half as long again."""

Parts = list[tuple[Occur, Query]]


@dataclass(frozen=True, slots=True)
class Proof:
    """That a passage within `limits` holds words which weigh `needed` together.

    Each of `words` scores what it weighs.
    """

    words: tuple[Query, ...]
    needed: int
    limits: Parts


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What finds and ranks passages, and what adds to the scores of the best of them.

    Without the `proof`, where one is asked for, none is relevant.
    """

    found: Query
    neighbours: tuple[Query, ...] = ()
    proof: Proof | None = None


class QueryBuilder:
    """Builds the queries of one moment of the index; how rare words are is counted in *counted*."""

    def __init__(
        self,
        schema: tantivy.Schema,
        analyzer: tantivy.TextAnalyzer,
        searcher: tantivy.Searcher,
        counted: Scope,
    ) -> None:
        self._schema = schema
        self._analyzer = analyzer
        self._searcher = searcher
        self._counted = scope_query(schema, counted) if counted.clauses else None
        self._total = searcher.num_docs if self._counted is None else self._count(self._counted)
        self._frequencies: dict[str, int] = {}

    def build(self, query: SearchQuery, scope: Scope) -> QueryPlan:
        """The queries for *query*, which is not empty, in *scope*."""
        times = Counter(s for word in query.words for s in self._stems(word))
        limits = [*self._excluded(query), *_filters(self._schema, scope)]
        if query.phrases:
            asked = [*self._phrases(query), *_should(self._scores(times)), *limits]
            return QueryPlan(Query.boolean_query(asked), self._neighbours(query))
        required = requirement({stem: self._frequency(stem) for stem in times}, self._total)
        if required is None:
            return QueryPlan(Query.empty_query())
        ranked = (Occur.Must, self._ranked(required, times))
        found = all_of([ranked, *self._wished(query), *limits])
        return QueryPlan(found, self._neighbours(query), self._proof(required, limits))

    def scope_filter(self, query: SearchQuery, scope: Scope) -> Query | None:
        """The filter for a search by meaning; None where nothing limits it.

        That is *scope*, the phrases that must and the words that must not be there.
        """
        limits = [*self._excluded(query), *_filters(self._schema, scope), *self._phrases(query)]
        if not limits:
            return None
        return Query.boolean_query([(Occur.Must, Query.all_query()), *limits])

    def _phrases(self, query: SearchQuery) -> Parts:
        return [(Occur.Must, self._scored(self._stems(p))) for p in query.phrases]

    def _proof(self, required: Requirement, limits: Parts) -> Proof | None:
        """What proves that something is relevant; None when any word that is held does."""
        if required.present[-1][0] >= required.needed:
            return None
        words = tuple(
            Query.const_score_query(self._term_or_phrase([stem]), weight)
            for weight, stem in required.present
            if weight
        )
        return Proof(words, required.needed, limits)

    def _ranked(self, required: Requirement, times: Mapping[str, int]) -> Query:
        """What holds a telling word, ranked by all words, each said so many *times*."""
        scores = self._scores({stem: times[stem] for _, stem in required.present})
        ranked = Query.boolean_query(_should({stem: scores[stem] for stem in required.telling}))
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
                if self._counted is None
                else self._count(self._counted.and_must_match(self._term_or_phrase([stem])))
            )
        return self._frequencies[stem]

    def _count(self, query: Query) -> int:
        return count_of(self._searcher.search(query, limit=1))

    def _rarity(self, stem: str) -> float:
        frequency = self._frequency(stem)
        # Deleted passages are counted until they are merged away.
        return idf(frequency, max(frequency, self._total))

    def _scored(self, stems: list[str], boost: float = 1.0) -> Query:
        """The term or phrase with *boost*, its rarity that of what is counted.

        Tantivy's own is that of the whole index.
        """
        if self._counted is not None and stems:
            total = self._searcher.num_docs
            found = [self._searcher.doc_freq("body", stem) for stem in stems]
            boost *= sum(map(self._rarity, stems)) / sum(idf(f, max(f, total)) for f in found)
        query = self._term_or_phrase(stems)
        return query if boost == 1 else Query.boost_query(query, boost)

    def _scores(self, times: Mapping[str, int]) -> dict[str, list[Query]]:
        """What scores each of the words, once more in the headings."""
        total = self._searcher.num_docs
        rarities = {stem: self._rarity(stem) for stem in times}
        rarest = max(rarities.values(), default=1.0)
        power = RARITY_POWER if len(times) >= LEAST_FOR_RARITY else 0
        scores: dict[str, list[Query]] = {}
        for stem, rarity in rarities.items():
            weight = query_term_weight(times[stem]) * (rarity / rarest) ** power
            scores[stem] = [self._scored([stem], weight)]
            if headed := self._searcher.doc_freq("heads", stem):
                # A common word is as common where it happens to stand in few headings.
                share = rarity / idf(headed, max(headed, total))
                head = Query.term_query(self._schema, "heads", stem)
                scores[stem].append(Query.boost_query(head, HEADS_BOOST * weight * share))
        return scores

    def _neighbours(self, query: SearchQuery) -> tuple[Query, ...]:
        """What scores words that stand side by side as in the question."""
        if len(set(query.words)) < LEAST_FOR_PAIRS:
            return ()
        stemmed = [stems for pair in query.pairs if len(stems := self._stems(pair)) > 1]
        weighed = sorted((min(map(self._frequency, stems)), stems) for stems in stemmed)
        pairs = [stems for frequency, stems in weighed if frequency][:MOST_PAIRS]
        return tuple(self._scored(pair, PAIR_BOOST) for pair in pairs)

    def _wished(self, query: SearchQuery) -> Iterator[tuple[Occur, Query]]:
        for phrase in query.wishes:
            stems = self._stems(phrase)
            if len(stems) > 1:
                yield Occur.Should, self._scored(stems, WISH_BOOST)

    def _term_or_phrase(self, stems: list[str]) -> Query:
        """The term or phrase, in the text or its headings."""
        if not stems:
            return Query.empty_query()
        if len(stems) == 1:
            return Query.term_query(self._schema, "body", stems[0])
        return Query.phrase_query(self._schema, "body", list(stems))


def count_of(found: tantivy.SearchResult) -> int:
    """How many passages were *found* in all."""
    # The type stubs of tantivy 0.27 forget this one.
    return found.count  # type: ignore[attr-defined,no-any-return]


def _filters(schema: tantivy.Schema, scope: Scope) -> Iterator[tuple[Occur, Query]]:
    for clause in scope.clauses:
        if clause.is_excluded:
            yield Occur.MustNot, _clause_query(schema, clause)
        else:
            yield Occur.Must, Query.const_score_query(_clause_query(schema, clause), 0.0)


def scope_query(schema: tantivy.Schema, scope: Scope) -> Query:
    """The passages in *scope*."""
    parts = list(_filters(schema, scope))
    if all(occur == Occur.MustNot for occur, _ in parts):
        parts.append((Occur.Must, Query.all_query()))
    return all_of(parts)


def _clause_query(schema: tantivy.Schema, clause: Clause | AnyOf) -> Query:
    """The passages for which *clause*, taken as positive, is true."""
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
    """The passages that have one of these labels at least."""
    terms = dict.fromkeys(label(kind, value) for value in values)
    return any_of([Query.term_query(schema, "labels", term) for term in terms])


def _should(scores: Mapping[str, list[Query]]) -> Parts:
    return [(Occur.Should, query) for queries in scores.values() for query in queries]


def all_of(parts: Parts) -> Query:
    """What all of *parts*, one or more, allow."""
    return parts[0][1] if len(parts) == 1 else Query.boolean_query(parts)


def any_of(queries: Sequence[Query]) -> Query:
    """What one of *queries*, one or more, finds."""
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, query) for query in queries])
