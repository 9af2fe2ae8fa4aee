"""Jobs without an app: the queue, what is kept of it, and how often the sums are shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import FetchError, UsageError
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers import jobs as module
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.messages import FirstWindowsArrived, JobAdvanced, JobEnded, LibraryChanged
from subtitle_rag.workflows.requests import JobRequest
from tests.tui.fake_app import FakeApp

FIRST, SECOND = JobRequest((Path("/first"),)), JobRequest((Path("/second"),))


class FakeRun:
    """A job's thread that does nothing until a test ends it."""

    def __init__(self, request: JobRequest, _runtime: Runtime, _post: object) -> None:
        self.request = request
        self.stop = Flag()

    def start(self) -> None:
        pass


class Flag:
    def __init__(self) -> None:
        self.raised = False

    def set(self) -> None:
        self.raised = True

    def is_set(self) -> bool:
        return self.raised


@pytest.fixture
def app() -> FakeApp:
    return FakeApp()


@pytest.fixture
def jobs(app: FakeApp, unindexed: Runtime, monkeypatch: pytest.MonkeyPatch) -> JobController:
    monkeypatch.setattr(module, "JobRun", FakeRun)
    background = BackgroundController(app, unindexed)
    return JobController(app, unindexed, background)


def test_requests_run_one_after_the_other(app: FakeApp, jobs: JobController) -> None:
    assert jobs.start(FIRST)
    assert jobs.start(SECOND)
    assert not jobs.start(SECOND)
    assert app.toasts == ["This is already running or waiting."]
    assert (jobs.queue.current, jobs.queue.waiting) == (FIRST, [SECOND])
    jobs.ended(JobEnded(Job("first"), None, stopped=False), in_library=False)
    jobs.start_next()
    assert (jobs.queue.current, jobs.queue.waiting) == (SECOND, [])


def of_first(request: JobRequest) -> bool:
    return request == FIRST


def of_none(_request: JobRequest) -> bool:
    return False


def test_a_job_goes_on_behind_a_removal_before_those_that_waited(app: FakeApp, jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.start(SECOND)
    jobs.make_way(of_none)
    assert [job.stopping for job in [app.job] if job] == [True]
    jobs.ended(JobEnded(Job("first"), None, stopped=True), in_library=False)
    jobs.start_next()
    assert app.job is None
    assert (jobs.busy, app.toasts) == (False, [])
    jobs.go_on()
    assert (jobs.queue.current, jobs.queue.waiting, jobs.queue.stopped) == (FIRST, [SECOND], [])


def test_requests_that_would_bring_it_back_are_dropped_wherever_they_are(jobs: JobController) -> None:
    jobs.queue.stopped = [FIRST]
    jobs.make_way(of_first)
    assert jobs.queue.stopped == []
    jobs.go_on()
    jobs.start(SECOND)
    jobs.start(FIRST)
    jobs.make_way(of_first)
    jobs.ended(JobEnded(Job("second"), None, stopped=True), in_library=False)
    jobs.go_on()
    assert (jobs.queue.current, jobs.queue.waiting) == (SECOND, [])


def test_a_dropped_job_that_is_asked_for_before_it_has_ended_runs_again(jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.start(SECOND)
    jobs.make_way(of_first)
    assert jobs.start(FIRST)
    assert not jobs.start(FIRST)
    jobs.ended(JobEnded(Job("first"), None, stopped=True), in_library=False)
    jobs.go_on()
    assert (jobs.queue.current, jobs.queue.waiting, jobs.queue.stopped) == (SECOND, [FIRST], [])


def test_the_end_of_a_dropped_job_promises_no_key_that_resumes_it(app: FakeApp, jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.make_way(of_first)
    jobs.ended(JobEnded(Job("first"), None, stopped=True), in_library=False)
    jobs.go_on()
    assert (app.toasts, app.job, jobs.queue.stopped, jobs.busy) == ([], None, [], False)


def test_a_job_that_the_user_has_stopped_stays_so_after_a_removal(app: FakeApp, jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.stop()
    jobs.make_way(of_none)
    jobs.ended(JobEnded(Job("first"), None, stopped=True), in_library=False)
    jobs.go_on()
    assert (jobs.busy, jobs.queue.stopped) == (False, [FIRST])
    assert app.toasts == ["Stopped. Finished videos are kept. Press Ctrl+R to resume."]


def test_a_stopped_job_and_those_after_it_are_held(app: FakeApp, jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.start(SECOND)
    jobs.stop()
    assert app.job
    assert app.job.stopping
    jobs.ended(JobEnded(Job("first"), None, stopped=True), in_library=False)
    jobs.start_next()
    assert (jobs.queue.stopped, jobs.busy) == ([FIRST, SECOND], False)
    assert app.toasts == ["Stopped. Finished videos are kept. Press Ctrl+R to resume."]


@pytest.mark.parametrize(
    ("error", "held"), [(UsageError("bad_source", source="x"), []), (FetchError("network", reason="x"), [FIRST])]
)
def test_a_failed_job_is_held_unless_the_request_is_wrong(
    app: FakeApp, jobs: JobController, error: Any, held: list[JobRequest]
) -> None:
    jobs.start(FIRST)
    jobs.ended(JobEnded(Job("first"), error, stopped=False), in_library=False)
    assert jobs.queue.stopped == held
    assert app.errors == [error]


def test_reports_are_throttled(app: FakeApp, jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.advanced(JobAdvanced(Job("first", captions=Progress("captions", total=1))))
    jobs.advanced(JobAdvanced(Job("first", captions=Progress("captions", total=2))))
    assert app.job
    assert app.job.captions is None
    app.fire()
    assert app.job.captions == Progress("captions", total=2)


def test_the_first_windows_are_told_at_once(app: FakeApp, jobs: JobController) -> None:
    jobs.start(FIRST)
    jobs.advanced(JobAdvanced(Job("first", windows=Progress("windows", 3))))
    assert app.posted == [LibraryChanged(), FirstWindowsArrived()]


def test_the_sample_takes_in_nothing_and_names_the_way_to_the_users_library(
    app: FakeApp, jobs: JobController, unindexed: Runtime
) -> None:
    unindexed.settings = replace(unindexed.settings, is_sample=True)
    assert not jobs.start(FIRST)
    assert (jobs.busy, jobs.queue.waiting) == (False, [])
    assert [error.code for error in app.errors] == ["sample_library"]
    assert "Ctrl+D opens your own library" in app.errors[0].hint
