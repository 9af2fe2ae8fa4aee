"""The empty library: one field, how to begin, and one line where something blocks that."""

from dataclasses import replace

import pytest
from textual.widgets import Static

from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_field import BLOCKING
from subtitle_rag.workflows import checks as doctor
from tests.stand_ins.youtube import stand_in
from tests.tui.conftest import press, running, settle, until
from tests.tui.screens.checks.test_checks import looked

__all__ = ["looked"]


def told(app: SubtitleApp) -> str:
    return str(app.screen.query_one("#beginning", Static).content)


async def test_a_beginner_sees_how_to_begin_and_no_list_of_checks(empty: Runtime, looked: dict[str, int]) -> None:
    with stand_in() as youtube:
        async with running(SubtitleApp(empty), size=(80, 24)) as (app, pilot):
            await until(pilot, lambda: "yt-dlp" in looked)
            await settle(pilot)
            said = told(app)
            assert said.startswith("Nothing to search yet")
            assert "Ctrl+D opens nine practice videos" in said
            assert "Ollama" not in said
            assert app.screen.query_one("#path").has_focus
        assert youtube.count() == 0
    assert looked == dict.fromkeys((name for name in BLOCKING if name != "qdrant"), 1)


async def test_what_blocks_is_one_line_with_what_mends_it(empty: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.PROBES, "disk", lambda _runtime: ("error", "No space is left.", "Free some."))
    async with running(SubtitleApp(empty), size=(80, 24)) as (app, pilot):
        await until(pilot, lambda: told(app).endswith("! No space is left.\n  Free some."))


async def test_a_library_that_holds_something_is_not_checked_unasked(runtime: Runtime, looked: dict[str, int]) -> None:
    async with running(SubtitleApp(runtime), size=(120, 40)) as (app, pilot):
        await press(pilot, "ctrl+l")
        assert not app.screen.query_one("#beginning").display
        assert looked == {}


async def test_pictures_do_not_differ_from_machine_to_machine(empty: Runtime, looked: dict[str, int]) -> None:
    async with running(SubtitleApp(empty, show_times=False), size=(120, 40)) as (app, _pilot):
        assert app.screen.query_one("#beginning").display
        assert looked == {}


def test_only_what_sends_nothing_is_looked_at(empty: Runtime) -> None:
    assert set(BLOCKING) <= doctor.OFFLINE
    assert replace(empty.settings).qdrant.url == ""
