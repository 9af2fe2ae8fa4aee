"""The ready queries of the search screen: recent searches, and suggestions instead of a query.

A search is noted when the user presses Enter for it or acts on its scenes, not while it is typed.
"""

import threading
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from subtitle_rag.library import forget_searches, note_search, recent_searches
from subtitle_rag.retrieval import parse_query, suggest_queries
from subtitle_rag.tui.messages import RecentsRead, SuggestionsMade
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from subtitle_rag.library import Library
    from subtitle_rag.retrieval import Suggestion
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.messages import ScenesFound


class RecentSearches:
    """Reads and notes the last searches in workers of the screen, and looks for suggestions there."""

    def __init__(self, screen: "Screen[None]", context: "AppContext") -> None:
        self._screen = screen
        self._context = context
        self.queries: list[str] = []
        """The newest first."""
        self._suggested: tuple[str, list[Suggestion]] | None = None
        """A query, and its suggestions."""
        self._writing = threading.Lock()

    # --- the last searches ---

    @property
    def _remembers(self) -> bool:
        return self._context.settings.search.remember

    def read(self) -> None:
        if self._remembers:
            self._change(lambda library: recent_searches(library))

    def note(self, text: str) -> None:
        if text and self._remembers:

            def note(library: "Library") -> list[str]:
                parse_query(text)  # half a filter is no search
                return note_search(library, text)

            self._change(note)

    def forget(self) -> None:
        def forget(library: "Library") -> list[str]:
            forget_searches(library)
            return []

        self._change(forget)

    def _change(self, change: "Callable[[Library], list[str]]") -> None:
        self._screen.run_worker(partial(self._write, change), thread=True, group="recents", exit_on_error=False)

    def _write(self, change: "Callable[[Library], list[str]]") -> None:
        try:
            library = self._context.runtime.library
            with self._writing:  # or a list from before another search would come after it
                self._screen.post_message(RecentsRead(change(library)))
        except Exception as error:  # a search works without being remembered
            to_app_error(error, self._context.settings.paths)

    # --- suggestions ---

    def suggest(self, message: "ScenesFound") -> None:
        """Look for similar queries if this one has no scenes, or the library says none of its words."""
        if message.result.final and not (message.result.scenes and message.result.has_known_word):
            self._screen.run_worker(
                partial(self._suggest, message.text), thread=True, group="suggest", exclusive=True, exit_on_error=False
            )

    def cancel(self) -> None:
        self._screen.workers.cancel_group(self._screen, "suggest")

    def _suggest(self, text: str) -> None:
        worker = get_current_worker()
        near: list[Suggestion] = []
        try:
            runtime = self._context.runtime
            near = suggest_queries(runtime.searcher, runtime.library, text, lambda: worker.is_cancelled)
        except Exception as error:  # general tips are shown instead
            to_app_error(error, self._context.settings.paths)
        if not worker.is_cancelled:
            self._screen.post_message(SuggestionsMade(text, near))

    def update(self, message: RecentsRead | SuggestionsMade) -> None:
        """Take over the result of a thread."""
        if isinstance(message, RecentsRead):
            self.queries = message.recents
        else:
            self._suggested = message.text, message.suggestions

    def suggested(self, text: str) -> "list[Suggestion] | None":
        """Return the suggestions for a query. None until they are known."""
        return self._suggested[1] if self._suggested and self._suggested[0] == text else None
