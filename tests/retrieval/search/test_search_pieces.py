"""Vectors of pieces in a search: a share in the order, and the second to jump to. Tiny models over a real index."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from subtitle_rag.domain import UsageError
from subtitle_rag.retrieval.korean.lexical import QueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.named_vectors import multivector_name, piece_id, vector_names
from subtitle_rag.retrieval.pieces import cut_pieces
from subtitle_rag.retrieval.search.fusion import PIECE_SHARE, Candidates, add_pieces, fuse_scores
from subtitle_rag.retrieval.search.parts import RETRIEVERS
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.search.searcher import Searcher
from subtitle_rag.retrieval.values import DenseVector, Hit, MultiVector, VectorSearch
from tests.retrieval.search.test_search import CAR, CRAB, VIDEOS
from tests.retrieval.search.test_search_hybrid import encode, with_models
from tests.support.models_here import Asked, Here
from tests.support.searchable import Searchable

QUERY = parse_query("꽃게 소스에 찍어 먹어요")
UNSAID = parse_query("바다 냄새가 나는 저녁상")


class Detailed(Asked):
    has_pieces = True


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Searchable]:
    one = Searchable(tmp_path_factory.mktemp("library"), analyzer, VIDEOS)
    yield one
    one.close()


@pytest.fixture(scope="module")
def detailed(analysed: Searchable, encoder_folder: Path) -> Detailed:
    encoder = Detailed(encoder_folder, "tiny@00000000")
    assert encode(analysed, Here([encoder]), encoder).pieces == len(window_ids(analysed))
    return encoder


@pytest.fixture
def searcher(analysed: Searchable, detailed: Detailed, analyzer: Analyzer) -> Searcher:
    return with_models(analysed, Here([detailed]), analyzer)


def window_ids(made: Searchable) -> list[str]:
    videos = [state.video.id for state in made.library.videos()]
    return [window.id for id in videos for window in made.library.windows_of(id)]


def cosines(made: Searchable, encoder: Asked, text: str) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Compute the cosines of the windows and of their pieces in numpy."""
    query = np.array(encoder.query(text).dense.values)
    own: dict[str, float] = {}
    pieces: dict[str, list[float]] = {}
    for point in made.index.get(window_ids(made)):
        dense, parts = (point.vectors[name] for name in (vector_names(encoder.id)[0], of_pieces(encoder)))
        assert isinstance(dense, DenseVector)
        assert isinstance(parts, MultiVector)
        own[point.id] = float(np.array(dense.values) @ query)
        pieces[point.id] = (np.array(parts.rows()) @ query).tolist()
    return own, pieces


def of_pieces(encoder: Asked) -> str:
    return multivector_name(piece_id(encoder.id))


def test_the_best_piece_has_a_share_in_a_window_s_cosine(
    searcher: Searcher, analysed: Searchable, detailed: Detailed
) -> None:
    whole, pieces = cosines(analysed, detailed, UNSAID.text)
    mean = np.mean([max(pieces[id]) - whole[id] for id in whole])
    assert mean != 0
    expected = {id: (1 - PIECE_SHARE) * whole[id] + PIECE_SHARE * max(pieces[id]) for id in whole}
    ranked = searcher.rank(UNSAID, retrievers=("dense", "pieces"))
    assert {entry.window_id for entry in ranked} == set(expected)
    values = [expected[entry.window_id] for entry in ranked if entry.score > 0]  # those far out are all 0
    assert all(one >= other - 2e-3 for one, other in pairwise(values))
    assert len(values) > len(expected) / 2
    assert {entry.window_id: entry.scores["pieces"].score for entry in ranked} == pytest.approx(
        {id: max(own) for id, own in pieces.items()}, abs=5e-3
    )
    assert {entry.window_id: entry.scores["dense"].score for entry in ranked} == pytest.approx(whole, abs=2e-3)
    assert ranked != searcher.rank(UNSAID, retrievers=("dense",))


def test_pieces_order_what_retrievers_have_found_and_find_nothing(searcher: Searcher) -> None:
    before = searcher.rank(QUERY, retrievers=RETRIEVERS)
    after = searcher.rank(QUERY)
    assert {entry.window_id for entry in before} == {entry.window_id for entry in after}
    assert [entry.window_id for entry in before] != [entry.window_id for entry in after]
    assert all("pieces" in entry.scores for entry in after)


