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
"""Failures with a cheap retry whose reason another program can remove."""
SEARCH_AGAIN_S = 5.0
"""Shortest time between two searches for scenes from new contexts or vectors."""
FIRST_CONTEXT_S = 120.0
"""Longest wait of vectors for the first context of a run; after it they know which windows to leave."""
QUIET_S = 60.0
"""Pause after an answer, before contexts are resumed."""
LEAVING_S = 1.0
"""Longest wait for halted runs at the end of the app; only one that hangs takes longer."""


class BackgroundController:
    """Starts, pauses and resumes stages, and publishes their progress on the app."""

    def __init__(self, app: AppPort, runtime: "Runtime") -> None:
        self._app = app
        self._runtime = runtime
        self.runs: dict[StageName, StageRun] = {}
        self.paused: set[StageName] = set()
        self.on_end: dict[StageName, Callable[[Stage], object]] = {}
        """Called at the end of a stage's run, by stage."""
        self._pending: set[StageName] = set()
        """Stages with work newer than their current run."""
        self._resumed_stages: set[StageName] = set()
        """Stages resumed by the user's key whose run has not ended since."""
        self._search_due = self._closing = False
        self._contexts_started = 0.0

    # --- runs ---

    def progress(self, stage: StageName) -> Stage | None:
        """Return the stage's progress on the screen."""
        return self._app.stages.get(stage)

    def show(self, progress: Stage) -> None:
        """Show the progress of its stage."""
        self._app.stages = {**self._app.stages, progress.name: progress}

    def remove(self, stage: StageName) -> None:
        """Show no progress of the stage."""
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
        """Contexts are about to come: a window encoded before its context would be encoded twice."""
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
        """Start the automatic stages for windows of a job under way; a stage that failed waits for the job's end."""
        for stage in AUTOMATIC:
            self._begin_unless_failed(stage)

    def _begin_unless_failed(self, stage: StageName) -> None:
        progress = self.progress(stage)
        if progress is None or progress.state != "failed":
            self.begin(stage)

    def retry_transient(self) -> None:
        """Retry stages with a failure in `TRANSIENT`."""
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
            if progress.error:  # the same line as before would look as if the key did nothing
                self._app.tell(progress.error)
        self._publish(replace(progress, state="asking") if again else progress, ended=True)
        if again or (stage in self._pending and progress.state == "done"):
            self.begin(stage)
        elif stage == "contexts":
            self._begin_vectors()
        elif hook := self.on_end.get(stage):
            hook(progress)

    def _publish(self, progress: Stage, *, ended: bool = False) -> None:
        """Show the progress. Start vectors or a search if new models or windows allow it."""
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
        """What writing contexts takes, while the user is asked whether to."""
        contexts = self.progress("contexts")
        return contexts.offer if contexts and contexts.state == "offered" else None

    @property
    def can_ask_for_contexts(self) -> bool:
        """Whether contexts are missing that nobody has asked for."""
        contexts = self.progress("contexts")
        return contexts is not None and contexts.state in ("offered", "dismissed")

    def ask_for_contexts(self) -> None:
        """Have the user decide, with what it takes."""
        from subtitle_rag.workflows import pipeline

        def find() -> ContextsOffered | None:
            offer = pipeline.offer_contexts(self._runtime)
            return ContextsOffered(offer) if offer else None

        self._app.run_in_thread(find, ActionFailed, group="contexts")

    def answer_context_offer(self, *, wanted: bool) -> None:
        """Write contexts now and at each start, or offer them no more."""
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
        """A stage runs that the key pauses. If none does, they are paused, failed or complete."""
        return any(stage in self.runs and stage not in self.paused for stage in PAUSED_TOGETHER)

    @property
    def can_toggle(self) -> bool:
        """There is something to pause, to resume or to retry."""
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
        """Replace the current run by one with the new settings."""
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
        """End all runs, and start no others."""
        self._closing = True
        for run in self.runs.values():
            run.halt()

    def wait(self) -> None:
        """Give halted runs a moment to close their doors."""
        deadline = time.monotonic() + LEAVING_S
        for run in self.runs.values():
            if run.is_alive():
                run.join(max(0.0, deadline - time.monotonic()))


class ContextPause:
    """Pauses contexts while a model answers a question, unless the user has paused them already.

    A model server works on one request after the other, and a context takes seconds or a minute: the current one is
    given up for the question. The pause outlasts the answer, since the next question finds the scenes in the server's
    prompt cache only without requests in between.
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
        if "contexts" not in self._background.paused and self._runtime.settings.llm.hosts:
            self._paused = True
            self._background.pause("contexts")

    def resume_contexts_later(self) -> None:
        """The answer has ended: resume contexts when no further question has come for a while."""
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
        """Leave contexts to the user, who has paused or resumed them."""
        self._paused = False

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.stop()
