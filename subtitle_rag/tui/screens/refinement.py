"""The refinement of an order: the reranker reads on, behind the scenes on the screen."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.screens.live_search import LiveSearch
    from subtitle_rag.tui.screens.search_page import SearchPage
    from subtitle_rag.tui.widgets import ResultPane


class Refinement:
    """Starts and stops a refinement of the scenes of a result pane."""

    def __init__(
        self, context: "AppContext", live_search: "LiveSearch", results: "ResultPane", page: "SearchPage"
    ) -> None:
        self._context = context
        self._live_search = live_search
        self._results = results
        self._page = page

    def toggle(self) -> None:
        """Have the reranker read all candidates of the query, or stop it."""
        if self.stop():
            return
        query = self._live_search.query()
        if query and query == self._results.text and self._results.scenes.row_count:
            self._results.set_progress((0, 0))
            self._page.draw_counter()
            self._live_search.refine(query)
        else:
            self._context.app.notify(_("There are no scenes to refine yet."), markup=False)

    def stop(self) -> bool:
        """Stop the refinement and keep the order so far. Return False if none was running."""
        result = self._results.result
        if result is None or result.rerank_progress is None:
            return False
        self._live_search.cancel()
        self._results.set_progress(None)
        self._page.draw_counter()
        return True
