"""The page in the place of the scenes, if there are none to show: a notice, ready queries, and advice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from subtitle_rag.retrieval.search.suggestions import Suggestion, suggestion_reason
from subtitle_rag.tui.state import ContextProgress, ModelDownload, clean
from subtitle_rag.tui.text import MUTED, Rows, paragraphs, search_text

if TYPE_CHECKING:
    from subtitle_rag.domain import AppError
    from subtitle_rag.library import Counts
    from subtitle_rag.tui.state import Stages


@dataclass(frozen=True, slots=True)
class ReadyQuery:
    query: str
    why: str = ""


class ReadyQueryList(OptionList, can_focus=False):
    """A list without focus: the screen's keys move its highlight.

    It begins without a highlight, so that Enter alone does nothing.
    """

    @dataclass
    class QueryChosen(Message):
        query: str

    def __init__(self) -> None:
        super().__init__(id="choices", markup=False, compact=True)
        self.display = False
        self._choices: list[ReadyQuery] = []

    def fill(self, choices: Sequence[ReadyQuery]) -> None:
        """Show other queries; the highlight stays with its query."""
        self.display = bool(choices)
        if list(choices) == self._choices:
            return
        before, self._choices = self.highlighted_query, list(choices)
        self.clear_options()
        self.add_options([_row(choice) for choice in choices])
        queries = [choice.query for choice in choices]
        self.highlighted = queries.index(before) if before in queries else None

    @property
    def highlighted_query(self) -> str | None:
        at = self.highlighted
        return self._choices[at].query if self.display and at is not None and at < len(self._choices) else None

    def move(self, rows: int) -> None:
        """Move the highlight; above the first row it vanishes."""
        at = (-1 if self.highlighted is None else self.highlighted) + rows
        self.highlighted = min(at, len(self._choices) - 1) if at >= 0 and self._choices else None
        self.call_after_refresh(self._into_view)

    def choose(self) -> bool:
        """Post the highlighted query. Return False if there is none."""
        query = self.highlighted_query
        if query is not None:
            self.post_message(self.QueryChosen(query))
        return query is not None

    def leave(self) -> bool:
        """Remove the highlight; False without one."""
        has_left = self.highlighted_query is not None
        self.highlighted = None
        return has_left

    def _into_view(self) -> None:
        """Scroll a page longer than the screen to the highlight."""
        if self.highlighted is not None and isinstance(self.parent, Widget):
            lines = self.virtual_region.height // max(1, len(self._choices))
            top = self.virtual_region.y + self.highlighted * lines
            self.parent.scroll_to_region(Region(0, top, 1, lines), animate=False)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()  # the screen's handler is for the highlight among the scenes

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.choose()


def _row(choice: ReadyQuery) -> Content:
    query = Content(clean(choice.query))
    return query + Content.styled(f"\n  {clean(choice.why)}", MUTED) if choice.why else query


RECENTS = 8
"""Recent searches on the page."""


class EmptyStatePage(VerticalScroll, can_focus=False):
    def __init__(self) -> None:
        self._notice = Static(id="notice", markup=False)
        self._tips = Static(id="tips", markup=False)
        self.ready_queries = ReadyQueryList()
        super().__init__(self._notice, self.ready_queries, self._tips, id="calm")

    def show_failure(self, error: "AppError") -> None:
        self._fill(search_text.failure(error))

    def show_welcome(
        self, counts: "Counts | None", stages: "Stages", recents: Sequence[str], new_videos: int = 0
    ) -> None:
        offer, contexts = ModelDownload.among(stages), ContextProgress.among(stages)
        words_alone = offer is not None and not offer.is_further and not (contexts and contexts.done)
        queries = [ReadyQuery(query) for query in recents[:RECENTS]]
        notice = search_text.welcome(
            counts, offer, words_alone=words_alone, recents=bool(queries), new_videos=new_videos
        )
        self._fill(notice, queries)

    def show_no_scenes(self, text: str, counts: "Counts | None", suggestions: "Sequence[Suggestion] | None") -> None:
        """Show the page of a query without scenes. Its suggestions are None until they are known."""
        queries = [ReadyQuery(each.query, suggestion_reason(each)) for each in suggestions or ()]
        tips = search_text.tips(text, len(queries)) if queries else []
        self._fill(search_text.no_scenes(text, counts, suggestions), queries, tips)

    def hide(self) -> None:
        self.display = False
        self.ready_queries.fill(())

    def _fill(self, notice: Rows, queries: Sequence[ReadyQuery] = (), advice: Rows | None = None) -> None:
        self.display = True
        self._notice.update(paragraphs(notice))
        self._tips.update(paragraphs(advice or []))
        self.ready_queries.fill(queries)
