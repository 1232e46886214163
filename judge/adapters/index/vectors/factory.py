"""Opens the vectors beside Tantivy; numpy, which `judge[vectors]` brings, may be missing."""

import re
from pathlib import Path

from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.errors import ConfigurationError
from judge.ports import Embedder, Journal, SearchEngine

_UNSAFE = re.compile(r"[^\w.-]")
"""Characters that a file name must not have."""


def open_vectors(
    data_dir: Path, index: TantivyIndex, store: TantivyStore, embedder: Embedder, journal: Journal
) -> SearchEngine:
    """A SearchEngine with *embedder*'s vectors in *data_dir*; it reads nothing before first use.

    Raises ConfigurationError when numpy is missing.
    """
    try:
        from judge.adapters.index.vectors.index import VectorIndex  # noqa: PLC0415 - an extra
        from judge.adapters.index.vectors.vector_file import VectorFile  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "JUDGE_EMBEDDER is set, but the extra `judge[vectors]` is missing: `pip install numpy` "
            "brings it. Or set JUDGE_EMBEDDER=none to search the text alone."
        ) from error
    file = VectorFile(data_dir / "vectors" / f"{_UNSAFE.sub('_', embedder.name)}.v2")
    vectors = VectorIndex(index, file, embedder, journal)
    return SearchEngine(vectors, index, store, vectors)
