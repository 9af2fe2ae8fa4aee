"""Filters on the screen: chips under the query, and Ctrl+F, where they are chosen and taken away."""

from collections.abc import Iterator
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from textual import events
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Track, Video
from subtitle_rag.captions.windows import RULE, cut_windows
from subtitle_rag.library import names
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.scenes import Scene
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.search import filter_screen
from subtitle_rag.tui.screens.search.filter_bar import LABEL_CELLS, FilterBar, count_fitting, draw_chip
from subtitle_rag.tui.screens.search.filter_screen import FilterScreen
from subtitle_rag.tui.shared.query_filters import Chip
from tests.support.searchable import spoken
from tests.tui.conftest import (
    AppPilot,
    MakeApp,
    commands,
    drawn_by,
    hint,
    press,
    running,
    scene,
    settle,
    shown,
    toasts,
    typed,
)

SIZES = [(80, 24), (120, 40)]
HOSTILE = "[bold red]x[/] \x1b[31m\u202e\u200b@click=app.quit " + "긴 " * 2_500


def row(app: SubtitleApp) -> str:
    """What the chips say; empty where there is no row for them."""
    bar = app.search_screen.query_one(FilterBar)
    return str(bar.render()) if bar.display else ""


def offered(app: SubtitleApp) -> list[str]:
    screen = app.screen
    assert isinstance(screen, FilterScreen)
    return [" ".join(str(option.prompt).split()) for option in screen.rows.options]


def query(app: SubtitleApp) -> str:
    return app.search_screen.query_line.value


def found_by(app: SubtitleApp) -> list[Scene]:
    result = app.search_screen.results.result
    assert result
    return list(result.scenes)


@pytest.fixture
def kinds(runtime: Runtime) -> Iterator[dict[str, str]]:
    """The sample's videos are of all kinds, while the test lasts."""
    database = runtime.library.database
    with database.write() as db:
        db.execute("UPDATE video SET kind = CASE rowid % 3 WHEN 0 THEN 'short' WHEN 1 THEN 'stream' ELSE 'video' END")
        found = dict(db.execute("SELECT id, kind FROM video"))
    yield found
    with database.write() as db:
        db.execute("UPDATE video SET kind = ''")


class TestChips:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_typed_filters_are_chips_and_a_click_takes_one_away(
        self, app_of: MakeApp, size: tuple[int, int]
    ) -> None:
        async with running(app_of("ko"), size=size) as (app, pilot):
            assert row(app) == ""
            await press(pilot, *"치킨 채널:느긋한식탁 이후:2020-01-01")
            assert row(app) == " 채널 느긋한식탁 ✕   이후 2020-01-01 ✕ "
            assert " 채널 느긋한식탁 ✕   이후 2020-01-01 ✕ " in drawn_by(app)
            bar = app.search_screen.page.filter_bar
            start = bar.content_region.x - bar.region.x
            await pilot.click(FilterBar, offset=(start + 19, 0))  # the space between them
            assert "이후" in query(app)
            await pilot.click(FilterBar, offset=(start + 20, 0))
            await settle(pilot)
            assert query(app) == app.search_screen.results.text == "치킨 채널:느긋한식탁"
            await pilot.click(FilterBar, offset=(start + 18, 0))
            await settle(pilot)
            assert (query(app), row(app)) == ("치킨", "")
            assert app.search_screen.query_line.has_focus

    @pytest.mark.campaign(part="app")
    async def test_what_does_not_fit_is_counted_and_a_click_there_shows_it(self, app_of: MakeApp) -> None:
        async with running(
            app_of(scenes=[scene()]),
            "치킨 " + " ".join(f"channel:채널{n}의긴이름입니다" for n in range(5)),
            size=(80, 24),
        ) as (app, pilot):
            told = Content(row(app))
            bar = app.search_screen.page.filter_bar
            assert told.plain.endswith(" +3")
            assert told.cell_length <= bar.content_size.width
            await pilot.resize_terminal(120, 40)
            assert row(app).endswith(" +2")
            await pilot.click(FilterBar, offset=(4 + Content(row(app)).cell_length - 1, 0))
            await settle(pilot)
            assert sum(line.startswith("✓ channel") for line in offered(app)) == 5

    @pytest.mark.campaign(part="app")
    async def test_hostile_text_is_drawn_as_it_is_and_cut(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), f'치킨 channel:"{HOSTILE[:60]}"', size=(80, 24)) as (app, _):
            assert "channel [bold red]x[/] [31m@cl" in row(app)
            assert not {"\x1b", "\u202e", "\u200b"} & set(row(app))

    async def test_what_is_not_yet_a_filter_is_no_chip(self, app_of: MakeApp) -> None:
        async with running(app_of("en"), "치킨 after:2026-0") as (app, pilot):
            assert row(app) == ""
            app.search_screen.query_line.value = ""
            await typed(pilot, "치킨 종류:쇼")
            assert (row(app), hint(app)) == ("", "! Choose one of these: video, short, stream.")
            assert toasts(app) == []

    def test_chips_keep_to_their_cells(self) -> None:
        assert draw_chip(Chip("channel", "가" * 500)).cell_length <= LABEL_CELLS + 4
        for room in range(1, 60):
            drawn = draw_chip(Chip("video", "가나다 라마바사"), room)
            assert drawn.cell_length <= max(room, 5)
        assert [count_fitting([10, 10, 10], room) for room in (32, 31, 24, 23, 13, 12, 0)] == [3, 2, 2, 1, 1, 0, 0]


