"""Starting a player: its command filled in, on its own."""

import subprocess
import threading
from collections.abc import Sequence

from subtitle_rag.errors import UsageError


def filled(template: Sequence[str], what: str, seconds: int) -> list[str]:
    """The command with the link or path and the second in their places, whatever braces and spaces they hold."""
    return [part.replace("{seconds}", str(seconds)).replace("{url}", what) for part in template]


def start(name: str, command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start the player `name`.

    Raises:
        UsageError: `no_player`.
    """
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
    return process
