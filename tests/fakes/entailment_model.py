"""A tiny entailment model in ONNX's format: what has the word `not` is not entailed."""

import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

NEGATION = 3
"""The token that turns everything round."""


def make_entailment_model(folder: Path, labels: tuple[str, ...]) -> Path:
    """A model whose class "entailment" is likely unless a pair has the word `not`."""
    folder.mkdir()
    tokens = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "not": NEGATION}
    tokenizer = Tokenizer(WordLevel(tokens, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    special = [("[CLS]", 1), ("[SEP]", 2)]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels))}))
    _save(folder / "model.onnx", labels.index("entailment"), len(labels))
    return folder


def _save(path: Path, entails: int, classes: int) -> None:
    """Logits are 5 for entailment without the word, 5 for the other classes with it."""
    without = [5.0 * (at == entails) for at in range(classes)]
    change = [-5.0 if at == entails else 5.0 for at in range(classes)]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, None])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, classes])
    constants = [
        helper.make_tensor("negation", TensorProto.INT64, [], [NEGATION]),
        helper.make_tensor("axes", TensorProto.INT64, [1], [1]),
        helper.make_tensor("without", TensorProto.FLOAT, [1, classes], without),
        helper.make_tensor("change", TensorProto.FLOAT, [1, classes], change),
    ]
    nodes = [
        helper.make_node("Equal", ["input_ids", "negation"], ["equal"]),
        helper.make_node("Cast", ["equal"], ["found"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["found", "axes"], ["any"], keepdims=1),
        helper.make_node("Mul", ["any", "change"], ["changed"]),
        helper.make_node("Add", ["changed", "without"], ["logits"]),
    ]
    graph = helper.make_graph(nodes, "entailment", [ids], [logits], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)
