"""Removes videos from the library after a minute for undo; until then they are only hidden.

A worker carries out the removal while no job runs: a job could fetch more of a channel and follow it again. Quitting
carries out waiting removals. An app that is killed before has removed nothing.
"""

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from subtitle_rag import output, removing
from subtitle_rag.domain import AppError, BusyError
from subtitle_rag.i18n import _, n_
from subtitle_rag.requests import JobRequest
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.messages import ActionFailed, HiddenVideosChanged, RemovalEnded, RemovalPlanned, ScenesChanged
from subtitle_rag.tui.state import PendingRemoval, Removal, Removals
from subtitle_rag.tui.text import sample_refusal, short_name

if TYPE_CHECKING:
    from subtitle_rag.removing import RemovalTarget
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort, Stoppable
    from subtitle_rag.tui.controllers.jobs import JobController
    from subtitle_rag.tui.messages import ScenesFound

UNDO_S = 60.0
"""How long a removal can be undone."""
TICK_S = 1.0
"""Between two countdowns on the screen."""
RETRY_S = 10.0
"""Wait before a retry while another process works on the library."""


class RemovalController:
    """Hides, undoes and carries out removals, and keeps removed videos from being fetched."""

    def __init__(self, app: "AppPort", runtime: "Runtime", jobs: "JobController") -> None:
        self._app = app
        self._runtime = runtime
        self._jobs = jobs
        self.removals = Removals()
        self.hidden: frozenset[str] = frozenset()
        """Ids of videos, for worker threads."""
        self._timer: Stoppable | None = None
        self._notice = ""
        """The last toast."""

    # --- planning ---

    def remove(self, target: "RemovalTarget") -> None:
        """Hide a video; for a channel or playlist `RemovalPlanned` asks before. The sample refuses."""
        if self._runtime.settings.is_sample:
            self._app.tell(sample_refusal())
            return
        library = self._runtime.library
        if target.is_source:
            self._app.run_in_thread(lambda: RemovalPlanned(Removal.of(target, library)), ActionFailed, group="removal")
        else:
            self._app.run_in_thread(lambda: Removal.of(target, library), ActionFailed, take=self.hide, group="removal")

    def hide(self, planned: Removal) -> None:
        """Hide the videos of a removal, and carry it out after the time for undo."""
        if not planned.target.is_source and not planned.videos - self.hidden:
            return
        stopped = tuple(filter(planned.named_by, self._jobs.queue.stopped))
        requests = tuple(request for request in self._jobs.withdraw(planned.named_by) if request not in stopped)
        pending = PendingRemoval(planned, time.monotonic() + UNDO_S, requests, stopped)
        self.removals.waiting.append(pending)
        self._update()
        self._notify(self._line(pending))

    # --- undoing ---

    @property
    def can_undo(self) -> bool:
        return bool(self.removals.waiting)

    def undo(self) -> None:
        """Undo the newest removal."""
        if pending := self.removals.undo():
            self._take_back(pending)

    def _take_back(self, pending: PendingRemoval) -> None:
        sentence = _("“{name}” was restored.").format(name=short_name(pending.removal.target.name))
        self._update()
        self._app.post_message(ScenesChanged())
        self._notify(sentence)
        for request in pending.requests:
            self._jobs.start(request)
        if pending.stopped:
            self._jobs.hold(pending.stopped)

    def _notify(self, notice: str) -> None:
        """Show a toast in the place of the one before: “removed” does not hold beside “restored”."""
        self._app.withdraw_notice(self._notice)
        self._notice = notice
        self._app.notify(notice, markup=False)

    # --- hidden videos ---

    def visible_scenes(self, message: "ScenesFound") -> "ScenesFound":
        scenes = message.result.scenes
        hidden = self.removals.hidden(scene.video for scene in scenes)
        if not hidden:
            return message
        visible = tuple(scene for scene in scenes if scene.video.id not in hidden)
        return replace(message, result=replace(message.result, scenes=visible))

    def _update(self) -> None:
        self.hidden = self.removals.videos
        self._app.post_message(HiddenVideosChanged())
        if self.removals.all and self._timer is None:
            self._timer = self._app.set_interval(TICK_S, self._tick)
        elif not self.removals.all and self._timer:
            self._timer.stop()
            self._timer = None
        self._show_line()
        self._app.refresh_bindings()

    def _show_line(self) -> None:
        waiting = self.removals.waiting
        self._app.removal_line = self._line(waiting[-1], more=len(waiting) - 1) if waiting else ""

    def _line(self, pending: PendingRemoval, *, more: int = 0) -> str:
        name, remaining_s = short_name(pending.removal.target.name), math.ceil(pending.due_at - time.monotonic())
        undo = key("library.undo")
        if remaining_s > 0:
            sentence = _("Removed “{name}” · {key} restores it within {seconds} s")
        else:
            sentence = _("“{name}” will be removed when the job ends · {key} cancels")
        sentence = sentence.format(name=name, key=undo, seconds=max(0, remaining_s))
        return sentence + n_(" (+{n} more)", " (+{n} more)", more) if more else sentence

    # --- carrying out ---

    def _tick(self) -> None:
        self._show_line()
        if not self._jobs.busy:
            self.carry_out_due()

    def carry_out_due(self) -> bool:
        """Carry out the next due removal. True while one is under way."""
        if self.removals.current is None and (pending := self.removals.next(time.monotonic())):
            self._show_line()
            self._app.refresh_bindings()
            self._app.run_in_thread(lambda: self._carry_out(pending.removal), RemovalEnded, group="removal")
        return self.removals.current is not None

    def _carry_out(self, removal: Removal) -> RemovalEnded:
        library = self._runtime.library
        removing.remove(library, self._runtime.indexer, removing.plan_removal(library, removal.target))
        return RemovalEnded(None)

    def ended(self, message: RemovalEnded) -> None:
        if isinstance(message.error, BusyError):
            self.removals.defer(time.monotonic() + RETRY_S)
        elif message.error:  # its remaining videos are visible again
            self._app.tell(message.error)
        self.removals.current = None
        self._update()
        self._jobs.start_next()

    # --- jobs ---

    def admit(self, request: JobRequest) -> JobRequest:
        """Undo the removals of the requested videos. A sync leaves out hidden sources."""
        if not (request.paths or request.sources) and self.removals.sources:
            request = replace(request, without=self.removals.sources)
        while pending := self.removals.undo(request):
            requests = tuple(each for each in pending.requests if each != request)
            stopped = tuple(each for each in pending.stopped if each != request)
            self._take_back(replace(pending, requests=requests, stopped=stopped))
        return request

    # --- the end ---

    def finish(self) -> None:
        """Carry out waiting removals at the end of the app."""
        for pending in self.removals.all:
            try:
                self._carry_out(pending.removal)
            except AppError as error:
                output.say_error(error)  # which logs it
