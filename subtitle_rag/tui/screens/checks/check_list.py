"""`doctor`'s checks, each with its result and remedy once it has run.

Checks run in daemon threads, since a hanging service would delay the app's exit by a minute in a Textual worker. Checks
that need the runtime's lock share one thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.workflows import checks as doctor
from subtitle_rag.workflows.checks import Check

LABELS = {
    "python": "Python",
    "terminal": N_("Terminal"),
    "packages": N_("Packages"),
    "plugins": N_("Plug-ins"),
    "paths": N_("Folders"),
    "disk": N_("Disk"),
    "library": N_("Library"),
    "files": N_("Files"),
    "qdrant": "Qdrant",
    "index": N_("Search index"),
    "kiwi": N_("Korean analysis"),
    "player": N_("Player"),
    "yt-dlp": "yt-dlp",
    "javascript": "JavaScript",
    "impersonation": N_("Browser likeness"),
    "cookies": N_("Cookies"),
    "ollama": "Ollama",
    "device": N_("Device"),
    "encoder": N_("Encoder"),
    "reranker": N_("Reranker"),
    "listening": N_("Listen"),
    "network": "YouTube",
}
THREADS = 3
"""Threads for checks that do not need the runtime's lock."""


@dataclass
class ProbeEnded(Message):
    check: Check


class CheckRow(Horizontal):
    def __init__(self, name: str, label: str = "") -> None:
        self._label = label or _(LABELS[name])
        self._head = Static(classes="check-head", markup=False)
        self._body = Static(classes="check-body", markup=False)
        super().__init__(self._head, self._body, id=f"check-{name}", classes="check")

    def show(self, check: Check | None) -> None:
        """Show the result; None while the check runs."""
        if check is None:
            self.say("…", "")
        else:
            self.say(doctor.SIGNS[check.severity], check.message, check.remedy or "")
        self.set_class(check is not None and check.severity == "ok", "-ok")

    def say(self, mark: str, message: str, remedy: str = "") -> None:
        self._head.update(Content(f"{mark} {self._label}"))
        text = Content(clean(message))
        self._body.update(text + Content.styled(f"\n→ {clean(remedy)}", MUTED) if remedy else text)


class CheckList(Vertical):
    """Rows of checks. In a narrow terminal, passed ones share one line."""

    def __init__(self, names: Iterable[str], probe: Callable[[str], Check]) -> None:
        """Create rows for the checks. `probe` runs one check, in a thread."""
        self._rows = {name: CheckRow(name) for name in names}
        self._passed = Static(id="checks-well", markup=False)
        super().__init__(self._passed, *self._rows.values(), id="checks")
        self._probe = probe
        self.results: dict[str, Check] = {}
        self._under_way: set[str] = set()
        self._queues: list[deque[str]] = []

    @property
    def names(self) -> list[str]:
        return list(self._rows)

    @property
    def busy(self) -> bool:
        return bool(self._under_way)

    def start(self, names: Sequence[str] | None = None) -> None:
        """Run all checks or the given ones, unless they are running."""
        names_to_run = [name for name in names or self.names if name not in self._under_way]
        self._under_way.update(names_to_run)
        for name in names_to_run:
            self.results.pop(name, None)
            if name not in self._rows:
                self._rows[name] = CheckRow(name)
                self.mount(self._rows[name])
        self._show(names_to_run)
        doors = deque(name for name in names_to_run if name in doctor.DOORS)
        plain = deque(name for name in names_to_run if name not in doctor.DOORS)
        self._queues = [*filter(None, self._queues), doors, plain]
        for queue, threads in ((doors, 1), (plain, THREADS)):
            for _thread in range(min(threads, len(queue))):
                threading.Thread(target=self._run, args=(queue,), name="check", daemon=True).start()

    def on_unmount(self) -> None:
        """Start no more checks."""
        for queue in self._queues:
            queue.clear()

    def _run(self, queue: deque[str]) -> None:
        with suppress(IndexError, RuntimeError):  # the queue is empty, or the app has ended
            while True:
                self.post_message(ProbeEnded(self._probe(queue.popleft())))

    @on(ProbeEnded)
    def _probe_ended(self, message: ProbeEnded) -> None:
        name = message.check.name
        self._under_way.discard(name)
        self.results[name] = message.check
        self._show([name])

    def _show(self, names: Iterable[str]) -> None:
        for name in names:
            self._rows[name].show(self.results.get(name))
        passed = [name for name in self._rows if name in self.results and self.results[name].severity == "ok"]
        labels = " · ".join(_(LABELS[name]) for name in passed)
        self._passed.update(Content(f"✓ {labels}" if labels else ""))
