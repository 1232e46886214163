"""Embeds passages and queries by a static model on this machine, in model2vec's format.

The model is a folder with `model.safetensors` (a row of `embeddings` for each token; `weights` and
`mapping` where the model has them) and `tokenizer.json`. A text's vector is the mean of its tokens'
rows: no network, no GPU, some thousand passages a second.
"""

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from judge.errors import ConfigurationError, EmbedderUnavailable

MAX_TOKENS = 512
"""The rest of a text is ignored, as in model2vec."""

Table = npt.NDArray[np.float32]


class StaticEmbedder:
    """See `Embedder`: the model in *folder*, which is loaded when first used."""

    min_similarity = 0.4

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model: tuple[Tokenizer, Table] | None = None
        self.name = f"static-{folder.resolve().name}-{_digest(folder)}"

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`."""
        return await asyncio.to_thread(self._vectors, texts)

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        return (await self.embed_passages([text]))[0]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            tokenizer, rows = self._model = self._model or _read(self._folder)
            return [_vector(text, tokenizer, rows) for text in texts]
        except Exception as error:  # the libraries raise errors of many types
            reason = type(error).__name__
            raise EmbedderUnavailable(
                f"The model in {self._folder} made no vectors ({reason})."
            ) from error


def _vector(text: str, tokenizer: Tokenizer, rows: Table) -> list[float]:
    name: str | None = getattr(tokenizer.model, "unk_token", None)
    unknown = tokenizer.token_to_id(name) if name else None
    ids = tokenizer.encode(text, add_special_tokens=False).ids[:MAX_TOKENS]
    known = [token for token in ids if token != unknown]
    if not known:
        # Near only to other texts without a known word; a zero vector has no direction.
        return [1.0] * rows.shape[1]
    mean: list[float] = rows[known].mean(axis=0).tolist()
    return mean


def _digest(folder: Path) -> str:
    """A digest of the model in *folder*; raises ConfigurationError when there is none."""
    try:
        (folder / "tokenizer.json").stat()
        with (folder / "model.safetensors").open("rb") as file:
            return blake2b(file.read(1 << 20), digest_size=4).hexdigest()
    except OSError as error:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER=static:{folder} names no model in model2vec's format: the folder "
            f"needs model.safetensors and tokenizer.json ({error.strerror})."
        ) from error


def _read(folder: Path) -> tuple[Tokenizer, Table]:
    """The tokenizer, and a row for each token id."""
    tensors = load_file(folder / "model.safetensors")
    rows: Table = tensors["embeddings"].astype(np.float32)
    if "mapping" in tensors:
        rows = rows[tensors["mapping"]]
    if "weights" in tensors:
        rows = rows * tensors["weights"][:, None].astype(np.float32)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer, rows
