"""The reranker over a tiny model; what sentence-transformers' own `predict` says is the reference."""

import json
import weakref
from pathlib import Path

import pytest

from subtitle_rag.captions.windows import MAX_CHARS
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.local_model import quiet
from subtitle_rag.models.neural.reranker import LEAST_DEPTH, MOST_DEPTH, PAIR_TOKENS, CrossReranker
from tests.support.models_here import EXACT

QUERY = "매운 치킨 소스"
PASSAGES = (
    "치킨 소스를 만들어 볼게요",
    "",
    "김치 국물에 국수를 말아서 먹었어요. " * 3,
    "바다",
    "안녕하세요 느긋한 식탁의 다온입니다 " * 60,
    "Wi-Fi 🍜 \x00\u202e",
    "바다",
)


@pytest.fixture(scope="module")
def reranker(reranker_folder: Path) -> CrossReranker:
    return CrossReranker(reranker_folder, "tiny@00000000", EXACT)


def forwards(reranker: CrossReranker) -> list[tuple[int, int]]:
    """Filled with the shape (pairs, tokens) of each pass from here on."""
    seen: list[tuple[int, int]] = []
    reranker.load()
    reranker._ready().register_forward_pre_hook(lambda _model, given: seen.append(tuple(given[0]["input_ids"].shape)))
    return seen


def test_scores_are_those_of_the_cross_encoder_in_the_order_of_the_passages(
    reranker: CrossReranker, reranker_folder: Path
) -> None:
    with quiet():
        from sentence_transformers import CrossEncoder

        model = CrossEncoder(str(reranker_folder), device="cpu", local_files_only=True)
        expected = model.predict([(QUERY, passage) for passage in PASSAGES], show_progress_bar=False).tolist()
    made = reranker.scores(QUERY, PASSAGES)
    assert made == pytest.approx(expected, abs=1e-5)
    assert {type(score) for score in made} == {float}
    assert all(0 < score < 1 for score in made)
    assert len({round(score, 3) for score in made}) == len(PASSAGES) - 1


def test_no_passages_have_no_scores(reranker_folder: Path) -> None:
    reranker = CrossReranker(reranker_folder, "tiny", EXACT)
    assert reranker.scores(QUERY, []) == []
    assert not reranker.loaded


def test_half_a_character_harms_nothing(reranker: CrossReranker) -> None:
    assert reranker.scores("바다 \ud83c", ["여행 \udcff"]) == pytest.approx(reranker.scores("바다 ?", ["여행 ?"]))


def test_rounded_scores_are_nearly_those_of_float32(reranker: CrossReranker, reranker_folder: Path) -> None:
    rounded = CrossReranker(reranker_folder, "tiny", Plan("cpu", "bfloat16", "this one", 2, "bfloat16"))
    assert rounded.scores(QUERY, PASSAGES) == pytest.approx(reranker.scores(QUERY, PASSAGES), abs=0.03)


def test_pairs_go_together_by_their_length(reranker_folder: Path) -> None:
    reranker = CrossReranker(reranker_folder, "tiny", EXACT)
    seen = forwards(reranker)
    reranker.scores(QUERY, ["바다 여행 " * 190, *["바다 여행"] * 9, "바다 여행 " * 180])
    assert 512 < seen[0][1] <= PAIR_TOKENS
    assert sum(pairs for pairs, _tokens in seen) == 11
    assert len(seen) < 11


def test_the_longest_window_is_read_to_its_end(reranker: CrossReranker) -> None:
    start = "김치 국물에 국수를 말아서 먹었어요. " * 90
    ends = [start + "치킨 소스", start + "바다"]
    assert len(start) > 0.9 * MAX_CHARS
    sure, other = reranker.scores(QUERY, ends)
    assert abs(sure - other) > 1e-4


def test_a_model_that_reads_less_gets_parts_and_the_best_one_counts(reranker_folder: Path) -> None:
    reranker = CrossReranker(reranker_folder, "tiny", EXACT)
    seen = forwards(reranker)
    reranker._ready().max_seq_length = 64
    long = "".join(f"{number}번째 국수를 삶고 바다로 갔어요. " for number in range(12)) + "치킨 소스"
    parts = reranker._parts(QUERY, long)

    (score,) = reranker.scores(QUERY, [long])

    assert len(parts) > 2
    assert "".join(parts) == long
    assert score == pytest.approx(max(reranker.scores(QUERY, parts)))
    assert max(tokens for _pairs, tokens in seen) <= 64
    reranker._ready().max_seq_length = 2048
    assert reranker._parts(QUERY, long) == [long]


@pytest.mark.campaign(part="models")
def test_a_closed_reranker_lets_go_of_its_model_and_loads_it_again_when_asked(reranker_folder: Path) -> None:
    reranker = CrossReranker(reranker_folder, "tiny", EXACT)
    before = reranker.scores(QUERY, PASSAGES)
    layers = weakref.ref(reranker._ready())
    reranker.close()
    assert not reranker.loaded
    assert layers() is None
    assert reranker.scores(QUERY, PASSAGES) == pytest.approx(before)


def test_the_depth_is_measured_by_reading_pairs_as_long_as_those_of_a_search(reranker_folder: Path) -> None:
    reranker = CrossReranker(reranker_folder, "tiny", EXACT)
    seen = forwards(reranker)
    assert LEAST_DEPTH <= reranker.measure() <= MOST_DEPTH
    assert reranker.depth is not None
    assert len(seen) >= 2
    assert len({tokens for _pairs, tokens in seen}) == 1
    assert 200 < seen[0][1] < 512


def test_a_depth_is_remembered_for_its_model_and_machine(
    reranker_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cache" / "depths.json"
    other_plan = Plan("cpu", "bfloat16", "this one", 2, "bfloat16")

    def opened(plan: Plan) -> CrossReranker:
        return CrossReranker(reranker_folder, "tiny@00000000", plan, depths=path)

    assert opened(EXACT).depth is None
    for plan, pass_s, depth in ((EXACT, 0.4, 20), (other_plan, 0.2, 40)):
        monkeypatch.setattr(CrossReranker, "_timed", lambda _self, _count, pass_s=pass_s: pass_s)
        assert opened(plan).measure() == depth
    assert [file.name for file in path.parent.iterdir()] == ["depths.json"]
    assert (opened(EXACT).depth, opened(other_plan).depth) == (20, 40)


@pytest.mark.parametrize("value", ['"20"', "true", "0", "1e9"])
def test_a_damaged_depth_is_none(reranker_folder: Path, tmp_path: Path, value: str) -> None:
    path = tmp_path / "depths.json"
    path.write_text(f'{{"tiny@00000000 cpu this one float32 2": {value}}}')
    assert CrossReranker(reranker_folder, "tiny@00000000", EXACT, depths=path).depth is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"k": "20"}', "\x00"])
def test_a_damaged_memory_remembers_nothing(
    reranker_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    path = tmp_path / "depths.json"
    path.write_text(content)
    reranker = CrossReranker(reranker_folder, "tiny@00000000", EXACT, depths=path)
    assert reranker.depth is None
    monkeypatch.setattr(CrossReranker, "_timed", lambda _self, _count: 0.4)
    reranker.measure()
    assert json.loads(path.read_text())["tiny@00000000 cpu this one float32 2"] == 20
