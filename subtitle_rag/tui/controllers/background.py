"""Runs contexts, vectors, model downloads and updates in background threads, each stage at most once at a time."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from subtitle_rag.tui.controllers.app_port import AppPort, Stoppable
from subtitle_rag.tui.controllers.stage_threads import AUTOMATIC, RUNS, StageRun
from subtitle_rag.tui.shared.messages import (
    ActionFailed,
    ContextsOffered,
    LibraryChanged,
    NotRemembered,
    ScenesChanged,
    StageAdvanced,
    StageEnded,
)
from subtitle_rag.tui.shared.progress.stage import Stage, StageName, StageState
from subtitle_rag.tui.shared.progress.stage_lines import has_news

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.pipeline import ContextOffer

PAUSED_TOGETHER: tuple[StageName, ...] = (*AUTOMATIC, "listening")
"""Stages that one key pauses and resumes."""
TRANSIENT = frozenset({"llm_not_running", "llm_model_missing", "busy"})
"""Failures that another program can resolve, and that are cheap to retry."""
SEARCH_AGAIN_S = 5.0
"""Shortest interval of repeated searches while contexts or vectors arrive."""
FIRST_CONTEXT_S = 120.0
"""Longest wait of the vectors stage for a run's first context, after which it knows which windows await one."""
QUIET_S = 60.0
"""Pause after an answer before contexts resume."""
LEAVING_S = 1.0
"""Longest wait for halted runs on exit; only a hanging one takes longer."""


class BackgroundController:
    """Starts, pauses and resumes stages, and publishes their progress."""

    def __init__(self, app: AppPort, runtime: "Runtime") -> None:
        self._app = app
        self._runtime = runtime
        self.runs: dict[StageName, StageRun] = {}
        self.paused: set[StageName] = set()
        self.on_end: dict[StageName, Callable[[Stage], object]] = {}
        """Callbacks at the end of a stage's run."""
        self._pending: set[StageName] = set()
        """Stages with work newer than their current run."""
        self._resumed_stages: set[StageName] = set()
        """Stages resumed by the user's key whose run has not ended since."""
        self._search_due = self._closing = False
        self._contexts_started = 0.0

    # --- runs ---

    def progress(self, stage: StageName) -> Stage | None:
        """Return the stage's displayed progress."""
        return self._app.stages.get(stage)

    def show(self, progress: Stage) -> None:
        """Display a stage's progress."""
        self._app.stages = {**self._app.stages, progress.name: progress}

    def remove(self, stage: StageName) -> None:
        """Hide the stage's progress."""
        self._app.stages = {name: progress for name, progress in self._app.stages.items() if name != stage}

    def begin(self, stage: StageName) -> None:
        """Start the stage if it is not paused. If it is running, run it again afterwards."""
        if stage == "vectors" and self._awaits_first_context:
            return
        if stage in self.runs:
            self._pending.add(stage)
            return
        self._pending.discard(stage)
        if stage not in self.paused and not self._closing and RUNS[stage].is_configured(self._runtime.settings):
            run = self.runs[stage] = RUNS[stage](self._runtime, self._app.post_message)
            run.start()
            self._app.refresh_keys()
            if stage == "contexts":
                self._contexts_started = time.monotonic()
                self._app.set_timer(FIRST_CONTEXT_S, self._begin_vectors)

    @property
    def _awaits_first_context(self) -> bool:
        """Whether contexts are about to arrive: a window encoded before its context is encoded twice."""
        contexts = self.progress("contexts")
        has_started = contexts is not None and (contexts.processed or contexts.state not in ("asking", "working"))
        is_over = time.monotonic() - self._contexts_started >= FIRST_CONTEXT_S
        return "contexts" in self.runs and not has_started and not is_over

    def _begin_vectors(self) -> None:
        self._begin_unless_failed("vectors")

    def begin_all(self) -> None:
        """Start the automatic stages."""
        for stage in AUTOMATIC:
            self.begin(stage)

    def windows_came(self) -> None:
        """Start the automatic stages for new windows of a running job. Failed stages wait until the job ends."""
        for stage in AUTOMATIC:
            self._begin_unless_failed(stage)

    def _begin_unless_failed(self, stage: StageName) -> None:
        progress = self.progress(stage)
        if progress is None or progress.state != "failed":
            self.begin(stage)

    def retry_transient(self) -> None:
        """Retry stages whose failure is in `TRANSIENT`."""
        for stage in AUTOMATIC:
            progress = self.progress(stage)
            if progress and (progress.state == "dismissed" or (progress.error and progress.error.code in TRANSIENT)):
                self.begin(stage)

    # --- progress ---

    def stage_advanced(self, message: StageAdvanced) -> None:
        if message.progress.name not in self.paused:
            self._publish(message.progress)
        elif message.progress.processed:
            self._search_soon()

    def stage_ended(self, message: StageEnded) -> None:
        progress = message.progress
        stage = progress.name
        del self.runs[stage]
        again = message.halted and stage not in self.paused  # the user resumed before the run had ended
        if not again and stage in self._resumed_stages:
            self._resumed_stages.remove(stage)
            if progress.error:  # else an unchanged line would look as if the key did nothing
                self._app.tell(progress.error)
        self._publish(replace(progress, state="asking") if again else progress, ended=True)
        if again or (stage in self._pending and progress.state == "done"):
            self.begin(stage)
        elif stage == "contexts":
            self._begin_vectors()
        elif hook := self.on_end.get(stage):
            hook(progress)

    def _publish(self, progress: Stage, *, ended: bool = False) -> None:
        """Display progress, and start vectors or a search after new models or windows."""
        stage = progress.name
        before = self.progress(stage)
        first = not (before and before.processed)
        self.show(progress)
        if stage == "offer":
            if progress.processed > (before.processed if before else 0):
                self.begin("vectors")
        elif stage in AUTOMATIC and progress.processed and (stage == "contexts" or first or ended):
            self._search_soon()
        elif stage == "listening" and progress.processed > (before.processed if before else 0):
            self._app.post_message(LibraryChanged(lists_videos=True))
            self._search_soon()
            self.windows_came()
        self._app.refresh_keys()

    def _search_soon(self) -> None:
        if not self._search_due:
            self._search_due = True
            self._app.set_timer(SEARCH_AGAIN_S, self._search)

    def _search(self) -> None:
        self._search_due = False
        self._app.post_message(ScenesChanged())
        self._begin_vectors()

    # --- the offer of contexts ---

    @property
    def context_offer(self) -> "ContextOffer | None":
        """The estimated cost of writing contexts, while the user is being asked."""
        contexts = self.progress("contexts")
        return contexts.offer if contexts and contexts.state == "offered" else None

    @property
    def can_ask_for_contexts(self) -> bool:
        """Whether contexts are missing and the user has not been asked yet."""
        contexts = self.progress("contexts")
        return contexts is not None and contexts.state in ("offered", "dismissed")

    def ask_for_contexts(self) -> None:
        """Ask the user whether to write contexts, with the estimated cost."""
        from subtitle_rag.workflows import pipeline

        def find() -> ContextsOffered | None:
            offer = pipeline.offer_contexts(self._runtime)
            return ContextsOffered(offer) if offer else None

        self._app.run_in_thread(find, ActionFailed, group="contexts")

    def answer_context_offer(self, *, wanted: bool) -> None:
        """Write contexts now and at each start, or stop offering them."""
        from subtitle_rag.workflows import pipeline

        self.show_state("contexts", "asking" if wanted else "dismissed")
        self._app.run_in_thread(
            lambda: pipeline.answer_context_offer(self._runtime, wanted=wanted),
            NotRemembered,
            take=lambda _none: self.begin("contexts"),
            group="contexts",
        )

    # --- pausing ---

    @property
    def is_active(self) -> bool:
        """Whether a stage in `PAUSED_TOGETHER` is running; if not, all are paused, failed or complete."""
        return any(stage in self.runs and stage not in self.paused for stage in PAUSED_TOGETHER)

    @property
    def can_toggle(self) -> bool:
        """Whether there is anything to pause, resume or retry."""
        stages = (self.progress(stage) for stage in PAUSED_TOGETHER)
        return bool(self.paused.intersection(PAUSED_TOGETHER)) or any(stage and has_news(stage) for stage in stages)

    def toggle(self) -> None:
        """Pause the automatic stages and listening, or resume them."""
        change = self.pause if self.is_active else self.resume
        listening = self.progress("listening")
        has_listening = bool("listening" in self.paused or (listening and listening.state in ("working", "failed")))
        for stage in PAUSED_TOGETHER if has_listening else AUTOMATIC:
            change(stage)
        self._resumed_stages = {stage for stage in PAUSED_TOGETHER if stage in self.runs and stage not in self.paused}
        self._app.refresh_keys()

    def pause(self, stage: StageName) -> None:
        self.paused.add(stage)
        if run := self.runs.get(stage):
            run.halt()
            self.show_state(stage, "paused")

    def resume(self, stage: StageName) -> None:
        self.paused.discard(stage)
        self.show_state(stage, "asking")
        self.begin(stage)

    def restart(self, stage: StageName) -> None:
        """Replace the current run by one with the current settings."""
        if stage in self.runs and stage not in self.paused:
            self.pause(stage)
            self.resume(stage)
        else:
            self.begin(stage)

    def show_state(self, stage: StageName, state: StageState) -> None:
        if progress := self.progress(stage):
            self.show(replace(progress, state=state))

    # --- the end ---

    def halt(self) -> None:
        """Stop all runs, and start no others."""
        self._closing = True
        for run in self.runs.values():
            run.halt()

    def wait(self) -> None:
        """Wait briefly for halted runs to end."""
        deadline = time.monotonic() + LEAVING_S
        for run in self.runs.values():
            if run.is_alive():
                run.join(max(0.0, deadline - time.monotonic()))


