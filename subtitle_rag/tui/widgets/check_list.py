"""The checks of `doctor` on the screen, each as it ends: how it stands, and what mends it.

What would surprise: probes run in daemon threads, for the end of the app waits for Textual's workers, and a probe of a
service that hangs takes a minute. Those that open doors of the runtime go one after the other, for they wait for the
same lock; the others do not wait for them.
"""

import threading
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from subtitle_rag import doctor
from subtitle_rag.doctor import Check
from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from collections.abc import Callable

LABELS = {
    "python": "Python",
    "terminal": N_("Terminal"),
    "packages": N_("Packages"),
    "disk": N_("Disk"),
    "library": N_("Library"),
    "qdrant": "Qdrant",
    "index": N_("Search index"),
    "kiwi": N_("Korean analysis"),
    "player": N_("Player"),
    "yt-dlp": "yt-dlp",
    "cookies": N_("Cookies"),
    "ollama": "Ollama",
    "device": N_("Device"),
    "encoder": N_("Encoder"),
    "reranker": N_("Reranker"),
    "network": "YouTube",
}
MARKS = {"ok": "✓", "warning": "!", "error": "✗"}
THREADS = 3
"""Beside the one for those that open doors."""


@dataclass
class ProbeEnded(Message):
    check: Check


class CheckRow(Horizontal):
    """One thing that is looked at."""

    def __init__(self, name: str, label: str = "") -> None:
        self._label = label or _(LABELS[name])
        self._head = Static(classes="check-head", markup=False)
        self._body = Static(classes="check-body", markup=False)
        super().__init__(self._head, self._body, id=f"check-{name}", classes="check")

    def show(self, check: Check | None) -> None:
        """None while it is looked at."""
        if check is None:
            self.say("…", "")
        else:
            self.say(MARKS[check.severity], check.message, check.remedy or "")
        self.set_class(check is not None and check.severity == "ok", "-ok")

    def say(self, mark: str, message: str, remedy: str = "") -> None:
        self._head.update(Content(f"{mark} {self._label}"))
        said = Content(clean(message))
        self._body.update(said + Content.styled(f"\n→ {clean(remedy)}", MUTED) if remedy else said)


class CheckList(Vertical):
    """Rows of checks; what is well is one line together where there is little room."""

    def __init__(self, names: Iterable[str], probe: "Callable[[str], Check]") -> None:
        """`probe` runs one check, in a thread."""
        self._rows = {name: CheckRow(name) for name in names}
        self._well = Static(id="checks-well", markup=False)
        super().__init__(self._well, *self._rows.values(), id="checks")
        self._probe = probe
        self.found: dict[str, Check] = {}
        self._under_way: set[str] = set()
        self._without: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        return list(self._rows)

    @property
    def busy(self) -> bool:
        return bool(self._under_way)

    def start(self, names: Sequence[str] | None = None) -> None:
        """Look at all, or at these, again; what is being looked at is not looked at twice."""
        due = [name for name in names or self.names if name not in self._under_way]
        self._under_way.update(due)
        for name in due:
            self.found.pop(name, None)
            if name not in self._rows:
                self._rows[name] = CheckRow(name)
                self.mount(self._rows[name])
        self._show(due)
        doors = deque(name for name in due if name in doctor.DOORS)
        others = deque(name for name in due if name not in doctor.DOORS)
        for queue, threads in ((doors, 1), (others, THREADS)):
            for _thread in range(min(threads, len(queue))):
                threading.Thread(target=self._run, args=(queue,), name="check", daemon=True).start()

    def leave_out(self, names: Collection[str]) -> None:
        """Show these not, as something else tells of them."""
        self._without = frozenset(names)
        self._show(self.names)

    def _run(self, due: "deque[str]") -> None:
        with suppress(IndexError, RuntimeError):  # all are taken, or the app has gone
            while True:
                self.post_message(ProbeEnded(self._probe(due.popleft())))

    @on(ProbeEnded)
    def _probe_ended(self, message: ProbeEnded) -> None:
        name = message.check.name
        self._under_way.discard(name)
        self.found[name] = message.check
        self._show([name])

    def _show(self, names: Iterable[str]) -> None:
        for name in names:
            self._rows[name].show(self.found.get(name))
            self._rows[name].set_class(name in self._without, "-left-out")
        well = [name for name in self._rows if name in self.found and self.found[name].severity == "ok"]
        labels = " · ".join(_(LABELS[name]) for name in well if name not in self._without)
        self._well.update(Content(f"✓ {labels}" if labels else ""))
