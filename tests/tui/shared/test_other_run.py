"""A second window of the same library tells that the first one works, and how far it has come."""

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.atomic_files import lock_file
from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.events import VideoDone
from subtitle_rag.library.app_state import run_progress
from subtitle_rag.library.connection import busy_error, hold_lock, is_locked_elsewhere
from subtitle_rag.library.rows import Counts
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import other_run
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.shared.progress.stage import Stage
from subtitle_rag.workflows.lock_holder import other_run_sentence
from tests.support.invented import caption_folder
from tests.tui.conftest import index_sample, settle, shown, until
from tests.tui.fake_app import FakeApp


def elsewhere(runtime: Runtime, name: str) -> AbstractContextManager[object]:
    """A lock as another process holds it, from now on."""
    return lock_file(runtime.library.path.parent / f"{name}.lock", BusyError("busy"))


@pytest.mark.parametrize(
    ("counts", "progress"),
    [
        (Counts(1, 253, 207, 3, 9, 9), "43/250"),
        (Counts(1, 2, 0, 0, 1_000, 600), "600/1,000"),
    ],
)
@pytest.mark.parametrize("lock", ["library", "youtube"])
def test_it_is_told_how_far_the_other_has_come(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch, lock: str, counts: Counts, progress: str
) -> None:
    monkeypatch.setattr(unindexed.library, "counts", lambda: counts)
    assert other_run_sentence(unindexed.library) == ""
    with elsewhere(unindexed, lock):
        assert other_run_sentence(unindexed.library) == f"Indexing in another window {progress}"
    assert other_run_sentence(unindexed.library) == ""


def test_a_look_at_a_lock_ends_no_run_and_sees_none_of_its_own(unindexed: Runtime) -> None:
    folder = unindexed.library.path.parent
    with elsewhere(unindexed, "youtube"):
        assert is_locked_elsewhere(folder, "youtube")
        with pytest.raises(BusyError), hold_lock(folder, "youtube"):
            pass
    assert not is_locked_elsewhere(folder, "youtube")
    with hold_lock(folder, "youtube"):
        assert not is_locked_elsewhere(folder, "youtube")


def test_a_run_over_files_notes_how_many_it_has_read(unindexed: Runtime, tmp_path: Path) -> None:
    library, seen = unindexed.library, []
    for event in unindexed.indexer.index([caption_folder(tmp_path / "captions", 3, minutes=1)]):
        if isinstance(event, VideoDone):
            seen.append(run_progress(library))
            with elsewhere(unindexed, "youtube"):
                done = len(seen)
                assert other_run_sentence(unindexed.library) == f"Indexing in another window {done}/3"
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert run_progress(library) is None


async def test_the_app_tells_it_until_the_other_has_ended(unindexed: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_run, "LOOK_S", 0.05)
    counts = unindexed.library.counts()
    app = SubtitleApp(unindexed)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert app.other_run_line == ""
        lock = elsewhere(unindexed, "youtube")  # it begins while this window is open
        await until(pilot, lambda: app.other_run_line)
        assert "Indexing in another window" in shown(app, "#other-run")
        assert not app.search_screen.query_one("#job").display
        monkeypatch.setattr(unindexed.library, "counts", lambda: replace(counts, windows=4, searchable=3))
        await until(pilot, lambda: app.other_run_line.endswith("3/4"))
        lock.__exit__(None, None, None)
        await until(pilot, lambda: app.other_run_line == "")
        assert app.job is None


def test_a_stage_that_found_another_process_at_work_begins_when_that_has_ended(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, begun = FakeApp(), list[str]()
    context = AppContext(app, unindexed, show_times=False)
    monkeypatch.setattr(context.background, "begin", begun.append)
    folder = unindexed.library.path.parent
    app.stages = {
        "contexts": Stage("contexts", "failed", error=busy_error(folder, "contexts")),
        "vectors": Stage("vectors", "failed", error=BusyError("disk_full", path="")),
    }
    with elsewhere(unindexed, "contexts"):
        context.other_run.show("")
        app.fire()
        assert begun == []
    app.fire()
    assert begun == ["contexts"]


@pytest.mark.campaign(part="app")
async def test_a_job_that_found_another_process_at_work_goes_on_when_that_has_ended(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_run, "LOOK_S", 0.05)
    app = SubtitleApp(unindexed)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        with elsewhere(unindexed, "library"):
            index_sample(app)
            await until(pilot, lambda: app.job and app.job.stopped)
            assert "Another subtitle-rag is indexing" in shown(app, "#job")
        await until(pilot, lambda: app.job and app.job.ended and not app.job.stopped)
        assert unindexed.library.counts().searchable
        assert not app.search_screen.query_one("#job").display
