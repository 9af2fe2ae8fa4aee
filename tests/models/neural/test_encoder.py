"""The encoder over tiny models, which FlagEmbedding loads and runs; its own `encode` is the reference."""

import math
import shutil
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.models.model_store import ModelStore
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.encoder import CACHE_SIZE, PASSAGE_TOKENS, FlagEncoder
from subtitle_rag.models.neural.local_model import QUERY, PriorityLock, quiet
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.models.neural.sentence_encoder import open_encoder
from subtitle_rag.models.prompts import Prompts
from tests.support.failures import failing
from tests.support.invented import came_true
from tests.support.models_here import EXACT

TEXTS = (
    "치킨 소스를 만들어 볼게요",
    "",
    "김치 국물에 국수를 말아서 먹었어요. " * 3,
    "바다",
    "안녕하세요 느긋한 식탁의 다온입니다 " * 200,
    "Wi-Fi 2.4GHz 🍜 ㅋㅋㅋ\t\x00\u202e",
    "바다",
    "뷁 쀍",
)


@pytest.fixture(scope="module")
def encoder(encoder_folder: Path) -> FlagEncoder:
    return FlagEncoder(encoder_folder, "tiny@00000000", EXACT)


def reference(folder: Path, texts: Sequence[str], **options: Any) -> dict[str, Any]:
    """What FlagEmbedding's own loop makes of these texts."""
    with quiet():
        from FlagEmbedding import BGEM3FlagModel

        model = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu")
        made: dict[str, Any] = model.encode(list(texts), batch_size=64, max_length=PASSAGE_TOKENS, **options)
    return made


def forwards(encoder: FlagEncoder) -> list[tuple[int, int]]:
    """Filled with the shape (texts, tokens) of each pass from here on."""
    seen: list[tuple[int, int]] = []
    encoder.load()
    layers = encoder._ready().flag.model
    layers.register_forward_hook(lambda _layers, given, _out: seen.append(tuple(given[0]["input_ids"].shape)))
    return seen


def cosine(one: Encoded, other: Encoded) -> float:
    return sum(a * b for a, b in zip(one.dense.values, other.dense.values, strict=True))


def test_vectors_are_those_of_flag_embedding_in_the_order_of_the_texts(
    encoder: FlagEncoder, encoder_folder: Path
) -> None:
    expected = reference(encoder_folder, TEXTS, return_sparse=True)
    for made, dense, weights in zip(
        encoder.passages(TEXTS), expected["dense_vecs"], expected["lexical_weights"], strict=True
    ):
        assert made.dense.values == pytest.approx(dense.tolist(), abs=1e-5)
        assert made.sparse is not None
        expected_weights = {int(token): float(weight) for token, weight in weights.items()}
        made_weights = dict(zip(made.sparse.indices, made.sparse.values, strict=True))
        assert made_weights == pytest.approx(expected_weights, abs=1e-5)


def test_vectors_are_plain_numbers(encoder: FlagEncoder) -> None:
    for made in encoder.passages(TEXTS):
        assert math.fsum(value * value for value in made.dense.values) == pytest.approx(1, abs=1e-5)
        assert made.sparse is not None
        assert {type(value) for value in (*made.dense.values, *made.sparse.values)} <= {float}
        assert {type(token) for token in made.sparse.indices} <= {int}
        assert all(weight > 0 for weight in made.sparse.values)
        assert len(set(made.sparse.indices)) == len(made.sparse.indices)
    assert encoder.passages(["", "뷁"])[0].sparse.indices == ()  # type: ignore[union-attr]


def test_no_texts_have_no_vectors(encoder_folder: Path) -> None:
    encoder = FlagEncoder(encoder_folder, "tiny", EXACT)
    assert encoder.passages([]) == []
    assert not encoder.loaded


def test_half_a_character_harms_nothing(encoder: FlagEncoder) -> None:
    [made] = encoder.passages(["바다 \ud83c"])
    assert cosine(made, encoder.passages(["바다 ?"])[0]) == pytest.approx(1, abs=1e-5)
    assert encoder.query("\udcff 바다").dense == encoder.query("? 바다").dense


