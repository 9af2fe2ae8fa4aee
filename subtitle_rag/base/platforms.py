"""Differences of Windows and macOS from Linux: waiting, signals, shells, languages.

Nothing here has been run on either; `docs/dev/platforms.md` has the sources.
"""

import _thread
import os
import sys
import time
from collections.abc import Sequence
from threading import Event

SLICE_S = 0.25
"""Interval of checks for Ctrl+C."""
STDOUT = -11
"""Windows' handle of stdout."""
VIRTUAL_TERMINAL = 4
"""Windows' console mode with escape sequences."""


def on_windows() -> bool:
    return sys.platform == "win32"


def wait_for(event: Event, seconds: float) -> bool:
    """Wait like `event.wait`, but let Ctrl+C end it: before Python 3.14, Windows sees Ctrl+C only between waits."""
    if not on_windows():
        return event.wait(seconds)
    deadline = time.monotonic() + seconds
    while (remaining := deadline - time.monotonic()) > 0:
        if event.wait(min(remaining, SLICE_S)):
            return True
    return event.is_set()


def set_from_signal(event: Event) -> None:
    """Set the event from a signal handler, in a new thread.

    A handler interrupts the main thread, which may have the event's lock because it is about to wait; `event.set()`
    would then wait for that lock forever.
    """
    _thread.start_new_thread(event.set, ())


def command_line(words: Sequence[str]) -> str:
    """Quote the words as a line for this system's shell."""
    if not on_windows():
        import shlex

        return shlex.join(words)
    import re
    import subprocess

    # cmd.exe interprets & and the like outside quotes, and knows only double quotes
    plain = [subprocess.list2cmdline([word]) for word in words]
    return " ".join(f'"{each}"' if re.search(r"[&|<>^()!,;=']", each) and each[0] != '"' else each for each in plain)


def draws_escapes() -> bool:
    """Whether the terminal on stdout draws escape sequences; turns them on in a console of Windows 10 or later."""
    if not on_windows():
        return True
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - it is there on Windows alone
    handle, mode = kernel.GetStdHandle(STDOUT), ctypes.c_ulong()
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return False
    return bool(mode.value & VIRTUAL_TERMINAL or kernel.SetConsoleMode(handle, mode.value | VIRTUAL_TERMINAL))


def user_language() -> str:
    """Return the user's language on Windows or macOS, such as `ko_KR`; "" elsewhere, or if unknown.

    Terminals there set no locale, or only the region.
    """
    try:
        if on_windows():
            return _language_of_windows()
        if sys.platform == "darwin":
            return _language_of_macos()
    except Exception:  # called before anything else; English is the fallback
        return ""
    return ""


def _language_of_windows() -> str:
    import ctypes
    import locale

    return locale.windows_locale.get(getattr(ctypes, "windll").kernel32.GetUserDefaultUILanguage(), "")  # noqa: B009


def _language_of_macos() -> str:
    import plistlib

    path = os.path.expanduser("~/Library/Preferences/.GlobalPreferences.plist")  # noqa: PTH111 - without a home too
    with open(path, "rb") as file:  # noqa: PTH123
        return str(plistlib.load(file)["AppleLanguages"][0])


def lower_thread_priority(niceness: int) -> None:
    """Lower the priority of this thread and those that it starts, if the system allows it."""
    if sys.platform == "linux":  # its scheduler treats a thread as a process
        import threading
        from contextlib import suppress

        with suppress(OSError):  # optional
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def step_back(niceness: int, oom_score: int) -> None:
    """Lower this process's priority for processor and memory.

    `oom_score` ranks processes for Linux to kill when memory runs out: others have 0, the maximum is 1000.
    """
    if not on_windows():
        os.nice(niceness)
    if sys.platform == "linux":
        from contextlib import suppress
        from pathlib import Path

        with suppress(OSError):  # optional
            Path("/proc/self/oom_score_adj").write_text(str(oom_score), encoding="ascii")
