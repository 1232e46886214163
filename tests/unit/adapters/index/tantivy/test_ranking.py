"""The order of the passages that a query finds."""

import pytest

from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.memory import SystemClock
from judge.library.search.query import parse_query
from judge.types.search import Scope
from tests.fakes.passages import document

FILLER = [document(f"about something else number{n}", id=f"filler{n}") for n in range(30)]


@pytest.fixture
def ranked(tmp_path):
    """What gives the ids that a question finds among given documents, best first.

    Without documents it asks of those given before; given again, equals may change places.
    """

    async def ids(text, *documents, limit=56):
        if documents:
            async with TantivyStore(tmp_path, SystemClock()).writing() as writer:
                await writer.replace([*FILLER, *documents])
                await writer.commit()
        results = await TantivyIndex(tmp_path).search(parse_query(text), Scope(), limit=limit)
        assert [hit.score for hit in results.hits] == sorted(
            (hit.score for hit in results.hits), reverse=True
        )
        return [hit.passage.document_id for hit in results.hits]

    return ids


async def test_repeated_query_word_counts_more(ranked):
    documents = (document("a flood here", id="flood"), document("a storm here", id="storm"))

    assert (await ranked("flood storm flood", *documents))[0] == "flood"
    assert (await ranked("flood storm storm", *documents))[0] == "storm"


@pytest.mark.parametrize("others", ["", " eagle fox golf hotel india"])
async def test_relevance_is_judged_by_more_than_the_best_passage(ranked, others):
    question = f"alpha bravo charlie delta{others}"
    best = document("alpha " * 9, id="best", title="Alpha")
    single = [document(word, id=f"{word}{n}") for word in question.split() for n in range(15)]
    proof = document(f"alpha bravo {'padding ' * 900}", id="proof")

    assert await ranked(question, best, *single) == []
    found = await ranked(question, best, *single, proof, limit=200)
    assert found[0] == "best"
    assert "proof" in found
