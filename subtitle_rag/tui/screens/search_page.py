"""The page of a search: its counter, its hint, and the calm page in the place of scenes."""

from typing import TYPE_CHECKING

from subtitle_rag.domain import BusyError, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.search.query import offer_period
from subtitle_rag.tui.text import describe_result, notice_line
from subtitle_rag.tui.widgets import EmptyStatePage, QueryBar, ResultPane

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.domain import AppError
    from subtitle_rag.library import Counts
    from subtitle_rag.tui.controllers import AppContext
    from subtitle_rag.tui.screens.live_search import LiveSearch, RecentSearches

UNFINISHED = ("bad_filter", "empty_query", "only_exclusions", "unknown_kind")
"""Failures of a query that is not typed to its end: only the hint is shown."""


class SearchPage:
    """Draws the state of the library and of the last search on its widgets."""

    def __init__(
        self,
        context: "AppContext",
        query_bar: QueryBar,
        results: ResultPane,
        empty_state_page: EmptyStatePage,
        live_search: "LiveSearch",
        recent: "RecentSearches",
        *,
        drawn: "Callable[[bool], object]",
    ) -> None:
        """`drawn` is called with whether scenes are shown when the one has taken the place of the other."""
        self._context = context
        self._query_bar = query_bar
        self._results = results
        self._empty_state_page = empty_state_page
        self._live_search = live_search
        self._recent = recent
        self._drawn = drawn
        self.counts: Counts | None = None
        self.news = 0, 0
        """Videos since the app was last opened, and scenes of saved searches since they were last looked at."""
        self.error: AppError | None = None
        """Why the library cannot be used."""

    @property
    def is_open(self) -> bool:
        """False while the app ends: the widgets of the screen are no more."""
        return self._query_bar.is_attached

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

    def search_failed(self, error: "AppError") -> bool:
        """Show the failure under the field, and return True. One of the library takes the place of all scenes."""
        if not isinstance(error, UsageError | BusyError) and error.code != "unexpected":
            self.fail(error)
            return False
        self._query_bar.set_hint(error.hint if error.code in UNFINISHED else error.message)
        return True

    def draw(self) -> None:
        self.draw_counter()
        self.draw_scenes()

    def draw_counter(self) -> None:
        counter = self._query_bar.counter
        if result := self._results.result:
            counter.say(describe_result(result, self.counts, show_times=self._context.show_times))
        else:
            ready = self._context.opening.ready or self.error
            counter.say("" if ready else _("getting ready…"))

    def draw_index(self, windows: int, all_windows: int) -> None:
        """Tell how many windows a new index has."""
        count = f"{windows:,}/{all_windows:,}"
        self._query_bar.counter.say(_("new index: {count} windows").format(count=count))

    def draw_notice(self) -> None:
        """Show under the field what to know of the search, and let → take another query or a filter by date."""
        result, suggestions = self._results.result, self._recent.suggested(self._results.text or "")
        first = suggestions[0] if suggestions and result and result.scenes else None
        period = offer_period(result.query.raw) if result and first is None else None
        taken = first or period
        self._query_bar.field.replacement = taken.query if taken else ""
        self._query_bar.set_hint(notice_line(result, first, period) if result else "")

    def draw_scenes(self) -> None:
        """Show the calm page if there are no scenes, else the scenes."""
        if not self.is_open:
            return
        empty_state_page, results = self._empty_state_page, self._results
        was_shown = empty_state_page.display
        if self.error:
            empty_state_page.show_failure(self.error)
        elif results.text is None:
            stages = self._context.app.stages
            empty_state_page.show_welcome(self.counts, stages, self._recent.queries, self.news)
        elif results.scenes.row_count:
            empty_state_page.hide()
        else:
            empty_state_page.show_no_scenes(results.text, self.counts, self._recent.suggested(results.text))
        if was_shown or empty_state_page.display:
            results.display = not empty_state_page.display
        self._drawn(not empty_state_page.display)

    def toggle_refinement(self) -> None:
        """Have the reranker read all candidates of the query, after the scenes on the screen, or stop it."""
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
