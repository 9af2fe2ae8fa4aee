"""The first page of a search by videos, how many scenes of each there are, and what a deeper search adds."""

from collections import Counter
from collections.abc import Sequence

from subtitle_rag.search.fusion import Ranked, best_of_videos
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import SearchResult
from tests.support.searchable import Searchable, video

TALK, SHOW, FILM = video("talk0000001", "긴 강연"), video("show0000001", "방송"), video("film0000001", "영화")
OTHER = ["하늘이 맑아요", "바람이 불어요", "구름이 흘러가요"]
VIDEOS = {
    # minutes between them, so that no two are one scene
    TALK: [line for at in range(5) for line in ([f"수박을 잘라요 {at}번째 조각이에요"], OTHER, OTHER)],
    SHOW: [["수박과 참외를 담아요"], OTHER, OTHER, ["수박씨를 심어 봐요"]],
    FILM: [["수박 냄새가 나요"]],
}
QUERY = parse_query("수박")


def group(video_id: str, number: int) -> list[Ranked]:
    return [Ranked(f"{video_id}{number}", video_id, number, 1.0, {})]


def first_page(made: Searchable, limit: int, per_video: int) -> SearchResult:
    return next(made.searcher.stages(QUERY, limit=limit, per_video=per_video))


def ids(result: SearchResult) -> Sequence[str]:
    return [scene.id for scene in result.scenes]


def test_the_best_of_the_first_videos_come_first() -> None:
    a1, a2, b1, a3, c1, b2 = (group(*each) for each in (("a", 1), ("a", 2), ("b", 1), ("a", 3), ("c", 1), ("b", 2)))
    groups = [a1, a2, b1, a3, c1, b2]
    assert best_of_videos(groups, 4, 2) == ([a1, a2, b1, b2, a3, c1], 4)
    assert best_of_videos(groups, 3, 1) == ([a1, b1, c1, a2, a3, b2], 3)
    assert best_of_videos(groups, 20, 9) == (groups, 6)
    assert best_of_videos([], 20, 3) == ([], 0)


def test_a_page_has_so_many_scenes_of_a_video_and_tells_of_the_others(made: Searchable) -> None:
    whole = made.searcher.search(QUERY, limit=100)
    assert not whole.more
    page = first_page(made, 5, 2)
    assert len(page.scenes) == 5
    assert max(Counter(scene.video.id for scene in page.scenes).values()) == 2
    assert page.more
    assert page.scenes_by_video == Counter(scene.video.id for scene in whole.scenes)
    # in the order of the whole list
    assert ids(page) == [id for id in ids(whole) if id in ids(page)]


def test_a_limit_is_not_passed(made: Searchable) -> None:
    assert len(first_page(made, 2, 3).scenes) == 2


def test_a_deeper_search_has_more_scenes_than_one_that_is_cut(made: Searchable) -> None:
    cut = made.searcher.search(QUERY, limit=100, depth=3)
    assert cut.is_cut
    deeper = made.searcher.search(QUERY, limit=100, depth=100)
    assert not deeper.is_cut
    assert len(cut.scenes) < len(deeper.scenes)


def test_places_are_counted_for_a_whole_search_only(made: Searchable) -> None:
    assert made.searcher.search(QUERY).counts
    assert all(result.counts is None for result in made.searcher.stages(QUERY))
