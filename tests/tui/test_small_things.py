"""Small things of every day: one toast a sentence, an empty library that says so, tables that fill a short screen."""

import pytest

from subtitle_rag.base.domain.values import Video, natural_key
from subtitle_rag.library.rows import Counts
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.shared import search_text
from tests.tui.conftest import MakeApp, drawn_by, press, running, shown, toasts, typed


def test_two_comes_before_ten() -> None:
    names = ["10화", "2화", "B", "1화", "a", "01화", "a10", "a9", "", "٣"]
    assert sorted(names, key=natural_key) == ["", "1화", "01화", "2화", "10화", "a", "a9", "a10", "B", "٣"]
    assert sorted(["9" * 5000, "1" * 6000], key=natural_key) == ["9" * 5000, "1" * 6000]


def test_a_library_without_videos_is_never_said_to_lack_a_spelling() -> None:
    for counts in (None, Counts(0, 0, 0, 0, 0, 0)):
        rows = str(search_text.no_scenes("치킨", counts, ()))
        assert "spelling" not in rows
        assert ("The library is empty." in rows) == (counts is not None)
        assert ("Opening the library…" in rows) == (counts is None)


async def test_the_same_sentence_is_one_toast(app_of: MakeApp) -> None:
    async with running(app_of(), size=(100, 30)) as (app, pilot):
        for _time in range(3):
            await pilot.press("ctrl+c")
        await press(pilot, "enter")
        assert toasts(app) == ["Ctrl+Q quits."]


async def test_an_empty_library_says_so_beside_a_query(unindexed: Runtime) -> None:
    async with running(SubtitleApp(unindexed), size=(80, 24)) as (app, pilot):
        await press(pilot, "escape")
        await typed(pilot, "치킨")
        assert "The library is empty." in shown(app, "#notice")


@pytest.mark.parametrize("size", [(60, 20), (80, 16), (200, 60)])
async def test_a_library_of_one_channel_of_files_has_both_panels(app_of: MakeApp, size: tuple[int, int]) -> None:
    async with running(app_of(), size=size) as (app, pilot):
        await press(pilot, "ctrl+l", "tab", "tab")
        assert isinstance(app.screen, LibraryScreen)
        tables = app.screen.tables
        assert tables.channels.size.width < tables.videos.size.width
        assert tables.videos.has_focus
        assert tables.videos.size.height > 5


def test_videos_of_files_are_listed_by_their_numbers(filled: Runtime) -> None:
    videos = [state.video for state in filled.library.videos()]
    assert all(isinstance(video, Video) for video in videos)
    keys = [(video.channel, natural_key(video.title)) for video in videos if video.published is None]
    assert keys == sorted(keys)


@pytest.mark.campaign(part="app")
async def test_the_pages_of_an_empty_library_say_so(unindexed: Runtime) -> None:
    async with running(SubtitleApp(unindexed), size=(80, 24)) as (app, pilot):
        await press(pilot, "escape", "escape", "a")
        screen = app.screen
        assert isinstance(screen, AnswerScreen)
        assert "The library is empty." in drawn_by(app)
        await press(pilot, *"why", "enter")
        assert str(screen.page.query_bar.border_subtitle) == "! The library is empty."
        assert screen.page.dialogue.turns == []
        await press(pilot, "escape", "escape", "escape", "f")
        assert "The library is empty." in drawn_by(app)
