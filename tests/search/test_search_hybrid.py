"""Several retrievers and the reranker over one library: tiny models that FlagEmbedding and CrossEncoder really run."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from subtitle_rag.answers.gathering import AnswerOptions, Gatherer
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.events import VectorsReport
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.models.neural.reranker import CrossReranker
from subtitle_rag.search import reranking
from subtitle_rag.search.fusion import (
    RRF_K,
    WEIGHTS,
    add_video_scores,
    best_by_video,
    deciding_shares,
    fuse_scores,
    shares,
)
from subtitle_rag.search.parts import LEXICAL, NEURAL, RETRIEVERS
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.reranking import FULL, IN_ANSWER, IN_SEARCH, RerankBudget, RerankCache
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import Searcher, SearchResult
from tests.index.points import search as search_index
from tests.search.test_search import CAR, CRAB, LONG, STEW, VIDEOS
from tests.support.failures import failing
from tests.support.models_here import Asked, Here, Read
from tests.support.searchable import Searchable

if TYPE_CHECKING:
    from subtitle_rag.base.vectors.points import DenseVector, SparseVector

QUERY = parse_query("꽃게 소스에 찍어 먹어요")


def encode(made: Searchable, models: Here, encoder: Asked, videos: tuple[str, ...] = ()) -> VectorsReport:
    run = EncodingRun(made.library, made.index, encoder, models)
    *_, report = run.run(WindowSelection(videos=videos), patient=False)
    assert isinstance(report, VectorsReport)
    assert report.blocked is None
    return report


def with_models(made: Searchable, models: Here, analyzer: Analyzer) -> Searcher:
    return Searcher(made.library, made.index, QueryAnalyzer(made.library, analyzer), models)


@pytest.fixture(scope="module")
def tiny(made: Searchable, encoder_folder: Path) -> Asked:
    """The encoder that has made the library's vectors."""
    encoder = Asked(encoder_folder, "tiny@00000000")
    encode(made, Here([encoder]), encoder)
    return encoder


@pytest.fixture
def models(tiny: Asked, reranker_folder: Path) -> Here:
    tiny.queries.clear()
    return Here([tiny], Read(reranker_folder))


@pytest.fixture
def searcher(made: Searchable, models: Here, analyzer: Analyzer) -> Searcher:
    return with_models(made, models, analyzer)


@pytest.fixture
def fresh(tmp_path: Path, analyzer: Analyzer) -> Iterator[Searchable]:
    """A library without vectors."""
    one = Searchable(tmp_path / "fresh", analyzer, VIDEOS)
    yield one
    one.close()


def ids(result: SearchResult) -> list[str]:
    return [scene.id for scene in result.scenes]


# Retrievers


def lists_of(made: Searchable, tiny: Asked) -> dict[str, list[str]]:
    """The windows by each retriever alone, best first; whether one is carried is asked after the fusion."""
    encoded = tiny.query(QUERY.text)
    assert encoded.sparse
    names = dict(zip(NEURAL, vector_names(tiny.id), strict=True))
    return {
        "dense": [hit.id for hit in search_index(made.index, names["dense"], encoded.dense, limit=150)],
        "sparse": [hit.id for hit in search_index(made.index, names["sparse"], encoded.sparse, limit=150)],
        "bm25": [hit.id for hit in made.searcher.candidates(QUERY).lists["bm25"]],
    }


def test_every_retriever_has_its_part(searcher: Searcher, made: Searchable, tiny: Asked) -> None:
    lists = lists_of(made, tiny)
    ranked = searcher.rank(QUERY)
    assert {entry.window_id for entry in ranked} == set().union(*lists.values())
    for entry in ranked:
        ranks = {name: own.index(entry.window_id) + 1 for name, own in lists.items() if entry.window_id in own}
        listed = {name: one.rank for name, one in entry.scores.items() if name != "fused" and one.rank}
        assert listed == ranks
    candidates = searcher.candidates(QUERY)
    fused = fuse_scores(candidates, shares(candidates))
    assert {entry.window_id: entry.score for entry in ranked} == {entry.window_id: entry.score for entry in fused}
    assert dict(searcher.search(QUERY, rerank=False).shares) == deciding_shares(candidates, shares(candidates))
    assert searcher.search(QUERY, retrievers=("bm25",), rerank=False).shares == {}


