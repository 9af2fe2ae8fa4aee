"""What the search screen offers to search for: the last searches, and queries near to one that finds nothing.

A search counts as made when somebody acts on it, or presses Enter for it: what is typed on the way there does not.
"""

import threading
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from subtitle_rag.library.recent import forget_searches, note_search, recent_searches
from subtitle_rag.retrieval.query import parse
from subtitle_rag.retrieval.suggestions import Suggestion, suggestions
from subtitle_rag.tui.messages import RecentsRead, SuggestionsMade
from subtitle_rag.tui.screens.live_search import LiveSearch
from subtitle_rag.tui.text import empty_states
from subtitle_rag.tui.text.content import paragraphs
from subtitle_rag.tui.threads import to_app_error
from subtitle_rag.tui.widgets.ready_queries import ReadyQuery, ReadyQueryList, of_suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.library.store import Library
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.messages import ScenesFound

SHOWN = 8
"""Last searches on the calm page."""


class ReadySearches(LiveSearch):
    """A live search with a list of ready queries where there are no scenes."""

    choices = getters.query_one(ReadyQueryList)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self.recents: list[str] = []
        self._at_once = ""
        """What is put in the box and searched without a wait."""
        self._suggested: tuple[str, list[Suggestion]] | None = None
        """For which text, and what."""
        self._keeping = threading.Lock()

    def _show_notice(self) -> None:
        """Show the calm page anew, if it is there."""

    @property
    def words_alone(self) -> bool:
        """Neither models nor contexts, which the settings want, have a part in searches yet."""
        contexts = self.context.app.contexts
        return self.context.app.offer is not None and not (contexts and contexts.done)

    def search_for(self, text: str) -> None:
        """Put a ready query in the box and search it at once."""
        self.query_line.focus()
        self._at_once = text
        self.query_line.value = text
        self.query_line.cursor_position = len(text)

    def take(self, text: str) -> None:
        """Search for what somebody chose from the list."""
        self.search_for(text)
        self.search_made(text)

    @on(ReadyQueryList.Chosen)
    def _choice_clicked(self, message: ReadyQueryList.Chosen) -> None:
        self.take(message.query)

    @on(Input.Changed, "#query")
    def _typed_on(self) -> None:
        """After the screen's own handler, which waits for a typist. Enter must not take what somebody typed past."""
        self.choices.leave()
        if self.typed and self.typed == self._at_once:
            self.search_now()
        self._at_once = ""

    def search_now(self, *, pause: float = 0.0) -> None:
        if self.query("#query"):  # else the app is ending
            super().search_now(pause=pause)

    def cancel(self) -> None:
        super().cancel()
        self.workers.cancel_group(self, "suggest")

    # --- the last searches ---

    @property
    def _remembers(self) -> bool:
        return self.context.settings.search.remember

    def read_recents(self) -> None:
        if self._remembers:
            self._keep(recent_searches)

    def search_made(self, text: str) -> None:
        if text and self._remembers:

            def note(library: "Library") -> list[str]:
                parse(text)  # half a filter is no search
                return note_search(library, text)

            self._keep(note)

    def forget_recents(self) -> None:
        def forget(library: "Library") -> list[str]:
            forget_searches(library)
            return []

        self._keep(forget)

    @work(thread=True, group="recents", exit_on_error=False)
    def _keep(self, change: "Callable[[Library], list[str]]") -> None:
        try:
            library = self.context.runtime.library
            with self._keeping:  # or a list from before another search would come after it
                self.post_message(RecentsRead(change(library)))
        except Exception as error:  # what cannot be remembered takes no search down
            to_app_error(error, self.context.settings.paths)

    @on(RecentsRead)
    def _recents_read(self, message: RecentsRead) -> None:
        self.recents = message.recents
        self._show_anew()

    # --- what may help where nothing was found ---

    def suggest(self, message: "ScenesFound") -> None:
        """Look for queries near to this one, if it finds nothing."""
        if message.result.final and not message.result.scenes:
            self._suggest(message.text)

    @work(thread=True, group="suggest", exclusive=True, exit_on_error=False)
    def _suggest(self, text: str) -> None:
        worker = get_current_worker()
        found: list[Suggestion] = []
        try:
            runtime = self.context.runtime
            found = suggestions(runtime.searcher, runtime.library, text, lambda: worker.is_cancelled)
        except Exception as error:  # what helps in general is said instead
            to_app_error(error, self.context.settings.paths)
        if not worker.is_cancelled:
            self.post_message(SuggestionsMade(text, found))

    @on(SuggestionsMade)
    def _suggestions_made(self, message: SuggestionsMade) -> None:
        self._suggested = message.text, message.found
        self._show_anew()

    def suggested(self, text: str) -> list[Suggestion] | None:
        """None while they are looked for."""
        return self._suggested[1] if self._suggested and self._suggested[0] == text else None

    # --- the list ---

    def _show_anew(self) -> None:
        if self.query(ReadyQueryList):  # else the app is ending
            self._show_notice()

    def show_choices(self, shown: str | None, *, calm_page: bool) -> None:
        """Under what the calm page says of `shown`, or of an empty query."""
        found = self.suggested(shown) or [] if shown is not None else []
        offered = [ReadyQuery(text) for text in self.recents[:SHOWN]] if shown is None else map(of_suggestion, found)
        self.choices.fill(list(offered) if calm_page else ())
        tips = empty_states.tips(shown, len(found)) if shown is not None and found else []
        self.query_one("#tips", Static).update(paragraphs(tips))
