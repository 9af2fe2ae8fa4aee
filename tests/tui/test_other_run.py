"""A second window of the same library tells that the first one works, and how far it has come."""

from dataclasses import replace

import pytest

from subtitle_rag import pipeline
from subtitle_rag.domain import BusyError
from subtitle_rag.library.connection import hold_lock, is_locked
from subtitle_rag.library.rows import Counts
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import other_run
from tests.tui.conftest import shown, until


@pytest.mark.parametrize(
    ("counts", "progress"),
    [
        (Counts(1, 253, 207, 3, 9, 9), "videos 43/250"),
        (Counts(1, 2, 0, 0, 1_000, 600), "windows 600/1,000"),
    ],
)
@pytest.mark.parametrize("lock", ["library", "youtube"])
def test_it_is_told_how_far_the_other_has_come(
    unindexed: Runtime, monkeypatch: pytest.MonkeyPatch, lock: str, counts: Counts, progress: str
) -> None:
    monkeypatch.setattr(unindexed.library, "counts", lambda: counts)
    assert pipeline.other_run_sentence(unindexed) == ""
    with hold_lock(unindexed.library.path.parent, lock):  # type: ignore[arg-type]
        assert pipeline.other_run_sentence(unindexed) == f"Another subtitle-rag is indexing: {progress}"
    assert pipeline.other_run_sentence(unindexed) == ""


def test_a_look_at_a_lock_ends_no_run(unindexed: Runtime) -> None:
    folder = unindexed.library.path.parent
    assert not is_locked(folder, "youtube")
    with hold_lock(folder, "youtube"):
        assert is_locked(folder, "youtube")
        with pytest.raises(BusyError), hold_lock(folder, "youtube"):
            pass
    assert not is_locked(folder, "youtube")


async def test_the_app_tells_it_until_the_other_has_ended(unindexed: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_run, "LOOK_S", 0.05)
    counts = unindexed.library.counts()
    app = SubtitleApp(unindexed)
    lock = hold_lock(unindexed.library.path.parent, "youtube")
    lock.__enter__()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.other_run_line)
        assert "Another subtitle-rag is indexing" in shown(app, "#other-run")
        assert not app.search_screen.query_one("#job").display
        monkeypatch.setattr(unindexed.library, "counts", lambda: replace(counts, windows=4, searchable=3))
        await until(pilot, lambda: app.other_run_line.endswith("windows 3/4"))
        lock.__exit__(None, None, None)
        await until(pilot, lambda: app.other_run_line == "")
        assert app.job is None
