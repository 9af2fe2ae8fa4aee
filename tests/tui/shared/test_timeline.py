"""The timeline of the chosen scene's video, and the speech around the scene."""

import math
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.values import Chapter, Details, Heat, Line, spoken
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query, parse_query
from subtitle_rag.search.scenes import Mention
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.shared.scenes import preview, timeline, transcript_lines as transcript
from subtitle_rag.tui.shared.scenes.preview import TimelineBar
from subtitle_rag.tui.shared.scenes.timeline import BAR, BLOCKS, CHAPTER, CURRENT, FURTHER, LISTED, ROWS, Timeline
from subtitle_rag.tui.shared.spoken_lines import Surroundings
from tests.tui.conftest import (
    MakeApp,
    drawn_by,
    press,
    press_each,
    running,
    scene,
    settle,
    shown,
    transcript_text,
    typed,
    until,
)

MINUTE = 60_000
FEW = "캠핑 video:캠핑"
"""Asks for fewer scenes than the video has places."""
SPREAD = "오늘 video:캠핑"
"""Is said in several scenes of the video."""
CAMPING = "sample-0006"


def rows(line: Timeline, width: int) -> list[str]:
    return timeline.draw_timeline(line, width).plain.split("\n")


def heats(count: int, length: int) -> list[Heat]:
    """Rises to the end."""
    return [Heat(at * length // count, (at + 1) * length // count, (at + 1) / count) for at in range(count)]


class TestDrawing:
    def test_places_differ_by_form_and_stand_to_scale(self) -> None:
        line = Timeline(10 * MINUTE, 5 * MINUTE, [0], [9 * MINUTE + 59_000], chapters=[0, 3 * MINUTE])
        assert rows(line, 20) == [
            "",
            f"{LISTED}{BAR * 9}{CURRENT}{BAR * 8}{FURTHER}",
            f"0:00  {CHAPTER} 5:00   10:00",
        ]

    def test_the_chosen_place_hides_the_others_of_its_cell(self) -> None:
        line = Timeline(10 * MINUTE, 5 * MINUTE, [5 * MINUTE + 1, 0], [5 * MINUTE + 2, 1])
        assert rows(line, 10)[1] == f"{LISTED}{BAR * 4}{CURRENT}{BAR * 4}"

    def test_a_curve_rises_and_a_video_without_one_has_none(self) -> None:
        line = Timeline(8 * MINUTE, 0, heat=heats(100, 8 * MINUTE))
        curve, *_ = rows(line, 48)
        assert set(curve) == set(BLOCKS)
        assert curve == "".join(sorted(curve))
        for heat in ([], [Heat(0, MINUTE, 0.0)], [Heat(0, MINUTE, math.nan)], [Heat(MINUTE, MINUTE, 1.0)]):
            assert rows(replace(line, heat=heat), 48)[0] == ""

    def test_a_cell_shows_the_most_of_what_lies_in_it(self) -> None:
        heat = [Heat(0, 10, 0.1), Heat(10, 20, 1.0), Heat(20, 100, 0.1)]
        assert rows(Timeline(100, heat=heat), 4)[0] == "█▁▁▁"

    def test_a_part_that_ends_where_a_cell_begins_is_not_in_it(self) -> None:
        heat = [Heat(0, 50, 1.0), Heat(50, 100, 0.1)]
        assert rows(Timeline(100, heat=heat), 4)[0] == "██▁▁"

    def test_too_many_chapters_are_left_out(self) -> None:
        line = Timeline(10 * MINUTE, chapters=range(0, 10 * MINUTE, 10_000))
        assert CHAPTER not in rows(line, 60)[2]
        assert rows(line, 240)[2].count(CHAPTER) > 20


NUMBERS = st.integers(0, 10**15)
HEAT = st.builds(Heat, st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.floats())
LINES = st.builds(
    Timeline,
    st.integers(0, 10**9),
    st.none() | NUMBERS,
    st.lists(NUMBERS, max_size=8),
    st.lists(NUMBERS, max_size=8),
    st.lists(HEAT, max_size=8),
    st.lists(NUMBERS, max_size=8),
)


class TestAnyNumbers:
    @given(LINES, st.integers(1, 300))
    @pytest.mark.campaign(part="app")
    def test_never_wider_than_the_width_and_every_place_inside(self, line: Timeline, width: int) -> None:
        drawn = timeline.draw_timeline(line, width)
        lines = drawn.split("\n", allow_blank=True)
        assert len(lines) == ROWS
        assert all(row.cell_length <= width for row in lines)
        bar = lines[1].plain
        assert len(bar) == width
        assert all(bar[line.cell(ms, width)] in (CURRENT, LISTED, FURTHER) for ms in line.marks)
        assert bar.count(BAR) >= width - len(line.marks)
        assert bar.count(CURRENT) == (line.current_ms is not None)

    @given(LINES, st.integers(1, 300), st.integers(-5, 305))
    @pytest.mark.campaign(part="app")
    def test_a_cell_means_a_time_of_the_video(self, line: Timeline, width: int, cell: int) -> None:
        assert 0 <= line.at_ms(cell, width) <= line.length_ms
        if line.length_ms >= 2 * width and 0 <= cell < width:
            assert line.cell(line.at_ms(cell, width), width) == cell

    def test_without_a_width_there_is_nothing(self) -> None:
        assert timeline.draw_timeline(Timeline(MINUTE, 0), 0).plain == ""


class TestSurroundings:
    SCENE = scene(
        text="둘 셋", lines=(Line(0, 20_000), Line(2, 30_000)), at_ms=30_000, overlap_before="하나", overlap_after="넷"
    )
    SPOKEN = tuple((at * 10_000, said) for at, said in enumerate(["영", "하나", "둘", "셋", "넷", "다섯"]))

    def drawn(self, known: Surroundings) -> tuple[list[str], int | None]:
        content = transcript.scene_lines(self.SCENE, known)
        return [row.plain.strip() for at in range(len(content.lines)) for row in content.rows(at, 40)], content.matched

    def test_the_lines_around_a_scene_take_the_place_of_its_overlaps(self) -> None:
        said, matched = self.drawn(Surroundings(self.SPOKEN))
        assert said == ["0:00  영", "0:10  하나", "0:20  둘", "▶   0:30  셋", "0:40  넷", "0:50  다섯"]
        assert matched == 3

    def test_what_was_not_understood_stands_between_the_lines(self) -> None:
        gaps = ((12_000, "[before]"), (25_000, "[within]"), (45_000, "[after]"))
        said, matched = self.drawn(Surroundings(self.SPOKEN, gaps=gaps))
        assert said[1:8] == [
            *("0:10  하나", "0:12  [before]", "0:20  둘", "0:25  [within]", "▶   0:30  셋", "0:40  넷", "0:45  [after]")
        ]
        assert matched == 5

    def test_of_a_video_that_the_library_lacks_there_is_what_the_scene_holds(self) -> None:
        assert self.drawn(Surroundings(())) == (["하나", "0:20  둘", "▶   0:30  셋", "넷"], 2)

    def test_a_video_of_unknown_length_ends_with_its_last_window(self) -> None:
        one = replace(self.SCENE, end_ms=40_000, video=replace(self.SCENE.video, chapters=(Chapter(5_000, "가"),)))
        assert timeline.scene_timeline(one, Surroundings(), [one]).duration_ms == 40_000
        assert timeline.scene_timeline(one, Surroundings((), 90_000), [one]).duration_ms == 90_000
        told = replace(one, video=replace(one.video, duration_ms=80_000))
        line = timeline.scene_timeline(told, Surroundings((), 90_000), [told])
        assert (line.duration_ms, line.current_ms, line.listed_ms, line.chapters) == (80_000, 30_000, [], [5_000])

    def test_a_place_within_a_listed_scene_is_no_further_one(self) -> None:
        one = replace(self.SCENE, start_ms=20_000, end_ms=40_000)
        other = replace(scene(2, at_ms=70_000), start_ms=60_000, end_ms=80_000)
        places = [Mention(str(at), at, at + 9_000, at) for at in (0, 20_000, 65_000, 80_000)]
        line = timeline.scene_timeline(one, Surroundings(matches=places), [one, other])
        assert (line.current_ms, line.listed_ms, line.further_ms) == (30_000, [70_000], [0, 80_000])


@pytest.fixture
def heated(runtime: Runtime) -> Iterator[Runtime]:
    """A video of the sample is replayed most at its end."""
    runtime.library.put_details(CAMPING, Details(heatmap=tuple(heats(100, 492_000))))
    yield runtime
    runtime.library.put_details(CAMPING, Details())


def asked_places(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What the searcher is asked for."""
    asked: list[tuple[str, str]] = []
    searcher = runtime.searcher
    places = searcher.mentions

    def noted(query: Query, video_id: str, **options: Any) -> list[Mention]:
        asked.append((query.raw, video_id))
        return places(query, video_id, **options)

    monkeypatch.setattr(searcher, "mentions", noted)
    return asked


def bar(app: SubtitleApp) -> str:
    return shown(app, "#timeline").split("\n")[1]


class TestOnTheScreen:
    @pytest.mark.campaign(part="app")
    async def test_all_places_of_the_video_are_there_though_one_scene_is_listed(
        self, app_of: MakeApp, heated: Runtime
    ) -> None:
        [one] = heated.searcher.search(parse_query(SPREAD), limit=1).scenes
        mentions, app = heated.searcher.mentions, app_of(scenes=[one])
        heated.searcher.mentions = mentions  # type: ignore[method-assign]
        async with running(app, SPREAD, size=(120, 40)):
            places = mentions(parse_query(SPREAD), CAMPING)
            outside = [place for place in places if not one.start_ms <= place.at_ms < one.end_ms]
            assert len(outside) >= 2
            assert bar(app).count(CURRENT) == 1
            assert bar(app).count(FURTHER) == len(outside)
            assert set(shown(app, "#timeline").split("\n")[0]) <= set(BLOCKS)

    @pytest.mark.campaign(part="app")
    async def test_a_video_is_read_and_asked_once_while_an_answer_stands(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = asked_places(runtime, monkeypatch)
        async with running(app_of(), FEW, size=(120, 40)) as (_, pilot):
            await press_each(pilot, "down", "down", "up")
            assert asked == [("캠핑 video:캠핑", CAMPING)]
            await typed(pilot, " 불멍")
            assert asked[1:] == [("캠핑 video:캠핑 불멍", CAMPING)]

    @pytest.mark.campaign(part="app")
    async def test_a_new_size_while_a_video_is_read_asks_nothing(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate, begun = threading.Event(), threading.Event()
        asked: list[tuple[str, str]] = []

        def places(query: Query, video_id: str, **options: Any) -> list[Mention]:
            asked.append((query.raw, video_id))
            begun.set()
            assert gate.wait(30)
            return []

        monkeypatch.setattr(runtime.searcher, "mentions", places)
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            app.search_screen.query_line.insert_text_at_cursor("캠핑 video:캠핑")
            await until(pilot, begun.is_set)
            monkeypatch.setattr(preview, "REST_S", 0)
            await pilot.resize_terminal(118, 38)
            await pilot.pause(0.1)
            gate.set()
            await settle(pilot)
            assert len(asked) == 1

    @pytest.mark.campaign(part="app")
    async def test_a_highlight_that_only_passes_asks_nothing(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = asked_places(runtime, monkeypatch)
        async with running(app_of(), "소스 찍어 먹는 치킨", size=(120, 40)) as (app, pilot):
            asked.clear()
            passed = [one.video.id if one else "" for one in app.search_screen.scenes.values]
            assert len(set(passed)) > 2
            end = next(at for at in reversed(range(len(passed))) if passed[at] not in (passed[0], ""))
            with monkeypatch.context() as passing:
                passing.setattr(preview, "REST_S", 600)
                await pilot.press(*["down"] * (end - 1))
            await press(pilot, "down")
            assert [video for _query, video in asked] == [passed[end]]

    @pytest.mark.campaign(part="app")
    async def test_a_late_answer_of_another_query_is_dropped(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate, begun = threading.Event(), threading.Event()
        late = [Mention("x", 400_000, 410_000, 400_000)]

        def places(query: Query, _video_id: str) -> list[Mention]:
            if query.raw.endswith("불멍"):
                return []
            begun.set()
            assert gate.wait(10)
            return late

        monkeypatch.setattr(runtime.searcher, "mentions", places)
        async with running(app_of(show_times=False), size=(120, 40)) as (app, pilot):
            app.search_screen.query_line.insert_text_at_cursor("캠핑 video:캠핑")
            await until(pilot, begun.is_set)
            app.search_screen.query_line.insert_text_at_cursor(" 불멍")
            await until(pilot, lambda: app.search_screen.results.text == "캠핑 video:캠핑 불멍")
            gate.set()
            await settle(pilot)
            assert FURTHER not in bar(app)

    @pytest.mark.campaign(part="app")
    async def test_what_cannot_be_asked_leaves_the_listed_scenes(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_asked: object) -> list[Mention]:
            raise BusyError("index_unreachable", path="x")

        monkeypatch.setattr(runtime.searcher, "mentions", refuse)
        async with running(app_of(), FEW, size=(120, 40)) as (app, _):
            own = app.search_screen.scenes.of_video(CAMPING)
            assert len(own) > 1
            assert bar(app).count(LISTED) == len(own) - 1
            assert app.is_running
            assert not app._notifications

    @pytest.mark.campaign(part="app")
    async def test_a_click_goes_to_the_nearest_listed_scene(self, app_of: MakeApp) -> None:
        async with running(app_of(), FEW, size=(120, 40)) as (app, pilot):
            screen = app.search_screen
            for one in screen.scenes.of_video(CAMPING):
                width = screen.query_one(TimelineBar).content_size.width
                at = timeline.Timeline(one.video.duration_ms or 0).cell(one.at_ms, width)
                await pilot.click(TimelineBar, offset=(at, 1))
                await settle(pilot)
                assert screen.scenes.value == one
                assert bar(app)[at] == CURRENT
            assert screen.query_line.has_focus

    @pytest.mark.campaign(part="app")
    async def test_the_mouse_is_told_what_the_signs_mean(self, app_of: MakeApp) -> None:
        async with running(app_of(), FEW, size=(120, 40), tooltips=True) as (app, pilot):
            await pilot.hover(TimelineBar)
            await until(pilot, lambda: f"{CURRENT} this scene · {LISTED} in the list" in drawn_by(app))

    @pytest.mark.parametrize("size", [(120, 24), (200, 60)])
    @pytest.mark.campaign(part="app")
    async def test_the_lines_around_fill_the_preview_and_the_matched_one_is_in_sight(
        self, app_of: MakeApp, size: tuple[int, int]
    ) -> None:
        async with running(app_of(), FEW, size=size) as (app, pilot):
            for _each in range(3):
                one = app.search_screen.scenes.value
                assert one
                mark = next(row for row in drawn_by(app).split("\n") if "▶" in row)
                assert dict(spoken(one.text, one.lines))[one.at_ms].split()[0] in mark
                transcript = app.search_screen.preview.transcript
                assert transcript.virtual_size.height >= transcript.size.height
                await press(pilot, "down")

    @pytest.mark.campaign(part="app")
    async def test_it_comes_back_after_the_calm_page(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), "치킨", size=(120, 40)) as (app, pilot):
            await press(pilot, "escape", "escape")
            assert CURRENT not in drawn_by(app)
            await typed(pilot, "치킨")
            assert f"{BAR}{CURRENT}{BAR}" in drawn_by(app)

    async def test_a_hostile_scene_of_another_library_is_drawn(self, app_of: MakeApp) -> None:
        far = scene(text="\x1b[31m[red]국수\u202e", at_ms=10**15, start_ms=0, end_ms=0, lines=(Line(0, 10**15),))
        async with running(app_of(scenes=[far]), "국수", size=(120, 40)) as (app, _):
            assert bar(app).endswith(CURRENT)
            assert "[31m[red]국수" in transcript_text(app)

    @pytest.mark.campaign(part="app")
    async def test_resizing_while_it_is_read_changes_nothing(self, app_of: MakeApp) -> None:
        async with running(app_of(), FEW, size=(60, 20)) as (app, pilot):
            assert not app.search_screen.preview._cache
            for size in ((120, 20), (99, 30), (200, 50)):
                await pilot.resize_terminal(*size)
            await settle(pilot)
            assert CAMPING in app.search_screen.preview._cache
            assert len(bar(app)) == app.search_screen.query_one(TimelineBar).content_size.width
