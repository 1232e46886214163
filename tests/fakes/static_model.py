"""A tiny model in model2vec's format, whose vectors are FakeEmbedder's."""

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

from tests.fakes.embedder import SUBJECTS, subjects_of

WORDS = [word for subject in SUBJECTS for word in subject]


def make_model(folder: Path, *, vocabulary_only: bool = False) -> Path:
    """A model in model2vec's format that knows only the words of SUBJECTS."""
    tokens = {"[UNK]": 0} | {word: at for at, word in enumerate(WORDS, start=1)}
    tokenizer = Tokenizer(WordLevel(tokens, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.array([[9.0] * 4, *map(subjects_of, WORDS)], dtype=np.float16)
    tensors = {"embeddings": rows}
    if vocabulary_only:  # as in smaller models: tokens share rows, and each has a weight
        kinds, mapping = np.unique(rows, axis=0, return_inverse=True)
        tensors = {
            "embeddings": kinds,
            "mapping": mapping.astype(np.int64),
            "weights": np.linspace(0.5, 1.0, len(rows)),
        }
    save_file(tensors, folder / "model.safetensors")
    return folder
