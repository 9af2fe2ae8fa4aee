"""What the terminal tells of a long job while somebody is in another window: title, bell, and a desktop notice where
the terminal is known to show one.

Sequences are written as they were published: the title by OSC 2, kept and put back by XTWINOPS 22 and 23; notices by
OSC 9 (iTerm2), OSC 777 (foot, Ghostty, WezTerm) and OSC 99 (kitty). What another program in between would have to pass
on (tmux, screen) is left out.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text import job_lines

if TYPE_CHECKING:
    from subtitle_rag.tui.state.job import Job

LONG_S = 60.0
"""Seconds from which on a job is long."""
LONGEST = 200
"""Characters of a notice; terminals cut them off at different places."""
NAME = "subtitle-rag"

BELL = "\a"
_KEEP_TITLE, _BACK_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_OSC_777 = "\x1b]777;notify;{name};{said}\x1b\\"
_BY_PROGRAM = {"iTerm.app": "\x1b]9;{name}: {said}\a", "WezTerm": _OSC_777, "ghostty": _OSC_777}
_BY_TERM = {
    "foot": _OSC_777,
    "xterm-ghostty": _OSC_777,
    "xterm-kitty": "\x1b]99;;{name}: {said}\x1b\\",
}


def notice(said: str, environment: Mapping[str, str] = os.environ) -> str:
    """The sequence by which this terminal shows a notice of its desktop; empty where none is known to work."""
    if environment.get("TMUX") or environment.get("STY"):
        return ""
    form = _BY_PROGRAM.get(environment.get("TERM_PROGRAM", "")) or _BY_TERM.get(environment.get("TERM", ""))
    return form.format(name=NAME, said=_plain(said)) if form else ""


def _plain(said: str) -> str:
    """Neither the end of a sequence nor a further field of it."""
    return clean(said)[:LONGEST].replace(";", ",")


class TerminalTitle:
    """The terminal's title, as long as there is something to tell in it."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._told = ""

    def tell(self, said: str) -> None:
        if said == self._told:
            return
        keep = "" if self._told else _KEEP_TITLE
        self._told = said
        self._write(f"{keep}\x1b]2;{_plain(said)} – {NAME}\a")

    def give_back(self) -> None:
        """The one from before; terminals that did not keep it get the program's name."""
        if self._told:
            self._told = ""
            self._write(f"\x1b]2;{NAME}\a{_BACK_TITLE}")


class TerminalController:
    """Shows a job in the terminal's title, and its end with a bell and a notice while the user is elsewhere."""

    def __init__(self, write: Callable[[str], object], *, enabled: bool) -> None:
        """`write` sends a sequence to the terminal."""
        self._write = write
        self._enabled = enabled
        self._title = TerminalTitle(write)

    def job_changed(self, before: "Job | None", job: "Job | None", *, focused: bool) -> None:
        """Tell of a job. `focused`: the user looks at this terminal."""
        if not self._enabled or job is None or job.restored:
            return
        if not job.ended:
            self._title.tell(f"{job.processed}/{job.videos}" if job.videos else "…")
        elif before is None or not before.ended:
            self._tell_end(job, focused=focused)

    def _tell_end(self, job: "Job", *, focused: bool) -> None:
        """Let the title say it until the user looks here."""
        if focused:
            self._title.give_back()
            return
        said = job_lines.line(job) if job.stopped else job_lines.outcome(job)
        self._title.tell(said)
        if job.seconds >= LONG_S:
            self._write(BELL + notice(said, os.environ))

    def give_back_title(self) -> None:
        self._title.give_back()