@pytest.mark.campaign(part="models")
def test_rounded_vectors_are_nearly_those_of_float32(encoder: FlagEncoder, encoder_folder: Path) -> None:
    rounded = FlagEncoder(encoder_folder, "tiny", Plan("cpu", "bfloat16", "this one", 2, "bfloat16"))
    for made, exact in zip(rounded.passages(TEXTS), encoder.passages(TEXTS), strict=True):
        assert 0.9995 < cosine(made, exact) < 1.00001
        assert made.sparse is not None
        assert exact.sparse is not None
        assert set(made.sparse.indices) == set(exact.sparse.indices)
    rounded.close()


def test_passages_are_cut_at_their_length_and_queries_at_theirs(encoder_folder: Path) -> None:
    encoder = FlagEncoder(encoder_folder, "tiny", EXACT)
    seen = forwards(encoder)
    encoder.passages(["바다 여행 " * 1000])
    encoder.query("바다 여행 " * 1000)
    assert seen == [(1, PASSAGE_TOKENS), (1, 128)]
    short = FlagEncoder(encoder_folder, "tiny", EXACT, max_tokens=64)
    seen = forwards(short)
    short.passages(["바다 여행 " * 1000])
    short.query("바다 여행 " * 1000)
    assert seen == [(1, 64), (1, 64)]


def test_a_model_is_never_given_more_than_it_has_room_for(encoder_folder: Path) -> None:
    encoder = FlagEncoder(encoder_folder, "tiny", EXACT, max_tokens=20_000)
    seen = forwards(encoder)
    encoder.passages(["바다 여행 " * 10_000])
    assert seen == [(1, 8192)]


def test_texts_of_about_one_length_go_together(encoder: FlagEncoder) -> None:
    seen = forwards(encoder)
    mixed = ["바다 " * 400, "바다", "바다 " * 300, "바다 여행", "바다 " * 400, "여행"]
    alone = [encoder.passages([text])[0] for text in mixed]
    del seen[:]
    together = encoder.passages(mixed)
    assert sum(texts for texts, _tokens in seen) == len(mixed)
    assert all(texts * tokens <= EXACT.pass_tokens for texts, tokens in seen)
    assert len(seen) < len(mixed)
    for one, other in zip(alone, together, strict=True):
        assert one.dense.values == pytest.approx(other.dense.values, abs=1e-5)


def test_a_query_is_encoded_once_while_it_is_remembered(encoder_folder: Path) -> None:
    encoder = FlagEncoder(encoder_folder, "tiny", EXACT)
    seen = forwards(encoder)
    first = encoder.query("바다 여행")
    assert encoder.query("바다 여행") is first
    assert len(seen) == 1
    for number in range(CACHE_SIZE):
        encoder.query(f"질문 {number}")
    assert encoder.query("바다 여행") == first
    assert len(seen) == CACHE_SIZE + 2


def test_a_query_is_encoded_as_a_passage_is(encoder: FlagEncoder) -> None:
    assert encoder.query("바다 여행").dense.values == pytest.approx(
        encoder.passages(["바다 여행"])[0].dense.values, abs=1e-5
    )


def test_a_query_waits_for_one_pass_of_passages_and_no_more(encoder_folder: Path) -> None:
    encoder = FlagEncoder(encoder_folder, "tiny", EXACT)
    seen = forwards(encoder)
    asking: list[threading.Thread] = []

    def ask(*_: object) -> None:
        """In the middle of the first pass; returns when the query waits for its turn."""
        if not asking:
            asking.append(threading.Thread(target=encoder.query, args=("바다 여행",)))
            asking[0].start()
            assert came_true(lambda: encoder._turns._waiting[QUERY] == 1)

    encoder._ready().flag.model.register_forward_pre_hook(ask)
    encoder.passages(["바다 " * 500] * 6)
    asking[0].join()
    assert [texts for texts, _tokens in seen] == [2, 1, 2, 2]
    assert seen[1][1] < 128


def test_threads_share_an_encoder(encoder: FlagEncoder) -> None:
    expected = encoder.passages(TEXTS)

    def work(number: int) -> list[Encoded]:
        return encoder.passages(TEXTS) if number % 2 else [encoder._query(text) for text in TEXTS[:4]]

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(work, range(12)))
    for made in results:
        for one, other in zip(made, expected, strict=False):
            assert cosine(one, other) == pytest.approx(1, abs=1e-5)


