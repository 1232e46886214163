"""Rates whether a text entails a sentence, by a cross-encoder in ONNX's format on this machine.

The model is a folder with `model.onnx`, `tokenizer.json` and `config.json`, whose `id2label` names
the classes; one begins with "entail".
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from judge.errors import ConfigurationError, ModelUnavailable

MAX_TOKENS = 512
"""Of a pair; the end of a longer source is left out."""


@dataclass(frozen=True, slots=True)
class OnnxEntailment:
    """See `Entailment`."""

    session: InferenceSession
    tokenizer: Tokenizer
    entails: int
    """The number of the class."""

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `Entailment.entailed`."""
        try:
            return [await asyncio.to_thread(self._entailed, *pair) for pair in pairs]
        except Exception as error:  # the runtime raises errors of many types
            reason = f"The entailment model failed ({type(error).__name__})."
            raise ModelUnavailable(reason) from error

    def _entailed(self, source: str, sentence: str) -> float:
        encoded = self.tokenizer.encode(source, sentence)
        known = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        inputs = {
            each.name: np.array([known[each.name]], dtype=np.int64)
            for each in self.session.get_inputs()
        }
        logits = np.asarray(self.session.run(None, inputs)[0], dtype=np.float64)[0]
        shares = np.exp(logits - logits.max())
        return float(shares[self.entails] / shares.sum())


def read_entailment(folder: Path) -> OnnxEntailment:
    """The model in *folder*; raises ConfigurationError that says what is missing."""
    try:
        labels = json.loads((folder / "config.json").read_text(encoding="utf-8"))["id2label"]
        entails = next(int(at) for at in labels if labels[at].lower().startswith("entail"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        options = SessionOptions()
        options.intra_op_num_threads = 1  # a server judges several disputes at a time
        session = InferenceSession(str(folder / "model.onnx"), options)
    except Exception as error:
        raise ConfigurationError(
            f"JUDGE_SUPPORT=onnx:{folder} names no entailment model: the folder needs model.onnx, "
            'tokenizer.json and config.json whose id2label has a class that begins with "entail" '
            f"({type(error).__name__})."
        ) from error
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_first")
    tokenizer.no_padding()
    return OnnxEntailment(session, tokenizer, entails)
