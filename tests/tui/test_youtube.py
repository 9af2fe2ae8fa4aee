"""Captions from YouTube in the app: pasting addresses, the queue, rests, stopping, going on, and hostile channels."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Static

from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.library.library_tables import VideoTable, video_state_text
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.workflows.requests import JobRequest
from tests.stand_ins.youtube import BetweenVideos, Caption, Channel, Clip, Playlist, StandIn
from tests.tui.conftest import (
    AppPilot,
    bar,
    drawn_by,
    field_note,
    library_of,
    press,
    row_cells,
    running,
    settle,
    shown,
    toasts,
    typed,
    unpaced,
    until,
)

KITCHEN = "https://www.youtube.com/@느린부엌"
LIST = "PL" + "c" * 32
WITH_LIST = f"https://www.youtube.com/watch?v=noodles0000&list={LIST}"
LONG_S = 3600


def kitchen(*clips: Clip) -> Channel:
    return Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", list(clips))


def clips(count: int, name: str = "noodles") -> list[Clip]:
    return [Clip(f"{name}{n:04d}", f"국수 삶기 {n}편") for n in range(count)]


def clips_of_their_own(count: int) -> list[Clip]:
    """Videos that say too little for copies of each other."""
    captions = [Caption(lines=((1_000, 4_000, "얘들아, 오늘은 멸치 육수부터 끓여 볼게요"),))]
    return [replace(clip, captions=captions) for clip in clips(count)]


def said(app: SubtitleApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


def rows(app: SubtitleApp) -> list[list[str]]:
    table = app.screen.query_one(VideoTable)
    return [row_cells(table, at) for at in range(table.row_count)]


def states(app: SubtitleApp) -> list[str]:
    """Why each listed video is not searchable."""
    return [video_state_text(state) for state in app.screen.query_one(VideoTable).values]


async def paste(pilot: AppPilot, text: str) -> None:
    """As the terminal reports it, for whatever has the focus."""
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()
    await settle(pilot)


async def fetched(pilot: AppPilot, address: str) -> None:
    await paste(pilot, address)
    await pilot.press("enter")
    await until(pilot, lambda: pilot.app.job)
    await settle(pilot)


class TestPasting:
    @pytest.mark.campaign(part="app")
    async def test_a_pasted_channel_is_named_at_once_fetched_by_enter_and_searchable(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        youtube.add(kitchen(*clips_of_their_own(3)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await paste(pilot, KITCHEN)
            assert field_note(app) == "✓ channel @느린부엌; Enter imports its captions"
            assert youtube.count() == 0
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is app.search_screen)
            await settle(pilot)
            assert toasts(app) == ["3 new videos can be searched now."]
            await typed(pilot, "멸치 육수")
            assert app.search_screen.scenes.row_count == 3
            await press(pilot, "ctrl+l")
            assert [row[0] for row in rows(app)] == [f"국수 삶기 {n}편" for n in range(3)]
            assert states(app) == [""] * 3

    @pytest.mark.campaign(part="app")
    async def test_what_is_pasted_over_the_table_goes_into_the_field(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(1)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, KITCHEN)
            await press(pilot, "ctrl+l")
            app.screen.query_one(VideoTable).focus()
            await settle(pilot)
            assert app.screen.query_one(VideoTable).has_focus
            await paste(pilot, "  youtu.be/noodles0000\n")
            page = library_of(app)
            assert page.field.path.value == "youtu.be/noodles0000"
            assert page.field.path.has_focus
            await paste(pilot, KITCHEN)
            assert page.field.path.value == KITCHEN

    @pytest.mark.parametrize("focus", ["query", "list"])
    @pytest.mark.campaign(part="app")
    async def test_an_address_pasted_as_a_query_opens_the_library(
        self, hasty: Runtime, youtube: StandIn, focus: str
    ) -> None:
        youtube.add(kitchen(*clips(1)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, KITCHEN)
            await paste(pilot, "국수 @느린부엌")
            assert app.search_screen.query_line.value == "국수 @느린부엌"
            app.search_screen.query_line.value = "육수"
            await settle(pilot)
            if focus == "list":
                await pilot.press("tab")
            await paste(pilot, f" {WITH_LIST}\n")
            assert app.search_screen.query_line.value == "육수"
            assert isinstance(app.screen, LibraryScreen)
            assert app.screen.field.path.value == WITH_LIST
            assert field_note(app).startswith("✓ video noodles0000")

    @pytest.mark.campaign(part="app")
    @pytest.mark.parametrize("where", ["query", "field", "table"])
    async def test_every_address_of_a_pasted_list_is_fetched(
        self, hasty: Runtime, youtube: StandIn, where: str
    ) -> None:
        youtube.add(kitchen(*clips(3)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, "https://youtu.be/noodles0000")
            if where != "query":
                await press(pilot, "ctrl+l")
            if where == "table":
                await pilot.press("tab", "tab")
                assert app.screen.query_one(VideoTable).has_focus
            await paste(pilot, "https://youtu.be/noodles0001\n\n https://youtu.be/noodles0002\n")
            page = library_of(app)
            assert page.field.path.value == "https://youtu.be/noodles0001 https://youtu.be/noodles0002"
            assert field_note(app) == "✓ 2 addresses; Enter imports their captions"
            await pilot.press("enter")
            await until(pilot, lambda: len(hasty.library.videos()) == 3)
            await settle(pilot)
            assert page.field.path.value == ""
            assert {row[0] for row in rows(app)} == {f"국수 삶기 {n}편" for n in range(3)}

    async def test_every_file_of_pasted_lines_is_in_the_field(self, hasty: Runtime, tmp_path: Path) -> None:
        files = [tmp_path / "국수 1.vtt", tmp_path / "국수2.vtt"]
        for file in files:
            file.touch()
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await paste(pilot, "\n".join(map(str, files)))
            assert field_note(app) == "✓ 2 caption files; Enter indexes them"

    async def test_what_is_no_address_of_youtube_is_told_and_stays_to_be_mended(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await paste(pilot, "보기 (https://example.com/x)")
            assert "! https://example.com/x is not a channel" in field_note(app)
            await press(pilot, "enter")
            assert "https://example.com/x is not a channel" in said(app, "#failures")
            assert isinstance(app.screen, LibraryScreen)
            assert app.screen.field.path.value
            assert app.job is None
            assert youtube.count() == 0

    @pytest.mark.parametrize(("key", "videos"), [("enter", 1), ("ctrl+l", 2)])
    @pytest.mark.campaign(part="app")
    async def test_a_video_that_names_a_list_is_taken_alone_or_with_it(
        self, hasty: Runtime, youtube: StandIn, key: str, videos: int
    ) -> None:
        own = clips(2)
        youtube.add(kitchen(*own), Playlist(LIST, "모음", own))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            assert "ctrl+l" not in app.screen.active_bindings
            await paste(pilot, WITH_LIST)
            assert field_note(app).endswith("Enter imports only the video, Ctrl+L the whole list")
            assert "ctrl+l" in app.screen.active_bindings
            await pilot.press(key)
            await until(pilot, lambda: app.job)
            await settle(pilot)
            assert hasty.library.counts().videos == videos


class TestTheJob:
    @pytest.mark.campaign(part="app")
    async def test_a_second_address_waits_for_its_turn(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(2)), Channel("UC" + "b" * 22, "@second", "둘째", clips(2, "seconds")))
        hold = youtube.hold("timedtext")
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            page = library_of(app)
            for address in (KITCHEN, "@second", "@second"):
                page.field.path.value = address
                await pilot.press("enter")
                await until(pilot, lambda: not page.field.path.value)
            assert toasts(app)[-1] == "This is already running or waiting."
            await until(pilot, hold.arrived.is_set)
            await until(pilot, lambda: "+1 waiting" in bar(app, "job"))
            hold.release()
            await settle(pilot)
            assert hasty.library.counts().videos == 4
            assert [followed.name for followed in hasty.library.sources.followed()] == ["느린 부엌", "둘째"]

    @pytest.mark.campaign(part="app")
    async def test_a_rest_says_why_and_until_when_and_goes_on(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(2)))
        youtube.refuse("timedtext", 429, times=5, after=1)
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            why = "then it resumes by itself: too many requests (429)"
            await until(pilot, lambda: "Resting until" in bar(app, "job") and why in bar(app, "job"))
            await settle(pilot)
            assert toasts(app) == ["2 new videos can be searched now."]
            assert hasty.library.counts().due == 0

    @pytest.mark.campaign(part="app")
    async def test_ctrl_s_ends_a_rest_at_once_and_ctrl_r_goes_on(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(3)))
        youtube.refuse("timedtext", 429, times=5, after=1)
        hasty.settings = replace(hasty.settings, youtube=unpaced(LONG_S))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            assert "ctrl+s" not in app.screen.active_bindings
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            app.jobs.start(JobRequest(sources=(parse_address("https://youtu.be/seconds0000"),)))
            await until(pilot, lambda: app.job and app.job.resting)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not app.jobs.busy)
            assert toasts(app)[-1] == "Stopped. Finished videos are kept. Press Ctrl+R to resume."
            assert "Ctrl+R resumes" in bar(app, "job")
            assert hasty.library.counts().searchable == 1
            hasty.library.sources.end_rest()
            youtube.add(*clips(1, "seconds"))
            await press(pilot, "ctrl+r")
            counts = hasty.library.counts()
            assert (counts.searchable, counts.failed) == (3, 1)  # the one that was refused has a time of its own

    @pytest.mark.campaign(part="app")
    async def test_what_youtube_does_not_give_at_all_ends_the_job_with_the_reason(
        self, hasty: Runtime, youtube: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        youtube.add(kitchen(*clips(2)))
        youtube.refuse("timedtext", 429, times=None, after=1)
        monkeypatch.setattr("subtitle_rag.youtube.fetcher.RESTS", 0)
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await settle(pilot)
            assert app.job
            assert app.job.stopped
            assert "limits requests" in bar(app, "job")
            assert "Ctrl+R resumes" in bar(app, "job")
            youtube.forgive()
            await until(pilot, lambda: hasty.library.sources.due(int(time.time())))
            await press(pilot, "ctrl+r")
            assert hasty.library.counts().searchable == 2

    async def test_quitting_asks_once_and_does_not_wait_for_the_end_of_a_rest(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        youtube.add(kitchen(*clips(2)))
        youtube.refuse(None, 429, times=None)
        hasty.settings = replace(hasty.settings, youtube=unpaced(LONG_S))
        async with running(SubtitleApp(hasty)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await until(pilot, lambda: app.job and app.job.resting)
            await pilot.press("ctrl+q")
            assert app.is_running
            assert isinstance(app.screen, ConfirmScreen)
            await pilot.press("ctrl+q")
        app.wait_for_threads(10)
        assert "errand" not in {thread.name for thread in threading.enumerate()}


class TestSync:
    @pytest.mark.campaign(part="app")
    async def test_ctrl_r_brings_what_is_new_with_one_request_for_the_list(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        channel = kitchen(*clips(2))
        youtube.add(channel)
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            assert "ctrl+r" not in app.screen.active_bindings
            await fetched(pilot, KITCHEN)
            assert "Library: New videos" in [command.title for command in app.get_system_commands(app.screen)]
            await press(pilot, "ctrl+l")
            assert app.screen.active_bindings["ctrl+r"].binding.description == "New videos"
            channel.clips.insert(0, Clip("brandnew000", "새로 올라온 영상"))
            youtube.clear()
            await press(pilot, "ctrl+r")
            assert toasts(app)[-1] == "1 new video can be searched now."
            assert "새로 올라온 영상" in [row[0] for row in rows(app)]
            assert (youtube.count("tab"), youtube.count("playlist"), youtube.count("browse")) == (0, 1, 0)
            await press(pilot, "ctrl+r")
            assert toasts(app)[-1] == "There is nothing new."


class TestWhatDoesNotCome:
    @pytest.mark.campaign(part="app")
    async def test_usual_refusals_are_counted_and_told_in_their_rows(self, hasty: Runtime, youtube: StandIn) -> None:
        tomorrow = int(time.time()) + 48 * 3600
        refused = [Clip(f"members{n:04d}", f"회원만 {n}", state="members_only") for n in range(3)]
        refused.append(Clip("upcoming000", "내일", state="upcoming", starts_at=tomorrow))
        broken = Clip("broken00000", "깨진 자막", captions=[Caption(body=b'{"events": [')])
        youtube.add(kitchen(*clips(1), *refused, broken))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, KITCHEN)
            assert toasts(app) == ["1 new video can be searched now. – 4 skipped ! 1 failed"]
            await press(pilot, "ctrl+l")
            assert "– Skipped: members only 3 · not begun yet 1" in said(app, "#failures")
            assert "members only" not in said(app, "#failures").partition("\n")[2]
            assert "! The captions of 깨진 자막 came damaged: its JSON is damaged or cut off." in said(app, "#failures")
            told = {row[0]: row[-1] for row in rows(app)}
            assert told["회원만 0"].startswith("members only")
            assert told["내일"].startswith("not begun yet")
            assert told["깨진 자막"] == "damaged captions · r tries again"

    @pytest.mark.campaign(part="app")
    async def test_hostile_titles_are_shown_as_text(self, hasty: Runtime, youtube: StandIn) -> None:
        hostile = (
            "[red]x[/red] [@click=app.exit]y[/]",
            "\x1b[2J\x1b]0;pwned\x07 z",
            "\u202e뒤집힌\u202c 글",
            "가" * 300,
        )
        own = [Clip(f"hostile{n:04d}", text, captions=[]) for n, text in enumerate(hostile)]
        channel = Channel("UC" + "a" * 22, "@느린부엌", "[bold]느린\u202e 부엌", [*own, *clips(1)])
        youtube.add(channel)
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await fetched(pilot, KITCHEN)
            await press(pilot, "ctrl+l")
            drawn = drawn_by(app)
            assert "[red]x[/red]" in drawn
            assert row_cells(library_of(app).tables.channels, 1)[0].startswith("[bold]느린")
            assert not any(c in drawn for c in "\x1b\x07\x9b\u202e\u202c")
            assert len(rows(app)) == 5

    @pytest.mark.campaign(part="app")
    async def test_scenes_of_new_videos_join_those_that_are_shown(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips_of_their_own(3)))
        hold = youtube.hold("timedtext", after=1)
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await until(pilot, lambda: app.screen is app.search_screen)
            app.search_screen.query_line.value = "육수"
            await until(pilot, lambda: app.search_screen.scenes.row_count == 1)
            first = app.search_screen.scenes.value
            assert first
            hold.release()
            await until(pilot, lambda: app.search_screen.scenes.row_count == 3)
            kept = app.search_screen.scenes.value
            assert kept
            assert kept.id == first.id
            await settle(pilot)

    @pytest.mark.campaign(part="app")
    async def test_what_is_due_is_told_where_scenes_are_looked_for(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(4)))
        hasty.settings = replace(hasty.settings, youtube=BetweenVideos(pause=LONG_S, rest=1))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await until(pilot, lambda: app.search_screen.page.counts and app.search_screen.page.counts.due == 3)
            await until(pilot, lambda: app.screen is app.search_screen)
            assert "Indexing: 1 of 4 videos can be searched so far." in shown(app, "#notice")
            app.search_screen.query_line.value = "육수"
            await until(pilot, lambda: app.search_screen.results.text == "육수")
            assert str(app.search_screen.scenes.border_subtitle).endswith("1/4 videos")
            await pilot.press("ctrl+l")
            await until(pilot, lambda: isinstance(app.screen, LibraryScreen) and len(rows(app)) == 4)
            assert states(app) == ["", *["waiting"] * 3]
            assert "+3" in " ".join(row_cells(library_of(app).tables.channels, 0))
            await press(pilot, "ctrl+s")
            assert not app.jobs.busy