class TestChoosing:
    async def test_closed_without_a_choice_the_list_has_the_focus_again(self, app_of: MakeApp) -> None:
        async with running(app_of(), "치킨") as (app, pilot):
            await press(pilot, "tab", "f", "escape")
            assert app.search_screen.scenes.has_focus

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_hangul_narrows_the_list_and_enter_takes_a_channel(
        self, app_of: MakeApp, size: tuple[int, int]
    ) -> None:
        async with running(app_of("ko"), size=size) as (app, pilot):
            await pilot.press(*"치킨")
            await press(pilot, "escape", "f")
            assert isinstance(app.screen, FilterScreen)
            assert app.screen.line.has_focus
            assert any(line.startswith("채널 느긋한 식탁") for line in offered(app))
            await pilot.press(*"느긋")
            assert [line.split()[0] for line in offered(app)] == ["채널"]
            assert "느긋한 식탁" in drawn_by(app)
            await press(pilot, "enter")
            assert query(app) == app.search_screen.results.text == '채널:"느긋한 식탁" 치킨'
            assert row(app) == " 채널 느긋한 식탁 ✕ "
            assert app.search_screen.query_line.has_focus
            assert app.search_screen.query_line.cursor_position == len(query(app))

    @pytest.mark.campaign(part="app")
    async def test_enter_with_the_last_syllable_takes_what_fits_it(self, app_of: MakeApp) -> None:
        async with running(app_of("ko")) as (app, pilot):
            await pilot.press(*"치킨")
            await press(pilot, "escape", "f")
            for key in (*"가느긋", "enter"):
                app.post_message(events.Key(key, key if len(key) == 1 else None))
                if key == "가":
                    app.post_message(events.Key("backspace", None))
            await settle(pilot)
            assert query(app) == '채널:"느긋한 식탁" 치킨'

    @pytest.mark.campaign(part="app")
    async def test_a_video_is_chosen_by_a_part_of_its_title(self, app_of: MakeApp) -> None:
        async with running(app_of("en"), size=(120, 40)) as (app, pilot):
            await pilot.press(*"치킨")
            await press(pilot, "escape", "f")
            assert not any(line.startswith("video") for line in offered(app))
            await press(pilot, *"치")
            assert [line.split()[0] for line in offered(app)] == ["video"]
            await press(pilot, "enter")
            assert {one.video.id for one in found_by(app)} == {"sample-0001"}

    @pytest.mark.campaign(part="app")
    async def test_a_kind_is_chosen_with_the_arrows(self, app_of: MakeApp, kinds: dict[str, str]) -> None:
        async with running(app_of("ko"), size=(80, 24)) as (app, pilot):
            await pilot.press(*"할머니")
            await press(pilot, "escape", "f")
            assert [line[:6] for line in offered(app)[:3]] == ["종류 영상 ", "종류 쇼츠 ", "종류 라이브"]
            await press(pilot, "down", "down", "down", "up", "up", "enter")
            assert query(app) == app.search_screen.results.text == "종류:쇼츠 할머니"
            assert {kinds[one.video.id] for one in found_by(app)} == {"short"}

    @pytest.mark.campaign(part="app")
    async def test_a_typed_month_becomes_a_first_and_a_last_day(self, app_of: MakeApp) -> None:
        async with running(app_of("en", scenes=[scene()])) as (app, pilot):
            await pilot.press(*"치킨")
            await press(pilot, "escape", "f")
            await pilot.press(*"2024-02")
            assert offered(app) == ["after 2024-02-01", "before 2024-02-29"]
            await press(pilot, "down", "enter")
            assert query(app) == "before:2024-02-29 치킨"

    @pytest.mark.campaign(part="app")
    async def test_filters_alone_wait_for_a_word(self, app_of: MakeApp) -> None:
        async with running(app_of("en")) as (app, pilot):
            await press(pilot, "escape", "f")
            await press(pilot, *"느긋", "enter")
            assert (query(app), row(app)) == ('channel:"느긋한 식탁"', " channel 느긋한 식탁 ✕ ")
            assert "chicken sauce" in hint(app)
            await typed(pilot, " 치킨")
            assert hint(app) == ""


