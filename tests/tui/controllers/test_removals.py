"""Removals without an app: what is asked, what is written and when, and what jobs may fetch meanwhile."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.library.connection import busy_error
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers import jobs as jobs_module
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.controllers.removals import RemovalController
from subtitle_rag.tui.shared.content import short_name
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.removal import Removal
from subtitle_rag.tui.shared.messages import JobEnded, LibraryChanged, RemovalEnded, RemovalPlanned, ScenesChanged
from subtitle_rag.workflows import removing
from subtitle_rag.workflows.removing import RemovalTarget
from subtitle_rag.workflows.requests import JobRequest
from tests.tui.controllers.test_jobs import FakeRun
from tests.tui.fake_app import FakeApp


@dataclass
class Parts:
    app: FakeApp
    jobs: JobController
    removals: RemovalController
    runtime: Runtime

    @property
    def target(self) -> RemovalTarget:
        video = self.runtime.library.videos()[0].video
        return RemovalTarget(video.title, video=video.id)

    def planned(self) -> Removal:
        return Removal.of(self.target, self.runtime.library)

    def videos(self) -> int:
        return len(self.runtime.library.videos())

    def deliver(self) -> None:
        """Hand over the end of the removal that has just been carried out."""
        (ended,) = [message for message in self.app.posted if isinstance(message, RemovalEnded)]
        self.app.posted.clear()
        self.removals.ended(ended)


@pytest.fixture
def parts(filled: Runtime, monkeypatch: pytest.MonkeyPatch) -> Parts:
    monkeypatch.setattr(jobs_module, "JobRun", FakeRun)
    app = FakeApp()
    jobs = JobController(app, filled, BackgroundController(app, filled))
    return Parts(app, jobs, RemovalController(app, filled, jobs), filled)


def test_a_removal_is_asked_about_in_numbers_and_nothing_is_written(parts: Parts) -> None:
    parts.removals.ask(parts.target)
    (planned,) = parts.app.posted
    assert isinstance(planned, RemovalPlanned)
    windows = parts.runtime.library.window_count(parts.target.video)
    assert planned.removal.sentence == f"1 video, {windows} windows will be removed."
    assert parts.videos() == 2


def test_the_sample_is_not_taken_apart(parts: Parts) -> None:
    parts.runtime.settings = replace(parts.runtime.settings, is_sample=True)
    parts.removals.ask(parts.target)
    assert (parts.app.posted, len(parts.app.errors)) == ([], 1)


def test_after_a_yes_it_is_carried_out_and_told(parts: Parts) -> None:
    target = parts.target
    parts.removals.remove(parts.planned())
    assert parts.videos() == 1
    assert parts.app.removal_line == f"Removing “{short_name(target.name)}”…"
    parts.deliver()
    assert parts.app.posted == [LibraryChanged(lists_videos=True), ScenesChanged()]
    assert parts.app.toasts == [f"Removed: {short_name(target.name)}"]
    assert parts.app.removal_line == ""


def test_a_failure_is_told_and_jobs_go_on(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    error = busy_error(Path("/x"), "library")

    def busy(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(removing, "remove", busy)
    parts.removals.remove(parts.planned())
    parts.deliver()
    assert (parts.app.errors, parts.app.toasts, parts.app.removal_line) == ([error], [], "")
    assert parts.jobs.start(JobRequest((Path("/elsewhere"),)))
    assert parts.jobs.busy


def test_it_waits_for_the_running_job_which_goes_on_behind_it(parts: Parts) -> None:
    request = JobRequest((Path("/elsewhere"),))
    parts.jobs.start(request)
    parts.removals.remove(parts.planned())
    assert parts.videos() == 2
    assert parts.app.removal_line
    parts.jobs.ended(JobEnded(Job("x"), None, stopped=True), in_library=False)
    parts.removals.carry_out_next()
    parts.jobs.start_next()
    assert (parts.videos(), parts.jobs.busy) == (1, False)
    parts.deliver()
    assert parts.jobs.queue.current == request


def test_several_leave_one_after_the_other(parts: Parts) -> None:
    first, second = (
        Removal.of(RemovalTarget(state.video.title, video=state.video.id), parts.runtime.library)
        for state in parts.runtime.library.videos()
    )
    parts.removals.remove(first)
    parts.removals.remove(second)
    assert parts.app.removal_line == f"Removing “{short_name(first.target.name)}”, “{short_name(second.target.name)}”…"
    parts.deliver()
    assert parts.app.removal_line == f"Removing “{short_name(second.target.name)}”…"
    parts.deliver()
    assert (parts.videos(), parts.app.removal_line) == (0, "")


def test_what_would_bring_it_back_is_dropped(parts: Parts) -> None:
    planned = parts.planned()
    request = JobRequest((Path(next(iter(planned.files))),))
    parts.jobs.queue.waiting = [request, JobRequest()]
    parts.jobs.queue.stopped = [request]
    parts.removals.remove(planned)
    assert (parts.jobs.queue.waiting, parts.jobs.queue.stopped) == ([JobRequest()], [])


def test_quitting_carries_out_what_still_waits(parts: Parts) -> None:
    parts.jobs.start(JobRequest((Path("/elsewhere"),)))
    parts.removals.remove(parts.planned())
    parts.removals.finish()
    assert parts.videos() == 1


def test_a_failure_at_the_end_is_told_on_the_terminal(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_arguments: object) -> None:
        raise AppError("library_damaged", path="/x", reason="y")

    parts.jobs.start(JobRequest((Path("/elsewhere"),)))
    parts.removals.remove(parts.planned())
    monkeypatch.setattr(removing, "remove", broken)
    parts.removals.finish()
    assert "! " in capsys.readouterr().err
