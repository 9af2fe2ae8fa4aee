"""Counts the new scenes of the saved searches, after the app has opened and after each job."""

from typing import TYPE_CHECKING

from subtitle_rag.tui.messages import NotRemembered

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort


class SavedSearchNews:
    def __init__(self, app: "AppPort", runtime: "Runtime", changed: "Callable[[], object]") -> None:
        """`changed` is called when the numbers of new scenes are others."""
        self._app = app
        self._runtime = runtime
        self.changed = changed

    def count(self) -> None:
        self._app.run_in_thread(self._count, NotRemembered, take=self._take, group="saved searches", exclusive=True)

    def _count(self) -> int:
        from subtitle_rag import pipeline

        return sum(search.added for search in pipeline.count_saved(self._runtime))

    def _take(self, added: int) -> None:
        if added:
            self.changed()
