"""The part of the app that takes videos out of the library, a minute after it was asked to.

Until then they are only hidden. Then they leave, in a worker, while no job is at work: one that is going to fetch more
of a channel would follow it anew.
"""

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.widgets import TextArea

from subtitle_rag import output
from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.leaving import counts_without
from subtitle_rag.tui import messages
from subtitle_rag.tui.dialogs.remove_screen import RemoveScreen
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.notice_app import NoticeApp
from subtitle_rag.tui.state import removal
from subtitle_rag.tui.state.job_request import JobRequest
from subtitle_rag.tui.state.removal import PendingRemoval, Removal, Removals, RemovalTarget, SyncOfOthers
from subtitle_rag.tui.text.content import short_name
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from textual.timer import Timer

    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import Counts, VideoState
    from subtitle_rag.library.store import Library
    from subtitle_rag.runtime import Runtime

UNDO_S = 60.0
"""How long a removal can be undone."""
TICK_S = 1.0
"""Between two looks at how much of that is left."""
RETRY_S = 10.0
"""Until a removal is tried again where another process was at work on the library."""


class RemovalApp(NoticeApp):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+z",
            "undo_removal",
            N_("Undo"),
            priority=True,
            id="library.undo",
            tooltip=N_("bring back what was removed in the last minute, the newest first"),
        ),
    ]

    removal_line: var[str] = var("")
    """The newest removal, and how long it can be undone; empty where there is none."""

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__(runtime)
        self._removals = Removals()
        self._hidden: frozenset[str] = frozenset()
        self._stopped: JobRequest | None = None
        """The errand that was stopped because what it fetches is leaving."""
        self._ticking: Timer | None = None

    # --- what is asked for ---

    @work(thread=True, group="removal", exit_on_error=False)
    def remove(self, target: RemovalTarget) -> None:
        """Take it out of the library; more than one video is asked about first."""
        try:
            self.post_message(messages.RemovalPlanned(Removal.of(target, self.runtime.library)))
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.JumpFailed(to_app_error(error, self.settings.paths)))

    @on(messages.RemovalPlanned)
    def _removal_planned(self, message: messages.RemovalPlanned) -> None:
        planned = message.removal

        def decided(remove: bool | None) -> None:
            if remove:
                self._hide(planned)

        if planned.target.whole:
            self.push_screen(RemoveScreen(planned), decided)
        elif planned.videos - self._hidden:
            self._hide(planned)

    def _hide(self, planned: Removal) -> None:
        waiting = PendingRemoval(planned, time.monotonic() + UNDO_S, self._put_away(planned))
        self._removals.waiting.append(waiting)
        self._removals_changed()
        self.notify(self._undoable(waiting), markup=False)

    def _put_away(self, planned: Removal) -> tuple[JobRequest, ...]:
        """Let no errand bring back what is leaving; those that would have."""
        queue = self._queue
        errands = tuple(errand for errand in (*queue.waiting, *queue.held) if planned.named_by(errand))
        queue.waiting = [errand for errand in queue.waiting if errand not in errands]
        queue.held = [errand for errand in queue.held if errand not in errands]
        if queue.current and self._run and planned.named_by(queue.current):
            self._stopped = queue.current
            errands = (queue.current, *errands)
            self._run.stop.set()
        if errands:
            self._keep()
            self._show_job(self._latest)
            self._forget_job()
        return errands

    def _forget_job(self) -> None:
        """Offer no more to go on with a job of which nothing is left."""
        if self.job and self.job.stopped and not self.busy and not self._queue.held:
            self.job = self._latest = None
        self.show_keys()

    def action_undo_removal(self) -> None:
        if undone := self._removals.undo():
            self._take_back(undone)

    def _take_back(self, undone: PendingRemoval) -> None:
        said = _("“{name}” is back.").format(name=short_name(undone.removal.target.name))
        self._removals_changed()
        self.search_screen.search_again()
        self.notify(said, markup=False)
        for errand in undone.errands:
            self.start(errand)

    # --- what is hidden meanwhile ---

    def counted(self, library: "Library") -> "Counts":
        """The size of the library without what is leaving; for workers."""
        return counts_without(library, self._hidden)

    def staying(self, message: messages.VideosListed) -> "tuple[list[VideoState], list[ChannelState]]":
        """The rows without what is leaving."""
        return removal.rows_without(self._removals, message.videos, message.channels)

    def staying_scenes(self, message: messages.ScenesFound) -> messages.ScenesFound:
        """The scenes without those of what is leaving."""
        scenes = message.result.scenes
        hidden = self._removals.hidden(scene.video for scene in scenes)
        if not hidden:
            return message
        left = tuple(scene for scene in scenes if scene.video.id not in hidden)
        return replace(message, result=replace(message.result, scenes=left))

    def _removals_changed(self) -> None:
        self._hidden = self._removals.videos
        self.search_screen.show_again()
        self.look_up()
        if library := self.library_screen():
            library.list_videos()
        if self._removals.all and self._ticking is None:
            self._ticking = self.set_interval(TICK_S, self._tick)
        elif not self._removals.all and self._ticking:
            self._ticking.stop()
            self._ticking = None
        self._tell_removals()
        self.refresh_bindings()

    def _tell_removals(self) -> None:
        waiting = self._removals.waiting
        self.removal_line = self._undoable(waiting[-1], others=len(waiting) - 1) if waiting else ""

    def _undoable(self, waiting: PendingRemoval, *, others: int = 0) -> str:
        name, left = short_name(waiting.removal.target.name), math.ceil(waiting.due - time.monotonic())
        undo = key("library.undo")
        if left > 0:
            said = _("Removed “{name}” · {key} brings it back, for {seconds} s")
        else:
            said = _("“{name}” leaves when the job has ended · {key} brings it back")
        said = said.format(name=name, key=undo, seconds=max(0, left))
        return said + n_(" (+{n} more)", " (+{n} more)", others).format(n=others) if others else said

    # --- carrying out ---

    def _tick(self) -> None:
        self._tell_removals()
        if not self.busy:
            self._carry_out_next()

    def _carry_out_next(self) -> bool:
        """Carry out what is due, and say whether something is being carried out."""
        if self._removals.current is None and (due := self._removals.next(time.monotonic())):
            self._tell_removals()
            self.refresh_bindings()
            self._carry_out(due.removal)
        return self._removals.current is not None

    @work(thread=True, group="removal", exit_on_error=False)
    def _carry_out(self, due: Removal) -> None:
        error: AppError | None = None
        try:
            with self.doors:
                library, indexer = self.runtime.library, self.runtime.indexer
            due.carry_out(library, indexer)
        except Exception as failure:  # whatever a door throws, the app stays up
            error = to_app_error(failure, self.settings.paths)
        self.post_message(messages.RemovalEnded(error))

    @on(messages.RemovalEnded)
    def _removal_ended(self, message: messages.RemovalEnded) -> None:
        if isinstance(message.error, BusyError):
            self._removals.put_off(time.monotonic() + RETRY_S)
        elif message.error:  # what is still there is seen again
            self.tell(message.error)
        self._removals.current = None
        self._removals_changed()
        if not self.busy:
            self._begin_next()

    # --- jobs ---

    def start(self, errand: JobRequest) -> bool:
        """What an errand asks for does not leave; nothing is fetched of what does."""
        if not errand.paths and errand.source is None and self._removals.sources:
            errand = SyncOfOthers(without=self._removals.sources)
        while undone := self._removals.undo(errand):
            self._take_back(replace(undone, errands=tuple(one for one in undone.errands if one != errand)))
        return super().start(errand)

    def _begin_next(self) -> None:
        if self._stopped:
            if self._stopped in self._queue.held:
                self._queue.held.remove(self._stopped)
                self._queue.release()
            self._stopped = None
            self._forget_job()
        if self._carry_out_next():
            self._keep()  # its end begins the next
        else:
            super()._begin_next()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "undo_removal":
            return bool(self._removals.waiting) and not isinstance(self.focused, TextArea)
        return super().check_action(action, parameters)

    # --- the end ---

    def await_job(self, seconds: float) -> None:
        super().await_job(seconds)
        for waiting in self._removals.all:
            try:
                waiting.removal.carry_out(self.runtime.library, self.runtime.indexer)
            except AppError as error:
                output.say_error(error)  # which logs it
