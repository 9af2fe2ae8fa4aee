"""Sections and videos in the index, and the lift of their windows: real SQLite, real Edge, real Kiwi."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.captions.windows import RULE
from subtitle_rag.domain import Chapter, UsageError, Video
from subtitle_rag.library import LevelPlace
from subtitle_rag.library.summary_store import VideoSummary
from subtitle_rag.retrieval.index.levels import level_texts
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.named_vectors import LEVELS
from subtitle_rag.retrieval.search.fusion import LEVEL_PARTS, Ranked, RetrieverScore, boost_by_levels
from subtitle_rag.retrieval.search.query import parse_query
from tests.retrieval.points import search
from tests.support.failures import failing
from tests.support.searchable import Minutes, Searchable, video

NOODLES, CHICKEN = Chapter(0, "첫째 판"), Chapter(240_000, "둘째 판")
KITCHEN = replace(video("kitchen0001", "저녁 방송"), chapters=(NOODLES, CHICKEN))
OTHER = video("garden00001", "텃밭 방송")
VIDEOS: Mapping[Video, Minutes] = {
    KITCHEN: [
        *[["국수를 삶아요", "국수에 고명을 올려요"], ["국수를 헹궈요"], [], ["정말 맛있네요"]],
        *[["치킨을 튀겨요"], ["치킨을 한 번 더 튀겨요"], [], ["정말 맛있네요"]],
    ],
    OTHER: [["상추를 심어요"], ["정말 맛있네요"]],
}
QUERY = parse_query("국수 맛있네요")


@pytest.fixture
def made(tmp_path: Path, analyzer: Analyzer) -> Iterator[Searchable]:
    one = Searchable(tmp_path, analyzer, VIDEOS, levels=True)
    yield one
    one.close()


def ordinals(made: Searchable, *retrievers: str) -> list[int]:
    """Return the windows of the kitchen that only say how it tastes, in the order of a search."""
    windows = {window.id: window.ordinal for window in made.library.windows_of(KITCHEN.id)}
    ranked = made.searcher.rank(QUERY, retrievers=retrievers)
    return [windows[entry.window_id] for entry in ranked if windows.get(entry.window_id) in (3, 7)]


def above(made: Searchable, level: str) -> set[str]:
    """Return the texts of a level's points that say the word."""
    lexical = made.searcher.ranking(parse_query("국수")).lexical
    hits = search(made.index, LEVELS[level], lexical.vector, limit=9)
    return {str(point.payload["text"]) for point in made.index.get([hit.id for hit in hits])}


def test_a_section_lifts_a_window_that_does_not_name_its_topic(made: Searchable) -> None:
    assert ordinals(made, "bm25", "levels") == [3, 7]
    (noodles,) = [e for e in made.searcher.rank(QUERY, retrievers=("bm25", "levels")) if e.ordinal == 3]
    (plain,) = [e for e in made.searcher.rank(QUERY, retrievers=("bm25",)) if e.window_id == noodles.window_id]
    assert noodles.score == pytest.approx(plain.score + noodles.scores["levels"].score)
    assert "levels" not in plain.scores


def test_levels_take_part_where_the_settings_say_so(made: Searchable, tmp_path: Path, analyzer: Analyzer) -> None:
    assert made.searcher.ready() == ("bm25", "levels")
    assert made.searcher.search(QUERY).retrievers == ("bm25", "levels")
    without = Searchable(tmp_path / "without", analyzer, VIDEOS)
    try:
        assert without.searcher.ready() == ("bm25",)
        assert LEVELS["section"] not in without.index.vectors()
        with failing("levels_off", UsageError):
            without.searcher.search(QUERY, retrievers=("bm25", "levels"))
    finally:
        without.close()
    with pytest.raises(UsageError) as caught:
        made.searcher.search(QUERY, retrievers=("levels",))
    assert (caught.value.code, caught.value.details["ready"]) == ("late_alone", "bm25")


def test_windows_are_counted_and_read_alone(made: Searchable) -> None:
    assert made.index.count() == made.library.counts().searchable == 10
    assert len(made.library.levels.sources()) == 2
    assert all("level" not in point.payload for point in made.index.points())
    assert {scene.video.id for scene in made.searcher.search(parse_query("저녁")).scenes} == {KITCHEN.id}


