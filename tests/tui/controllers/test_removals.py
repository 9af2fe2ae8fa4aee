"""Removals without an app: what is hidden, what is written and when, and what jobs may fetch meanwhile."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from subtitle_rag.domain import BusyError
from subtitle_rag.library.overview import counts_without
from subtitle_rag.removing import RemovalTarget
from subtitle_rag.requests import JobRequest
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers import removals as module
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.controllers.removals import RemovalController
from subtitle_rag.tui.messages import HiddenVideosChanged, RemovalEnded, ScenesChanged
from subtitle_rag.tui.state.removal import Removal
from tests.tui.fake_app import FakeApp, Gate


@dataclass
class Parts:
    app: FakeApp
    jobs: JobController
    removals: RemovalController
    runtime: Runtime

    def planned(self) -> Removal:
        video = self.runtime.library.videos()[0].video
        return Removal.of(RemovalTarget(video.title, video=video.id), self.runtime.library)


@pytest.fixture
def parts(filled: Runtime) -> Parts:
    app = FakeApp()
    background = BackgroundController(app, filled)
    gate = Gate()
    jobs = JobController(app, filled, background, gate)
    removals = RemovalController(app, filled, jobs)
    gate.removals = removals
    return Parts(app, jobs, removals, filled)


def test_it_is_hidden_at_once_and_nothing_is_written(parts: Parts) -> None:
    planned = parts.planned()
    parts.removals.hide(planned)
    assert parts.removals.hidden == planned.videos
    assert len(parts.runtime.library.videos()) == 2
    assert counts_without(parts.runtime.library, parts.removals.hidden).videos == 1
    assert "restores it" in parts.app.removal_line


def test_undoing_brings_it_back(parts: Parts) -> None:
    parts.removals.hide(parts.planned())
    parts.removals.undo()
    assert (parts.removals.hidden, parts.app.removal_line, parts.removals.can_undo) == (frozenset(), "", False)
    assert "was restored" in parts.app.toasts[-1]
    assert parts.app.posted == [HiddenVideosChanged(), HiddenVideosChanged(), ScenesChanged()]


def test_one_toast_at_a_time_tells_what_holds(parts: Parts) -> None:
    parts.app.notify("another")
    for _time in range(2):
        parts.removals.hide(parts.planned())
        assert len(parts.app.toasts) == 2
        assert "Removed" in parts.app.toasts[-1]
        parts.removals.undo()
        assert len(parts.app.toasts) == 2
        assert "was restored" in parts.app.toasts[-1]
    assert parts.app.toasts[0] == "another"


def test_when_the_time_is_over_it_is_carried_out(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNDO_S", 0.0)
    parts.removals.hide(parts.planned())
    parts.app.fire()
    assert parts.app.posted == [HiddenVideosChanged(), RemovalEnded(None)]
    assert len(parts.runtime.library.videos()) == 1


def test_quitting_carries_out_what_still_waits(parts: Parts) -> None:
    parts.removals.hide(parts.planned())
    parts.removals.finish()
    assert len(parts.runtime.library.videos()) == 1


def test_one_that_met_another_process_is_tried_again(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNDO_S", 0.0)
    parts.removals.hide(parts.planned())
    assert parts.removals.carry_out_due()
    parts.removals.ended(RemovalEnded(BusyError("library_busy", pid=1)))
    assert parts.removals.can_undo
    assert parts.app.errors == []


def test_what_would_bring_it_back_is_withdrawn_and_comes_again_with_it(parts: Parts) -> None:
    planned = parts.planned()
    request = JobRequest((Path(next(iter(planned.files))),))
    parts.jobs.queue.waiting = [request, JobRequest()]
    parts.removals.hide(planned)
    assert parts.jobs.queue.waiting == [JobRequest()]
    started: list[JobRequest] = []
    parts.jobs.start = lambda request: bool(started.append(request))  # type: ignore[method-assign,func-returns-value]
    parts.removals.undo()
    assert started == [request]


def test_a_stopped_job_is_withdrawn_too_and_waits_for_the_user_after_the_undo(parts: Parts) -> None:
    planned = parts.planned()
    request = JobRequest((Path(next(iter(planned.files))),))
    parts.jobs.queue.stopped = [request]
    parts.removals.hide(planned)
    assert parts.jobs.queue.unfinished == ()
    parts.removals.undo()
    assert (parts.jobs.busy, parts.jobs.queue.stopped) == (False, [request])
    assert parts.app.job
    assert (parts.app.job.stopped, parts.app.job.restored) == (True, False)


def test_asking_for_a_stopped_one_again_undoes_the_removal_and_holds_nothing(parts: Parts) -> None:
    planned = parts.planned()
    request = JobRequest((Path(next(iter(planned.files))),))
    parts.jobs.queue.stopped = [request]
    parts.removals.hide(planned)
    assert parts.removals.admit(request) == request
    assert (parts.removals.hidden, parts.jobs.queue.stopped) == (frozenset(), [])


def test_asking_for_it_again_undoes_the_removal(parts: Parts) -> None:
    planned = parts.planned()
    parts.removals.hide(planned)
    request = JobRequest((Path(next(iter(planned.files))),))
    assert parts.removals.admit(request) == request
    assert parts.removals.hidden == frozenset()


def test_a_sync_leaves_out_sources_that_are_leaving(parts: Parts) -> None:
    whole = Removal(RemovalTarget("채널", sources=(7,)), frozenset({"x"}), frozenset(), frozenset(), 1, 0)
    parts.removals.hide(whole)
    assert parts.removals.admit(JobRequest()) == JobRequest(without=frozenset({7}))