class ContextPause:
    """Pauses contexts while a model answers a question, unless the user has paused them already.

    A model server handles one request at a time, and a context takes up to a minute, so the current one is aborted. The
    pause lasts longer than the answer: the next question can only reuse the server's prompt cache if no other request
    comes first.
    """

    def __init__(self, app: AppPort, runtime: "Runtime", background: BackgroundController) -> None:
        self._app = app
        self._runtime = runtime
        self._background = background
        self._is_answering = False
        self._paused = False
        self._timer: Stoppable | None = None

    def pause_contexts_for_answer(self) -> None:
        self._is_answering = True
        self._stop_timer()
        llm = self._runtime.settings.llm  # unless "always", none are written
        if "contexts" not in self._background.paused and llm.hosts and llm.contexts == "always":
            self._paused = True
            self._background.pause("contexts")

    def resume_contexts_later(self) -> None:
        """After an answer, resume contexts once no question has come for `QUIET_S`."""
        self._is_answering = False
        self._stop_timer()
        self._timer = self._app.set_timer(QUIET_S, self.resume_contexts)

    def resume_contexts(self) -> None:
        if not self._paused or self._is_answering:
            return
        self._paused = False
        progress = self._background.progress("contexts")
        if progress and progress.state == "failed":
            self._background.paused.discard("contexts")
        else:
            self._background.resume("contexts")

    def forget(self) -> None:
        """Leave contexts alone: the user has paused or resumed them."""
        self._paused = False

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.stop()