def test_filters_hold_for_the_levels_too(made: Searchable) -> None:
    found = made.searcher.search(parse_query(f"맛있네요 video:{OTHER.id}"))
    assert {scene.video.id for scene in found.scenes} == {OTHER.id}


def test_what_is_unchanged_is_not_written_again(made: Searchable, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[object] = []
    monkeypatch.setattr(made.index, "insert", written.extend)
    list(made.indexer.finish())
    assert written == []


def test_another_title_makes_the_levels_again(made: Searchable) -> None:
    assert above(made, "video") == {"저녁 방송\n첫째 판\n둘째 판"}
    track = made.library.track(KITCHEN.id)
    assert track
    made.library.put_video(replace(KITCHEN, title="국수 방송"), track, made.library.windows_of(KITCHEN.id), RULE)
    list(made.indexer.finish())
    assert above(made, "video") == {"국수 방송\n첫째 판\n둘째 판"}
    assert above(made, "section") == {"첫째 판"}


def test_a_removed_video_takes_its_levels_along(made: Searchable) -> None:
    made.indexer.remove([KITCHEN.id])
    assert above(made, "video") == above(made, "section") == set()
    assert list(made.library.levels.sources()) == [OTHER.id]


def test_a_rebuild_has_them_once(made: Searchable) -> None:
    before = above(made, "section")
    list(made.indexer.rebuild())
    assert above(made, "section") == before == {"첫째 판"}


def test_a_run_that_was_killed_while_it_wrote_them_goes_on(made: Searchable, monkeypatch: pytest.MonkeyPatch) -> None:
    made.indexer.remove([])
    made.index.delete_levels([KITCHEN.id])
    made.library.levels.put(KITCHEN.id, "earlier", {})
    with monkeypatch.context() as patch:
        patch.setattr(made.library.levels, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            list(made.indexer.finish())
    assert ordinals(made, "bm25", "levels")
    list(made.indexer.finish())
    assert above(made, "section") == {"첫째 판"}
    assert len(made.library.levels.sources()) == 2


def killed(*_arguments: object) -> None:
    raise KeyboardInterrupt


def test_a_summary_is_the_text_of_its_video(made: Searchable) -> None:
    windows = made.library.windows_of(KITCHEN.id)
    analyses = made.library.morphemes([window.id for window in windows])
    *sections, whole = level_texts(KITCHEN, windows, analyses, "국수와 치킨을 만든다.")
    assert [(each.level, each.text) for each in sections] == [("section", "첫째 판"), ("section", "둘째 판")]
    assert (whole.level, whole.text) == ("video", "저녁 방송\n국수와 치킨을 만든다.")
    assert len(whole.windows) == 8
    assert list(level_texts(KITCHEN, [], {})) == []


def test_a_summary_that_a_model_has_written_since_is_indexed(made: Searchable) -> None:
    text = "국수와 치킨을 만드는 방송이다."
    assert made.library.summaries.put(VideoSummary(KITCHEN.id, text, "tiny", "d", "p", 1, True, 1, 1, 1, 1))
    list(made.indexer.finish())
    assert above(made, "video") == {f"저녁 방송\n{text}"}


def entry(id: str, ordinal: int, score: float) -> Ranked:
    return Ranked(id, "v", ordinal, score, {"bm25": RetrieverScore(1, score)})


def test_the_lift_is_a_part_of_the_best_score() -> None:
    ranked = [entry("a", 0, 10.0), entry("b", 5, 9.5)]
    hits = [
        (LevelPlace("v", "section", 4, 6), 3.0),
        (LevelPlace("v", "section", 0, 3), 1.5),
        (LevelPlace("w", "video", 0, 9), 2.0),
    ]
    assert boost_by_levels(ranked, []) == ranked
    lifted = boost_by_levels(ranked, hits)
    part = LEVEL_PARTS["section"] * 10.0
    assert [e.window_id for e in lifted] == ["a", "b"]
    assert [e.score for e in lifted] == pytest.approx([10.0 + part / 2, 9.5 + part])
    assert [e.window_id for e in boost_by_levels([entry("a", 0, 10.0), entry("b", 5, 9.6)], hits)] == ["b", "a"]
