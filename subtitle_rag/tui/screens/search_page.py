"""The page of the search screen: its scenes, whose order the reranker may refine, or a calm page with ready queries."""

import threading
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from subtitle_rag.i18n import _
from subtitle_rag.library import forget_searches, note_search, recent_searches
from subtitle_rag.retrieval import parse_query, suggest_queries
from subtitle_rag.tui.messages import RecentsRead, SuggestionsMade
from subtitle_rag.tui.text import describe_result, unknown_words_line
from subtitle_rag.tui.threads import to_app_error
from subtitle_rag.tui.widgets import CalmPage, Counter, QueryBar, TextField

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.domain import AppError
    from subtitle_rag.library import Counts, Library
    from subtitle_rag.retrieval import Suggestion
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.messages import ScenesFound
    from subtitle_rag.tui.screens.base_screen import BaseScreen
    from subtitle_rag.tui.screens.live_search import LiveSearch
    from subtitle_rag.tui.widgets import ResultPane


class RecentSearches:
    """Reads and notes the last searches in workers of the screen, and looks for suggestions there.

    A search is noted when the user presses Enter for it or acts on its scenes, not while it is typed.
    """

    def __init__(self, screen: "BaseScreen", context: "AppContext") -> None:
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
            self._change(recent_searches)

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
        text = message.text
        if message.result.final and not (message.result.scenes and message.result.has_known_word):
            self._screen.run_in_thread(
                partial(self._suggestions, text),
                lambda _error: SuggestionsMade(text, []),  # general tips are shown instead
                group="suggest",
                exclusive=True,
            )

    def _suggestions(self, text: str) -> SuggestionsMade:
        runtime, worker = self._context.runtime, get_current_worker()
        near = suggest_queries(runtime.searcher, runtime.library, text, lambda: worker.is_cancelled)
        return SuggestionsMade(text, near)

    def cancel(self) -> None:
        self._screen.workers.cancel_group(self._screen, "suggest")

    def update(self, message: RecentsRead | SuggestionsMade) -> None:
        """Take over the result of a thread."""
        if isinstance(message, RecentsRead):
            self.queries = message.recents
        else:
            self._suggested = message.text, message.suggestions

    def suggested(self, text: str) -> "list[Suggestion] | None":
        """Return the suggestions for a query. None until they are known."""
        return self._suggested[1] if self._suggested and self._suggested[0] == text else None


class SearchPage:
    """Draws the state of the library and of the last search on a screen."""

    def __init__(
        self,
        screen: "BaseScreen",
        context: "AppContext",
        live_search: "LiveSearch",
        results: "ResultPane",
        recent: "RecentSearches",
    ) -> None:
        self._screen = screen
        self._context = context
        self._live_search = live_search
        self._results = results
        self._recent = recent
        self.counts: Counts | None = None
        self.error: AppError | None = None
        """Why the library cannot be used."""

    @property
    def is_open(self) -> bool:
        """False while the app ends: the widgets of the screen are no more."""
        return bool(self._screen.query("#query"))

    @property
    def is_usable(self) -> bool:
        return self.is_open and self.error is None

    @property
    def is_idle(self) -> bool:
        """Whether the calm page shows a usable library without a query."""
        return self._results.text is None and self.error is None

    def fail(self, error: "AppError") -> None:
        """Show why the library cannot be used, in the place of all scenes."""
        self.error = error
        self._results.clear()
        self.draw()

    def draw(self) -> None:
        self.draw_counter()
        self.draw_scenes()

    def draw_counter(self) -> None:
        counter = self._screen.query_one(Counter)
        if result := self._results.result:
            counter.say(describe_result(result, self.counts, show_times=self._context.show_times))
        else:
            ready = self._context.can_search() or self.error
            counter.say("" if ready else _("getting ready…"))

    def draw_unknown_words(self) -> None:
        """Show under the field the words that the library does not have, and offer another query for them."""
        result, suggestions = self._results.result, self._recent.suggested(self._results.text or "")
        first = suggestions[0] if suggestions and result and result.scenes else None
        self._screen.query_one("#query", TextField).replacement = first.query if first else ""
        self._screen.query_one(QueryBar).set_hint(unknown_words_line(result, first) if result else "")

    def draw_scenes(self) -> None:
        """Show the calm page if there are no scenes, else the scenes."""
        if not self.is_open:
            return
        calm_page, results = self._screen.query_one(CalmPage), self._results
        was_shown = calm_page.display
        if self.error:
            calm_page.show_failure(self.error)
        elif results.text is None:
            app = self._context.app
            calm_page.show_welcome(self.counts, app.offer, app.contexts, self._recent.queries)
        elif results.scenes.row_count:
            calm_page.hide()
        else:
            calm_page.show_no_scenes(results.text, self.counts, self._recent.suggested(results.text))
        self._screen.has_scenes = not calm_page.display
        if was_shown or calm_page.display:
            results.display = not calm_page.display
            self._screen.query_one("#offer").set_class(self.is_idle, "-calm")

    # --- the refinement of the order ---

    def toggle_refinement(self) -> None:
        """Have the reranker read all candidates of the query, behind the scenes on the screen, or stop it."""
        if self.stop_refinement():
            return
        query = self._live_search.query()
        if query and query == self._results.text and self._results.scenes.row_count:
            self._results.set_progress((0, 0))
            self.draw_counter()
            self._live_search.refine(query)
        else:
            self._context.app.notify(_("There are no scenes to refine yet."), markup=False)

    def stop_refinement(self) -> bool:
        """Stop the refinement and keep the order so far. Return False if none was running."""
        if self._results.result is None or self._results.result.rerank_progress is None:
            return False
        self._live_search.cancel()
        self._results.set_progress(None)
        self.draw_counter()
        return True
