"""The constructor argument of all screens: the runtime, the controllers, and some functions of the app."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.config.settings import Settings
from subtitle_rag.tui.app_port import AppPort
from subtitle_rag.tui.controllers.background import BackgroundController, ContextPause
from subtitle_rag.tui.controllers.downloads import ModelDownloadController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.controllers.library_opening import LibraryOpening
from subtitle_rag.tui.controllers.marks import MarkController
from subtitle_rag.tui.controllers.playback import PlaybackController
from subtitle_rag.tui.controllers.probe_runs import ProbeRuns
from subtitle_rag.tui.controllers.removals import RemovalController

if TYPE_CHECKING:
    from subtitle_rag.doctor import Check
    from subtitle_rag.runtime import Runtime


@dataclass(frozen=True)
class AppContext:
    app: AppPort
    """Toasts, and the values that are shown."""
    runtime: "Runtime"
    show_times: bool
    """Show times and paths, which differ from run to run. Off for pictures."""
    background: BackgroundController
    jobs: JobController
    removals: RemovalController
    playback: PlaybackController
    marks: MarkController
    models: ModelDownloadController
    opening: LibraryOpening
    context_pause: ContextPause
    probes: ProbeRuns = field(default_factory=ProbeRuns, init=False)

    def toggle_background(self) -> None:
        """Pause contexts and vectors for the user, or resume them."""
        self.context_pause.forget()
        self.background.toggle()

    def probe(self, name: str) -> "Check":
        """Run a check of `doctor`. For threads."""
        return self.probes.run(name, self.runtime)

    @property
    def settings(self) -> Settings:
        return self.runtime.settings
