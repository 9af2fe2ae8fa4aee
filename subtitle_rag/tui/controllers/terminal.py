"""News of a long job for a user in another window: the terminal's title, bell, and a desktop notice if supported.

Sequences: the title by OSC 2, saved and restored by XTWINOPS 22 and 23; notices by OSC 9 (iTerm2), OSC 777 (foot,
Ghostty, WezTerm) and OSC 99 (kitty). Nothing is sent through tmux and screen, which would have to pass it on.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import job_line, job_outcome

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort
    from subtitle_rag.tui.state import Job

LONG_S = 60.0
"""Shortest duration of a long job."""
LONGEST = 200
"""Longest notice, in characters; terminals cut them off at different lengths."""
NAME = "subtitle-rag"

BELL = "\a"
_PUSH_TITLE, _POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_OSC_777 = "\x1b]777;notify;{name};{text}\x1b\\"
_BY_PROGRAM = {"iTerm.app": "\x1b]9;{name}: {text}\a", "WezTerm": _OSC_777, "ghostty": _OSC_777}
_BY_TERM = {"foot": _OSC_777, "xterm-ghostty": _OSC_777, "xterm-kitty": "\x1b]99;;{name}: {text}\x1b\\"}


def notice(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the sequence for a desktop notice in this terminal; empty if none is supported."""
    if environment.get("TMUX") or environment.get("STY"):
        return ""
    form = _BY_PROGRAM.get(environment.get("TERM_PROGRAM", "")) or _BY_TERM.get(environment.get("TERM", ""))
    return form.format(name=NAME, text=_plain(text)) if form else ""


def _plain(text: str) -> str:
    """Return text that can neither end a sequence nor begin a further field of it."""
    return clean(text)[:LONGEST].replace(";", ",")


class TerminalController:
    """Shows a job in the terminal's title, and its end with a bell and a notice to an absent user."""

    def __init__(self, app: "AppPort", runtime: "Runtime") -> None:
        self._app = app
        self._runtime = runtime
        self._title = ""

    def job_changed(self, before: "Job | None", job: "Job | None", *, focused: bool) -> None:
        """Show the progress or the end of a job. `focused`: the user looks at this terminal."""
        is_enabled = self._runtime.settings.tui.notify
        if not is_enabled or job is None:
            return
        if not job.ended:
            self._set_title(f"{job.processed}/{job.videos}" if job.videos else "…")
        elif before is None or not before.ended:
            self._notify_end(job, focused=focused)

    def _notify_end(self, job: "Job", *, focused: bool) -> None:
        """Show the result in the title until the user looks here."""
        if focused:
            self.restore_title()
            return
        sentence = job_line(job) if job.stopped else job_outcome(job)
        self._set_title(sentence)
        if job.seconds >= LONG_S:
            self._app.write_to_terminal(BELL + notice(sentence, os.environ))

    def _set_title(self, text: str) -> None:
        if text != self._title:
            keep = "" if self._title else _PUSH_TITLE
            self._title = text
            self._app.write_to_terminal(f"{keep}\x1b]2;{_plain(text)} – {NAME}\a")

    def restore_title(self) -> None:
        """Restore the title from before; terminals without a title stack get the program's name."""
        if self._title:
            self._title = ""
            self._app.write_to_terminal(f"\x1b]2;{NAME}\a{_POP_TITLE}")
