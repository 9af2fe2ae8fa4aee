"""What is asked for in the background comes in any order, also to screens that have gone, and Enter comes too early:
what was asked for last is shown, and a key acts on all that was typed before it."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from subtitle_rag.answers import content_overview
from subtitle_rag.library import names as library_names, overview as library_overview
from subtitle_rag.library.app_state import note_search
from subtitle_rag.runtime import Runtime
from subtitle_rag.search import suggestions
from subtitle_rag.search.query import Query
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.search.suggestions import Suggestion
from subtitle_rag.sharing import player
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.checks.checks_screen import ChecksScreen
from subtitle_rag.tui.screens.dialogs.player_screen import PlayerScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.marks.marks_screen import MarksScreen
from subtitle_rag.tui.screens.overview.overview_screen import OverviewScreen
from subtitle_rag.tui.screens.search import live_search
from subtitle_rag.tui.screens.search.empty_state_page import ReadyQueryList
from subtitle_rag.tui.screens.search.filter_screen import FilterScreen
from subtitle_rag.tui.screens.settings.settings_screen import SettingsScreen
from subtitle_rag.tui.screens.transcript.transcript_screen import TranscriptScreen
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.spoken_lines import VideoMoment
from subtitle_rag.workflows import checks as doctor
from subtitle_rag.workflows.requests import JobRequest
from tests.tui.conftest import (
    Answers,
    AppPilot,
    MakeApp,
    Outside,
    at_once,
    drawn_by,
    library_of,
    press,
    run_command,
    running,
    scene,
    settle,
    shown,
    typed,
    until,
)


class Slow:
    """A function whose first call gives its result only when it is let go; the later ones give theirs at once."""

    def __init__(self, called: Callable[..., Any]) -> None:
        self._called = called
        self.asked: list[tuple[Any, ...]] = []
        self.begun, self.gate, self.ended = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        first = not self.asked
        self.asked.append(arguments)
        result = self._called(*arguments, **options)
        if first:
            self.begun.set()
            assert self.gate.wait(20)
            self.ended.set()
        return result

    async def let(self, pilot: AppPilot) -> None:
        """Let the first call give its result, and wait until all has come of it that can."""
        self.gate.set()
        await until(pilot, self.ended.is_set)
        await settle(pilot)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[object, str], Slow]]:
    """Makes the first call of a function slow."""
    made: list[Slow] = []

    def make(owner: object, name: str) -> Slow:
        made.append(Slow(getattr(owner, name)))
        monkeypatch.setattr(owner, name, made[-1])
        return made[-1]

    yield make
    for each in made:
        each.gate.set()


MakeSlow = Callable[[object, str], Slow]


class TestTheSlowerOlderAnswer:
    @pytest.mark.usefixtures("unhurried")
    @pytest.mark.campaign(part="app")
    async def test_of_a_search(self, app_of: MakeApp, runtime: Runtime) -> None:
        gates = {"치킨": threading.Event(), "치킨 소스": threading.Event()}
        begun = threading.Event()

        def answer(query: Query) -> Iterator[SearchResult]:
            if gate := gates.get(query.raw):
                begun.set()
                assert gate.wait(20)
            for final in (False, True):
                yield SearchResult(query, ("bm25",), (scene(len(query.raw)),), {}, final=final)

        async with running(app_of(scenes=[])) as (app, pilot):
            runtime.__dict__["searcher"] = Answers(answer)
            await pilot.press(*"치킨", "enter")
            await until(pilot, begun.is_set)
            await pilot.press(*" 소스", "enter")
            gates["치킨 소스"].set()
            await until(pilot, lambda: app.search_screen.results.text == "치킨 소스")
            gates["치킨"].set()
            await settle(pilot)
            assert (app.search_screen.results.text, app.search_screen.scenes.value) == ("치킨 소스", scene(5))

    @pytest.mark.campaign(part="app")
    async def test_of_what_surrounds_a_scene(self, app_of: MakeApp, runtime: Runtime, slow: MakeSlow) -> None:
        places = slow(runtime.searcher, "mentions")
        async with running(app_of(show_times=False), size=(120, 40)) as (app, pilot):
            app.search_screen.query_line.insert_text_at_cursor("소스 찍어 먹는 치킨")
            await until(pilot, places.begun.is_set)
            scenes = app.search_screen.scenes
            first = scenes.value
            assert first
            while scenes.value is None or scenes.value.video.id == first.video.id:  # None: the rest of a video
                await pilot.press("down")
            preview = app.search_screen.preview
            await until(pilot, lambda: preview._around.matches is not None)
            before = preview._around, shown(app, "#timeline")
            await places.let(pilot)
            assert (preview._around, shown(app, "#timeline")) == before

    async def test_of_suggestions(self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch, slow: MakeSlow) -> None:
        def named(_searcher: object, _library: object, text: str, _stop: object) -> list[Suggestion]:
            return [Suggestion("spelling", f"{text}로", text, f"{text}로", 1)]

        monkeypatch.setattr(suggestions, "suggest_queries", named)
        asked = slow(suggestions, "suggest_queries")
        async with running(app_of(scenes=[])) as (app, pilot):
            app.search_screen.query_line.insert_text_at_cursor("치킹")
            await until(pilot, asked.begun.is_set)
            app.search_screen.query_line.insert_text_at_cursor("킹")
            choices = app.search_screen.query_one(ReadyQueryList)
            await until(pilot, lambda: choices.option_count)
            await asked.let(pilot)
            assert [str(option.prompt).split("\n")[0] for option in choices.options] == ["치킹킹로"]

    @pytest.mark.campaign(part="app")
    async def test_of_the_last_searches(self, app_of: MakeApp, runtime: Runtime, slow: MakeSlow) -> None:
        async with running(app_of(scenes=[])) as (app, pilot):
            noted = slow(live_search, "note_search")
            app.search_screen.page.recent.note("치킨")
            await until(pilot, noted.begun.is_set)
            app.search_screen.page.recent.note("소스")
            await pilot.pause()
            await noted.let(pilot)
            assert app.search_screen.page.recent.queries == ["소스", "치킨"]
            assert note_search(runtime.library, "소스") == ["소스", "치킨"]

    @pytest.mark.campaign(part="app")
    async def test_of_the_size_of_the_library(self, filled: Runtime, slow: MakeSlow) -> None:
        async with running(SubtitleApp(filled)) as (app, pilot):
            counts = app.search_screen.page.counts
            counted = slow(filled.library, "counts")
            app.context.opening.look_up()
            await until(pilot, counted.begun.is_set)
            filled.library.remove_videos([filled.library.videos()[0].video.id])
            app.context.opening.look_up()
            await until(pilot, lambda: app.search_screen.page.counts != counts)
            newer = app.search_screen.page.counts
            await counted.let(pilot)
            assert app.search_screen.page.counts == newer

    async def test_of_the_channels(self, app_of: MakeApp, slow: MakeSlow) -> None:
        async with running(app_of(scenes=[])) as (app, pilot):
            await press(pilot, "ctrl+l")
            screen = library_of(app)
            listed = slow(library_overview, "channel_states")
            screen.list_videos()
            await until(pilot, listed.begun.is_set)
            screen.tables._channel_states = []
            screen.list_videos()
            await until(pilot, lambda: screen.tables._channel_states)
            newer = screen.tables._channel_states
            await listed.let(pilot)
            assert screen.tables._channel_states is newer

    @pytest.mark.campaign(part="app")
    async def test_of_the_players(self, app_of: MakeApp, slow: MakeSlow) -> None:
        app = app_of(scenes=[scene(1), scene(2)])
        usable = slow(player, "usable")
        async with running(app, "치킨") as (_, pilot):
            await run_command(pilot, "scene.play-with")
            await until(pilot, usable.begun.is_set)
            await pilot.press("down")
            await run_command(pilot, "scene.play-with")
            await until(pilot, lambda: isinstance(app.screen, PlayerScreen))
            await pilot.press("escape")
            await usable.let(pilot)
            assert app.screen is app.search_screen

    @pytest.mark.campaign(part="app")
    async def test_of_checks_that_are_asked_for_twice(
        self, app_of: MakeApp, slow: MakeSlow, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(doctor, "OFFLINE", doctor.OFFLINE - {"device"})  # which takes long
        probe = slow(doctor, "probe")
        async with running(app_of(scenes=[]), size=(80, 24)) as (app, pilot):
            await run_command(pilot, "app.checks")
            await until(pilot, probe.begun.is_set)
            screen = app.screen
            assert isinstance(screen, ChecksScreen)
            held = probe.asked[0][0]
            await pilot.press("r")
            assert held not in screen.checks.results
            await probe.let(pilot)
            await until(pilot, lambda: not screen.checks.busy)
            assert set(screen.checks.results) == set(screen.checks.names)
            assert [asked[0] for asked in probe.asked].count(held) == 1


class TestScreensThatHaveGone:
    """Their answers come to nobody, and harm nobody."""

    async def test_filters(self, app_of: MakeApp, slow: MakeSlow) -> None:
        named = slow(library_names, "video_facets")
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            await pilot.press("escape", "f")
            await until(pilot, named.begun.is_set)
            assert "Opening the library…" in drawn_by(app)
            await pilot.press("escape", "f")
            screen = app.screen
            assert isinstance(screen, FilterScreen)
            catalogue = partial(getattr, screen, "_catalogue")
            await until(pilot, catalogue)
            newer = catalogue()
            await named.let(pilot)
            assert app.screen_stack[-1] is screen
            assert catalogue() is newer

    @pytest.mark.campaign(part="app")
    async def test_checks_and_the_library(self, app_of: MakeApp, slow: MakeSlow) -> None:
        probe, listed = slow(doctor, "probe"), slow(library_overview, "channel_states")
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await run_command(pilot, "app.checks")
            await until(pilot, probe.begun.is_set)
            await pilot.press("escape", "ctrl+l")
            await until(pilot, listed.begun.is_set)
            await pilot.press("escape")
            assert app.screen is app.search_screen
            for each in (listed, probe):
                await each.let(pilot)
            await typed(pilot, "치킨")
            assert app.search_screen.scenes.value == scene()
            assert not app._notifications

    async def test_an_overview(self, app_of: MakeApp, slow: MakeSlow) -> None:
        read = slow(content_overview, "read_overview")
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            await pilot.press("escape", "o")
            await until(pilot, read.begun.is_set)
            await pilot.press("enter", "down", "ctrl+y", "escape")
            assert app.screen is app.search_screen
            await read.let(pilot)
            assert app.search_screen.scenes.value == scene()
            assert not app._notifications

    @pytest.mark.campaign(part="app")
    async def test_the_app_itself(self, app_of: MakeApp, runtime: Runtime, slow: MakeSlow) -> None:
        places = slow(runtime.searcher, "mentions")
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            app.search_screen.query_line.insert_text_at_cursor("캠핑")
            await until(pilot, places.begun.is_set)
            await pilot.press("ctrl+q")
            places.gate.set()
        assert app.return_code == 0


class TestEnterTooEarly:
    """The last syllable and Enter come in one breath."""

    @pytest.mark.usefixtures("unhurried")
    @pytest.mark.campaign(part="app")
    async def test_in_the_query(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await press(pilot, "치", "enter")
            assert app.search_screen.results.text == "치"
            at_once(app, "킨", "enter")
            await settle(pilot)
            assert outside.played == []
            assert app.search_screen.results.text == "치킨"
            at_once(app, "enter")
            await settle(pilot)
            assert len(outside.played) == 1

    @pytest.mark.campaign(part="app")
    async def test_in_the_field_of_the_library(self, unindexed: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        app, started = SubtitleApp(unindexed), list[JobRequest]()
        monkeypatch.setattr(app.jobs, "start", started.append)
        async with running(app) as (_, pilot):
            assert isinstance(app.screen, LibraryScreen)
            at_once(app, *"@동네시장", "enter")
            await settle(pilot)
            assert [errand.source.key for errand in started if errand.source] == ["@동네시장"]
            assert app.screen.field.path.value == ""

    @pytest.mark.campaign(part="app")
    async def test_in_filters_that_are_not_read_yet(self, app_of: MakeApp, slow: MakeSlow) -> None:
        named = slow(library_names, "video_facets")
        async with running(app_of("en", scenes=[scene()]), "치킨") as (app, pilot):
            await pilot.press("escape", "f")
            await until(pilot, named.begun.is_set)
            at_once(app, *"느긋", "enter")
            await pilot.pause()
            assert isinstance(app.screen, FilterScreen)
            await named.let(pilot)
            at_once(app, "enter")
            await settle(pilot)
            assert app.search_screen.query_line.value == 'channel:"느긋한 식탁" 치킨'

    @pytest.mark.campaign(part="app")
    async def test_for_a_player_that_is_not_offered_yet(
        self, app_of: MakeApp, outside: Outside, slow: MakeSlow
    ) -> None:
        usable = slow(player, "usable")
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            await press(pilot, "escape")
            await run_command(pilot, "scene.play-with")
            await until(pilot, usable.begun.is_set)
            at_once(app, "enter")  # which plays with the default one, as ever
            await pilot.pause()
            await usable.let(pilot)
            assert [type(screen) for screen in app.screen_stack[1:]] == [PlayerScreen]
            assert len(outside.played) == 1
            at_once(app, "enter")
            await settle(pilot)
            assert app.screen_stack == [app.search_screen]
            assert len(outside.played) == 2


class TestScreensWithoutWidgets:
    """Keys and footers may ask for the commands of a screen that is just opened, or just closed."""

    @pytest.mark.campaign(part="app")
    async def test_commands_can_be_asked_for(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), "치킨", size=(120, 40)) as (app, pilot):
            chosen = scene()
            context, below = app.context, app.search_screen
            for screen in (
                OverviewScreen(context, chosen.video),
                MarksScreen(context),
                TranscriptScreen(context, VideoMoment(chosen.video, 0)),
                SettingsScreen(context, reopen=lambda: None),
            ):
                opened = app.push_screen(screen)
                assert "scene.play" not in {each.binding.id for each in screen.active_bindings.values()}
                below.query_one(KeyBar)._look_up()
                await opened
                await settle(pilot)
                assert "screen.back" in {each.binding.id for each in screen.active_bindings.values()}
                closed = screen.dismiss()
                screen.query_one(KeyBar)._look_up()
                assert screen.active_bindings is not None
                await closed
                await settle(pilot)
