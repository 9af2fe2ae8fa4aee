"""Every repaint can make the window of an input method flicker: nothing is drawn unless something has changed."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from textual.screen import Screen

from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import jobs
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.messages import JobAdvanced
from subtitle_rag.tui.shared.progress.status_bars import JobBar
from tests.tui.conftest import AppPilot, MakeApp, running, scene, settle, typed

if TYPE_CHECKING:
    from textual.geometry import Region

IDLE_S = 1.0


class Paints:
    """What is sent to the terminal: each update, and the rows that it covers."""

    def __init__(self, app: SubtitleApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[set[int]] = []
        shown = app._display

        def display(screen: Screen[Any], renderable: Any) -> None:
            if renderable is not None and screen is app.screen:
                self.rows.append(self._covered(renderable))
            shown(screen, renderable)

        monkeypatch.setattr(app, "_display", display)

    @staticmethod
    def _covered(renderable: Any) -> set[int]:
        region: Region | None = getattr(renderable, "region", None)
        spans = getattr(renderable, "spans", None)
        if spans is not None:
            return {y for y, _left, _right in spans}
        return set(range(region.y, region.bottom)) if region else set()


async def in_query(pilot: AppPilot) -> None:
    await typed(pilot, "치킨")


async def in_library(pilot: AppPilot) -> None:
    await pilot.press("ctrl+l", *"한글")


async def in_question(pilot: AppPilot) -> None:
    await pilot.press("escape", "a", *"한글")


@pytest.mark.parametrize("go", [in_query, in_library, in_question])
@pytest.mark.campaign(part="app")
async def test_an_idle_app_draws_nothing(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch, go: Callable[[AppPilot], Any]
) -> None:
    async with running(app_of(scenes=[scene()]), size=(120, 40)) as (app, pilot):
        await go(pilot)
        await settle(pilot)
        await pilot.pause(0.5)
        paints = Paints(app, monkeypatch)
        await pilot.pause(IDLE_S)
        assert paints.rows == []
        await pilot.press(*"가")
        await pilot.pause(0.1)
        assert paints.rows, "a key is drawn, so that what is counted here is what is drawn"


@pytest.mark.campaign(part="app")
async def test_a_job_is_drawn_ten_times_a_second_at_most_and_in_its_own_line(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "COUNT_S", 600)
    async with running(SubtitleApp(unindexed), size=(120, 40)) as (app, pilot):
        if app.screen is not app.search_screen:
            app.pop_screen()
        job = Job("느린 부엌", fetches=True).after(Progress("captions", total=1_000))
        app.post_message(JobAdvanced(job))
        await pilot.pause(0.3)
        paints = Paints(app, monkeypatch)
        began, number = time.monotonic(), 0
        while time.monotonic() - began < IDLE_S:
            number += 1
            job = job.after(Progress("captions", number, 1_000))
            app.post_message(JobAdvanced(job))
            await asyncio.sleep(0.005)
        took = time.monotonic() - began
        line = app.search_screen.query_one(JobBar).region.y
        assert number > 30
        assert 2 <= len(paints.rows) <= took / jobs.REPORT_S + 2
        assert set().union(*paints.rows) == {line}


async def test_no_screen_keeps_a_timer_that_draws(app_of: MakeApp) -> None:
    """A cursor that blinks, an animation: nothing of that is on while a field has the focus."""
    async with running(app_of()) as (app, _):
        assert app.search_screen.query_line.cursor_blink is False
        assert not app.animator._animations
