"""Removals that meet trouble, and those that wait when the app ends."""

import pytest

from subtitle_rag import removing
from subtitle_rag.domain import AppError
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from tests.tui.conftest import press, running, settle, toasts, until
from tests.tui.test_removal import open_library, videos


class TestTrouble:
    @pytest.mark.campaign(part="app")
    async def test_another_process_at_work_is_waited_for(
        self, filled: Runtime, soon: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("subtitle_rag.indexing.INTERACTIVE_TIMEOUT_S", 0.05)
        async with running(SubtitleApp(filled), size=(120, 40)) as (_, pilot):
            screen = await open_library(pilot)
            with hold_lock(filled.library.path.parent, "library"):
                await pilot.press("d")
                await pilot.pause(0.8)
                assert len(videos(filled)) == 2
                assert screen.tables.videos.row_count == 1
            await until(pilot, lambda: len(videos(filled)) == 1)

    @pytest.mark.campaign(part="app")
    async def test_what_cannot_leave_is_seen_again(
        self, filled: Runtime, soon: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_arguments: object) -> None:
            raise AppError("library_damaged", path="/x", reason="y")

        monkeypatch.setattr(removing, "remove", broken)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            await pilot.press("d")
            message = AppError("library_damaged", path="/x", reason="y").message
            await until(pilot, lambda: any(message in toast for toast in toasts(app)))
            await settle(pilot)
            assert screen.tables.videos.row_count == 2
        assert len(videos(filled)) == 2


class TestTheEnd:
    @pytest.mark.campaign(part="app")
    async def test_what_waits_leaves_when_the_app_ends(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            chosen = screen.tables.videos.cursor_key
            await press(pilot, "d")
            assert chosen in videos(filled)
        assert chosen in videos(filled)  # whatever kills it here, the library is whole
        app.wait_for_threads(1)
        assert chosen not in videos(filled)
        assert filled.index.count() == filled.library.counts().windows

    @pytest.mark.campaign(part="app")
    async def test_a_failure_then_is_told_on_the_terminal(
        self, filled: Runtime, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("subtitle_rag.indexing.INTERACTIVE_TIMEOUT_S", 0.05)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            await open_library(pilot)
            await press(pilot, "d")
        with hold_lock(filled.library.path.parent, "library"):
            app.wait_for_threads(1)
        assert "! " in capsys.readouterr().err
        assert len(videos(filled)) == 2
