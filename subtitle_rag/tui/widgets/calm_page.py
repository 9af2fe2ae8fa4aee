"""The page in the place of the scenes, if there are none to show: a notice, ready queries, and advice."""

from collections.abc import Sequence

from textual import getters
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from subtitle_rag.tui.text.content import Rows, paragraphs
from subtitle_rag.tui.widgets.ready_queries import ReadyQuery, ReadyQueryList


class CalmPage(VerticalScroll, can_focus=False):
    ready_queries = getters.query_one(ReadyQueryList)

    def __init__(self) -> None:
        super().__init__(id="calm")

    def compose(self) -> ComposeResult:
        yield Static(id="notice", markup=False)
        yield ReadyQueryList()
        yield Static(id="tips", markup=False)

    def show(self, notice: Rows, queries: Sequence[ReadyQuery], advice: Rows) -> None:
        """Show the page, or hide it if the notice is empty."""
        self.display = bool(notice)
        if notice:
            self.query_one("#notice", Static).update(paragraphs(notice))
            self.query_one("#tips", Static).update(paragraphs(advice))
        self.ready_queries.fill(queries if notice else ())
