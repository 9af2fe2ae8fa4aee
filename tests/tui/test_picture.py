"""The picture of the chosen scene: where it is wished for, from a sheet that lies in the cache."""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import textual_image.widget
from PIL import Image

from subtitle_rag.config.settings import TuiSettings
from subtitle_rag.domain import Details, Storyboard
from subtitle_rag.fetching.pictures import Picture, Pictures
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.widgets import picture
from tests.tui.conftest import AppPilot, MakeApp, running, settle, until

VIDEO = "sample-0001"
BOARD = Storyboard(32, 18, 2, 2, 300_000, ("https://i.ytimg.com/sb/sample-0001/a.jpg",))
BLOCKS = "░▒▓█▀▄"
"""Without a terminal there are no colours to draw with."""

pytestmark = pytest.mark.filterwarnings("ignore:Image.Image.getdata:DeprecationWarning")  # of textual-image

assert textual_image.widget  # imported here, for the app imports it before it starts


@pytest.fixture
def pictured(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The settings ask for pictures, and one sheet is in the cache; nothing can be fetched."""
    monkeypatch.setattr(picture, "REST_S", 0.02)
    before = runtime.library.details(VIDEO)
    runtime.library.put_details(VIDEO, Details(storyboard=BOARD))
    made = runtime.__dict__["pictures"] = Pictures(runtime.library, tmp_path, runtime.settings.youtube)
    runtime.settings = replace(runtime.settings, tui=TuiSettings(pictures=True))
    video = runtime.library.video(VIDEO)
    assert video
    path = made._path(video, BOARD, 0)
    Image.new("RGB", (64, 36), "red").save(path, "PNG")
    runtime.library.sources.put_rest(int(time.time()) + 3_600, "rate_limited")
    yield path
    runtime.library.sources.end_rest()
    runtime.library.put_details(VIDEO, before)


def drawn(pilot: AppPilot) -> int:
    """Cells of the picture that have something in them."""
    shown = pilot.app.screen.query_one("#picture")
    if not shown.region:
        return 0
    strips = pilot.app.screen._compositor.render_strips()
    region = shown.region
    rows = [strips[y].crop(region.x, region.right).text for y in range(region.y, region.bottom)]
    return sum(letter in BLOCKS for row in rows for letter in row)


@pytest.mark.campaign(part="app")
async def test_the_scene_has_its_picture_and_another_video_none(app_of: MakeApp, pictured: Path) -> None:
    async with running(app_of(), "소스에 찍어 먹는 치킨", size=(160, 48)) as (app, pilot):
        await until(pilot, lambda: drawn(pilot) > 50)
        scenes = app.search_screen.scenes
        assert scenes.value
        assert scenes.value.video.id == VIDEO
        while scenes.value and scenes.value.video.id == VIDEO:
            await pilot.press("down")
        await settle(pilot)
        shown = app.search_screen.query_one("#picture")
        assert not shown.region  # no rows stay blank
        await pilot.press("home" if app.focused is scenes else "up", *["up"] * 30)
        await until(pilot, lambda: drawn(pilot) > 50)
        pictured.unlink()
        await pilot.press("down")  # another second, whose sheet is gone
        await settle(pilot)
        assert not shown.region
        await pilot.resize_terminal(120, 24)
        assert not shown.region


@pytest.mark.parametrize("off", ["settings", "package", "colours"])
@pytest.mark.campaign(part="app")
async def test_without_wish_package_or_colours_there_is_no_room_for_it(
    app_of: MakeApp, runtime: Runtime, pictured: Path, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    if off == "settings":
        runtime.settings = replace(runtime.settings, tui=TuiSettings())
    elif off == "package":
        monkeypatch.delitem(sys.modules, "textual_image.widget")
    else:
        monkeypatch.setenv("NO_COLOR", "1")
    async with running(app_of(), "소스에 찍어 먹는 치킨", size=(160, 48)) as (app, _):
        assert not app.search_screen.query_one("#picture").region


def test_a_missing_package_is_told(runtime: Runtime, pictured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_image.widget", None)
    trouble = picture.prepare_pictures(runtime.settings)
    assert trouble
    assert trouble.code == "pictures_missing"
    assert picture.prepare_pictures(replace(runtime.settings, tui=TuiSettings())) is None


@pytest.mark.parametrize("raw", [b"\xff\xd8\xff broken", b"RIFF", b"", b"GIF89a"])
def test_what_cannot_be_read_is_no_picture(tmp_path: Path, raw: bytes) -> None:
    sheet = tmp_path / "sheet"
    sheet.write_bytes(raw)
    assert picture.read(Picture(sheet, (32, 18), 0, 0)) is None


def test_a_sheet_of_too_many_pixels_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("RGB", (64, 36)).save(tmp_path / "sheet", "PNG")
    monkeypatch.setattr(picture, "MOST_PIXELS", 1_000)
    assert picture.read(Picture(tmp_path / "sheet", (32, 18), 0, 0)) is None
