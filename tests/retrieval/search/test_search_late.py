"""Token vectors as the second stage of a search: tiny models with BGE-M3's ColBERT head over a real index."""

from pathlib import Path

import numpy as np
import pytest

from subtitle_rag.domain import UsageError
from subtitle_rag.retrieval.korean.lexical import QueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.named_vectors import multivector_name
from subtitle_rag.retrieval.search.fusion import LATE_SHARE, fuse_late
from subtitle_rag.retrieval.search.parts import RETRIEVERS
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.search.searcher import Searcher
from subtitle_rag.retrieval.values import Hit, MultiVector
from tests.retrieval.search.test_search import CAR, CRAB, STEW, VIDEOS
from tests.retrieval.search.test_search_hybrid import encode, ids, with_models
from tests.support.failures import failing
from tests.support.models_here import Asked, Here, Read
from tests.support.searchable import Searchable

QUERY = parse_query("꽃게 소스에 찍어 먹어요")


@pytest.fixture(scope="module")
def late(made: Searchable, encoder_folder: Path) -> Asked:
    """The encoder that has made the library's vectors, token vectors among them."""
    encoder = Asked(encoder_folder, "tiny@00000000/tokens")
    encode(made, Here([encoder]), encoder)
    return encoder


@pytest.fixture
def searcher(made: Searchable, late: Asked, analyzer: Analyzer) -> Searcher:
    return with_models(made, Here([late]), analyzer)


def numpy_max_sim(made: Searchable, encoder: Asked, names: list[str]) -> list[Hit]:
    """Compute MaxSim of the query and these windows in numpy, best first."""
    query = encoder.query(QUERY.text).tokens
    assert query is not None
    scores = {}
    for point in made.index.get(names):
        tokens = point.vectors[multivector_name(encoder.id)]
        assert isinstance(tokens, MultiVector)
        scores[point.id] = float((np.array(query.rows()) @ np.array(tokens.rows()).T).max(axis=1).sum())
    return [Hit(id, scores[id]) for id in sorted(scores, key=lambda name: -scores[name])]


def test_the_order_by_tokens_is_that_of_numpy(searcher: Searcher, made: Searchable, late: Asked) -> None:
    before = searcher.rank(QUERY, retrievers=RETRIEVERS)
    after = searcher.rank(QUERY)
    hits = numpy_max_sim(made, late, [entry.window_id for entry in before])
    assert len(hits) == len(after) == len(before) > 5
    by_tokens = sorted(after, key=lambda entry: entry.scores["late"].rank or 0)
    assert [entry.window_id for entry in by_tokens] == [hit.id for hit in hits]
    assert [entry.scores["late"].score for entry in by_tokens] == pytest.approx([hit.score for hit in hits], abs=5e-3)
    assert [entry.window_id for entry in after] == [entry.window_id for entry in fuse_late(before, hits)]
    assert [entry.window_id for entry in after] != [entry.window_id for entry in before]


def test_the_result_says_that_tokens_had_a_part(searcher: Searcher) -> None:
    words, whole = searcher.stages(QUERY)
    assert (words.retrievers, words.final) == (("bm25",), False)
    assert (whole.retrievers, whole.final) == ((*RETRIEVERS, "late"), True)
    assert whole.shares["late"] == LATE_SHARE
    assert sum(whole.shares.values()) == pytest.approx(1)
    assert set(whole.took_ms) == {"retrieve", "encode", "late"}
    assert "late" in whole.scenes[0].scores
    plain = searcher.search(QUERY, retrievers=RETRIEVERS)
    assert (plain.retrievers, "late" in plain.took_ms) == (RETRIEVERS, False)
    assert sum(plain.shares.values()) == pytest.approx(1)


