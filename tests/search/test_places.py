"""Where in one video a query is met: what the timeline of a scene's video is drawn from."""

from collections.abc import Mapping

import pytest

from subtitle_rag.base.domain.values import Video
from subtitle_rag.search.query import parse_query
from tests.support.searchable import LINE_MS, Minutes, Searchable, video

CRAB = video("crabmarket1", "꽃게 시장 구경", "느긋한 식탁", "2026-01-10")
STEW = video("stewkitchen", "된장 끓이는 날", "느긋한 식탁", "2026-02-20")
VIDEOS: Mapping[Video, Minutes] = {
    CRAB: [
        ["오늘은 비가 와요", "그래도 꽃게를 샀어요"],
        ["두부를 넣어요"],
        ["광고가 없는 꽃게찜이에요"],
        ["라면을 끓여요"],
        ["새우도 있고 꽃게도 있어요"],
    ],
    STEW: [["꽃게 육수를 내요"], ["된장을 풀어요"]],
}


def times(made: Searchable, query: str, video_id: str = CRAB.id, **options: int) -> list[int]:
    return [place.at_ms for place in made.searcher.mentions(parse_query(query), video_id, **options)]


def test_the_lines_of_one_video_come_in_the_order_of_time(made: Searchable) -> None:
    places = made.searcher.mentions(parse_query("꽃게"), CRAB.id)
    assert [place.at_ms for place in places] == [LINE_MS, 120_000, 240_000]
    windows = made.library.windows([place.window_id for place in places])
    assert [(windows[p.window_id].start_ms, windows[p.window_id].end_ms) for p in places] == [
        (place.start_ms, place.end_ms) for place in places
    ]
    assert times(made, "꽃게", STEW.id) == [0]


def test_a_window_found_by_the_title_alone_is_no_place(made: Searchable) -> None:
    found = {entry.ordinal for entry in made.searcher.rank(parse_query("꽃게 시장")) if entry.video_id == CRAB.id}
    assert found == {0, 1, 2, 3, 4}
    assert times(made, "꽃게 시장") == [LINE_MS, 120_000, 240_000]


def test_what_the_query_leaves_out_is_left_out(made: Searchable) -> None:
    assert times(made, "꽃게 -광고") == [LINE_MS, 240_000]
    assert times(made, '꽃게 "새우도"') == [240_000]
    assert times(made, "꽃게 channel:식탁 after:2026-01-01") == [LINE_MS, 120_000, 240_000]
    assert times(made, "꽃게 after:2026-02-01") == []


def test_a_limit_takes_the_best(made: Searchable) -> None:
    assert times(made, "새우 꽃게", limit=1) == [240_000]
    assert times(made, "꽃게", "nowhere0000") == []


@pytest.mark.parametrize("query", ["xyzzy", "한강"])
def test_what_nobody_says_is_nowhere(made: Searchable, query: str) -> None:
    assert times(made, query) == []