def test_the_result_says_that_pieces_had_a_part(searcher: Searcher) -> None:
    words, whole = searcher.stages(QUERY)
    assert (words.retrievers, whole.retrievers) == (("bm25",), (*RETRIEVERS, "pieces"))
    assert whole.shares["pieces"] == pytest.approx(whole.shares["dense"] * PIECE_SHARE / (1 - PIECE_SHARE))
    assert sum(whole.shares.values()) == pytest.approx(1)
    plain = searcher.search(QUERY, retrievers=RETRIEVERS)
    assert plain.retrievers == RETRIEVERS
    assert "pieces" not in plain.shares


@pytest.mark.parametrize(("names", "code"), [(("bm25", "pieces"), "pieces_without_dense"), (("pieces",), "late_alone")])
def test_pieces_need_the_windows_own_vectors(searcher: Searcher, names: tuple[str, ...], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        searcher.search(QUERY, retrievers=names)
    assert caught.value.code == code


def test_filters_hold(searcher: Searcher) -> None:
    result = searcher.search(parse_query(f"{QUERY.text} video:{CRAB.id}"))
    assert {scene.video.id for scene in result.scenes} == {CRAB.id}
    assert searcher.search(parse_query('"없는 말이다"')).scenes == ()


def test_the_search_by_pieces_costs_no_call_of_the_index_more(
    analysed: Searchable, detailed: Detailed, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    ask = analysed.index.search_all

    def counted(searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        calls.append(len(searches))
        return ask(searches)

    monkeypatch.setattr(analysed.index, "search_all", counted)
    searcher = with_models(analysed, Here([detailed]), analyzer)
    searcher.rank(QUERY, depth=5, retrievers=("bm25", "dense"))
    plain, with_pieces = list(calls), calls
    calls.clear()
    searcher.rank(QUERY, depth=5, retrievers=("bm25", "dense", "pieces"))
    assert (len(with_pieces), sum(with_pieces)) == (len(plain), sum(plain) + 1)


def test_where_no_typed_word_is_said_the_jump_goes_to_the_nearest_piece(
    searcher: Searcher, analysed: Searchable, detailed: Detailed
) -> None:
    _whole, pieces = cosines(analysed, detailed, UNSAID.text)
    result = searcher.search(UNSAID, limit=50)
    jumps = set()
    for scene in result.scenes:
        assert scene.reason not in ("said", "related")
        windows = [
            window
            for window in analysed.library.windows_of(scene.video.id)
            if scene.start_ms <= window.start_ms < scene.end_ms
        ]
        by_start = {
            start: cosine
            for window in windows
            for (start, _text), cosine in zip(cut_pieces(window), pieces[window.id], strict=True)
        }
        assert by_start[scene.at_ms] >= max(by_start.values()) - 2e-3  # some pieces are alike
        assert scene.at_ms in {line.start_ms for line in scene.lines}
        jumps.add((scene.at_ms // 1000) % 60)
    assert len(jumps) > 1


def test_where_words_are_said_the_jump_goes_there_with_pieces_as_without(searcher: Searcher) -> None:
    def jumps(retrievers: tuple[str, ...]) -> dict[str, int]:
        scenes = searcher.search(QUERY, limit=50, retrievers=retrievers).scenes
        return {scene.id: scene.at_ms for scene in scenes if scene.reason in ("said", "related")}

    with_pieces, without = jumps((*RETRIEVERS, "pieces")), jumps(RETRIEVERS)
    both = with_pieces.keys() & without.keys()
    assert len(both) > 2
    assert {id: with_pieces[id] for id in both} == {id: without[id] for id in both}


def test_pieces_of_an_earlier_text_lead_nowhere(
    searcher: Searcher, analysed: Searchable, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {scene.id: scene.at_ms for scene in searcher.search(UNSAID, retrievers=RETRIEVERS).scenes}
    monkeypatch.setattr(analysed.index, "nearest_parts", lambda _name, _query, ids: dict.fromkeys(ids, 99))
    assert {scene.id: scene.at_ms for scene in searcher.search(UNSAID).scenes}.items() >= {
        id: at for id, at in before.items() if id in {s.id for s in searcher.search(UNSAID).scenes}
    }.items()


def test_ranks_are_fused_where_the_user_wants_it(analysed: Searchable, detailed: Detailed, analyzer: Analyzer) -> None:
    by_ranks = Searcher(
        analysed.library, analysed.index, QueryAnalyzer(analysed.library, analyzer), Here([detailed]), fusion="ranks"
    )
    whole, pieces = cosines(analysed, detailed, UNSAID.text)
    expected = sorted(whole, key=lambda name: -((1 - PIECE_SHARE) * whole[name] + PIECE_SHARE * max(pieces[name])))
    ranked = by_ranks.rank(UNSAID, retrievers=("bm25", "dense", "pieces"))
    ranks = {entry.window_id: entry.scores["dense"].rank for entry in ranked if "dense" in entry.scores}
    assert sorted(ranks, key=lambda name: ranks[name] or 0) == expected


def test_a_window_without_pieces_is_where_the_others_gain_puts_it() -> None:
    cosines = {"a": 0.80, "b": 0.84, "c": 0.82, "d": 0.83}
    assert add_pieces(cosines, {}) == cosines
    full = add_pieces(cosines, {"a": 0.88, "b": 0.86, "c": 0.82, "d": 0.85})
    half = add_pieces(cosines, {"a": 0.88, "b": 0.86, "c": 0.82})
    assert half == pytest.approx({id: full[id] for id in "abc"} | {"d": 0.83 + PIECE_SHARE * 0.1 / 3})
    # as if nobody had any
    alike = add_pieces(cosines, {"a": 0.83, "b": 0.87})
    assert sorted(alike, key=alike.__getitem__) == sorted(cosines, key=cosines.__getitem__)


def test_a_strange_piece_alone_lifts_a_window_in_the_fused_order() -> None:
    hits = [Hit(id, score, {}) for id, score in zip("abcdefgh", np.linspace(0.86, 0.79, 8), strict=True)]
    places = {hit.id: ("v", at) for at, hit in enumerate(hits)}
    words = [Hit("a", 3.0, {}), Hit("e", 3.0, {})]
    shares = {"bm25": 0.4, "dense": 0.6}
    plain = Candidates({"bm25": words, "dense": hits}, places)
    pieces = {hit.id: hit.score for hit in hits} | {"e": 0.93}
    lifted = Candidates({"bm25": words, "dense": hits}, places, pieces=pieces)
    assert [entry.window_id for entry in fuse_scores(plain, shares)][:1] == ["a"]
    assert [entry.window_id for entry in fuse_scores(lifted, shares)][:1] == ["e"]
    assert [entry.scores["pieces"].rank for entry in fuse_scores(lifted, shares)][:1] == [1]


def test_half_of_the_pieces_punish_nobody(tmp_path: Path, encoder_folder: Path, analyzer: Analyzer) -> None:
    made = Searchable(tmp_path / "fresh", analyzer, VIDEOS)
    plain, detailed = Asked(encoder_folder, "tiny@00000000"), Detailed(encoder_folder, "tiny@00000000")
    encode(made, Here([plain]), plain)
    without = {entry.window_id for entry in with_models(made, Here([plain]), analyzer).rank(UNSAID)[:8]}
    encode(made, Here([detailed]), detailed, videos=(CAR.id,))
    searcher = with_models(made, Here([detailed]), analyzer)
    ranked = searcher.rank(UNSAID)
    has = {entry.window_id for entry in ranked if "pieces" in entry.scores}
    assert {made.library.places([id])[id][0] for id in has} == {CAR.id}
    assert len(without & {entry.window_id for entry in ranked[:8]}) >= 6
    # an index that has lost them
    made.index.drop_vector(of_pieces(detailed))
    result = searcher.search(UNSAID)
    assert (result.retrievers, result.missing) == (RETRIEVERS, ())
    made.close()


def test_without_them_nothing_is_asked(analysed: Searchable, detailed: Detailed, analyzer: Analyzer) -> None:
    plain = Asked(detailed.path, detailed.id)
    searcher = with_models(analysed, Here([plain]), analyzer)
    assert searcher.ready() == RETRIEVERS
    with pytest.raises(UsageError) as caught:
        searcher.search(QUERY, retrievers=(*RETRIEVERS, "pieces"))
    assert caught.value.code == "retriever_not_ready"
