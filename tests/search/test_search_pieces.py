"""Vectors of pieces in a search: a share in the order, and the second to jump to. Tiny models over a real index."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Window
from subtitle_rag.base.vectors.named_vectors import pieces_name, vector_names
from subtitle_rag.base.vectors.pieces import cut_pieces
from subtitle_rag.base.vectors.points import DenseVector, Hit, MultiVector, VectorSearch
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.fusion import PIECE_SHARE, Candidates, add_pieces, fuse_scores
from subtitle_rag.search.parts import RETRIEVERS
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import Searcher
from tests.search.test_search import CAR, CRAB, VIDEOS as TALKS
from tests.search.test_search_hybrid import encode, with_models
from tests.support.failures import failing
from tests.support.models_here import Asked, Here
from tests.support.searchable import FILLER, LINE_MS, Searchable, video

QUERY = parse_query("꽃게 소스에 찍어 먹어요")
SOUP = video("soup0000001", "점심")
VIDEOS = {**TALKS, SOUP: [[FILLER, FILLER, "국물이 시원해요"]]}
UNSAID = parse_query("바다 냄새가 나는 저녁상")


class Detailed(Asked):
    has_pieces = True


@pytest.fixture(scope="module")
def detailed(made: Searchable, encoder_folder: Path) -> Detailed:
    encoder = Detailed(encoder_folder, "tiny@00000000")
    assert encode(made, Here([encoder]), encoder).pieces == len(window_ids(made))
    return encoder


@pytest.fixture
def searcher(made: Searchable, detailed: Detailed, analyzer: Analyzer) -> Searcher:
    return with_models(made, Here([detailed]), analyzer)


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
    return pieces_name(encoder.id)


def test_the_best_piece_has_a_share_in_a_window_s_cosine(
    searcher: Searcher, made: Searchable, detailed: Detailed
) -> None:
    whole, pieces = cosines(made, detailed, UNSAID.text)
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


@pytest.mark.parametrize("names", [("bm25", "pieces"), ("pieces",)])
def test_pieces_need_the_windows_own_vectors(searcher: Searcher, names: tuple[str, ...]) -> None:
    with failing("retriever_not_ready", UsageError):
        searcher.search(QUERY, retrievers=names)


def test_the_search_by_pieces_costs_no_call_of_the_index_more(
    made: Searchable, detailed: Detailed, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    ask = made.index.search_all

    def counted(searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        calls.append(len(searches))
        return ask(searches)

    monkeypatch.setattr(made.index, "search_all", counted)
    searcher = with_models(made, Here([detailed]), analyzer)
    searcher.rank(QUERY, depth=5, retrievers=("bm25", "dense"))
    plain, with_pieces = list(calls), calls
    calls.clear()
    searcher.rank(QUERY, depth=5, retrievers=("bm25", "dense", "pieces"))
    assert (len(with_pieces), sum(with_pieces)) == (len(plain), sum(plain) + 1)


def shown(searcher: Searcher, text: str, retrievers: tuple[str, ...]) -> dict[tuple[str, int, int], Scene]:
    scenes = searcher.search(parse_query(text), limit=50, retrievers=retrievers).scenes
    return {(scene.video.id, scene.start_ms, scene.end_ms): scene for scene in scenes}


def best_pieces(made: Searchable, cosines: dict[str, list[float]], scene: Scene) -> set[tuple[int, int]]:
    """Where the nearest pieces of a scene begin and end; some are alike."""
    found: list[tuple[float, int, int]] = []
    for window in made.library.windows_of(scene.video.id):
        if scene.start_ms <= window.start_ms < scene.end_ms:
            starts = [start for start, _text in cut_pieces(window)]
            found += zip(cosines[window.id], starts, [*starts[1:], window.end_ms], strict=True)
    best = max(cosine for cosine, _begin, _end in found)
    return {(begin, end) for cosine, begin, end in found if cosine >= best - 2e-3}


def test_a_scene_begins_at_its_best_piece_unless_most_words_are_said_or_the_jump_is_near(
    searcher: Searcher, made: Searchable, detailed: Detailed
) -> None:
    ways: Counter[str] = Counter()
    for text in (UNSAID.text, "꽃게 소스 육수", "꽃개 소쓰", "소쓰", "블루투스 연결", "간장 전기차 두부 배터리"):
        _whole, pieces = cosines(made, detailed, text)
        at_words = {key: scene.at_ms for key, scene in shown(searcher, text, RETRIEVERS).items()}
        for key, scene in shown(searcher, text, (*RETRIEVERS, "pieces")).items():
            if key not in at_words:
                continue
            at = at_words[key]
            said = sum(word.source in ("text", "sound") for word in scene.words)
            if said and 3 * said >= 2 * len(scene.words):
                jumps = {at: "said"}
            else:
                best = best_pieces(made, pieces, scene)
                jumps = {at if begin - 6_000 <= at < end else begin: "piece" for begin, end in best}
                jumps |= {at: "near"} if at in jumps else {}
            assert scene.at_ms in jumps
            assert scene.at_ms in {line.start_ms for line in scene.lines}
            if scene.at_ms != at or len(jumps) == 1:
                ways[jumps[scene.at_ms]] += 1
    assert all(ways[way] > 2 for way in ("said", "piece", "near"))


def test_one_call_of_the_index_finds_the_pieces_of_all_scenes(
    made: Searchable, detailed: Detailed, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[Collection[str]] = []
    compare = made.index.nearest_parts

    def nearest_parts(name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        compared.append(ids)
        return compare(name, query, ids)

    monkeypatch.setattr(made.index, "nearest_parts", nearest_parts)
    searcher = with_models(made, Here([detailed]), analyzer)
    searcher.search(UNSAID, retrievers=RETRIEVERS)
    assert compared == []
    result = searcher.search(UNSAID)
    (windows,) = compared
    assert len(windows) == len(result.scenes) > 5
    (scene,) = searcher.search(parse_query("국물 시원하다"), limit=1).scenes
    assert {word.source for word in scene.words} == {"text"}
    assert compared == [windows]


def test_a_word_by_sound_is_said_and_one_of_three_is_not_enough(
    searcher: Searcher, made: Searchable, detailed: Detailed
) -> None:
    both = (*RETRIEVERS, "pieces")
    market = shown(searcher, "소쓰", both)[CRAB.id, 60_000, 174_000]
    assert ([word.source for word in market.words], market.at_ms) == (["sound"], 60_000 + LINE_MS)
    _whole, pieces = cosines(made, detailed, "소쓰")
    best = best_pieces(made, pieces, market)
    assert not any(begin - 6_000 <= market.at_ms < end for begin, end in best)  # else a piece would leave it there, too
    market = shown(searcher, "꽃게 소스 육수", both)[CRAB.id, 0, 54_000]
    assert [word.source for word in market.words] == ["text", "missing", "missing"]
    assert market.at_ms == shown(searcher, "꽃게 소스 육수", RETRIEVERS)[CRAB.id, 0, 54_000].at_ms + 3 * LINE_MS


def test_the_row_of_a_scene_shows_what_is_said_where_it_begins(searcher: Searcher) -> None:
    scene = shown(searcher, "시장 꽃게 배터리", (*RETRIEVERS, "pieces"))[CRAB.id, 0, 54_000]
    assert scene.at_ms == 3 * LINE_MS
    assert scene.text[slice(*scene.sentence)] == f"{FILLER} {FILLER}"


@contextmanager
def nearest_piece(made: Searchable, encoder: Detailed, window: Window, text: str, place: int) -> Iterator[None]:
    """Vectors of a window's pieces of which this one is nearest to the text."""
    (point,) = made.index.get([window.id])
    parts = point.vectors[of_pieces(encoder)]
    assert isinstance(parts, MultiVector)
    rows = [*parts.rows()] + [parts.rows()[-1]] * (place + 1 - len(parts.rows()))
    rows[place] = list(encoder.query(text).dense.values)
    made.index.replace_vector(of_pieces(encoder), {window.id: MultiVector.of(rows)})
    try:
        yield
    finally:
        made.index.replace_vector(of_pieces(encoder), {window.id: parts})


