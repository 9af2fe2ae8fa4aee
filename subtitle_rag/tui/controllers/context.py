"""The constructor argument of all screens: the runtime, the controllers, and some functions of the app."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.config import Settings
    from subtitle_rag.doctor import Check
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort
    from subtitle_rag.tui.controllers.background import BackgroundController, ContextPause
    from subtitle_rag.tui.controllers.downloads import ModelDownloadController
    from subtitle_rag.tui.controllers.jobs import JobController
    from subtitle_rag.tui.controllers.marks import MarkController
    from subtitle_rag.tui.controllers.playback import PlaybackController
    from subtitle_rag.tui.controllers.removals import RemovalController


class ProbeRuns:
    """Runs the checks of `doctor`, each once at a time: who asks for one that is under way waits for its result.

    Some start a process, or wait for a service that hangs, and a screen of checks may be opened again meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Future[Check]] = {}

    def run(self, name: str, runtime: "Runtime") -> "Check":
        from subtitle_rag import doctor

        with self._lock:
            running = self._running.get(name)
            if running is None:
                own = self._running[name] = Future()
        if running is not None:
            return running.result()
        try:
            own.set_result(doctor.probe(name, runtime))
        except BaseException as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._running[name]
        return own.result()


@dataclass(frozen=True)
class AppContext:
    app: "AppPort"
    """Toasts, and the values that are shown."""
    runtime: "Runtime"
    show_times: bool
    """Show times and paths, which differ from run to run. Off for pictures."""
    background: "BackgroundController"
    jobs: "JobController"
    removals: "RemovalController"
    playback: "PlaybackController"
    marks: "MarkController"
    models: "ModelDownloadController"
    context_pause: "ContextPause"
    can_search: Callable[[], bool]
    """Whether the library and its index are open."""
    probes: ProbeRuns = field(default_factory=ProbeRuns, init=False)

    def toggle_background(self) -> None:
        """Pause contexts and vectors for the user, or resume them."""
        self.context_pause.forget()
        self.background.toggle()

    def probe(self, name: str) -> "Check":
        """Run a check of `doctor`. For threads."""
        return self.probes.run(name, self.runtime)

    @property
    def settings(self) -> "Settings":
        return self.runtime.settings
