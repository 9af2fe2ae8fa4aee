"""Jumping to a second: the link, and the program that plays it.

Players are command templates, never shell strings, and run in a session of their own with no terminal, so that they
neither draw over the app nor end with it.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

from subtitle_rag.errors import UsageError

BROWSER = "browser"
COMMANDS: dict[str, tuple[str, ...]] = {
    "mpv": ("mpv", "--start={seconds}", "--force-window=immediate", "--", "{url}"),
    "iina": ("iina-cli", "--mpv-start={seconds}", "{url}"),
    "vlc": ("vlc", "--start-time={seconds}", "{url}"),
}
"""Built-in players; `[players]` in the config adds to them and replaces them."""


def can_show() -> bool:
    """Whether a browser or a player has a screen to open on (not over SSH, nor on a machine without a display)."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def names(extra: Mapping[str, Sequence[str]]) -> list[str]:
    """Every player that can be asked for by name."""
    return [BROWSER, *dict.fromkeys((*COMMANDS, *extra))]


def play(name: str, *, watch_url: str, link: str, at_ms: int, lead_in: int, extra: Mapping[str, Sequence[str]]) -> None:
    """Open `link` in the browser, or `watch_url` in a player `lead_in` seconds before `at_ms`.

    Raises:
        UsageError: `no_player`.
    """
    if name == BROWSER:
        import webbrowser

        if not webbrowser.open(link):
            raise UsageError("no_player", player=name)
        return
    template = {**COMMANDS, **extra}.get(name)
    if template is None or shutil.which(template[0]) is None:
        raise UsageError("no_player", player=name)
    seconds = max(0, at_ms // 1000 - lead_in)
    command = [part.replace("{seconds}", str(seconds)).replace("{url}", watch_url) for part in template]
    try:
        process = subprocess.Popen(  # noqa: S603 - an argument list from the user's own config, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError("no_player", player=name) from error
    threading.Thread(target=process.wait, daemon=True).start()  # else an ended player stays a zombie