def test_words_and_tokens_do_without_the_other_vectors(searcher: Searcher) -> None:
    result = searcher.search(QUERY, retrievers=("bm25", "late"))
    assert (result.retrievers, dict(result.shares)) == (("bm25", "late"), {"bm25": 0.5, "late": 0.5})
    by_words = searcher.rank(QUERY, retrievers=("bm25",))
    assert {entry.window_id for entry in searcher.rank(QUERY, retrievers=("bm25", "late"))} == {
        entry.window_id for entry in by_words
    }


def test_tokens_alone_find_nothing_and_that_is_said(searcher: Searcher) -> None:
    with pytest.raises(UsageError) as caught:
        searcher.search(QUERY, retrievers=("late",))
    assert (caught.value.code, caught.value.details["ready"]) == ("late_alone", "bm25, dense, sparse")


def test_only_the_best_windows_are_compared(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    before = searcher.rank(QUERY, retrievers=RETRIEVERS)
    monkeypatch.setattr("subtitle_rag.retrieval.search.searcher.LATE_DEPTH", 3)
    after = searcher.rank(QUERY)
    assert {entry.window_id for entry in after[:3]} == {entry.window_id for entry in before[:3]}
    assert [entry.window_id for entry in after[3:]] == [entry.window_id for entry in before[3:]]
    assert [("late" in entry.scores) for entry in after] == [True] * 3 + [False] * (len(after) - 3)
    scores = [entry.score for entry in after]
    assert scores == sorted(scores, reverse=True)


def test_ranks_are_fused_where_the_user_wants_it(made: Searchable, late: Asked, analyzer: Analyzer) -> None:
    queries = QueryAnalyzer(made.library, analyzer)
    by_ranks = Searcher(made.library, made.index, queries, Here([late]), fusion="ranks")
    before = by_ranks.rank(QUERY, retrievers=RETRIEVERS)
    hits = numpy_max_sim(made, late, [entry.window_id for entry in before])
    expected = fuse_late(before, hits, by_ranks=True)
    assert [entry.window_id for entry in by_ranks.rank(QUERY)] == [entry.window_id for entry in expected]
    assert by_ranks.search(QUERY).shares == {}


def test_the_reranker_reads_the_order_by_tokens(
    made: Searchable, late: Asked, reranker_folder: Path, analyzer: Analyzer
) -> None:
    searcher = with_models(made, Here([late], Read(reranker_folder, depth=2)), analyzer)
    _words, ordered, reranked = searcher.stages(QUERY)
    assert (ordered.retrievers, reranked.reranked) == ((*RETRIEVERS, "late"), True)
    assert set(ids(reranked)[:2]) == set(ids(ordered)[:2])


def test_windows_without_token_vectors_keep_their_place(
    tmp_path: Path, late: Asked, encoder_folder: Path, analyzer: Analyzer
) -> None:
    made = Searchable(tmp_path / "fresh", analyzer, VIDEOS)
    searcher = with_models(made, Here([late]), analyzer)
    assert searcher.ready() == ("bm25",)
    encode(made, Here([late]), late, videos=(STEW.id, CAR.id))
    best, *rest = searcher.rank(parse_query("꽃게찜을 소스에 찍어 먹으면"))
    assert (best.video_id, "late" in best.scores) == (CRAB.id, False)
    assert any("late" in entry.scores for entry in rest)
    # an index that has lost them, as one of an earlier version has none
    made.index.drop_vector(multivector_name(late.id))
    result = searcher.search(QUERY)
    assert (result.retrievers, result.missing) == (RETRIEVERS, ())
    assert "late" not in result.shares
    made.close()


def test_without_them_nothing_is_asked(made: Searchable, late: Asked, analyzer: Analyzer) -> None:
    class Plain(Asked):
        token_dimensions = 0

    plain = Plain(late.path, "tiny@00000000")
    made.library.vectors.activate(plain.id)
    try:
        searcher = with_models(made, Here([plain]), analyzer)
        assert searcher.ready() == RETRIEVERS
        with failing("retriever_not_ready", UsageError):
            searcher.search(QUERY, retrievers=("bm25", "late"))
    finally:
        made.library.vectors.activate(late.id)
