"""Encoders that Ollama runs, against the stand-in: batches, long and unreadable texts, versions, shared memory."""

import math
from collections.abc import Iterator
from contextlib import closing

import pytest

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.errors import AppError, BusyError, LlmError
from subtitle_rag.models import manifest
from subtitle_rag.models.neural import ollama_encoder
from subtitle_rag.models.neural.ollama_encoder import BATCH, NUM_CTX, OllamaEncoder, OllamaEncoders
from subtitle_rag.models.ollama.llm_client import Llm
from tests.stand_ins.ollama import Model, StandIn
from tests.stand_ins.ollama_models import embedding
from tests.support.failures import failing

EMBEDDER = Model("bge-m3", capabilities=("embedding",), context_length=8192, dimensions=1024)
NAME = "ollama:bge-m3"


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(EMBEDDER)
        yield server


@pytest.fixture
def writing() -> list[bool]:
    """Whether contexts are being written: the last entry."""
    return [False]


@pytest.fixture
def encoders(ollama: StandIn, writing: list[bool]) -> Iterator[OllamaEncoders]:
    made = OllamaEncoders(lambda: Llm(ollama.base, LlmSettings()), lambda: writing[-1])
    with closing(made):
        yield made


@pytest.fixture
def encoder(encoders: OllamaEncoders) -> OllamaEncoder:
    return found(encoders)


def found(encoders: OllamaEncoders, name: str = NAME) -> OllamaEncoder:
    encoder = encoders.encoder(name)
    assert encoder is not None
    return encoder


def unreadable(word: str) -> Model:
    return Model("bge-m3", capabilities=("embedding",), dimensions=1024, unreadable=word)


def test_the_digest_names_the_vectors(encoders: OllamaEncoders, ollama: StandIn) -> None:
    encoder = found(encoders)
    assert encoder.id == f"{NAME}@{EMBEDDER.digest[:8]}"
    assert (encoder.dimensions, encoder.has_sparse, encoder.must_wait) == (1024, False, False)
    assert encoders.encoder("ollama:nothing") is None
    ollama.clear()
    assert encoders.encoder(NAME) is encoders.encoder(encoder.id) is encoder
    assert ollama.count() == 0


def test_passages_come_in_order_and_in_batches(encoder: OllamaEncoder, ollama: StandIn) -> None:
    texts = [f"바다 이야기 {number}번째 구간입니다" for number in range(2 * BATCH + 3)]
    vectors = encoder.passages(texts)
    for text, encoded in zip(texts, vectors, strict=True):
        assert encoded is not None
        assert encoded.sparse is None
        assert encoded.dense.values == pytest.approx(embedding(EMBEDDER, text))
    asked = ollama.asked("embed")
    assert [len(each.sent["input"]) for each in asked] == [BATCH, BATCH, 3]
    assert {(each.truncate, each.options["num_ctx"]) for each in asked} == {(False, NUM_CTX)}


def test_vectors_have_length_one(encoder: OllamaEncoder) -> None:
    [encoded] = encoder.passages(["국수"])
    assert encoded is not None
    assert math.hypot(*encoded.dense.values) == pytest.approx(1)


def test_empty_text_is_never_sent(encoder: OllamaEncoder, ollama: StandIn) -> None:
    assert [each is not None for each in encoder.passages(["", " \n"])] == [True, True]
    assert all(all(each.sent["input"]) for each in ollama.asked("embed"))


def test_each_model_reads_its_own_prompts(encoders: OllamaEncoders, ollama: StandIn) -> None:
    ollama.add(Model("embeddinggemma", capabilities=("embedding",), dimensions=768))
    encoder = found(encoders, "ollama:embeddinggemma")
    encoder.passages(["국수"])
    encoder.query("육수")
    passage, query = (each.sent["input"] for each in ollama.asked("embed"))
    assert passage == ["title: none | text: 국수"]
    assert query == ["task: search result | query: 육수"]


def test_models_that_the_manifest_lacks_are_asked_once_each_for_their_dimensions(
    encoders: OllamaEncoders, ollama: StandIn
) -> None:
    ollama.add(*(Model(f"own-{size}", capabilities=("embedding",), dimensions=size) for size in (8, 16)))
    both = [found(encoders, f"ollama:own-{size}") for size in (8, 16)]
    assert [encoder.dimensions for encoder in (*both, *both)] == [8, 16, 8, 16]
    assert ollama.count("embed") == 2


def test_a_query_is_asked_once(encoder: OllamaEncoder, ollama: StandIn) -> None:
    assert encoder.query("바다") is encoder.query(" 바다 ")
    assert ollama.count("embed") == 1


