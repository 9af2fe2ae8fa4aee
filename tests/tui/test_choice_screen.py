"""Channels of a list in the app: dropped, searched, counted and chosen before anything is fetched."""

from pathlib import Path

import pytest
from textual.widgets import Static

from subtitle_rag import channel_choices
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.choice_screen import ChoiceScreen
from tests.stand_ins.youtube import Channel, Clip, StandIn
from tests.tui.conftest import AppPilot, library_of, press, running, settle, toasts, until

KITCHEN, FOREST, HOSTILE = ("UC" + letter * 22 for letter in "abc")


def takeout(folder: Path) -> Path:
    rows = ((KITCHEN, "느린 부엌"), (FOREST, "숲길"), (HOSTILE, "[red]\x1b[31m빨강[/red]"))
    lines = [f"{id},http://www.youtube.com/channel/{id},{name}" for id, name in rows]
    path = folder / "구독정보.csv"
    path.write_text("\n".join(["채널 ID,채널 URL,채널 제목", *lines, "x,https://example.org,x"]), encoding="utf-8")
    return path


def kitchens(youtube: StandIn) -> None:
    youtube.add(Channel(KITCHEN, "@느린부엌", "느린 부엌", [Clip(f"slowcook{n:03d}", f"국수 {n}") for n in range(3)]))
    youtube.add(Channel(FOREST, "@숲길", "숲길", [Clip(f"forestwy{n:03d}", f"만두 {n}") for n in range(2)]))


def listed(app: SubtitleApp) -> list[str]:
    screen = app.screen
    assert isinstance(screen, ChoiceScreen)
    return [f"{first.plain} | {second.plain.strip()}" for first, second in screen.rows.rows.values()]


def title(app: SubtitleApp) -> str:
    return str(app.screen.query_one("#choice-title", Static).content)


async def opened(pilot: AppPilot, path: Path) -> None:
    """Drop the file's path into the library's field, and take it."""
    app = pilot.app
    await settle(pilot)
    library = library_of(app)
    library.field.path.value = str(path)
    await settle(pilot)
    assert "3" in str(library.field._check.content)
    await press(pilot, "enter")


@pytest.mark.campaign(part="app")
async def test_channels_are_chosen_before_anything_is_fetched(hasty: Runtime, youtube: StandIn, tmp_path: Path) -> None:
    kitchens(youtube)
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        await opened(pilot, takeout(tmp_path))
        assert [row.partition(" |")[0] for row in listed(app)] == [
            "[ ] [red][31m빨강[/red]",
            "[ ] 느린 부엌",
            "[ ] 숲길",
        ]
        assert "3 channels · 0 chosen · 1 other address left out" in title(app)
        await pilot.press("enter")
        assert any("Nothing is chosen yet" in toast for toast in toasts(app))
        assert youtube.count() == 0

        await press(pilot, "tab", *"숲")
        assert listed(app) == [f"[ ] 숲길 | videos unknown · https://www.youtube.com/channel/{FOREST}"]
        await pilot.press("tab", "space", "v")
        await until(pilot, lambda: "counting" not in title(app))
        assert "1 chosen · about 2 videos, fetched in less than a minute" in title(app)
        assert {asked.path for asked in youtube.asked()} == {"/playlist"}

        await pilot.press("tab", "escape", "A")
        assert "2 not counted" in title(app)
        await pilot.press("A")
        assert "0 chosen" in title(app)
        await press(pilot, "end", "space", "enter")
        assert {state.video.channel for state in hasty.library.videos()} == {"숲길"}


@pytest.mark.campaign(part="app")
async def test_a_choice_that_was_left_is_gone_on_with(hasty: Runtime, youtube: StandIn, tmp_path: Path) -> None:
    kitchens(youtube)
    path = takeout(tmp_path)
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        await opened(pilot, path)
        await press(pilot, "down", "space", "escape")
        library = library_of(app)
        assert "3 channels of your list are not chosen" in str(library.field._check.content)
    path.unlink()
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        await press(pilot, "ctrl+k")
        assert [row[:3] for row in listed(app)] == ["[ ]", "[✓]", "[ ]"]
        assert youtube.count() == 0
        await press(pilot, "enter")
    assert [choice.is_chosen for choice in channel_choices.kept_choice(hasty.library)] == [False, False]


@pytest.mark.campaign(part="app")
async def test_a_block_ends_the_counting_and_says_so(hasty: Runtime, youtube: StandIn, tmp_path: Path) -> None:
    kitchens(youtube)
    youtube.refuse(None, 429, times=None)
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        await opened(pilot, takeout(tmp_path))
        await pilot.press("v")
        await until(pilot, lambda: "counting" not in title(app))
        assert hasty.library.sources.rest()[1] == "rate_limited"
        assert toasts(app)


@pytest.mark.campaign(part="app")
async def test_a_file_that_is_no_list_is_refused_in_words(hasty: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.html"
    path.write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1><A HREF='javascript:alert(1)'>x</A>", encoding="utf-8")
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        library = library_of(app)
        library.field.path.value = str(path)
        await settle(pilot)
        assert "names no channel" in str(library.field._check.content)
