"""The page of the search screen: its scenes or a calm page, and the counter beside the query."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import _
from subtitle_rag.tui.text import describe_result, unknown_words_line
from subtitle_rag.tui.widgets import CalmPage, Counter, QueryBar, TextField

if TYPE_CHECKING:
    from subtitle_rag.domain import AppError
    from subtitle_rag.library import Counts
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.screens.base_screen import BaseScreen
    from subtitle_rag.tui.screens.recent_searches import RecentSearches
    from subtitle_rag.tui.widgets import ResultPane


class SearchPage:
    """Draws the state of the library and of the last search on a screen."""

    def __init__(
        self, screen: "BaseScreen", context: "AppContext", results: "ResultPane", recent: "RecentSearches"
    ) -> None:
        self._screen = screen
        self._context = context
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