def test_a_long_passage_loses_its_end_and_says_so(encoder: OllamaEncoder, ollama: StandIn) -> None:
    sentence = "바다에 갔다가 국수를 먹고 돌아왔습니다."
    long = " ".join([sentence] * 400)
    short, cut = encoder.passages([sentence, long])
    assert short is not None
    assert cut is not None
    assert (short.is_cut, cut.is_cut) == (False, True)
    kept = ollama.asked("embed")[-1].sent["input"][0]
    assert long.startswith(kept)
    assert kept.endswith("돌아왔습니다.")


def test_a_long_sentence_is_cut_within(encoder: OllamaEncoder) -> None:
    [cut] = encoder.passages(["바다" * 4000])
    assert cut is not None
    assert cut.is_cut


def test_a_text_that_the_card_cannot_read_is_read_by_the_processor(encoder: OllamaEncoder, ollama: StandIn) -> None:
    ollama.add(unreadable("해일"))
    texts = [f"{number}번째 이야기" for number in range(7)] + ["해일이 온 날"]
    vectors = encoder.passages(texts)
    assert [each is not None for each in vectors] == [True] * 8
    by_processor = [each.sent["input"] for each in ollama.asked("embed") if each.options.get("num_gpu") == 0]
    assert by_processor == [["해일이 온 날"]]
    assert len(ollama.asked("embed")) <= 2 * 3 + 2  # halves: only those with the text are asked again


def test_a_text_that_nothing_can_read_has_no_vector(encoder: OllamaEncoder, ollama: StandIn) -> None:
    ollama.refuse("embed", 500, "failed to encode response: json: unsupported value: NaN", times=None)
    assert encoder.passages(["해일이 온 날"]) == [None]
    with failing("llm_nonsense", LlmError):
        encoder.query("해일")


def test_another_failure_is_no_fault_of_a_text(encoder: OllamaEncoder, ollama: StandIn) -> None:
    ollama.refuse("embed", 500, "the runner died")
    with failing("llm_failed", LlmError):
        encoder.passages(["바다", "국수"])
    assert ollama.count("embed") == 1


def test_a_model_of_chat_makes_no_vectors(encoders: OllamaEncoders, ollama: StandIn) -> None:
    ollama.add(Model("writer:q4"))
    with failing("model_kind", LlmError):
        found(encoders, "ollama:writer:q4").passages(["바다"])


@pytest.mark.parametrize(
    "answer", [b'{"embeddings": []}', b'{"embeddings": [[1.0, null]]}', b'{"embeddings": [[]]}', b"[]"]
)
def test_an_answer_without_proper_vectors_is_refused(encoder: OllamaEncoder, ollama: StandIn, answer: bytes) -> None:
    ollama.refuse("embed", 200, raw=answer)
    with failing("llm_nonsense", LlmError):
        encoder.passages(["바다"])


def test_another_version_of_the_model_is_noticed(
    encoder: OllamaEncoder, encoders: OllamaEncoders, ollama: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder.passages(["바다"])
    ollama.add(Model("bge-m3", digest="f" * 64, capabilities=("embedding",), dimensions=1024))
    monkeypatch.setattr(ollama_encoder, "CHECK_S", 0)
    with failing("encoder_changed", AppError):
        encoder.query("바다에서")
    assert found(encoders).id == f"{NAME}@ffffffff"


def test_passages_wait_once_they_have_driven_out_the_model_of_contexts(
    encoder: OllamaEncoder, ollama: StandIn, writing: list[bool]
) -> None:
    ollama.add(Model("writer:q4"))
    ollama.one_model = True
    writing.append(True)
    with closing(Llm(ollama.base, LlmSettings())) as llm:
        llm.chat([{"role": "user", "content": "?"}], model="writer:q4", num_ctx=4096, num_predict=8, seed=1)
    encoder.passages(["바다"])
    assert encoder.must_wait
    with failing("encoder_waits", BusyError):
        encoder.query("바다")
    writing.append(False)
    assert encoder.query("바다").dense.values


def test_nothing_waits_if_the_server_holds_both(encoder: OllamaEncoder, ollama: StandIn, writing: list[bool]) -> None:
    ollama.add(Model("writer:q4"))
    writing.append(True)
    with closing(Llm(ollama.base, LlmSettings())) as llm:
        llm.chat([{"role": "user", "content": "?"}], model="writer:q4", num_ctx=4096, num_predict=8, seed=1)
    encoder.passages(["바다"])
    assert not encoder.must_wait


def test_a_server_that_does_not_run_is_said(ollama: StandIn, encoders: OllamaEncoders) -> None:
    ollama.stop()
    with failing("llm_not_running", LlmError):
        encoders.encoder(NAME)
    ollama.start()
    assert found(encoders)


def test_the_manifest_names_what_the_program_looks_up() -> None:
    for model in manifest.ollama_encoders():
        assert manifest.is_ollama(model.name)
        assert manifest.ollama_encoder(f"{model.name}:latest") in (model, None)
        assert manifest.ollama_encoder(model.name.upper().replace("OLLAMA:", "ollama:")) == model
        assert set(model.note) == {"en", "ko"}
        assert model.confirmed or model.doubt