@pytest.mark.parametrize(
    ("text", "place", "at_ms"),
    [
        ("국물 배터리 전기차", 0, 12_000),  # in the best piece already
        ("국물 배터리 전기차", 1, 12_000),  # six seconds before it
        ("국물 배터리 전기차", 2, 36_000),
        ("국물 시원하다 배터리", 2, 12_000),  # two of three words are said
        ("국물 배터리 전기차", 3, 12_000),  # vectors of an earlier text with more pieces
    ],
)
def test_where_a_scene_begins_by_its_words_and_its_best_piece(
    searcher: Searcher, made: Searchable, detailed: Detailed, text: str, place: int, at_ms: int
) -> None:
    (window,) = made.library.windows_of(SOUP.id)
    assert [start for start, _text in cut_pieces(window)] == [0, 18_000, 36_000]
    key = SOUP.id, window.start_ms, window.end_ms
    with nearest_piece(made, detailed, window, text, place):
        assert shown(searcher, text, RETRIEVERS)[key].at_ms == 12_000
        assert shown(searcher, text, (*RETRIEVERS, "pieces"))[key].at_ms == at_ms


def test_ranks_by_meaning_have_the_best_pieces_share(searcher: Searcher, made: Searchable, detailed: Detailed) -> None:
    whole, pieces = cosines(made, detailed, UNSAID.text)
    expected = sorted(whole, key=lambda name: -((1 - PIECE_SHARE) * whole[name] + PIECE_SHARE * max(pieces[name])))
    ranked = searcher.rank(UNSAID, retrievers=("bm25", "dense", "pieces"), by_ranks=True)
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
    hits = [Hit(id, score) for id, score in zip("abcdefgh", np.linspace(0.86, 0.79, 8), strict=True)]
    places = {hit.id: ("v", at) for at, hit in enumerate(hits)}
    words = [Hit("a", 3.0), Hit("e", 3.0)]
    shares = {"bm25": 0.4, "dense": 0.6}
    plain = Candidates({"bm25": words, "dense": hits}, places)
    pieces = {hit.id: hit.score for hit in hits} | {"e": 0.93}
    lifted = Candidates({"bm25": words, "dense": hits}, places, pieces=pieces)
    assert [entry.window_id for entry in fuse_scores(plain, shares)][:1] == ["a"]
    assert [entry.window_id for entry in fuse_scores(lifted, shares)][:1] == ["e"]
    assert [entry.scores["pieces"].rank for entry in fuse_scores(lifted, shares)][:1] == [1]


def test_half_of_the_pieces_punish_nobody(tmp_path: Path, encoder_folder: Path, analyzer: Analyzer) -> None:
    made = Searchable(tmp_path / "fresh", analyzer, TALKS)
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


def test_without_them_nothing_is_asked(made: Searchable, detailed: Detailed, analyzer: Analyzer) -> None:
    plain = Asked(detailed.path, detailed.id)
    searcher = with_models(made, Here([plain]), analyzer)
    assert searcher.ready() == RETRIEVERS
    with failing("retriever_not_ready", UsageError):
        searcher.search(QUERY, retrievers=(*RETRIEVERS, "pieces"))