class TestTakingAway:
    TEXT = "channel:느긋 after:2020-01-01 치킨"

    @pytest.mark.campaign(part="app")
    async def test_what_is_set_is_listed_first_and_enter_takes_it_away(self, app_of: MakeApp) -> None:
        async with running(app_of("en"), self.TEXT, size=(120, 40)) as (app, pilot):
            await press(pilot, "escape", "f")
            assert offered(app)[:3] == ["✓ channel 느긋", "✓ after 2020-01-01", "✕ Remove all filters"]
            await press(pilot, "down", "enter")
            assert query(app) == app.search_screen.results.text == "channel:느긋 치킨"

    async def test_backspace_edits_first_and_then_takes_the_last_away(self, app_of: MakeApp) -> None:
        async with running(app_of("en"), self.TEXT) as (app, pilot):
            await press(pilot, "escape", "f")
            await pilot.press(*"가나", "backspace", "backspace")
            assert len([line for line in offered(app) if line.startswith("✓")]) == 2
            await pilot.press("backspace")
            assert [line for line in offered(app) if line.startswith("✓")] == ["✓ channel 느긋"]
            assert query(app) == self.TEXT
            await press(pilot, "backspace", "backspace", "escape")
            assert query(app) == app.search_screen.results.text == "치킨"

    @pytest.mark.campaign(part="app")
    async def test_all_go_at_once_from_the_list_and_by_command(self, app_of: MakeApp) -> None:
        async with running(app_of("en"), self.TEXT) as (app, pilot):
            assert "Find: clear filters" in commands(app)
            await press(pilot, "escape", "f")
            await press(pilot, "down", "down", "enter")
            assert query(app) == "치킨"
            assert "Find: clear filters" not in commands(app)
            await typed(pilot, " kind:short")
            [clear] = [c.callback for c in app.get_system_commands(app.screen) if c.title == "Find: clear filters"]
            clear()
            await settle(pilot)
            assert query(app) == app.search_screen.results.text == "치킨"

    @pytest.mark.campaign(part="app")
    async def test_leaving_changes_nothing(self, app_of: MakeApp) -> None:
        async with running(app_of("en"), f"{self.TEXT} ") as (app, pilot):
            await press(pilot, "escape", "f")
            await press(pilot, *"느긋", "escape")
            assert app.screen is app.search_screen
            assert query(app) == f"{self.TEXT} "


