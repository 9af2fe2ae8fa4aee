"""A second window of the same library looks on while the first one works, and takes over what it leaves."""

import pytest

from subtitle_rag.captions.addresses import parse_addresses
from subtitle_rag.domain import BusyError
from subtitle_rag.library.connection import hold_lock, is_locked
from subtitle_rag.library.rows import Counts
from subtitle_rag.requests import JobRequest
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import other_run
from subtitle_rag.tui.state.job_queue import store_unfinished
from subtitle_rag.tui.text import other_run_line
from tests.tui.conftest import settle, shown, until

[CHANNEL] = parse_addresses("https://www.youtube.com/@slowkitchen")


def test_videos_are_counted_while_some_are_to_come() -> None:
    assert other_run_line("", Counts(1, 250, 0, 0, 9, 9)) == "Another subtitle-rag is at work in this library"
    told = other_run_line("느린 부엌", Counts(1, 253, 207, 3, 9, 9))
    assert told == "Another window is at work: 느린 부엌  videos 43/250"


def test_a_look_at_a_lock_ends_no_run(unindexed: Runtime) -> None:
    folder = unindexed.library.path.parent
    assert not is_locked(folder, "youtube")
    with hold_lock(folder, "youtube"):
        assert is_locked(folder, "youtube")
        with pytest.raises(BusyError), hold_lock(folder, "youtube"):
            pass
    assert not is_locked(folder, "youtube")


async def test_a_running_job_of_another_window_is_no_stopped_one(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_run, "LOOK_S", 0.05)
    store_unfinished(unindexed.library, [JobRequest(sources=(CHANNEL,))])
    app = SubtitleApp(unindexed)
    with hold_lock(unindexed.library.path.parent, "youtube"):
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: app.other_run_line)
            await settle(pilot)
            assert app.job is None
            assert "slowkitchen" in shown(app, "#other-run")
            assert not app.search_screen.query_one("#job").display


@pytest.mark.campaign(part="app")
async def test_what_another_window_leaves_can_be_resumed_here(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_run, "LOOK_S", 0.05)
    store_unfinished(unindexed.library, [JobRequest(sources=(CHANNEL,))])
    app = SubtitleApp(unindexed)
    lock = hold_lock(unindexed.library.path.parent, "youtube")
    lock.__enter__()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.other_run_line)
        lock.__exit__(None, None, None)
        await until(pilot, lambda: app.job is not None)
        assert app.job is not None
        assert app.job.stopped
        assert app.other_run_line == ""
