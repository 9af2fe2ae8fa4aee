"""The first screen: typing in Hangul, pressing Enter too early, late answers, and what is shown meanwhile."""

import threading
import unicodedata
from typing import Any

import pytest
from textual._compositor import Compositor

from subtitle_rag.library.app_state import LAST_LOOK, new_videos
from subtitle_rag.library.rows import Counts
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.tui.screens.search import live_search
from subtitle_rag.tui.screens.search.empty_state_page import EmptyStatePage
from subtitle_rag.tui.shared import search_text
from subtitle_rag.tui.shared.scenes.preview import Preview
from subtitle_rag.tui.shared.scenes.scene_list import SceneList
from tests.tui.conftest import (
    Answers,
    MakeApp,
    Outside,
    press,
    press_each,
    running,
    scene,
    settle,
    shown,
    toasts,
    transcript_text,
    typed,
    until,
)

CHICKEN = "소스 찍어 먹는 치킨"


class TestTyping:
    @pytest.mark.campaign(part="app")
    async def test_hangul_finds_scenes_while_the_query_keeps_the_focus(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 30)) as (app, pilot):
            await press(pilot, *CHICKEN)
            screen = app.search_screen
            assert screen.query_line.value == CHICKEN
            assert screen.query_line.has_focus
            assert screen.scenes.value
            assert "치킨" in screen.scenes.value.text
            assert str(screen.scenes.border_title).startswith("Scenes · ")
            assert "▶" in transcript_text(app)
            assert str(screen.preview.border_title) == screen.scenes.value.video.title

    @pytest.mark.campaign(part="app")
    async def test_what_is_typed_while_the_library_opens_is_searched_then(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = threading.Event()
        counts = runtime.library.counts
        monkeypatch.setattr(runtime.library, "counts", lambda: (gate.wait(10), counts())[1])
        app = app_of(scenes=[scene()])
        async with app.run_test() as pilot:
            await pilot.press(*"치킨", "enter")
            assert "getting ready" in shown(app, "#counter")
            gate.set()
            await settle(pilot)
            assert app.search_screen.results.text == "치킨"

    async def test_letters_typed_in_quick_succession_are_one_search(
        self, app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with running(app_of(scenes=[scene()])) as (_, pilot):
            with monkeypatch.context() as typing:
                typing.setattr(live_search, "DEBOUNCE_S", 600)
                await pilot.press(*"치킨 소")
            await press(pilot, "스")
            answers = runtime.__dict__["searcher"]
            assert answers.asked[1:] == ["치", "치킨 소스"]  # the very first one warms up

    @pytest.mark.campaign(part="app")
    async def test_decomposed_hangul_is_composed(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await press(pilot, *unicodedata.normalize("NFD", "치킨"))
            assert app.search_screen.results.text == "치킨"
            assert runtime.__dict__["searcher"].asked[-1] == "치킨"

    @pytest.mark.campaign(part="app")
    async def test_the_border_counts_videos_and_scenes_in_korean(self, app_of: MakeApp) -> None:
        async with running(app_of("ko")) as (app, pilot):
            assert "영상 9편" in shown(app, "#notice")
            await typed(pilot, CHICKEN)
            counts = app.search_screen.results.result.scenes_by_video  # type: ignore[union-attr]
            title = f"장면 · {len(counts)}편 {sum(counts.values())}곳"
            assert str(app.search_screen.scenes.border_title) == title

    @pytest.mark.parametrize(
        ("query", "tip"), [("없는말", "another spelling"), ("없는말 after:2026-01-01", "Take away a filter")]
    )
    def test_no_hit_says_so_and_suggests(self, query: str, tip: str) -> None:
        rows = str(search_text.no_scenes(query, Counts(1, 9, 0, 0, 75, 75), ()))
        assert f"No scene for “{query}”." in rows
        assert tip in rows

    @pytest.mark.parametrize(("last_look", "videos"), [(None, 0), (str(2**40), 0), ("0", 9)])
    def test_those_are_new_that_came_since_the_last_time(
        self, runtime: Runtime, last_look: str | None, videos: int
    ) -> None:
        runtime.library.database.put_setting(LAST_LOOK, last_look)
        assert new_videos(runtime.library) == videos

    async def test_videos_that_came_since_the_last_time_are_told(self, app_of: MakeApp, runtime: Runtime) -> None:
        database = runtime.library.database
        database.put_setting(LAST_LOOK, "0")
        app = app_of(scenes=[])
        async with app.run_test() as pilot:
            await until(pilot, lambda: "9 new videos since the last time" in shown(app, "#tips"))
            await until(pilot, lambda: 1_600_000_000 < int(database.get_setting(LAST_LOOK) or 0) < 2**40)

    @pytest.mark.campaign(part="app")
    async def test_an_empty_query_shows_the_size_of_the_library(self, app_of: MakeApp) -> None:
        async with running(app_of()) as (app, pilot):
            assert "9 videos" in shown(app, "#notice")
            await typed(pilot, "치킨")
            assert not app.search_screen.query_one("#calm").display
            await pilot.press("escape", "escape")
            assert "9 videos" in shown(app, "#notice")
            assert app.search_screen.query_one("#calm").display


async def test_the_first_scenes_need_no_frame_of_the_whole_screen(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_of(scenes=[scene(n) for n in range(1, 30)])
    whole_frames: list[Compositor] = []
    draw = Compositor.render_full_update

    def counted(compositor: Compositor, *arguments: Any, **options: Any) -> Any:
        whole_frames.append(compositor)
        return draw(compositor, *arguments, **options)

    async with running(app, size=(120, 40)) as (_, pilot):
        monkeypatch.setattr(Compositor, "render_full_update", counted)
        await typed(pilot, "치킨")
        assert app.search_screen.scenes.row_count
        assert not whole_frames


@pytest.mark.usefixtures("unhurried")
class TestTheEnterRule:
    async def test_what_is_played_is_the_second_of_the_best_line(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await press(pilot, *"치킨", "enter")
            await press(pilot, "enter")
            [play] = outside.played
            assert play["link"] == "https://youtu.be/video-00001?t=61"
            assert play["at_ms"] == 61_000
            assert play["lead_in"] == app.settings.player.lead_in
            assert any("Playing from 1:01" in toast for toast in toasts(app))

    @pytest.mark.campaign(part="app")
    async def test_enter_before_the_answer_searches_and_the_second_enter_plays(
        self, app_of: MakeApp, outside: Outside
    ) -> None:
        async with running(app_of()) as (app, pilot):
            await press(pilot, *CHICKEN, "enter")
            assert outside.played == []
            assert app.search_screen.results.text == CHICKEN
            await press(pilot, "enter")
            assert [play["name"] for play in outside.played] == ["browser"]

    @pytest.mark.campaign(part="app")
    async def test_enter_with_the_last_syllable_does_not_play_the_scene_on_the_screen(
        self, app_of: MakeApp, outside: Outside
    ) -> None:
        async with running(app_of()) as (app, pilot):
            await press(pilot, "치", "enter")
            assert app.search_screen.scenes.value
            await press(pilot, "킨", "enter")
            assert outside.played == []
            assert app.search_screen.results.text == "치킨"


@pytest.mark.usefixtures("unhurried")
class TestLateAnswers:
    @pytest.mark.campaign(part="app")
    async def test_old_scenes_stay_dimmed_until_new_ones_come(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await press(pilot, *"치킨", "enter")
            await pilot.press("소")
            found = app.search_screen.query_one("#found")
            await until(pilot, lambda: found.has_class("-stale"))
            assert found.display
            assert app.search_screen.scenes.row_count == 1
            await pilot.press("backspace")
            assert not found.has_class("-stale")
            await settle(pilot)
            assert app.search_screen.results.text == "치킨"

    @pytest.mark.campaign(part="app")
    async def test_resizing_during_a_search_changes_nothing(self, app_of: MakeApp, runtime: Runtime) -> None:
        gate = threading.Event()

        def answer(query: Query) -> SearchResult:
            assert query.raw == "장면" or gate.wait(10)
            return SearchResult(query, ("bm25",), (scene(),), {})

        app = app_of(scenes=[])
        runtime.__dict__["searcher"] = Answers(answer)
        async with running(app, size=(120, 30)) as (_, pilot):
            await pilot.press(*"치킨", "enter")
            for size in ((60, 12), (99, 24), (30, 6), (120, 40)):
                await pilot.resize_terminal(*size)
            gate.set()
            await settle(pilot)
            assert app.search_screen.results.text == "치킨"
            assert app.search_screen.query_one(Preview).display

    @pytest.mark.campaign(part="app")
    async def test_an_answer_to_an_earlier_text_is_dropped(self, app_of: MakeApp, runtime: Runtime) -> None:
        gates = {"치": threading.Event(), "치킨": threading.Event()}
        asked = threading.Event()

        def answer(query: Query) -> SearchResult:
            if gate := gates.get(query.raw):
                asked.set()
                assert gate.wait(10)
            return SearchResult(query, ("bm25",), (scene(len(query.raw)),), {})

        app = app_of(scenes=[])
        runtime.__dict__["searcher"] = Answers(answer)
        async with running(app) as (_, pilot):
            await pilot.press("치", "enter", "킨", "enter")
            assert asked.wait(10)
            gates["치킨"].set()
            while app.search_screen.results.text is None:
                await pilot.pause()
            gates["치"].set()
            await settle(pilot)
            assert app.search_screen.results.text == "치킨"
            assert app.search_screen.scenes.value == scene(2)


class TestTheList:
    @pytest.mark.campaign(part="app")
    async def test_arrows_move_from_the_query_and_the_preview_follows(self, app_of: MakeApp) -> None:
        app = app_of(scenes=[scene(n, title=f"제목 {n}") for n in range(1, 30)])
        async with running(app, "치킨", size=(120, 30)) as (_, pilot):
            await pilot.press("down", "j", "down", "up")
            assert app.search_screen.scenes.has_focus
            assert app.search_screen.scenes.cursor == 2
            assert str(app.search_screen.preview.border_title) == "제목 3"
            await pilot.press("pagedown")
            below = app.search_screen.scenes.cursor
            assert below
            assert below > 5
            await pilot.press("pageup", "pageup", "up")
            assert app.search_screen.scenes.cursor == 0

    @pytest.mark.campaign(part="app")
    async def test_the_chosen_scene_stays_chosen_over_a_refill(self, app_of: MakeApp, runtime: Runtime) -> None:
        order = {"치킨": (1, 2, 3), "치킨 소스": (3, 1, 2), "치킨 소스 통": (3, 1)}
        app = app_of(scenes=[])
        runtime.__dict__["searcher"] = Answers(
            lambda query: SearchResult(query, (), tuple(scene(n) for n in order.get(query.raw, ())), {})
        )
        async with running(app, "치킨") as (_, pilot):
            await pilot.press("down")
            await typed(pilot, " 소스")
            assert app.search_screen.scenes.cursor == 2
            await typed(pilot, " 통")
            assert app.search_screen.scenes.cursor == 0

    async def test_hangul_letters_move_in_the_list_and_others_go_to_the_query(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene(n) for n in (1, 2, 3)]), "치킨") as (app, pilot):
            screen = app.search_screen
            await pilot.press("tab")
            assert screen.query_one(SceneList).has_focus
            await press_each(pilot, "ㅓ", "j", "ㅏ")
            assert screen.scenes.cursor == 1
            await pilot.press("집")
            assert screen.query_line.has_focus
            assert screen.query_line.value == "치킨집"
            await settle(pilot)
            await pilot.press("tab", "slash")
            assert screen.query_line.has_focus
            assert screen.query_line.value == "치킨집"

    @pytest.mark.campaign(part="app")
    async def test_escape_goes_from_the_field_to_the_list_to_the_empty_field_and_never_out(
        self, app_of: MakeApp
    ) -> None:
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            screen = app.search_screen
            await pilot.press("escape")
            assert (screen.scenes.has_focus, screen.query_line.value) == (True, "치킨")
            await pilot.press("escape")
            assert (screen.query_line.has_focus, screen.query_line.value) == (True, "")
            await pilot.press("escape")
            assert screen.focused is None
            await pilot.press("escape", "escape")
            assert app.is_running
            await press(pilot, "slash")
            assert screen.query_line.has_focus

    async def test_enter_goes_to_the_scenes_of_what_is_typed_and_plays_there(
        self, app_of: MakeApp, outside: Outside, unhurried: None
    ) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await pilot.press(*"치킨", "enter")
            await until(pilot, lambda: app.search_screen.scenes.has_focus)
            assert not outside.played
            await press(pilot, "enter")
            assert len(outside.played) == 1

    @pytest.mark.campaign(part="app")
    async def test_a_narrow_terminal_folds_the_preview_away(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), "치킨", size=(60, 12)) as (app, _):
            assert not app.search_screen.preview.display
            assert app.search_screen.scenes.size.width > 50


class TestLinks:
    @pytest.mark.campaign(part="app")
    async def test_ctrl_y_copies_the_link_to_the_second(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene(1), scene(2, context="국수를 삶는다")]), "치킨") as (app, pilot):
            await press(pilot, "down", "ctrl+y")
            assert outside.copied == ["https://youtu.be/video-00002?t=61"]
            assert toasts(app) == ["Link copied: https://youtu.be/video-00002?t=61"]

    @pytest.mark.campaign(part="app")
    async def test_without_a_clipboard_program_the_terminal_is_asked(
        self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_text: str) -> None:
            raise RuntimeError("no xclip here")

        monkeypatch.setattr("pyperclip.copy", refuse)
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            await press(pilot, "ctrl+y")
            assert app.clipboard == "https://youtu.be/video-00001?t=61"

    @pytest.mark.parametrize("key", ["enter", "ctrl+y"])
    @pytest.mark.campaign(part="app")
    async def test_a_scene_without_a_link_says_why(self, app_of: MakeApp, outside: Outside, key: str) -> None:
        own = scene()
        video = type(own.video)("file-1", "[red]제목[/red]", "c", "채널")
        async with running(app_of(scenes=[scene(video=video)]), "치킨", size=(120, 30)) as (app, pilot):
            await press(pilot, "escape", key)
            assert "[red]제목[/red] has no link" in toasts(app)[0]
            assert not outside.played
            assert not outside.copied

    @pytest.mark.campaign(part="app")
    async def test_where_nothing_can_be_shown_enter_copies(
        self, app_of: MakeApp, outside: Outside, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("subtitle_rag.sharing.player.can_show", lambda: False)
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            await press(pilot, "enter", "enter")
            assert outside.played == []
            assert app.clipboard == "https://youtu.be/video-00001?t=61"
            assert "Nothing can be played here" in toasts(app)[0]


async def test_half_a_syllable_leaves_the_list_until_there_is_a_better_one(app_of: MakeApp) -> None:
    async with running(app_of("ko"), "치킨") as (app, pilot):
        listed = app.search_screen.scenes.row_count
        app.search_screen.query_line.value = "뷁ㅎ"
        await settle(pilot)
        assert app.search_screen.scenes.row_count == listed > 0
        app.search_screen.query_line.value = "뷁"
        await settle(pilot)
        assert app.search_screen.scenes.row_count == 0


async def test_words_that_stand_nowhere_are_named_under_the_field(app_of: MakeApp) -> None:
    async with running(app_of("ko"), "소스 찍어 먹는 치킨 Zyxwv") as (app, pilot):
        screen = app.search_screen
        assert screen.scenes.row_count > 0
        assert str(screen.page.query_bar.border_subtitle) == "! 이 보관함에 없는 말: Zyxwv"
        screen.query_line.value = "치킨"
        await settle(pilot)
        assert not screen.page.query_bar.border_subtitle


async def test_a_whole_syllable_that_begins_no_word_leaves_the_list_until_enter(app_of: MakeApp) -> None:
    async with running(app_of("en"), "캠") as (app, pilot):
        screen = app.search_screen
        listed = screen.scenes.row_count
        screen.query_line.value = "캠뷁"
        await settle(pilot)
        assert screen.scenes.row_count == listed > 0
        assert screen.results.display
        assert "No scene for “캠뷁”. These are for “캠”." in str(screen.page.query_bar.border_subtitle)
        await press(pilot, "enter")
        assert (screen.scenes.row_count, screen.query_one(EmptyStatePage).display) == (0, True)
