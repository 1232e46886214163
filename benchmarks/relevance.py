"""How well a dispute finds relevant pages: the ranker that the scorer calls.

python ../shared/eval/relevance/score.py --ranker benchmarks.relevance:build
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from judge.bootstrap.sources import compile_knowledge
from judge.judging.domains import Detector, detect_domain
from judge.library.dispute import read_dispute
from judge.library.rank.candidate_index import CandidatePage, compile_candidates, count_terms
from judge.library.rank.candidates import rank_candidates
from judge.vocabulary.thesaurus import load_thesaurus

ROOT = Path(__file__).resolve().parent.parent
READ = 8000
"""Characters of a page that are used to detect its domain."""

Ranker = Callable[[str, str], list[tuple[str, int, float]]]


def build(pages: Sequence[Mapping]) -> Ranker:
    """A ranker over *pages*, whose domains are detected because none is configured."""
    detector = compile_knowledge(
        (ROOT / "config" / "sources.toml").read_text(encoding="utf-8")
    ).detector
    counted = [count_terms(_page(detector, page)) for page in pages]
    index = compile_candidates(counted, load_thesaurus())

    def rank(query: str, context: str) -> list[tuple[str, int, float]]:
        dispute = read_dispute(context, query)
        domain = detect_domain(detector, dispute).domain
        found = rank_candidates(index, dispute, domain)
        return [(one.page.url, (*one.passages, -1)[0], one.score) for one in found]

    return rank


def _page(detector: Detector, page: Mapping) -> CandidatePage:
    """A page of the shared data, by its number."""
    text = " ".join(page["paragraphs"])[:READ]
    return CandidatePage(
        url=page["id"],
        title=page["title"],
        lead=" ".join([page["description"] or "", *page["paragraphs"][:1]]),
        passages=tuple(zip(page["headings"], page["paragraphs"], strict=True)),
        domain=detect_domain(detector, read_dispute(text, page["title"])).domain,
    )
