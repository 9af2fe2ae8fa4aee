"""A player after its start: whether it plays.

A player is a program of its own: its start says little. mpv is asked (`mpv.MpvLaunch`); of others only an early end
with an error can be seen.
"""

import subprocess
from typing import Literal

from subtitle_rag.domain import AppError

LaunchState = Literal["playing", "loading", "replaced"]
"""`loading`: neither playback nor failure can be seen yet; `replaced`: a later request took the window."""

WATCH_S = 5.0
"""Time within which a player fails that cannot play."""
SURVIVAL_S = 1.0
"""A player without a report of its own counts as playing once it has run for so long."""


class Launch:
    """A player that can only be seen running or ended."""

    patience_s = SURVIVAL_S
    """Seconds after which a start without failure is reported."""

    def __init__(self, name: str, link: str, process: "subprocess.Popen[bytes]") -> None:
        self.name = name
        self.link = link
        """Link or path."""
        self._process = process

    def wait(self, seconds: float) -> LaunchState:
        """Wait until the player plays, at most so long.

        Raises:
            AppError: `player_failed`, `player_ended`.
        """
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "playing"
        if status:
            raise self._failure("", status)
        return "playing"  # it has given the video to a window that runs already

    def _failure(self, reason: str, status: int | None) -> AppError:
        if reason:
            return AppError("player_failed", player=self.name, link=self.link, reason=reason)
        return AppError("player_ended", player=self.name, link=self.link, status="?" if status is None else status)
