"""Taking videos and channels out of the library: hidden at once, gone after a minute, and whole again until then."""

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from subtitle_rag import removing
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.removing import RemovalTarget
from subtitle_rag.requests import JobRequest
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import removals
from subtitle_rag.tui.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.screens.library_screen import LibraryScreen
from subtitle_rag.tui.state.removal import Removal
from tests.stand_ins.youtube import Playlist, StandIn
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    MakeApp,
    bar,
    index_sample,
    library_of,
    press,
    row_cells,
    running,
    settle,
    toasts,
    typed,
    unpaced,
    until,
)
from tests.tui.test_youtube import KITCHEN, LIST, clips, kitchen

TENT = "sample-0001"


async def open_library(pilot: AppPilot, *, table: str = "videos") -> LibraryScreen:
    """With the cursor on the first video, or on the first channel."""
    await settle(pilot)
    await press(pilot, "f4")
    await press(pilot, *(["tab", "tab"] if table == "videos" else ["tab", "down"]))
    return library_of(pilot.app)


async def confirm(pilot: AppPilot) -> None:
    """Answer the question about a channel with yes."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen) and pilot.app.focused)
    await pilot.press("left", "enter")
    await pilot.pause()


def titles(screen: LibraryScreen) -> list[str]:
    return [row_cells(screen.tables.videos, at)[0] for at in range(screen.tables.videos.row_count)]


def channels(screen: LibraryScreen) -> list[str]:
    return [row_cells(screen.tables.channels, at)[0] for at in range(screen.tables.channels.row_count)]


def videos(runtime: Runtime) -> set[str]:
    return {state.video.id for state in runtime.library.videos()}


class TestOneVideo:
    @pytest.mark.parametrize("key", ["d", "ㅇ", "delete"])
    @pytest.mark.campaign(part="app")
    async def test_it_vanishes_everywhere_at_once_and_comes_back(
        self, app_of: MakeApp, key: str, runtime: Runtime
    ) -> None:
        async with running(app_of(), "캠핑 텐트", size=(120, 40)) as (app, pilot):
            found = [scene.video.id for scene in app.search_screen.scenes.values]
            screen = await open_library(pilot)
            before, chosen = titles(screen), screen.tables.videos.cursor_key
            assert chosen in found
            await press(pilot, key)
            assert titles(screen) == before[1:]
            assert screen.counts
            assert screen.counts.videos == len(before) - 1
            assert row_cells(screen.tables.channels, 1)[1] == str(len(before) - 1)
            assert bar(app, "removal").startswith("Removed “")
            assert re.search(r"Ctrl\+Z restores it within [56]\d s$", bar(app, "removal"))
            await press(pilot, "f4")
            left = [scene.video.id for scene in app.search_screen.scenes.values]
            assert left == [id for id in found if id != chosen]
            assert str(app.search_screen.page.query_bar.counter.content).startswith(f"{len(left)} scene")
            await press(pilot, "ctrl+z")
            assert [scene.video.id for scene in app.search_screen.scenes.values] == found
            assert app.search_screen.page.counts
            assert app.search_screen.page.counts.videos == len(before)
            assert toasts(app)[-1].endswith("” was restored.")
            assert not any("Removed “" in toast for toast in toasts(app))
        assert chosen in videos(runtime)

    @pytest.mark.campaign(part="app")
    async def test_searching_does_not_find_it_meanwhile(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            chosen = screen.tables.videos.cursor_key
            await pilot.press("d", "f4")
            await typed(pilot, "캠핑 텐트")
            assert chosen not in {scene.video.id for scene in app.search_screen.scenes.values}

    @pytest.mark.campaign(part="app")
    async def test_after_a_minute_it_has_left(self, filled: Runtime, soon: None) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            chosen = screen.tables.videos.cursor_key
            await pilot.press("d")
            await until(pilot, lambda: not app.context.removals.removals.all and bar(app, "removal") == "")
            await settle(pilot)
            assert chosen not in videos(filled)
            assert len(videos(filled)) == screen.tables.videos.row_count == 1
            assert not app.check_action("run", ("library.undo",))
        assert filled.index.count() == filled.library.counts().windows

    @pytest.mark.campaign(part="app")
    async def test_what_comes_back_before_it_was_counted_is_found_again(
        self, app_of: MakeApp, runtime: Runtime
    ) -> None:
        async with running(app_of(), "캠핑 텐트", size=(120, 40)) as (app, pilot):
            found = list(app.search_screen.scenes.values_by_key)
            hidden = next(iter(app.search_screen.scenes.values)).video
            app.context.removals.hide(Removal.of(RemovalTarget(hidden.title, hidden.id), runtime.library))
            await until(pilot, lambda: list(app.search_screen.scenes.values_by_key) != found)
            app.action_run("library.undo")
            await settle(pilot)
            assert list(app.search_screen.scenes.values_by_key) == found

    async def test_several_come_back_one_by_one_the_newest_first(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            before = titles(screen)
            await press(pilot, "d")
            await press(pilot, "d")
            assert titles(screen) == before[2:]
            assert "(+1 more)" in bar(app, "removal")
            await press(pilot, "z")
            assert titles(screen) == before[1:]
            await press(pilot, "ㅋ")
            assert titles(screen) == before
            assert bar(app, "removal") == ""

    @pytest.mark.campaign(part="app")
    async def test_a_letter_in_the_field_removes_nothing(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await press(pilot, "f4")
            await press(pilot, "d", "ㅇ", "delete")
            assert library_of(app).field.path.value == "dㅇ"
            assert bar(app, "removal") == ""

    @pytest.mark.campaign(part="app")
    async def test_hostile_titles_stay_text(self, filled: Runtime) -> None:
        video = replace(filled.library.video(TENT), title="[red]\x1b[31m[/]" + "긴" * 5000)  # type: ignore[type-var]
        track = filled.library.track(TENT)
        assert track
        filled.library.put_video(video, track, filled.library.windows_of(TENT), "rule")  # type: ignore[arg-type]
        async with running(SubtitleApp(filled), size=(80, 24)) as (app, pilot):
            screen = await open_library(pilot)
            at = next(at for at in range(2) if "[red]" in titles(screen)[at])
            screen.tables.videos.go_to(at)
            await press(pilot, "d")
            assert "“[red][31m[/]긴긴" in bar(app, "removal")
            assert re.search(r"restores it within [56]\d s$", bar(app, "removal"))


class TestChannels:
    @pytest.mark.campaign(part="app")
    async def test_a_channel_is_asked_about_once(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot, table="channels")
            await press(pilot, "d")
            assert isinstance(app.screen, ConfirmScreen)
            said = str(app.screen.query_one("#confirm Static", Static).content)
            assert "느긋한 식탁\n9 videos · 75 windows · 0 contexts" in said
            await press(pilot, "escape")
            assert library_of(app) is screen
            assert channels(screen)[1:] == ["느긋한 식탁"]
            await press(pilot, "d")
            await pilot.press("enter")  # the harmless button
            await settle(pilot)
            assert channels(screen)[1:] == ["느긋한 식탁"]
            await press(pilot, "d")
            await pilot.press("right", "enter")  # the other button
            await settle(pilot)
            assert screen.counts
            assert (screen.counts.channels, screen.counts.videos, screen.counts.windows) == (0, 0, 0)
            await press(pilot, "ctrl+z")
            assert channels(screen)[1:] == ["느긋한 식탁"]

    async def test_all_videos_are_no_channel(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot, table="channels")
            await press(pilot, "up", "d")
            assert app.screen is screen
            assert bar(app, "removal") == ""

    @pytest.mark.campaign(part="app")
    async def test_its_source_is_unfollowed_and_what_another_list_names_stays(
        self, hasty: Runtime, youtube: StandIn, soon: None
    ) -> None:
        both = clips(3)
        youtube.add(kitchen(*both))
        youtube.add(Playlist(LIST, "국수 모음", both[:1]))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            for address in (KITCHEN, f"https://www.youtube.com/playlist?list={LIST}"):
                await fetched(pilot, address)
            library = hasty.library
            (playlist,) = [source for source in library.sources.followed() if source.channel_id is None]
            app.context.removals.remove(RemovalTarget("국수 모음", sources=(playlist.id,)))
            await confirm(pilot)
            await until(
                pilot, lambda: app.context.removals.hidden == frozenset() and not app.context.removals.removals.all
            )
            await settle(pilot)
            assert [source.channel_id for source in library.sources.followed()] == ["UC" + "a" * 22]
            assert len(videos(hasty)) == 3
            app.context.removals.remove(
                RemovalTarget("느린 부엌", "", "UC" + "a" * 22, (library.sources.followed()[0].id,))
            )
            await confirm(pilot)
            await until(pilot, lambda: not app.context.removals.removals.all)
            await settle(pilot)
            assert (videos(hasty), library.sources.followed()) == (set(), [])


async def fetched(pilot: AppPilot, address: str) -> None:
    app = pilot.app
    app.jobs.start(JobRequest(sources=(parse_address(address),)))
    await until(pilot, lambda: not app.jobs.busy)
    await settle(pilot)


class TestJobs:
    @pytest.mark.campaign(part="app")
    async def test_nothing_leaves_while_a_job_runs(
        self, filled: Runtime, soon: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go = threading.Event()
        monkeypatch.setattr("subtitle_rag.pipeline.run_request", lambda *_args: held(go))
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            app.jobs.start(JobRequest((Path("/nowhere"),)))
            await pilot.press("d")
            await until(pilot, lambda: "when the job ends" in bar(app, "removal"))
            assert len(videos(filled)) == 2
            assert app.check_action("run", ("library.undo",))
            assert screen.tables.videos.row_count == 1
            go.set()
            await until(pilot, lambda: len(videos(filled)) == 1 and not app.context.removals.removals.all)

    @pytest.mark.campaign(part="app")
    async def test_a_job_waits_for_what_is_leaving(self, filled: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(removals, "UNDO_S", -1)
        carried, go = threading.Event(), threading.Event()
        remove = removing.remove

        def slow(*arguments: Any) -> int:
            carried.set()
            assert go.wait(20)
            return remove(*arguments)

        monkeypatch.setattr(removing, "remove", slow)
        monkeypatch.setattr(removals, "TICK_S", 0.05)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            await open_library(pilot)
            await pilot.press("d")
            await until(pilot, carried.is_set)
            app.jobs.start(JobRequest((SAMPLE,)))
            await pilot.pause(0.1)
            assert not app.jobs.busy
            go.set()
            await until(pilot, lambda: len(videos(filled)) == 9)

    @pytest.mark.campaign(part="app")
    async def test_a_sync_asks_nothing_of_what_is_leaving(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(2)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, KITCHEN)
            (source,) = hasty.library.sources.followed()
            app.context.removals.remove(RemovalTarget(source.name, "", source.channel_id, (source.id,)))
            await confirm(pilot)
            await settle(pilot)
            asked = youtube.count()
            await pilot.press("ctrl+r")
            await until(pilot, lambda: app.job and app.job.ended and not app.jobs.busy)
            assert youtube.count() == asked
            assert [one.id for one in hasty.library.sources.followed()] == [source.id]

    @pytest.mark.campaign(part="app")
    async def test_whoever_brings_it_in_anew_has_it_back(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(2)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, KITCHEN)
            (source,) = hasty.library.sources.followed()
            app.context.removals.remove(RemovalTarget(source.name, "", source.channel_id, (source.id,)))
            await confirm(pilot)
            await settle(pilot)
            await fetched(pilot, KITCHEN)
            assert not app.context.removals.removals.all
            assert "“느린 부엌” was restored." in toasts(app)

    @pytest.mark.campaign(part="app")
    async def test_a_folder_that_is_read_anew_is_back(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            await open_library(pilot)
            await press(pilot, "d")
            app.jobs.start(JobRequest((SAMPLE.parent / "elsewhere",)))
            await settle(pilot)
            assert app.context.removals.removals.waiting
            index_sample(app)
            await settle(pilot)
            assert not app.context.removals.removals.all

    @pytest.mark.campaign(part="app")
    async def test_the_job_that_fetches_it_is_stopped_and_forgotten(
        self, hasty: Runtime, youtube: StandIn, soon: None
    ) -> None:
        youtube.add(kitchen(*clips(20)))
        hasty.settings = replace(hasty.settings, youtube=replace(unpaced(), pause_min=1, pause_max=1))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await until(pilot, lambda: hasty.library.counts().windows and app.screen is app.search_screen)
            (source,) = hasty.library.sources.followed()
            app.context.removals.remove(RemovalTarget(source.name, "", source.channel_id, (source.id,)))
            await confirm(pilot)
            await until(pilot, lambda: not app.jobs.busy and not app.context.removals.removals.all)
            await settle(pilot)
            assert (videos(hasty), hasty.library.sources.followed()) == (set(), [])
            assert (app.job, app.jobs.queue.stopped, app.jobs.queue.waiting) == (None, [], [])


def held(go: threading.Event) -> Iterator[object]:
    go.wait(20)
    yield from ()
