"""The thread that waits until a player plays, or fails."""

from typing import TYPE_CHECKING

from subtitle_rag.player import WATCH_S
from subtitle_rag.tui.controllers.app_thread import AppThread
from subtitle_rag.tui.messages import ActionFailed, Jumped
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.player import Launch
    from subtitle_rag.retrieval import Scene
    from subtitle_rag.runtime import Runtime

LOADING_S = 60.0
"""Longest watch over a player that neither plays nor fails, as over a slow connection."""


class LaunchWatch(AppThread):
    """Posts `Jumped` once the player plays, and `ActionFailed` if it cannot, even after that."""

    def __init__(
        self, runtime: "Runtime", post: "Callable[[Message], object]", launch: "Launch", scene: "Scene", count: int = 1
    ) -> None:
        """`count`: of the scenes that play one after another, the first of which is `scene`."""
        super().__init__("launch-watch", runtime, post)
        self._launch = launch
        self._scene = scene
        self._count = count

    def run(self) -> None:
        try:
            state = self._launch.wait(self._launch.patience_s)
            if state == "replaced":
                return
            self._post(Jumped(self._scene, self._launch.name, is_loading=state == "loading", count=self._count))
            if state == "loading":
                self._launch.wait(LOADING_S)
            elif self._launch.patience_s < WATCH_S:
                self._launch.wait(WATCH_S - self._launch.patience_s)
        except Exception as error:  # whatever a player does, the app stays up
            self._post(ActionFailed(to_app_error(error, self._runtime.settings.paths)))
