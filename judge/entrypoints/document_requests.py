"""Limits on requests for indexed documents, alike at every entrypoint."""

from judge.bootstrap import Corpus, Services
from judge.errors import IndexUnavailable

MAX_RESULTS = 50
"""Passages in one answer of a search."""


def corpus_of(services: Services) -> Corpus:
    """The indexed documents; raises IndexUnavailable where there is no index."""
    if services.corpus is None:
        raise IndexUnavailable("There is no search index here.")
    return services.corpus
