"""A list of addresses in the app: dropped into the library's field, and fetched after one question."""

from pathlib import Path

import pytest
from textual.widgets import Static

from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from tests.stand_ins.youtube import Channel, Clip, StandIn
from tests.tui.conftest import AppPilot, library_of, press, running, settle, toasts, until

KITCHEN, FOREST = ("UC" + letter * 22 for letter in "ab")


@pytest.fixture
def takeout(tmp_path: Path) -> Path:
    rows = ((KITCHEN, "느린 부엌"), (FOREST, "[red]\x1b[31m빨강[/red]"))
    lines = [f"{id},http://www.youtube.com/channel/{id},{name}" for id, name in rows]
    path = tmp_path / "구독정보.csv"
    path.write_text("\n".join(["채널 ID,채널 URL,채널 제목", *lines, "x,https://example.org,x"]), encoding="utf-8")
    return path


async def dropped(pilot: AppPilot, path: Path) -> None:
    """Drop the file's path into the library's field, and take it."""
    await settle(pilot)
    library = library_of(pilot.app)
    library.field.path.value = str(path)
    await settle(pilot)
    assert "a list of 2 addresses" in (library.field.border_subtitle or "")
    await press(pilot, "enter")


@pytest.mark.campaign(part="app")
async def test_channels_are_fetched_after_one_question(hasty: Runtime, youtube: StandIn, takeout: Path) -> None:
    youtube.add(Channel(KITCHEN, "@느린부엌", "느린 부엌", [Clip(f"slowcook{n:03d}", f"국수 {n}") for n in range(3)]))
    youtube.add(Channel(FOREST, "@숲길", "숲길", [Clip(f"forestwy{n:03d}", f"만두 {n}") for n in range(2)]))
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        for answer in ("enter", "escape"):
            await dropped(pilot, takeout)
            assert isinstance(app.screen, ConfirmScreen)
            question = str(app.screen.query_one("#confirm Static", Static).content).splitlines()
            assert question[0] == "Fetch 2 channels?"
            assert "1 other address is left out" in question[-1]
            await press(pilot, answer)
            library = library_of(app)
            assert (app.jobs.busy, youtube.count(), library.field.path.value) == (False, 0, "")
        await dropped(pilot, takeout)
        await press(pilot, "left", "enter")
        await until(pilot, lambda: hasty.library.counts().videos == 5 and not app.jobs.busy)
        await press(pilot, "ctrl+l")
        await dropped(pilot, takeout)
        assert any("2 others are in the library already." in toast for toast in toasts(app))


@pytest.mark.campaign(part="app")
async def test_a_list_without_addresses_is_refused_in_words(hasty: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "x.opml"
    path.write_text("<opml></opml>")
    async with running(SubtitleApp(hasty, show_times=False), size=(100, 30)) as (app, pilot):
        await settle(pilot)
        library_of(app).field.path.value = str(path)
        await settle(pilot)
        await press(pilot, "enter")
        assert any("names no channel" in toast for toast in toasts(app))
