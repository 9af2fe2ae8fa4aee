"""Looks on while another window or command works in the same library.

Its unfinished requests lie in the library from the beginning of its run, so that no end of it loses them. They are not
this window's to resume before it has ended.
"""

from typing import TYPE_CHECKING

from subtitle_rag.tui.messages import LibraryChanged, NotRemembered
from subtitle_rag.tui.state import request_name, restore_unfinished
from subtitle_rag.tui.text import other_run_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subtitle_rag.library import Counts
    from subtitle_rag.requests import JobRequest
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort
    from subtitle_rag.tui.controllers.jobs import JobController

LOOK_S = 3.0
"""Time between two looks at the other run."""


def is_other_working(runtime: "Runtime") -> bool:
    """Return whether another process indexes or fetches into the library, while this one has no job."""
    from subtitle_rag.library import is_locked

    folder = runtime.library.path.parent
    return is_locked(folder, "library") or is_locked(folder, "youtube")


class OtherRunWatch:
    """Shows the progress of another process's run, and takes over what it leaves unfinished."""

    def __init__(self, app: "AppPort", runtime: "Runtime", jobs: "JobController") -> None:
        self._app = app
        self._runtime = runtime
        self._jobs = jobs
        self._name = ""
        self._counts: Counts | None = None

    def begin(self, requests: "Sequence[JobRequest]") -> None:
        """Watch the run that another process has begun, of these requests."""
        self._name = request_name(requests[0]) if requests else ""
        self._app.other_run_line = other_run_line(self._name, None)
        self._look_later()

    def _look_later(self) -> None:
        self._app.set_timer(LOOK_S, self._look)

    def _look(self) -> None:
        if self._jobs.busy:  # the locks are this window's own
            self._app.other_run_line = ""
        else:
            self._app.run_in_thread(self._read, NotRemembered, take=self._take, group="other run", exclusive=True)

    def _read(self) -> "tuple[Counts, list[JobRequest] | None]":
        """Return the library's counts; once the other run has ended, its unfinished requests too."""
        library = self._runtime.library
        requests = None if is_other_working(self._runtime) else restore_unfinished(library)
        return library.counts(), requests

    def _take(self, reading: "tuple[Counts, list[JobRequest] | None]") -> None:
        counts, requests = reading
        if counts != self._counts:
            self._counts = counts
            self._app.post_message(LibraryChanged())
        if requests is None:
            self._app.other_run_line = other_run_line(self._name, counts)
            self._look_later()
        else:
            self._app.other_run_line = ""
            self._jobs.restore(requests)
