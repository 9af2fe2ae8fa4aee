"""The scenes of a search by their videos: what stands where, what opens, and what comes while one scrolls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import pytest

from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query
from subtitle_rag.search.reasons import FoundWord
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.shared.scenes.scene_rows import header_row, short_reason
from subtitle_rag.tui.shared.scenes.video_groups import group_by_video
from tests.tui.conftest import Answers, MakeApp, Outside, press, running, scene, typed

WIDE = (110, 34)


def of_video(number: int, video: int, title: str = "", **changes: Any) -> Scene:
    """A scene of one of several videos, each minute of which has one."""
    own = scene(number, f"치킨 {number}번째", **changes)
    at = number * 60_000
    named = replace(own.video, id=f"v{video}", title=title or f"영상 {video}")
    return replace(own, video=named, start_ms=at, end_ms=at + 50_000, at_ms=at)


def chosen(app: SubtitleApp) -> Scene | None:
    return app.search_screen.scenes.value


def shows_preview(app: SubtitleApp) -> bool:
    return app.search_screen.preview.display


@dataclass
class Deep(Answers):
    """A searcher with more to find than it gives at first."""

    all_scenes: Sequence[Scene] = ()
    depths: tuple[int, ...] = ()

    def search(self, query: Query, *, depth: int, **_options: object) -> SearchResult:
        self.depths += (depth,)
        return found(query, self.all_scenes)


def found(query: Query, scenes: Sequence[Scene], of: Sequence[Scene] = (), **changes: object) -> SearchResult:
    counts: dict[str, int] = {}
    for each in of or scenes:
        counts[each.video.id] = counts.get(each.video.id, 0) + 1
    return SearchResult(query, ("bm25",), tuple(scenes), {}, scenes_by_video=counts, **changes)  # type: ignore[arg-type]


def lines(app: SubtitleApp) -> list[str]:
    """The lines of the list as they are drawn."""
    drawn = app.search_screen.scenes
    return [drawn.render_line(y).text.rstrip() for y in range(min(drawn.line_count, drawn.size.height))]


async def test_a_video_has_a_header_and_at_most_three_scenes(app_of: MakeApp) -> None:
    scenes = [of_video(number, 1 if number < 6 else 2) for number in range(1, 8)]
    async with running(app_of(scenes=scenes), "치킨", size=WIDE) as (app, pilot):
        assert [line.split()[:2] for line in lines(app)] == [
            ["영상", "1"],
            ["1:00", "치킨"],
            ["2:00", "치킨"],
            ["3:00", "치킨"],
            ["→", "2"],
            [],
            ["영상", "2"],
            ["6:00", "치킨"],
            ["7:00", "치킨"],
        ]
        assert lines(app)[0].endswith("5 places")
        # keys pass over headers, and rest on the row that stands for the other scenes
        rows = []
        for _ in range(5):
            rows.append(app.search_screen.scenes.cursor_key)
            await pilot.press("down")
        assert [scenes[at].id for at in (0, 1, 2)] == rows[:3]
        assert rows[4] == scenes[5].id
        assert app.search_screen.scenes.value == scenes[6]


async def test_the_rest_of_a_video_is_opened_and_closed(app_of: MakeApp, outside: Outside) -> None:
    scenes = [of_video(number, 1) for number in range(1, 6)]
    async with running(app_of(scenes=scenes), "치킨", size=WIDE) as (app, pilot):
        drawn = app.search_screen.scenes
        await press(pilot, "down", "down", "down")
        assert chosen(app) is None
        await press(pilot, "space", "enter")  # nothing to mark or to play: it opens
        assert not outside.played
        assert drawn.value == scenes[3]
        assert len(lines(app)) == 6
        await press(pilot, "left")
        assert drawn.value == scenes[2]
        assert lines(app)[-1].split() == ["→", "2", "more"]
        await press(pilot, "down", "right")
        assert drawn.value == scenes[3]
        await pilot.click("#scenes", offset=(6, 1))  # the header
        assert len(lines(app)) == 5


async def test_further_scenes_come_while_one_scrolls(app_of: MakeApp, runtime: Runtime) -> None:
    scenes = [of_video(number, number // 2) for number in range(1, 121)]
    app = app_of()
    searcher = Deep(lambda query: found(query, scenes[:20], scenes, more=True), all_scenes=scenes)
    runtime.__dict__["searcher"] = searcher
    async with running(app, "치킨", size=(80, 24)) as (_, pilot):
        drawn, title = app.search_screen.scenes, "Scenes · 120 places in 61 videos"
        assert str(drawn.border_title) == title
        assert not searcher.depths
        await press(pilot, "down")
        chosen = drawn.value
        await press(pilot, *["pagedown"] * 3)
        assert len(drawn.scenes) == 120
        assert searcher.depths == (150,)
        assert str(drawn.border_title) == title
        await press(pilot, "end")
        assert drawn.value == scenes[-1]
        assert len(searcher.depths) == 1
        await press(pilot, "home", "down")
        assert drawn.value == chosen


async def test_a_list_that_leaves_room_is_filled(app_of: MakeApp, runtime: Runtime) -> None:
    scenes = [of_video(number, number) for number in range(1, 41)]
    app = app_of()
    runtime.__dict__["searcher"] = Deep(lambda query: found(query, scenes[:4], scenes, more=True), all_scenes=scenes)
    async with running(app, "치킨", size=WIDE):
        assert len(app.search_screen.scenes.scenes) == 40


async def test_a_search_is_deeper_while_its_words_are_said_further_on(app_of: MakeApp, runtime: Runtime) -> None:
    scenes = [of_video(number, number) for number in range(1, 41)]
    app = app_of()
    searcher = Deep(lambda query: found(query, scenes[:20], more=True, is_cut=True))
    searcher.all_scenes = scenes
    runtime.__dict__["searcher"] = searcher
    async with running(app, "치킨", size=(80, 24)) as (_, pilot):
        assert str(app.search_screen.scenes.border_title) == "Scenes · 20+ places in 20 videos"
        await press(pilot, "down", "end")
        assert len(app.search_screen.scenes.scenes) == 40
        assert str(app.search_screen.scenes.border_title) == "Scenes · 40 places in 40 videos"


async def test_the_highlight_stays_on_a_scene_that_is_no_more_among_the_best(app_of: MakeApp, runtime: Runtime) -> None:
    scenes = [of_video(number, 1) for number in range(1, 7)]
    app = app_of()
    results = [
        found(Query("치킨", "치킨"), scenes, final=False),
        found(Query("치킨", "치킨"), list(reversed(scenes))),
    ]
    runtime.__dict__["searcher"] = Answers(lambda _query: iter(results))
    async with running(app, size=WIDE) as (_, pilot):
        await typed(pilot, "치킨")
        drawn = app.search_screen.scenes
        assert drawn.value == scenes[0]
        assert [line.split()[0] for line in lines(app)[1:]] == ["6:00", "5:00", "1:00", "→"]


async def test_the_chosen_scene_is_in_sight_among_those_of_a_longer_query(app_of: MakeApp, runtime: Runtime) -> None:
    scenes = [of_video(number, number) for number in range(1, 31)]
    app = app_of()
    orders = {"치킨": scenes, "치킨 소스": [*scenes[20:], *scenes[:20]]}
    runtime.__dict__["searcher"] = Answers(lambda query: found(query, orders.get(query.raw, ())))
    async with running(app, "치킨", size=(80, 24)) as (_, pilot):
        await press(pilot, *["down"] * 3)
        drawn, chosen = app.search_screen.scenes, app.search_screen.scenes.value
        await typed(pilot, " 소스")
        assert drawn.value == chosen
        assert 0 <= drawn.cursor_line < drawn.size.height


async def test_the_keyboard_goes_to_the_list_and_back_by_the_arrows(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene(1), scene(2)]), "치킨", size=(80, 24)) as (app, pilot):
        screen = app.search_screen
        assert screen.query_line.has_focus
        await press(pilot, "down")
        assert screen.scenes.has_focus
        assert screen.scenes.cursor == 1
        await press(pilot, "up", "up")
        assert screen.query_line.has_focus


@pytest.mark.parametrize("key", ["right", "p"])
async def test_on_a_narrow_screen_the_preview_takes_the_place_of_the_list(app_of: MakeApp, key: str) -> None:
    async with running(app_of(scenes=[scene(1), scene(2)]), "치킨", size=(80, 24)) as (app, pilot):
        screen = app.search_screen
        await press(pilot, "down", key)
        assert shows_preview(app)
        assert screen.preview.transcript.has_focus
        await press(pilot, "escape")
        assert not shows_preview(app)
        assert screen.scenes.has_focus
        assert screen.scenes.cursor == 1


class TestRows:
    def test_the_title_has_its_room_before_channel_and_date(self) -> None:
        video = replace(scene().video, title="긴 제목" * 4, channel="채널", published=date(2026, 5, 2))
        [group] = group_by_video([scene(video=video)], {}).values()

        def right(width: int) -> str:
            return header_row(group, width, with_channel=True)[1].plain

        assert right(60) == "채널 · 2026-05-02 · 1 place"
        assert right(54) == "2026-05-02 · 1 place"
        assert right(40) == "1 place"
        assert right(10) == "1 place"
        assert header_row(group, 60, with_channel=False)[1].plain == "2026-05-02 · 1 place"

    @pytest.mark.parametrize(
        ("words", "reason", "label"),
        [
            ([("치킨", "text"), ("소스", "text")], "said", ""),
            ([("치킨", "text"), ("소스", "title")], "said", "title"),
            ([("치킨", "text"), ("소스", "missing")], "said", "without: 소스"),
            ([("치킨", "text"), ("소스", "missing"), ("양념", "missing")], "said", "without: 소스 양념"),
            (
                [("치킨", "text"), *((word, "missing") for word in ("허니버터", "소스맛집", "양념"))],
                "said",
                "without: 허니버터 +2",
            ),
            ([("치킨", "missing")], "meaning", "≈ meaning"),
            ([("치킨", "related", "닭튀김")], "related", "≈ 닭튀김"),
            ([], "said", ""),
            ([("[red]", "missing"), ("치킨", "text")], "said", "without: [red]"),
        ],
    )
    def test_a_reason_is_a_word_or_two_and_only_for_what_is_not_said(
        self, words: list[tuple[str, ...]], reason: str, label: str
    ) -> None:
        found_words = tuple(FoundWord(*word) for word in words)  # type: ignore[arg-type]
        assert short_reason(scene(words=found_words, reason=reason)) == label
