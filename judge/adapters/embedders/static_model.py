"""Embeds passages and queries by a static model on this machine, in model2vec's format.

The model is a folder with `model.safetensors` (a row of `embeddings` for each token; `weights` and
`mapping` where the model has them) and `tokenizer.json`. A text's vector is the mean of its tokens'
rows: no network, no GPU, some thousand passages a second.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from judge.errors import ConfigurationError, EmbedderUnavailable

MIN_SIMILARITY = 0.4
MAX_TOKENS = 512
"""The rest of a text is ignored, as in model2vec."""

_DIGESTED_BYTES = 1 << 20

Table = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _StaticModel:
    """A tokenizer, and a row for each token id; `unknown` is the id of the unknown token."""

    tokenizer: Tokenizer
    rows: Table
    unknown: int | None

    def vector(self, text: str) -> list[float]:
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids[:MAX_TOKENS]
        known = [token for token in ids if token != self.unknown]
        if not known:
            # Near only to other texts without a known word; a zero vector has no direction.
            return [1.0] * self.rows.shape[1]
        mean: list[float] = self.rows[known].mean(axis=0).tolist()
        return mean


class StaticEmbedder:
    """See `Embedder`: the model in *folder*, which is loaded when first used."""

    min_similarity = MIN_SIMILARITY

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model: _StaticModel | None = None
        self.name = f"static-{folder.resolve().name}-{_digest(folder)}"

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`."""
        return await asyncio.to_thread(self._vectors, texts)

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        return (await self.embed_passages([text]))[0]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            model = self._model or _read(self._folder)
            self._model = model
            return [model.vector(text) for text in texts]
        except Exception as error:  # the libraries raise errors of many types
            reason = type(error).__name__
            raise EmbedderUnavailable(
                f"The model in {self._folder} made no vectors ({reason})."
            ) from error


def _digest(folder: Path) -> str:
    """A digest of the model in *folder*; raises ConfigurationError when there is none."""
    try:
        (folder / "tokenizer.json").stat()
        with (folder / "model.safetensors").open("rb") as file:
            return blake2b(file.read(_DIGESTED_BYTES), digest_size=4).hexdigest()
    except OSError as error:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER=static:{folder} names no model in model2vec's format: the folder "
            f"needs model.safetensors and tokenizer.json ({error.strerror})."
        ) from error


def _read(folder: Path) -> _StaticModel:
    tensors = load_file(folder / "model.safetensors")
    table: Table = tensors["embeddings"].astype(np.float32)
    mapping = tensors.get("mapping")
    rows = table if mapping is None else table[mapping]
    weights = tensors.get("weights")
    if weights is not None:
        rows = rows * weights[:, None].astype(np.float32)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    unknown: str | None = getattr(tokenizer.model, "unk_token", None)
    return _StaticModel(tokenizer, rows, tokenizer.token_to_id(unknown) if unknown else None)
