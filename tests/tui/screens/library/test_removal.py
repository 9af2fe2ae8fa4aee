"""Taking videos and channels out of the library: asked about once, in words with numbers, then gone."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from subtitle_rag.base.domain.values import Video
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.shared.content import short_name
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.workflows import removing
from subtitle_rag.workflows.removing import RemovalTarget
from subtitle_rag.workflows.requests import JobRequest
from tests.stand_ins.youtube import Playlist, StandIn
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    MakeApp,
    bar,
    library_of,
    press,
    row_cells,
    running,
    settle,
    toasts,
    unpaced,
    until,
)
from tests.tui.test_youtube import KITCHEN, LIST, clips, kitchen

TENT = "sample-0001"


async def open_library(pilot: AppPilot, *, table: str = "videos") -> LibraryScreen:
    """With the cursor on the first video, or on the first channel."""
    await settle(pilot)
    await press(pilot, "ctrl+l")
    screen = library_of(pilot.app)
    if table == "videos":
        screen.tables.videos.focus()
    else:
        screen.tables.channels.focus()
        await press(pilot, "down")
    await settle(pilot)
    return screen


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


def question(app: SubtitleApp) -> str:
    assert isinstance(app.screen, ConfirmScreen)
    return str(app.screen.query_one("#confirm Static", Static).content)


def is_done(app: SubtitleApp) -> bool:
    return not isinstance(app.screen, ConfirmScreen) and not app.removal_line


@pytest.mark.parametrize("width", [120, 60])
async def test_the_only_channel_of_files_has_a_row_to_remove_it(filled: Runtime, width: int) -> None:
    async with running(SubtitleApp(filled), size=(width, 40)) as (app, pilot):
        await press(pilot, "ctrl+l", "tab", "down")
        assert channels(library_of(app)) == ["All videos", "느긋한 식탁"]
        await press(pilot, "d")
        assert question(app).startswith("느긋한 식탁\n2 videos, ")
        await confirm(pilot)
        await until(pilot, lambda: is_done(app))
        assert videos(filled) == set()


async def test_the_empty_library_takes_what_is_typed_next(filled: Runtime) -> None:
    async with running(SubtitleApp(filled)) as (app, pilot):
        screen = await open_library(pilot, table="channels")
        await press(pilot, "d")
        await confirm(pilot)
        await until(pilot, lambda: screen.has_class("-empty") and is_done(app))
        await press(pilot, *"abc")
        assert screen.field.path.value == "abc"


class TestOneVideo:
    @pytest.mark.parametrize("key", ["d", "ㅇ", "delete"])
    @pytest.mark.campaign(part="app")
    async def test_after_a_yes_it_has_left_everywhere(self, filled: Runtime, key: str) -> None:
        async with running(SubtitleApp(filled), "소스", size=(120, 40)) as (app, pilot):
            video = app.search_screen.scenes.values[0].video
            found = [scene.video.id for scene in app.search_screen.scenes.values]
            filled.library.marks.add(video, 0, 5_000, 0, "소스")
            screen = await open_library(pilot)
            before = titles(screen)
            at = before.index(video.title)
            screen.tables.videos.cursor = at
            await press(pilot, key)
            windows = filled.library.window_count(video.id)
            assert question(app) == f"{before[at]}\n1 video, {windows} windows, 1 mark will be removed."
            await confirm(pilot)
            await until(pilot, lambda: is_done(app))
            await settle(pilot)
            assert video.id not in videos(filled)
            assert (len(videos(filled)), filled.library.marks.all()) == (1, [])
            assert titles(screen) == [title for title in before if title != before[at]]
            assert screen.counts
            assert screen.counts.videos == 1
            assert toasts(app)[-1] == f"Removed: {short_name(before[at])}"
            await press(pilot, "slash", "escape")
            assert app.screen is app.search_screen
            left = [scene.video.id for scene in app.search_screen.scenes.values]
            assert left == [id for id in found if id != video.id]
        assert filled.index.count() == filled.library.counts().windows

    @pytest.mark.campaign(part="app")
    async def test_the_safe_button_has_the_focus_and_does_nothing(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            before, stored = titles(screen), videos(runtime)
            for answer in ("enter", "escape"):
                await press(pilot, "d")
                assert question(app)
                await until(pilot, lambda: app.focused and app.focused.id == "keep")
                await press(pilot, answer)
                assert library_of(app) is screen
            assert (titles(screen), videos(runtime), app.removal_line) == (before, stored, "")

    @pytest.mark.campaign(part="app")
    async def test_a_letter_in_the_field_removes_nothing(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await press(pilot, "ctrl+l")
            await press(pilot, "d", "ㅇ", "delete")
            assert library_of(app).field.path.value == "dㅇ"
            assert app.screen is library_of(app)

    @pytest.mark.campaign(part="app")
    async def test_hostile_titles_stay_text(self, filled: Runtime) -> None:
        video = replace(filled.library.video(TENT), title="[red]\x1b[31m[/]" + "긴" * 5000)  # type: ignore[type-var]
        track = filled.library.track(TENT)
        assert track
        filled.library.put_video(video, track, filled.library.windows_of(TENT), "rule")  # type: ignore[arg-type]
        async with running(SubtitleApp(filled), size=(80, 24)) as (app, pilot):
            screen = await open_library(pilot)
            at = next(at for at in range(2) if "[red]" in titles(screen)[at])
            screen.tables.videos.cursor = at
            await press(pilot, "d")
            assert question(app).startswith("[red][31m[/]긴긴")
            await confirm(pilot)
            await until(pilot, lambda: is_done(app))
            assert toasts(app)[-1].startswith("Removed: [red][31m[/]긴긴")


class TestChannels:
    @pytest.mark.campaign(part="app")
    async def test_a_channel_is_asked_about_once(self, filled: Runtime) -> None:
        filled.library.sources.put_due(Video("due00000000", "아직 없는 영상", "UC9", "느린 부엌"))  # one more channel
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot, table="channels")
            await press(pilot, "d")
            windows = filled.library.counts().windows
            assert question(app) == f"느긋한 식탁\n2 videos, {windows} windows will be removed."
            await press(pilot, "escape")
            assert library_of(app) is screen
            assert channels(screen)[1:] == ["느긋한 식탁", "느린 부엌"]
            await press(pilot, "d")
            await pilot.press("right", "enter")  # the other button
            await until(pilot, lambda: is_done(app))
            await settle(pilot)
            assert screen.counts
            assert (screen.counts.videos, screen.counts.windows) == (1, 0)  # that of the other channel
            assert channels(screen)[1:] == ["느린 부엌"]

    @pytest.mark.campaign(part="app")
    async def test_its_source_is_unfollowed_and_what_another_list_names_stays(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        both = clips(3)
        youtube.add(kitchen(*both))
        youtube.add(Playlist(LIST, "국수 모음", both[:1]))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            for address in (KITCHEN, f"https://www.youtube.com/playlist?list={LIST}"):
                await fetched(pilot, address)
            library = hasty.library
            (playlist,) = [source for source in library.sources.followed() if source.channel_id is None]
            app.context.removals.ask(RemovalTarget("국수 모음", sources=(playlist.id,)))
            await until(
                pilot, lambda: isinstance(app.screen, ConfirmScreen) and bool(app.screen.query("#confirm Static"))
            )
            assert question(app).endswith("It is no longer followed.")
            await confirm(pilot)
            await until(pilot, lambda: is_done(app))
            await settle(pilot)
            assert [source.channel_id for source in library.sources.followed()] == ["UC" + "a" * 22]
            assert len(videos(hasty)) == 3
            app.context.removals.ask(
                RemovalTarget("느린 부엌", "", "UC" + "a" * 22, (library.sources.followed()[0].id,))
            )
            await confirm(pilot)
            await until(pilot, lambda: is_done(app))
            await settle(pilot)
            assert (videos(hasty), library.sources.followed()) == (set(), [])


async def fetched(pilot: AppPilot, address: str) -> None:
    app = pilot.app
    app.jobs.start(JobRequest(sources=(parse_address(address),)))
    await until(pilot, lambda: not app.jobs.busy)
    await settle(pilot)


class TestJobs:
    @pytest.mark.campaign(part="app")
    async def test_a_job_stops_for_it_and_goes_on(self, filled: Runtime) -> None:
        go, begun = threading.Event(), threading.Semaphore(0)

        def run_request(_runtime: Runtime, _request: JobRequest, stop: threading.Event) -> Iterator[object]:
            begun.release()
            while not (go.is_set() or stop.wait(0.01)):
                pass
            yield from ()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("subtitle_rag.workflows.pipeline.run_request", run_request)
            async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
                await open_library(pilot)
                app.jobs.start(JobRequest((Path("/nowhere"),)))
                assert begun.acquire(timeout=20)
                await pilot.press("d")
                await confirm(pilot)
                await until(pilot, lambda: begun.acquire(blocking=False))
                assert (len(videos(filled)), app.jobs.busy) == (1, True)
                go.set()
                await until(pilot, lambda: not app.jobs.busy)

    @pytest.mark.campaign(part="app")
    async def test_a_job_waits_for_what_is_leaving(self, filled: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        carried, go = threading.Event(), threading.Event()
        remove = removing.remove

        def slow(*arguments: Any) -> None:
            carried.set()
            assert go.wait(20)
            remove(*arguments)

        monkeypatch.setattr(removing, "remove", slow)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            await open_library(pilot)
            await pilot.press("d")
            await confirm(pilot)
            await until(pilot, carried.is_set)
            assert bar(app, "removal").startswith("Removing “")
            app.jobs.start(JobRequest((SAMPLE,)))
            await pilot.pause(0.1)
            assert not app.jobs.busy
            go.set()
            await until(pilot, lambda: len(videos(filled)) == 9)

    @pytest.mark.campaign(part="app")
    async def test_the_job_that_fetches_it_is_stopped_and_forgotten(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(20)))
        hasty.settings = replace(hasty.settings, youtube=replace(unpaced(), pause=1))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await until(pilot, lambda: hasty.library.counts().windows and app.screen is app.search_screen)
            (source,) = hasty.library.sources.followed()
            app.context.removals.ask(RemovalTarget(source.name, "", source.channel_id, (source.id,)))
            await confirm(pilot)
            await until(pilot, lambda: not app.jobs.busy and is_done(app))
            await settle(pilot)
            assert (videos(hasty), hasty.library.sources.followed()) == (set(), [])
            assert (app.job, app.jobs.queue.stopped, app.jobs.queue.waiting) == (None, [], [])

    @pytest.mark.campaign(part="app")
    async def test_a_sync_that_goes_on_asks_nothing_of_what_has_left(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(20)))
        hasty.settings = replace(hasty.settings, youtube=replace(unpaced(), pause=1))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            source = hasty.library.sources.follow(
                f"https://www.youtube.com/channel/{'UC' + 'a' * 22}",
                name="느린 부엌",
                channel_id="UC" + "a" * 22,
                options=SourceOptions(),
            )
            app.jobs.start(JobRequest())
            await until(pilot, lambda: hasty.library.counts().windows and app.screen is app.search_screen)
            app.context.removals.ask(RemovalTarget(source.name, "", source.channel_id, (source.id,)))
            await confirm(pilot)
            await until(pilot, lambda: not app.jobs.busy and is_done(app))
            await settle(pilot)
            assert (videos(hasty), hasty.library.sources.followed()) == (set(), [])
