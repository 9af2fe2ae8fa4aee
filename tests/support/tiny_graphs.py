"""Tiny ONNX models in a folder, made without PyTorch: a table of vectors, and the outputs of real exports.

No layer changes a word's vector, so tests can compute the results of pooling, prompts and truncation.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.tiny_models import SPECIAL, spoken_lines, train_pieces, write_json, write_tokenizer

WIDTH = 16
POSITIONS = 64
BGE_M3 = ("dense_vecs", "sparse_vecs", "colbert_vecs")
"""Outputs of BGE-M3's exports."""


@cache
def pieces() -> tuple[tuple[str, float], ...]:
    return (*((name, 0.0) for name in SPECIAL), *train_pieces(spoken_lines()), ("<mask>", 0.0))


def word_table(rows: int | None = None, seed: int = 0) -> NDArray[np.float32]:
    """Return the vectors of the words."""
    return np.random.default_rng(seed).normal(size=(rows or len(pieces()), WIDTH)).astype(np.float32)


def add_word(folder: Path, word: str, *, special: bool) -> int:
    """Add a word to the tokenizer beyond the model's vocabulary, as Gemma's has one; return its id."""
    from tokenizers import AddedToken, Tokenizer

    path = str(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.add_tokens([AddedToken(word, normalized=False, special=special)])
    tokenizer.save(path)
    added = tokenizer.token_to_id(word)
    assert added is not None
    return added


def tiny_graph(
    folder: Path,
    outputs: Sequence[str] = ("last_hidden_state",),
    *,
    names: Sequence[str] | None = None,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    path: str = "onnx/model_quantized.onnx",
    table: NDArray[np.float32] | None = None,
    labels: int = 1,
    external: bool = False,
    change: Callable[[Any], object] = lambda model: None,
) -> Path:
    """Make a model with these outputs; return its new folder.

    Args:
        folder: the new folder.
        outputs: outputs of the model.
        names: other names for them.
        inputs: inputs of the model.
        path: path of the graph in the folder.
        table: vectors of the words.
        labels: number of a reranker's labels.
        external: whether the weights are in a file next to the graph.
        change: called with the graph's protobuf before it is written.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = word_table() if table is None else table
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["known"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["known", "column"], ["states"]),
    ]
    if "token_type_ids" in inputs:
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["types", "last"], ["type_column"]),
            helper.make_node("Add", ["states", "type_column"], ["typed"]),
        ]
    states = "typed" if "token_type_ids" in inputs else "states"
    shapes: dict[str, list[str | int]] = {
        "last_hidden_state": ["batch", "tokens", WIDTH],
        "dense_vecs": ["batch", WIDTH],
        "sparse_vecs": ["batch", "tokens", 1],
        "colbert_vecs": ["batch", "spoken", WIDTH],
        "logits": ["batch", labels],
    }
    made = {
        "last_hidden_state": [helper.make_node("Identity", [states], ["last_hidden_state"])],
        "dense_vecs": [helper.make_node("Gather", [states, "first"], ["dense_vecs"], axis=1)],
        "sparse_vecs": [
            helper.make_node("MatMul", [states, "head"], ["weighed"]),
            helper.make_node("Relu", ["weighed"], ["sparse_vecs"]),
        ],
        "colbert_vecs": [helper.make_node("Slice", [states, "start", "end", "axis"], ["colbert_vecs"])],
        "logits": [
            helper.make_node("ReduceMean", [states, "axis"], ["mean"], keepdims=0),
            helper.make_node("MatMul", ["mean", "labels"], ["logits"]),
        ],
    }
    constants = {
        "words": weights,
        "last": np.array([2]),
        "first": np.array(0),
        "start": np.array([1]),
        "end": np.array([1_000]),
        "axis": np.array([1]),
        "head": np.ones((WIDTH, 1), np.float32),
        "labels": np.full((WIDTH, labels), 0.5, np.float32),
    }
    given = dict(zip(outputs, names or outputs, strict=True))
    renamed = [helper.make_node("Identity", [name], [other]) for name, other in given.items() if name != other]
    model = helper.make_model(
        helper.make_graph(
            [*nodes, *(node for name in outputs for node in made[name]), *renamed],
            "tiny",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
            [helper.make_tensor_value_info(given[name], TensorProto.FLOAT, shapes[name]) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    change(model)
    (folder / path).parent.mkdir(parents=True)
    options = {"save_as_external_data": True, "location": f"{Path(path).name}_data", "size_threshold": 1024}
    onnx.save(model, str(folder / path), **(options if external else {}))
    write_tokenizer(folder, list(pieces()))
    kind = "BertForSequenceClassification" if "logits" in outputs else "BertModel"
    config = {"architectures": [kind], "model_type": "bert", "hidden_size": WIDTH, "vocab_size": len(weights)}
    write_json(folder / "config.json", {**config, "num_hidden_layers": 1, "max_position_embeddings": POSITIONS})
    (folder / "1_Pooling").mkdir()
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    return folder
