"""Removals that meet trouble, and those that wait when the app ends."""

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.library.connection import busy_error, hold_lock
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.workflows import removing
from tests.tui.conftest import running, settle, toasts, until
from tests.tui.screens.library.test_removal import confirm, open_library, videos


class TestTrouble:
    @pytest.mark.campaign(part="app")
    async def test_another_process_at_work_is_told(self, filled: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("subtitle_rag.index.indexing.INTERACTIVE_TIMEOUT_S", 0.05)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            with hold_lock(filled.library.path.parent, "library"):
                await pilot.press("d")
                await confirm(pilot)
                await until(pilot, lambda: not app.removal_line and toasts(app))
                assert busy_error(filled.library.path.parent, "library").message in toasts(app)[-1]
            await settle(pilot)
            assert (len(videos(filled)), screen.tables.videos.row_count, app.removal_line) == (2, 2, "")

    @pytest.mark.campaign(part="app")
    async def test_what_cannot_leave_stays_on_the_screen(
        self, filled: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_arguments: object) -> None:
            raise AppError("library_damaged", path="/x", reason="y")

        monkeypatch.setattr(removing, "remove", broken)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            await pilot.press("d")
            await confirm(pilot)
            message = AppError("library_damaged", path="/x", reason="y").message
            await until(pilot, lambda: any(message in toast for toast in toasts(app)))
            await settle(pilot)
            assert screen.tables.videos.row_count == 2
        assert len(videos(filled)) == 2


class TestTheEnd:
    @pytest.mark.campaign(part="app")
    async def test_what_the_user_agreed_to_leaves_when_the_app_ends(
        self, filled: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await open_library(pilot)
            chosen = screen.tables.videos.cursor_key
            with monkeypatch.context() as patch:
                patch.setattr(app.context.removals, "carry_out_next", lambda: None)  # the app ends before
                await pilot.press("d")
                await confirm(pilot)
                await settle(pilot)
            assert chosen in videos(filled)
        app.wait_for_threads(1)
        assert chosen not in videos(filled)
        assert filled.index.count() == filled.library.counts().windows