class TestTheList:
    async def test_a_library_that_cannot_be_read_is_told_and_filters_can_still_be_taken_away(
        self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def damaged(_library: object) -> list[names.VideoFacets]:
            raise AppError("library_damaged", path="library.db", reason="a page is torn")

        monkeypatch.setattr(names, "video_facets", damaged)
        async with running(app_of("en", scenes=[scene()]), "치킨 kind:short") as (app, pilot):
            await press(pilot, "escape", "f")
            assert any("library.db" in toast for toast in toasts(app))
            await press(pilot, "enter")
            assert query(app) == "치킨"

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_hostile_names_and_long_lists(self, unindexed: Runtime, size: tuple[int, int]) -> None:
        track = Track("ko", "file", "vtt", b"", "", 0)
        for n in range(150):
            channel = f"{HOSTILE} {n}" if n % 2 else f"채널 {n}"
            one = Video(f"v{n}", f"제목 {n} {HOSTILE}", f"UC{n}", channel)
            unindexed.library.put_video(one, track, cut_windows(one.id, spoken([["안녕"]]))[:1], RULE)
        async with running(SubtitleApp(unindexed), size=size) as (app, pilot):
            await press(pilot, "escape", "f")
            drawn = drawn_by(app)
            assert "[bold red]x[/] [31m@click" in drawn
            assert not {"\x1b", "\u202e", "\u200b"} & set(drawn)
            rest = app.screen.query_one("#rest", Static)
            assert str(rest.content).startswith("Only 100 channels")
            await pilot.press(*"제목", *["pagedown"] * 20)
            assert len(offered(app)) == 100
            await press(pilot, "enter")
            assert (query(app).split(":")[0], len(query(app)) < 60) == ("video", True)
            assert "no video" not in hint(app)

    async def test_a_narrow_terminal_shows_which_channel_it_is(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(), size=(40, 15)) as (app, pilot):
            await press(pilot, "escape", "f")
            drawn = drawn_by(app)
            names = [channel[1] for channel in runtime.library.channels()]
            values = [line.partition("channel  ")[2] for line in drawn.splitlines()]
            listed = [value.split("…")[0].split("  ")[0].strip() for value in values if value]
            assert listed
            assert all(any(len(each) > 3 and name.startswith(each) for name in names) for each in listed), listed
            assert "2026-05." in drawn

    @pytest.mark.campaign(part="app")
    async def test_nothing_of_that_name(self, app_of: MakeApp) -> None:
        async with running(app_of("en")) as (app, pilot):
            await press(pilot, "escape", "f")
            await pilot.press(*"없는이름", "enter")
            assert "No matches." in drawn_by(app)
            assert isinstance(app.screen, FilterScreen)
            assert shown(app, "#notice")


class TestPictures:
    @pytest.mark.parametrize("size", SIZES)
    def test_filters(
        self, app_of: MakeApp, snap_compare: Any, kinds: object, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
    ) -> None:
        """Chips under the query, and what else it can be narrowed to."""
        monkeypatch.setattr(filter_screen, "date", SimpleNamespace(today=lambda: date(2026, 11, 21)))
        app = app_of("en", scenes=[scene()], show_times=False)

        async def narrow(pilot: AppPilot) -> None:
            await settle(pilot)
            await typed(pilot, "channel:느긋 after:2020-01-01 치킨")
            await press(pilot, "escape", "f")
            await pilot.press("down")

        assert snap_compare(app, terminal_size=size, run_before=narrow)
