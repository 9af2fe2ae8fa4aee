"""The page in the place of the scenes, if there are none to show: a notice, ready queries, and advice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from subtitle_rag.tui.text import Rows, paragraphs, search_text
from subtitle_rag.tui.widgets.ready_queries import ReadyQuery, ReadyQueryList, of_suggestion

if TYPE_CHECKING:
    from subtitle_rag.domain import AppError
    from subtitle_rag.library import Counts
    from subtitle_rag.retrieval import Suggestion
    from subtitle_rag.tui.state import ContextProgress, ModelDownload

RECENTS = 8
"""Recent searches on the page."""


class CalmPage(VerticalScroll, can_focus=False):
    ready_queries = getters.query_one(ReadyQueryList)

    def __init__(self) -> None:
        super().__init__(id="calm")

    def compose(self) -> ComposeResult:
        yield Static(id="notice", markup=False)
        yield ReadyQueryList()
        yield Static(id="tips", markup=False)

    def show_failure(self, error: "AppError") -> None:
        """Show why the library cannot be used."""
        self._fill(search_text.failure(error))

    def show_welcome(
        self,
        counts: "Counts | None",
        offer: "ModelDownload | None",
        contexts: "ContextProgress | None",
        recents: Sequence[str],
    ) -> None:
        """Show the page of an empty query."""
        words_alone = offer is not None and not (contexts and contexts.done)
        queries = [ReadyQuery(query) for query in recents[:RECENTS]]
        notice = search_text.welcome(counts, offer, words_alone=words_alone, recents=bool(queries))
        self._fill(notice, queries)

    def show_no_scenes(self, text: str, counts: "Counts | None", suggestions: "Sequence[Suggestion] | None") -> None:
        """Show the page of a query without scenes. Its suggestions are None until they are known."""
        queries = [of_suggestion(suggestion) for suggestion in suggestions or ()]
        tips = search_text.tips(text, len(queries)) if queries else []
        self._fill(search_text.no_scenes(text, counts, suggestions), queries, tips)

    def hide(self) -> None:
        self.display = False
        self.ready_queries.fill(())

    def _fill(self, notice: Rows, queries: Sequence[ReadyQuery] = (), advice: Rows | None = None) -> None:
        self.display = True
        self.query_one("#notice", Static).update(paragraphs(notice))
        self.query_one("#tips", Static).update(paragraphs(advice or []))
        self.ready_queries.fill(queries)
