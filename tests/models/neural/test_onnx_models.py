"""Encoders and rerankers as ONNX graphs: what they make of a text, and what is said of graphs that cannot be used."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.models.manifest import ENCODER, RERANKER
from subtitle_rag.models.model_store import ModelFiles, ModelStore
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.onnx_models import OnnxEncoder, OnnxReranker
from subtitle_rag.models.neural.reranker import CrossReranker
from subtitle_rag.models.prompts import Prompts
from tests.models.neural.test_model_damage import Harm, cut
from tests.support.models_here import EXACT
from tests.support.tiny_graphs import BGE_M3, POSITIONS, WIDTH, add_word, pieces, tiny_graph, word_table
from tests.support.tiny_models import add_graph, tiny_reranker, write_json, write_tokenizer

PLAN = Plan("cpu", "ONNX", "this one", 2, "graph")
TEXTS = ("감자를 깎아서 넣어요", "", "간장게장 담그는 법", "마늘을 볶다가 양파를 넣고")


def files(folder: Path, **fields: Any) -> ModelFiles:
    kind = fields.pop("kind", ENCODER)
    found = ModelStore(folder.parent, ModelSettings()).files(str(folder), kind)
    return ModelFiles(**{**{name: getattr(found, name) for name in found.__slots__}, **fields})


def opened(folder: Path, **fields: Any) -> OnnxEncoder:
    found = files(folder, **fields)
    return OnnxEncoder(found, found.id, PLAN)


def ids(folder: Path, text: str) -> list[int]:
    from tokenizers import Tokenizer

    return list(Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids)


def unit(vector: NDArray[Any]) -> list[float]:
    return list(vector / np.linalg.norm(vector))


def code_of(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(AppError) as caught:
        call()
    return caught.value.code, caught.value.message


def test_states_are_pooled_to_a_unit_vector_behind_the_prompts(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny")
    encoder = OnnxEncoder(files(folder).with_prompts(Prompts("질문: ", "글: ")), "tiny@00000000", PLAN)
    expected = [unit(word_table()[ids(folder, "글: " + text)].mean(axis=0)) for text in TEXTS]

    assert (encoder.dimensions, encoder.has_sparse) == (WIDTH, False)
    for encoded, vector in zip(encoder.passages(TEXTS), expected, strict=True):
        assert encoded.dense.values == pytest.approx(vector, abs=1e-6)
        assert encoded.sparse is None
    question = unit(word_table()[ids(folder, "질문: 감자")].mean(axis=0))
    assert encoder.query("감자").dense.values == pytest.approx(question, abs=1e-6)


def test_a_vector_is_the_same_beside_any_other_texts(tmp_path: Path) -> None:
    encoder = opened(tiny_graph(tmp_path / "tiny"))

    assert encoder.passages(TEXTS) == [encoder.passages([text])[0] for text in TEXTS]


@pytest.mark.parametrize(("entry", "position"), [({"pooling_mode_cls_token": True}, 0), ({"pooling_mode": "cls"}, 0)])
def test_the_models_own_files_say_how_it_pools(tmp_path: Path, entry: dict[str, Any], position: int) -> None:
    folder = tiny_graph(tmp_path / "tiny")
    write_json(folder / "1_Pooling" / "config.json", entry)
    expected = unit(word_table()[ids(folder, TEXTS[0])[position]])

    assert opened(folder).query(TEXTS[0]).dense.values == pytest.approx(expected, abs=1e-6)


def test_a_text_beyond_the_models_length_is_cut_and_says_so(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny")
    long = "감자 " * POSITIONS
    end = ids(folder, "감자")[-1]
    expected = unit(word_table()[[*ids(folder, long)[: POSITIONS - 1], end]].mean(axis=0))
    short, cut = opened(folder).passages([TEXTS[0], long])

    assert cut.dense.values == pytest.approx(expected, abs=1e-6)
    assert (short.is_cut, cut.is_cut) == (False, True)


def test_what_the_graph_asks_for_is_given_to_it(tmp_path: Path) -> None:
    typed = ("input_ids", "attention_mask", "token_type_ids")
    with_types = opened(tiny_graph(tmp_path / "typed", inputs=typed))
    without = opened(tiny_graph(tmp_path / "plain"))

    assert with_types.query("감자").dense.values == pytest.approx(without.query("감자").dense.values, abs=1e-6)


@pytest.mark.parametrize("order", [BGE_M3, BGE_M3[::-1]])
def test_outputs_are_taken_by_their_names_in_any_order(tmp_path: Path, order: Sequence[str]) -> None:
    folder = tiny_graph(tmp_path / "m3", order)
    encoder = opened(folder, has_sparse=True)
    tokens = ids(folder, TEXTS[0])
    [encoded] = encoder.passages([TEXTS[0]])
    weights = {token: max(0.0, float(word_table()[token].sum())) for token in tokens[1:-1]}

    assert encoded.dense.values == pytest.approx(unit(word_table()[tokens[0]]), abs=1e-6)
    assert encoded.sparse
    assert dict(zip(encoded.sparse.indices, encoded.sparse.values, strict=True)) == pytest.approx(
        {token: weight for token, weight in weights.items() if weight}, abs=1e-5
    )


def test_weights_beside_the_graph_are_read(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny", external=True)
    inside = tiny_graph(tmp_path / "inside")

    assert (folder / "onnx" / "model_quantized.onnx_data").is_file()
    assert opened(folder).query("감자").dense == opened(inside).query("감자").dense


IMAGE = "<image_soft_token>"


def test_an_added_token_is_no_word_and_a_caption_that_says_it_is_text(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny")
    as_text = opened(folder).query(f"감자 {IMAGE}</s> 볶기")
    assert add_word(folder, IMAGE, special=True) == len(pieces())

    assert opened(folder).query(f"감자 {IMAGE}</s> 볶기").dense.values == pytest.approx(as_text.dense.values, abs=1e-6)


def test_a_word_that_texts_reach_and_the_weights_lack_is_refused(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny")
    add_word(folder, "닭볶음탕", special=False)

    assert code_of(lambda: opened(folder).query("감자"))[0] == "model_damaged"


def test_a_reranker_gives_the_sigmoid_of_its_logit(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny", ("logits",))
    reranker = OnnxReranker(files(folder, kind=RERANKER), "tiny@00000000", PLAN)
    from tokenizers import Tokenizer

    pairs = [Tokenizer.from_file(str(folder / "tokenizer.json")).encode("감자", text).ids for text in TEXTS]
    logits = [float(word_table()[pair].mean(axis=0).sum() / 2) for pair in pairs]

    assert reranker.scores("감자", TEXTS) == pytest.approx([1 / (1 + math.exp(-logit)) for logit in logits], abs=1e-5)


def test_a_reranker_reads_a_long_passage_in_parts(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny", ("logits",))
    reranker = OnnxReranker(files(folder, kind=RERANKER), "tiny@00000000", PLAN)
    middle = "마늘 양파 " * 40
    long = f"{middle}간장게장 담그는 법 {middle}"

    assert 0 < reranker.scores("간장", [long])[0] < 1
    assert len(reranker._parts("간장", long)) > 1


@pytest.mark.models
def test_a_real_cross_encoder_in_8_bits_scores_as_by_pytorch(tmp_path: Path) -> None:
    folder = tiny_reranker(tmp_path / "tiny")
    passages = [*TEXTS, "된장찌개에 두부를 넣어요 " * 12]
    by_pytorch = CrossReranker(folder, "tiny@00000000", EXACT).scores("감자 볶기", passages)
    found = files(add_graph(folder), kind=RERANKER)

    assert found.graph == GRAPH
    in_8_bits = OnnxReranker(found, found.id, PLAN).scores("감자 볶기", passages)
    assert in_8_bits == pytest.approx(by_pytorch, abs=0.05)


# Graphs that cannot be used


def config_with(**fields: Any) -> Harm:
    def harm(folder: Path) -> None:
        path = folder / "config.json"
        write_json(path, {**json.loads(path.read_text("utf-8")), **fields})

    return harm


GRAPH = "onnx/model_quantized.onnx"


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (cut(GRAPH), "its graph is cut short or damaged"),
        (lambda folder: (folder / GRAPH).write_bytes(b"<html>sign in</html>"), "its graph is cut short or damaged"),
        (lambda folder: (folder / GRAPH).write_bytes(b""), "its graph is cut short or damaged"),
        (cut("tokenizer.json"), "tokenizer.json"),
        (lambda folder: write_tokenizer(folder, list(pieces()[:200])), "its tokenizer has 200 words"),
        (config_with(vocab_size=300), "its tokenizer has"),
        (lambda folder: (folder / "1_Pooling" / "config.json").unlink(), "1_Pooling/config.json is missing"),
        (config_with(hidden_size=384), "its vectors have another length"),
    ],
    ids=["cut", "a page", "empty", "tokenizer", "other words", "more words", "pooling", "length"],
)
def test_damage_is_told_in_words(tmp_path: Path, harm: Harm, said: str) -> None:
    folder = tiny_graph(tmp_path / "tiny")
    harm(folder)
    code, message = code_of(lambda: opened(folder).query("감자"))

    assert code == "model_damaged"
    assert said in message
    assert "onnxruntimeerror" not in message.casefold()


def newer_opset(model: Any) -> None:
    model.opset_import[0].version = 99


def newer_format(model: Any) -> None:
    model.ir_version = 99


def unknown_operator(model: Any) -> None:
    model.graph.node[0].op_type = "Guess"


@pytest.mark.parametrize("change", [newer_opset, newer_format])
def test_a_graph_for_a_newer_runtime_says_so(tmp_path: Path, change: Callable[[Any], object]) -> None:
    code, message = code_of(lambda: opened(tiny_graph(tmp_path / "tiny", change=change)).query("감자"))

    assert code == "model_damaged"
    assert "a newer onnxruntime than 1." in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"outputs": BGE_M3, "names": ("a", "b", "c")}, "what its outputs are is not known: a, b, c"),
        ({"outputs": ("logits",)}, "its vectors have another length"),
        ({"table": np.full((len(pieces()), WIDTH), np.nan, np.float32)}, "its weights give no numbers"),
        ({"table": word_table(len(pieces()) // 2 + 9)}, "its tokenizer has words that its weights lack"),
        ({"change": unknown_operator}, "its graph has parts that onnxruntime 1."),
    ],
    ids=["three outputs", "a score", "NaN", "few words", "operator"],
)
def test_a_foreign_graph_is_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    folder = tiny_graph(tmp_path / "tiny", **options)
    config_with(vocab_size=len(pieces()))(folder)
    config_with(architectures=["BertModel"])(folder)
    code, message = code_of(lambda: opened(folder).query("<mask>감자"))

    assert code == "model_damaged"
    assert said in message


def test_a_wanted_output_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny", ("dense_vecs",))

    assert "lacks the output sparse" in code_of(lambda: opened(folder, has_sparse=True).load())[1]


def test_weights_that_are_not_beside_the_graph_are_told(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny", external=True)
    (folder / "onnx" / "model_quantized.onnx_data").unlink()
    code, message = code_of(lambda: opened(folder).load())

    assert code == "model_damaged"
    assert "the weights of its graph are not beside it" in message


def test_a_want_of_memory_is_no_damage(tmp_path: Path) -> None:
    def grow(model: Any) -> None:
        """Have the graph ask for four terabytes."""
        from onnx import helper, numpy_helper

        model.graph.initializer.append(numpy_helper.from_array(np.array([1 << 40]), "much"))
        model.graph.node.extend(
            [
                helper.make_node("ConstantOfShape", ["much"], ["zeros"]),
                helper.make_node("ReduceSum", ["zeros"], ["sum"], keepdims=0),
                helper.make_node("Add", ["states", "sum"], ["heavy"]),
                helper.make_node("Identity", ["heavy"], ["last_hidden_state"]),
            ]
        )
        del model.graph.node[4]

    folder = tiny_graph(tmp_path / "tiny", change=grow)

    assert code_of(lambda: opened(folder).load())[0] == "model_memory"


def test_a_reranker_with_two_labels_is_refused(tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "tiny", ("logits",), labels=2)
    reranker = OnnxReranker(files(folder, kind=RERANKER), "tiny@00000000", PLAN)

    assert "it gives 2 numbers for a pair" in code_of(lambda: reranker.scores("감자", TEXTS))[1]
