"""One commit of the index: what filters, what ranks, what is relevant, and what is stored."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import tantivy
from tantivy import FieldType, Occur, Query

from judge.adapters.index.stored import PASSAGE, RECORD
from judge.adapters.index.tantivy.schema import LabelKind, english, label, microseconds, open_index
from judge.text.index_tokens import PROOF, idf, proof_counts, query_term_weight, searchable
from judge.types.search import (
    AnyOf,
    Clause,
    Hit,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
)

Field = Literal["body", "heads"]

BOOSTS: dict[Field, float] = {"body": 1.0, "heads": 0.5}
"""The weight of a word in a title or heading, relative to the same word in the text. `body` holds
text and headings."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The query that finds and ranks passages, among those that are `allowed`.

    Nothing is relevant unless a passage scores at least PROOF in `proof`, if there is one.
    """

    query: Query
    allowed: Query
    proof: Query | None = None


class Snapshot:
    """The index in *folder* as of its latest commit, which *stamp* identifies."""

    def __init__(self, folder: str, stamp: tuple[int, int]) -> None:
        index = open_index(folder)
        self.stamp = stamp
        self.searcher = index.searcher()
        self._schema = index.schema

    def plan(self, query: SearchQuery, scope: Scope) -> QueryPlan:
        """The plan for *query*, which must not be empty, in *scope*.

        Tantivy scores by the IDF in a field of the whole index; the words are scored by their IDF
        in the text in `query.idf_scope`.
        """
        searcher = self.searcher
        within = self.scope(query.idf_scope) if query.idf_scope.clauses else None
        total = self.count(within) if within else searcher.num_docs

        @cache
        def frequency(stem: str) -> int:
            if within is None:
                return searcher.doc_freq("body", stem)
            return self.count(within.and_must_match(self._words([stem])))

        def scored(stems: Sequence[str], boost: float = 1.0, field: Field = "body") -> Query:
            # Deleted passages are counted until they are merged away.
            in_index = [searcher.doc_freq(field, stem) for stem in stems]
            own = sum(idf(times, max(times, searcher.num_docs)) for times in in_index)
            wanted = sum(idf(times, max(times, total)) for times in map(frequency, stems))
            words = self._words(stems, field)
            return Query.boost_query(words, boost * wanted / own) if own else words

        filters = [(Occur.MustNot, self._words(_stems(words))) for words in query.excluded]
        if scope.clauses:
            filters.append((Occur.Must, Query.const_score_query(self.scope(scope), 0.0)))
        phrases = [(Occur.Must, scored(_stems(phrase))) for phrase in query.phrases]
        allowed = Query.boolean_query([(Occur.Must, Query.all_query()), *filters, *phrases])
        counts = Counter(stem for word in query.words for stem in _stems(word))
        ranked = [
            (Occur.Should, scored([stem], boost * query_term_weight(times), field))
            for stem, times in counts.items()
            for field, boost in BOOSTS.items()
        ]
        if phrases:
            return QueryPlan(Query.boolean_query([*phrases, *ranked, *filters]), allowed)
        proof = proof_counts({stem: frequency(stem) for stem in counts}, total)
        counted = [Query.const_score_query(self._words([stem]), n) for stem, n in proof.items()]
        return QueryPlan(
            Query.boolean_query([(Occur.Must, Query.boolean_query(ranked)), *filters]),
            allowed,
            Query.boolean_query([(Occur.Must, _any_of(counted)), *filters]),
        )

    def run(self, plan: QueryPlan, limit: int, offset: int = 0) -> SearchResults:
        """The hits of *plan* from *offset* on, best first; none if none is relevant."""
        if plan.proof:
            best = self.hits(plan.proof, 1)
            if not best or best[0][0] < PROOF:
                return SearchResults()
        found = self.hits(plan.query, offset + limit)[offset:]
        hits = tuple(Hit(self.passage(address), score) for score, address in found)
        return SearchResults(hits, self.count(plan.query))

    def hits(
        self, matching: Query, limit: int | None = None
    ) -> list[tuple[float, tantivy.DocAddress]]:
        """The score and the address of the first passages that match, or of all."""
        # Tantivy allocates memory for as many hits: not more than there are passages.
        most = max(1, self.searcher.num_docs)
        return self.searcher.search(matching, min(limit or most, most), count=False).hits

    def count(self, matching: Query) -> int:
        """How many passages match."""
        # The type stubs of tantivy 0.27 lack this attribute.
        return self.searcher.search(matching, 1).count  # type: ignore[attr-defined,no-any-return]

    def passage(self, address: tantivy.DocAddress) -> Passage:
        """The passage as it was indexed."""
        return PASSAGE.validate_json(self.searcher.doc(address).get_all("passage")[0])

    def records(self, matching: Query) -> list[IndexedDocument]:
        """The metadata of the documents whose first passage matches."""
        documents = [self.searcher.doc(address) for _, address in self.hits(matching)]
        return [RECORD.validate_json(document.get_all("record")[0]) for document in documents]

    def labelled(self, kind: LabelKind, values: Iterable[str]) -> Query:
        """Matches the passages that have at least one of the labels."""
        terms = dict.fromkeys(label(kind, value) for value in values)
        return _any_of([Query.term_query(self._schema, "labels", term) for term in terms])

    def label_counts(self, kind: LabelKind, matching: Query) -> dict[str, int]:
        """The values of a kind of label, each with the number of *matching* passages that have it.

        Without a filter Tantivy would count deleted passages too.
        """
        prefix = label(kind, "")
        terms = self.searcher.terms_with_prefix("labels", prefix, matching)
        return {term.removeprefix(prefix): count for term, count in terms if count}

    def scope(self, scope: Scope) -> Query:
        """Matches the passages in *scope*."""
        clauses = [
            (Occur.MustNot if clause.is_excluded else Occur.Must, self._clause(clause))
            for clause in scope.clauses
        ]
        return Query.boolean_query([(Occur.Must, Query.all_query()), *clauses])

    def _clause(self, clause: Clause | AnyOf) -> Query:
        """Matches the passages that fulfil *clause*, whether or not it is excluded."""
        if isinstance(clause, AnyOf):
            return _any_of([self.scope(scope) for scope in clause.scopes])
        if clause.kind == "modified":
            after = None if clause.after is None else microseconds(clause.after)
            before = None if clause.before is None else microseconds(clause.before) - 1
            return Query.range_query(self._schema, "modified", FieldType.Integer, after, before)
        if clause.kind != "folder":
            return self.labelled(clause.kind, clause.values)
        if not clause.is_recursive:
            return self.labelled("folder", [f"/{value}" for value in clause.values])
        # Every passage is in or below the root.
        return Query.all_query() if "" in clause.values else self.labelled("below", clause.values)

    def _words(self, stems: Sequence[str], field: Field = "body") -> Query:
        """The query for a word or phrase."""
        if len(stems) > 1:
            return Query.phrase_query(self._schema, field, list(stems))
        return _any_of([Query.term_query(self._schema, field, stem) for stem in stems])


def _stems(text: str) -> list[str]:
    return english().analyze(searchable(text))


def _any_of(queries: Sequence[Query]) -> Query:
    """The disjunction of *queries*; without any it matches nothing."""
    return Query.boolean_query([(Occur.Should, query) for query in queries])