@pytest.mark.campaign(part="models")
def test_a_closed_encoder_lets_go_of_its_model_and_loads_it_again_when_asked(encoder_folder: Path) -> None:
    encoder = FlagEncoder(encoder_folder, "tiny", EXACT)
    before = encoder.passages(["바다"])
    layers = weakref.ref(encoder._ready().flag.model)
    encoder.close()
    assert not encoder.loaded
    assert layers() is None
    encoder.close()
    assert encoder.passages(["바다"]) == before
    assert encoder.loaded


def test_a_model_without_a_sparse_head_makes_dense_vectors_alone(dense_folder: Path) -> None:
    encoder = FlagEncoder(dense_folder, "tiny", EXACT)
    assert not encoder.has_sparse
    made = encoder.passages(TEXTS)
    assert [one.sparse for one in made] == [None] * len(TEXTS)
    with quiet():
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(dense_folder), device="cpu", local_files_only=True)
        model.max_seq_length = PASSAGE_TOKENS
        expected = model.encode(list(TEXTS), show_progress_bar=False)
    for one, vector in zip(made, expected, strict=True):
        assert one.dense.values == pytest.approx(vector.tolist(), abs=1e-5)


@pytest.mark.parametrize("head", ["sparse_linear.pt", "colbert_linear.pt"])
def test_a_sparse_head_that_flag_embedding_would_invent_is_not_used(
    encoder_folder: Path, tmp_path: Path, head: str
) -> None:
    folder = shutil.copytree(encoder_folder, tmp_path / "model")
    (folder / head).unlink()
    assert FlagEncoder(folder, "tiny", EXACT).query("바다").sparse is None
    with failing("model_damaged") as caught:
        FlagEncoder(folder, "tiny", EXACT, has_sparse=True)
    assert head in caught.value.message


def test_the_sparse_head_may_be_left_out(encoder_folder: Path) -> None:
    assert FlagEncoder(encoder_folder, "tiny", EXACT, has_sparse=False).query("바다").sparse is None


def test_a_mean_over_tokens_is_taken_where_the_model_asks_for_one(dense_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(dense_folder, tmp_path / "model")
    (folder / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 32, "pooling_mode": "mean"}')
    made = FlagEncoder(folder, "tiny", EXACT).query("바다 여행")
    assert cosine(made, FlagEncoder(dense_folder, "tiny", EXACT).query("바다 여행")) < 0.999


def test_no_more_is_read_than_the_model_was_trained_with(dense_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(dense_folder, tmp_path / "model")
    long = "바다 여행 " * 50
    whole = FlagEncoder(folder, "tiny", EXACT).passages([long])
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    short = FlagEncoder(folder, "tiny", EXACT)
    seen = forwards(short)

    assert short.passages([long]) != whole
    assert seen == [(1, 16)]

    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": "?"}')
    assert FlagEncoder(folder, "tiny", EXACT).passages([long]) == whole


@pytest.mark.models
def test_memory_that_runs_out_is_told_in_plain_words(encoder_folder: Path) -> None:
    import torch

    encoder = FlagEncoder(encoder_folder, "tiny@00000000", EXACT)
    with failing("model_memory") as caught, encoder._memory_errors():
        torch.empty(2**55)
    assert caught.value.message == "The model tiny does not fit into memory."
    with pytest.raises(RuntimeError), encoder._memory_errors():
        torch.empty(2, 3) @ torch.empty(2, 3)


def test_prompts_from_outside_stand_in_front_of_the_texts(encoder_folder: Path) -> None:
    plain = FlagEncoder(encoder_folder, "tiny-m3@00000000", EXACT)
    files = ModelStore(encoder_folder.parent, ModelSettings()).files(str(encoder_folder), "encoder")
    prompted = files.with_prompts(Prompts("질문: ", "글: "))
    encoder = open_encoder(prompted, prompted.id, EXACT, turns=PriorityLock())

    assert encoder.passages(["감자"]) == plain.passages(["글: 감자"])
    assert encoder.query("감자") == plain.query("질문: 감자")