def test_ranks_are_fused_where_that_is_asked_for(searcher: Searcher, made: Searchable, tiny: Asked) -> None:
    lists = lists_of(made, tiny)
    for entry in searcher.rank(QUERY, by_ranks=True):
        ranks = {name: own.index(entry.window_id) + 1 for name, own in lists.items() if entry.window_id in own}
        assert entry.score == pytest.approx(sum(WEIGHTS[name] / (RRF_K + rank) for name, rank in ranks.items()))


def test_scores_beyond_the_end_of_a_list_are_counted_as_those_in_it(
    searcher: Searcher, made: Searchable, tiny: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subtitle_rag.search.searcher.DEPTH", 2)
    lexical = QueryAnalyzer(made.library, searcher._queries._analyzer).analyze(QUERY.text)  # type: ignore[attr-defined]
    encoded = tiny.query(QUERY.text)
    assert encoded.sparse
    vectors: dict[str, SparseVector | DenseVector] = {
        "bm25": lexical.vector,
        "dense": encoded.dense,
        "sparse": encoded.sparse,
    }
    names = dict(zip(NEURAL, vector_names(tiny.id), strict=True))

    candidates = searcher.candidates(QUERY, depth=2)

    ids = {hit.id for hits in candidates.lists.values() for hit in hits}
    assert len(ids) > 2
    for name, vector in vectors.items():
        hits = search_index(made.index, names.get(name, name), vector, limit=500)
        if name == "bm25":
            hits = add_video_scores(hits, candidates.positions, best_by_video(hits[:2], candidates.positions))
        all_scores = {hit.id: hit.score for hit in hits if hit.id in ids}
        scores = dict(candidates.scores_on_demand.get(name, {})) | {hit.id: hit.score for hit in candidates.lists[name]}
        assert scores == pytest.approx(all_scores)


def test_what_shares_no_word_with_the_query_is_found_by_its_sense(searcher: Searcher, made: Searchable) -> None:
    assert made.searcher.search(parse_query("xyzzy")).scenes == ()
    assert searcher.search(parse_query("xyzzy"), rerank=False).scenes


@pytest.mark.parametrize("names", [("dense",), ("sparse",), ("bm25", "sparse"), ("dense", "bm25"), RETRIEVERS])
def test_named_retrievers_answer_alone(searcher: Searcher, names: tuple[str, ...]) -> None:
    result = searcher.search(QUERY, retrievers=names, rerank=False)
    assert set(result.retrievers) == set(names)
    assert {name for scene in result.scenes for name in scene.scores} == {*names, "fused"}


def test_filters_hold_for_every_retriever(searcher: Searcher) -> None:
    golmok, dipped, nothing = (
        searcher.search(parse_query(f"소스 {filters}"), rerank=False).scenes
        for filters in ("channel:골목", '"찍어 먹"', '"없는 말"')
    )
    assert {scene.video for scene in golmok} <= {CAR, LONG}
    assert dipped
    assert all("찍어 먹" in scene.text for scene in dipped)
    assert nothing == ()


def test_an_encoder_without_sparse_vectors_gives_dense_ones(
    fresh: Searchable, dense_folder: Path, analyzer: Analyzer
) -> None:
    models = Here([Asked(dense_folder, "dense-only@00000000")])
    encode(fresh, models, models.encoders[0])
    searcher = with_models(fresh, models, analyzer)
    assert searcher.search(QUERY).retrievers == ("bm25", "dense")
    with failing("retriever_not_ready", UsageError):
        searcher.search(QUERY, retrievers=("sparse",))


# Stages


def test_each_stage_is_a_whole_answer_and_the_last_is_final(searcher: Searcher, made: Searchable) -> None:
    first, second, third = searcher.stages(QUERY)
    assert first.scenes == made.searcher.search(QUERY).scenes
    assert second.scenes == searcher.search(QUERY, rerank=False).scenes
    assert third.scenes == searcher.search(QUERY).scenes
    assert [(r.retrievers, r.reranked, r.final) for r in (first, second, third)] == [
        (LEXICAL, False, False),
        (RETRIEVERS, False, False),
        (RETRIEVERS, True, True),
    ]
    assert [set(r.took_ms) for r in (first, second, third)] == [
        {"retrieve"},
        {"retrieve", "encode"},
        {"retrieve", "encode", "rerank"},
    ]


def test_nothing_is_done_before_it_is_asked_for(searcher: Searcher, models: Here, tiny: Asked) -> None:
    assert models.read
    stages = searcher.stages(QUERY)
    next(stages)
    assert tiny.queries == []
    next(stages)
    assert (tiny.queries, models.read.calls) == ([QUERY.text], [])
    stages.close()
    assert models.read.calls == []


def test_places_in_a_video_ask_no_model(searcher: Searcher, tiny: Asked) -> None:
    assert len(searcher.mentions(parse_query("꽃게"), CRAB.id)) == 3
    assert tiny.queries == []


def test_a_search_without_words_or_models_to_wait_for_is_final_at_once(made: Searchable, analyzer: Analyzer) -> None:
    (only,) = with_models(made, Here(), analyzer).stages(QUERY)
    assert (only.retrievers, only.final, only.reranked, only.missing) == (LEXICAL, True, False, ())


# The reranker


def own_scores(made: Searchable, reranker: Read, scenes: Sequence[Scene]) -> list[float]:
    windows = made.library.windows([scene.id for scene in scenes])
    return CrossReranker.scores(reranker, QUERY.text, [windows[scene.id].text for scene in scenes])


def test_the_reranker_orders_what_it_reads(searcher: Searcher, made: Searchable, models: Here) -> None:
    assert models.read
    before, after = list(searcher.stages(QUERY))[1:]
    assert set(ids(before)) == set(ids(after))
    assert ids(before) != ids(after)
    expected = own_scores(made, models.read, after.scenes)
    assert expected == sorted(expected, reverse=True)
    assert [scene.score for scene in after.scenes] == pytest.approx(expected, abs=1e-6)
    assert [scene.scores["rerank"].rank for scene in after.scenes] == list(range(1, len(after.scenes) + 1))
    fused = {scene.id: scene.scores["fused"] for scene in before.scenes}
    assert {scene.id: scene.scores["fused"] for scene in after.scenes} == fused


def test_scenes_beyond_the_reranker_s_depth_follow_as_they_were(
    made: Searchable, models: Here, reranker_folder: Path, analyzer: Analyzer
) -> None:
    models.read = Read(reranker_folder, depth=3)
    before, after = list(with_models(made, models, analyzer).stages(QUERY))[1:]
    assert models.read.calls == [3]
    assert set(ids(after)[:3]) == set(ids(before)[:3])
    assert ids(after)[3:] == ids(before)[3:]
    assert ["rerank" in scene.scores for scene in after.scenes[:5]] == [True] * 3 + [False] * 2


def test_the_best_of_more_than_are_shown_are_read(searcher: Searcher) -> None:
    everything = searcher.search(QUERY)
    few = searcher.search(QUERY, limit=2)
    assert ids(few) == ids(everything)[:2]
    assert few.more is True


def test_a_reranker_reads_what_words_alone_found(made: Searchable, models: Here, analyzer: Analyzer) -> None:
    first, last = with_models(made, Here(read=models.read), analyzer).stages(QUERY)
    assert (first.final, last.final, last.reranked, last.retrievers) == (False, True, True, LEXICAL)


def test_reading_stops_between_two_passes_and_goes_on_where_it_was(
    searcher: Searcher, models: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "CHUNK", 2)
    assert models.read
    read = models.read
    results = list(searcher.stages(QUERY, stop=lambda: bool(read.calls)))
    assert [result.final for result in results] == [False, False]
    assert read.calls == [2]
    whole = searcher.search(QUERY)
    assert whole.reranked
    assert sum(read.calls) == len(whole.scenes) > 4
    count = len(read.calls)
    assert searcher.search(QUERY).scenes == whole.scenes
    assert len(read.calls) == count


def test_each_caller_has_its_own_depth(
    made: Searchable, tiny: Asked, reranker_folder: Path, analyzer: Analyzer
) -> None:
    def pairs(depth: int | None, ask: Callable[[Searcher], object], budget: RerankBudget = IN_SEARCH) -> int:
        read = Read(reranker_folder, depth)
        models = Here([tiny], read)
        queries = QueryAnalyzer(made.library, analyzer)
        ask(Searcher(made.library, made.index, queries, models, budget=budget))
        return sum(read.calls)

    def answer(searcher: Searcher) -> object:
        return Gatherer(made.library, searcher, analyzer).gather(QUERY, None, AnswerOptions(whole=False))

    every = len(with_models(made, Here([tiny]), analyzer).search(QUERY).scenes)
    assert every > 5
    assert pairs(1, lambda searcher: list(searcher.stages(QUERY))) == 1
    assert pairs(1, lambda searcher: searcher.search(QUERY)) == 1
    assert pairs(1, lambda searcher: searcher.search(QUERY), RerankBudget(3)) == 3
    assert pairs(1, lambda searcher: searcher.search(QUERY, budget=RerankBudget(4)), RerankBudget(3)) == 4
    assert pairs(1, lambda searcher: searcher.search(QUERY, budget=FULL)) == every
    assert pairs(1, answer) == 5  # in ten seconds what is read in two, five times
    assert pairs(None, answer) == every


@pytest.mark.parametrize(
    ("depth", "budget", "windows"),
    [
        (5, IN_SEARCH, 5),
        (None, IN_SEARCH, 20),
        (5, IN_ANSWER, 25),
        (100, IN_ANSWER, 150),
        (5, FULL, 150),
        (100, RerankBudget(7), 7),
    ],
)
def test_the_budget_is_a_number_or_a_time(
    reranker_folder: Path, depth: int | None, budget: RerankBudget, windows: int
) -> None:
    assert budget.windows(Read(reranker_folder, depth)) == windows


def test_reading_for_an_answer_ends_with_its_time(models: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    assert models.read
    now = [0.0]
    monkeypatch.setattr(reranking, "CHUNK", 1)
    monkeypatch.setattr(reranking, "time", SimpleNamespace(monotonic=lambda: now[0]))
    passages = {name: f"{name} 소스" * at for at, name in enumerate("다나가", start=1)}
    steps = RerankCache().reading(models.read, "소스", passages, 10.0)

    assert next(steps) == {}
    now[0] = 9.0
    assert list(next(steps)) == ["다"]  # the first, not the longest or the shortest
    now[0] = 10.0
    assert list(steps) == []
    assert models.read.calls == [1]


def test_a_refined_search_has_an_order_after_each_chunk(
    searcher: Searcher, models: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "CHUNK", 2)
    monkeypatch.setattr("subtitle_rag.search.searcher.REFINED_S", 0.0)
    whole = searcher.search(QUERY, budget=FULL)
    before = searcher.search(QUERY, rerank=False)
    assert models.read
    models.read.id = "another@00000000"  # the cache has no scores of it

    *steps, last = list(searcher.stages(QUERY, budget=FULL, refine=True))[2:]

    every = len(whole.scenes)
    assert [step.rerank_progress for step in steps] == [(read, every) for read in range(0, every, 2)]
    for step in steps:
        read, _every = step.rerank_progress or (0, 0)
        assert set(ids(step)[:read]) == set(ids(before)[:read])
        assert ids(step)[read:] == ids(before)[read:]
        assert (step.final, step.reranked) == (False, read > 0)
    assert (ids(last), last.final, last.rerank_progress) == (ids(whole), True, None)


def test_it_reads_a_context_before_the_text(fresh: Searchable, models: Here, analyzer: Analyzer) -> None:
    assert models.read
    searcher = with_models(fresh, Here(read=models.read), analyzer)
    (scene,) = searcher.search(parse_query('"간장을 조금"')).scenes
    plain = CrossReranker.scores(models.read, "간장을 조금", [scene.text])
    assert [scene.score] == pytest.approx(plain, abs=1e-6)


# Where models fail


def damaged(folder: Path, copy: Path) -> Path:
    shutil.copytree(folder, copy)
    for weights in (*copy.glob("*.bin"), *copy.glob("*.safetensors")):
        weights.write_bytes(weights.read_bytes()[:1000])
    return copy


def test_an_encoder_that_fails_leaves_the_answer_to_words(
    made: Searchable, models: Here, tiny: Asked, tmp_path: Path, analyzer: Analyzer
) -> None:
    broken = Here([Asked(damaged(tiny.path, tmp_path / "broken"), tiny.id)], models.read)
    searcher = with_models(made, broken, analyzer)
    result = searcher.search(QUERY, rerank=False)
    assert result.scenes == made.searcher.search(QUERY).scenes
    assert [(name, error.code) for name, error in result.missing] == [(name, "model_damaged") for name in NEURAL]
    assert searcher.search(QUERY).reranked
    with failing("model_damaged"):
        searcher.search(QUERY, retrievers=("bm25", "dense"))


def test_a_reranker_that_fails_leaves_the_order_as_it_is(
    made: Searchable, tiny: Asked, reranker_folder: Path, tmp_path: Path, analyzer: Analyzer
) -> None:
    models = Here([tiny], Read(damaged(reranker_folder, tmp_path / "broken")))
    before, after = list(with_models(made, models, analyzer).stages(QUERY))[1:]
    assert (after.scenes, after.reranked, after.final) == (before.scenes, False, True)
    assert [(name, error.code) for name, error in after.missing] == [("rerank", "model_damaged")]


# While vectors are made


def test_what_has_no_vectors_yet_keeps_the_place_its_words_give_it(
    fresh: Searchable, tiny: Asked, analyzer: Analyzer
) -> None:
    encode(fresh, Here([tiny]), tiny, videos=(STEW.id, CAR.id, LONG.id))
    best, *_ = with_models(fresh, Here([tiny]), analyzer).rank(parse_query("꽃게찜을 소스에 찍어 먹으면"))
    assert (best.video_id, set(best.scores)) == (CRAB.id, {"bm25", "fused"})


def test_searches_go_on_while_an_encoder_comes_and_another_takes_its_place(
    fresh: Searchable, tiny: Asked, other_encoder_folder: Path, analyzer: Analyzer
) -> None:
    models = Here()
    searcher = with_models(fresh, models, analyzer)
    seen = [searcher.search(QUERY)]
    for encoder in (tiny, Asked(other_encoder_folder, "other@00000000")):
        models.encoders.append(encoder)
        for _event in EncodingRun(fresh.library, fresh.index, encoder, models).run(patient=False):
            seen.append(searcher.search(QUERY))
        assert fresh.library.vectors.active() == encoder.id
    assert all(result.scenes and not result.missing for result in seen)
    ready = [result.retrievers for result in seen]
    assert ready[0] == LEXICAL
    assert set(ready[ready.index(RETRIEVERS) :]) == {RETRIEVERS}
    assert len(models.encoders[1].queries) >= 1
    models.encoders.clear()  # their files are gone
    assert searcher.search(QUERY).retrievers == LEXICAL
