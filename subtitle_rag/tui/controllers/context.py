"""The context that every screen gets: the runtime and the app's controllers."""

from typing import TYPE_CHECKING

from subtitle_rag.base.config.settings import Settings
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.controllers.background import BackgroundController, ContextPause
from subtitle_rag.tui.controllers.downloads import ModelDownloadController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.controllers.library_opening import LibraryOpening
from subtitle_rag.tui.controllers.marks import MarkController
from subtitle_rag.tui.controllers.other_run import OtherRunWatch
from subtitle_rag.tui.controllers.playback import PlaybackController
from subtitle_rag.tui.controllers.probe_runs import ProbeRuns
from subtitle_rag.tui.controllers.removals import RemovalController

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.checks import Check


class AppContext:
    def __init__(self, app: AppPort, runtime: "Runtime", *, show_times: bool) -> None:
        """`show_times=False` hides times and paths, for reproducible pictures."""
        self.app = app
        self.runtime = runtime
        self.show_times = show_times
        self.background = BackgroundController(app, runtime)
        self.jobs = JobController(app, runtime, self.background)
        self.removals = RemovalController(app, runtime, self.jobs)
        self.playback = PlaybackController(app, runtime)
        self.marks = MarkController(app, runtime)
        self.models = ModelDownloadController(app, runtime, self.background)
        self.opening = LibraryOpening(app, runtime)
        self.context_pause = ContextPause(app, runtime, self.background)
        self.other_run = OtherRunWatch(app, runtime, self.jobs, self.background)
        self.probes = ProbeRuns()

    def toggle_background(self) -> None:
        """Pause or resume contexts and vectors on the user's request."""
        self.context_pause.forget()
        self.background.toggle()

    def probe(self, name: str) -> "Check":
        """Run a check of `doctor`. For worker threads."""
        return self.probes.run(name, self.runtime)

    @property
    def settings(self) -> Settings:
        return self.runtime.settings
