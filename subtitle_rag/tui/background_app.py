"""The part of the app that has work done in the background, whatever else goes on: contexts, vectors, models."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.reactive import var

from subtitle_rag.i18n import N_, _
from subtitle_rag.library.offer import dismiss_offer
from subtitle_rag.tui import messages
from subtitle_rag.tui.base_app import BaseApp
from subtitle_rag.tui.controllers.context_run import ContextRun
from subtitle_rag.tui.controllers.extractor_run import ExtractorUpdateRun
from subtitle_rag.tui.controllers.model_run import ModelDownloadRun
from subtitle_rag.tui.controllers.stage_run import StageRun
from subtitle_rag.tui.controllers.vector_run import VectorRun
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.extractor_update import ExtractorUpdate
from subtitle_rag.tui.state.model_offer import ModelDownload
from subtitle_rag.tui.state.stage_progress import ContextProgress, StageName, StageProgress, StageState, VectorProgress
from subtitle_rag.tui.text import context_lines, vector_lines
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

RUNS: dict[StageName, type[StageRun[Any]]] = {
    "contexts": ContextRun,
    "vectors": VectorRun,
    "offer": ModelDownloadRun,
    "update": ExtractorUpdateRun,
}
UNASKED: tuple[StageName, ...] = ("contexts", "vectors")
"""Stages that begin by themselves; one key pauses them."""
PASSING = frozenset({"llm_not_running", "llm_model_missing", "contexts_busy", "vectors_busy"})
"""Failures whose reason another program can remove, and that cost next to nothing to look at again."""
AGAIN_S = 5.0
"""Least time between two looks at what new contexts may have brought."""
FIRST_CONTEXT_S = 120.0
"""Longest wait of vectors for a run of contexts to begin in earnest; from then on they know which windows to leave."""
ELSEWHERE_S = 15.0
"""Between two looks at models that another process is fetching."""
LEAVING_S = 1.0
"""Longest wait at the end for runs that were halted; only what hangs makes it so long."""


class BackgroundApp(BaseApp):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "background", N_("Pause/go on"), priority=True, id="library.background"),
        Binding("ctrl+g", "models", N_("Fetch models"), show=False, priority=True, id="models.fetch"),
        Binding("f7", "update", N_("Update yt-dlp"), show=False, priority=True, id="packages.update"),
        Binding("ctrl+x", "dismiss_offer", N_("Put away"), show=False, priority=True, id="models.dismiss"),
    ]

    contexts: var[ContextProgress | None] = var(None)
    """None where the settings name no Ollama, and before the first word of how things stand."""
    vectors: var[VectorProgress | None] = var(None)
    offer: var[ModelDownload | None] = var(None)
    """None where there is nothing to fetch."""
    update: var[ExtractorUpdate | None] = var(None)
    """None where yt-dlp has not aged."""

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__(runtime)
        self._runs: dict[StageName, StageRun[Any]] = {}
        self._more: set[StageName] = set()
        """Stages for which there may be work that the run under way does not know of."""
        self._paused: set[StageName] = set()
        self._again_due = self._look_due = self._over = False
        self._asked_at = 0.0

    # --- what the rest of the app does for it ---

    def search_again(self) -> None:
        """The scenes on the screen may be others now."""

    def look_up(self) -> object:
        """Have told how much there is, and which models are here, by `models_looked_up`."""

    def show_keys(self) -> None:
        """Other keys may work now."""

    # --- runs ---

    def progress(self, stage: StageName) -> StageProgress | None:
        found: StageProgress | None = getattr(self, stage)
        return found

    def begin(self, stage: StageName) -> None:
        """Have done what is missing, unless the user has paused it; after a run that is under way."""
        if stage == "vectors" and self._first_context_awaited:
            return
        running = stage in self._runs
        (self._more.add if running else self._more.discard)(stage)
        if not running and stage not in self._paused and not self._over and self._wanted(stage):
            run = self._runs[stage] = RUNS[stage](self.runtime, self.doors, self.post_message)
            run.start()
            if stage == "contexts":
                self._asked_at = time.monotonic()
                self.set_timer(FIRST_CONTEXT_S, self._begin_vectors)

    @property
    def _first_context_awaited(self) -> bool:
        """Contexts are about to be written: whoever encodes windows now may do so twice."""
        known = self.contexts
        begun = known is not None and (known.taken or known.state not in ("asking", "working"))
        return "contexts" in self._runs and not begun and time.monotonic() - self._asked_at < FIRST_CONTEXT_S

    def _begin_vectors(self) -> None:
        self._begin_unless_failed("vectors")

    def _wanted(self, stage: StageName) -> bool:
        """The settings name what it needs."""
        needed = {"contexts": self.settings.llm.hosts, "vectors": self.settings.models.encoder}
        return bool(needed.get(stage, True))

    def begin_all(self) -> None:
        """Have done whatever is missing."""
        for stage in UNASKED:
            self.begin(stage)

    def windows_came(self) -> None:
        """A job that takes long has brought some; for what has failed, its end is soon enough."""
        for stage in UNASKED:
            self._begin_unless_failed(stage)

    def _begin_unless_failed(self, stage: StageName) -> None:
        progress = self.progress(stage)
        if progress is None or progress.state != "failed":
            self.begin(stage)

    def look_again(self) -> None:
        """Try again where all that was missing is something that the user may have mended meanwhile."""
        for stage in UNASKED:
            progress = self.progress(stage)
            if progress and progress.error and progress.error.code in PASSING:
                self.begin(stage)

    @on(messages.StageAdvanced)
    def _stage_advanced(self, message: messages.StageAdvanced) -> None:
        if message.stage not in self._paused:
            self._take(message.stage, message.progress)
        elif message.progress.taken:
            self._look_soon()

    @on(messages.StageEnded)
    def _stage_ended(self, message: messages.StageEnded) -> None:
        stage, progress = message.stage, message.progress
        del self._runs[stage]
        again = message.halted and stage not in self._paused  # the user went on before the run had ended
        self._take(stage, replace(progress, state="asking") if again else progress, ended=True)
        if again or (stage in self._more and progress.state == "done"):
            self.begin(stage)
        elif stage == "contexts":
            self._begin_vectors()
        elif stage == "offer":
            self._fetching_ended(progress)
        elif stage == "update" and progress.state == "done":
            self._update_ended()

    def _take(self, stage: StageName, progress: StageProgress, *, ended: bool = False) -> None:
        """Show how far a stage has come, and have done what follows from that."""
        before = self.progress(stage)
        first = not (before and before.taken)
        setattr(self, stage, progress)
        if stage == "offer":
            if progress.taken > (before.taken if before else 0):
                self.begin("vectors")
        elif stage in UNASKED and progress.taken and (stage == "contexts" or first or ended):
            self._look_soon()
        self.show_keys()

    def _look_soon(self) -> None:
        if not self._again_due:
            self._again_due = True
            self.set_timer(AGAIN_S, self._look)

    def _look(self) -> None:
        """Other contexts are there, or vectors."""
        self._again_due = False
        self.search_again()
        self._begin_vectors()

    # --- pausing ---

    @property
    def background_wanted(self) -> bool:
        """Something is being done, or soon will be; else it is paused, cannot be done, or is all there."""
        return any(stage in self._runs and stage not in self._paused for stage in UNASKED)

    @property
    def background_told(self) -> bool:
        """There is something to pause, to go on with, or to try again."""
        return bool(
            self._paused.intersection(UNASKED)
            or (self.contexts and context_lines.line(self.contexts))
            or (self.vectors and vector_lines.line(self.vectors))
        )

    def action_background(self) -> None:
        """Pause, or go on."""
        change = self._pause if self.background_wanted else self._go_on
        for stage in UNASKED:
            change(stage)
        self.show_keys()

    def _pause(self, stage: StageName) -> None:
        self._paused.add(stage)
        if run := self._runs.get(stage):
            run.halt()
            self._put(stage, "paused")

    def _go_on(self, stage: StageName) -> None:
        self._paused.discard(stage)
        self._put(stage, "asking")
        self.begin(stage)

    def _put(self, stage: StageName, state: StageState) -> None:
        if progress := self.progress(stage):
            setattr(self, stage, replace(progress, state=state))

    # --- models ---

    def models_looked_up(self, found: ModelDownload | None) -> None:
        """What is not here, as `find_download` found it."""
        before = self.offer
        told_more = before is not None and before.state in ("paused", "failed")
        if "offer" in self._runs or (told_more and found and found.fetchable):
            return
        self.offer = found
        if found and found.state == "elsewhere":
            if not self._look_due:
                self._look_due = True
                self.set_timer(ELSEWHERE_S, self._look_elsewhere)
        elif before and not found:  # another process has fetched them
            self.begin("vectors")

    def _look_elsewhere(self) -> None:
        self._look_due = False
        self.look_up()

    def _fetching_ended(self, progress: StageProgress) -> None:
        if progress.state == "done":
            self.notify(
                _("The models are here. Scenes are found by what they mean, too, as vectors are made."), markup=False
            )
        if progress.state == "done" or (progress.error and progress.error.code == "model_busy"):
            self.offer = None
        self.look_up()

    def action_models(self) -> None:
        """Bring packages and models that are missing, or stop that; packages only after the user has agreed."""
        if self.fetching:
            self._pause("offer")
        elif self.offer and self.offer.fetchable and self.offer.packages and self.offer.state != "paused":
            from subtitle_rag.tui.dialogs.install_screen import InstallScreen

            self.push_screen(InstallScreen(self.offer), self._install_answered)
        elif self.offer and self.offer.fetchable:
            self._go_on("offer")

    def _install_answered(self, way: str | None) -> None:
        if way and self.offer and self.offer.fetchable:
            self._go_on("offer")

    @property
    def fetching(self) -> bool:
        return "offer" in self._runs and "offer" not in self._paused

    def action_dismiss_offer(self) -> None:
        """Offer the models no more; a command still fetches them."""
        self._put("offer", "dismissed")
        self._note_dismissed()

    @work(thread=True, group="offer", exit_on_error=False)
    def _note_dismissed(self) -> None:
        try:
            dismiss_offer(self.runtime.library)
        except Exception as error:  # whatever a door throws, the app stays up, and asks again another time
            self.notify(clean(to_app_error(error, self.settings.paths).message), markup=False, severity="warning")

    @property
    def offer_seen(self) -> bool:
        """What is told of models is on the screen."""
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "background":
            return self.background_told
        if action == "models":
            return self.fetching or bool(self.offer and self.offer.fetchable and self.offer_seen)
        if action == "update":
            return bool(self.update and self.update.can_start)
        if action == "dismiss_offer":
            state = self.offer.state if self.offer else None
            return state in ("offered", "paused", "failed") and self.offer_seen
        return super().check_action(action, parameters)

    # --- yt-dlp ---

    def update_looked_up(self, found: ExtractorUpdate | None) -> None:
        """Take up whether yt-dlp has aged, as `find_update` found it."""
        if "update" not in self._runs and not (self.update and self.update.state == "failed" and found):
            self.update = found

    def begin_update(self) -> None:
        """Bring the newest yt-dlp, if that can be done."""
        if self.update and self.update.can_start:
            self._go_on("update")

    def _update_ended(self) -> None:
        found = self.update
        self.update = None
        if found and found.taken:
            said = _("yt-dlp {version} is here.")
        else:
            said = _("yt-dlp {version} is the newest there is.")
        self.notify(clean(said.format(version=found.version if found else "")), markup=False)

    # --- the end ---

    def halt_runs(self) -> None:
        """End them, and begin no others."""
        self._over = True
        for run in self._runs.values():
            run.halt()

    def await_runs(self) -> None:
        """After `halt_runs`: give them a moment to close what they hold."""
        deadline = time.monotonic() + LEAVING_S
        for run in self._runs.values():
            if run.is_alive():
                run.join(max(0.0, deadline - time.monotonic()))
