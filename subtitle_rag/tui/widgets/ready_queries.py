"""Ready queries on the calm page: the last searches, and suggestions for a query without scenes."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from subtitle_rag.retrieval import Suggestion, suggestion_reason
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import MUTED


@dataclass(frozen=True, slots=True)
class ReadyQuery:
    query: str
    why: str = ""


def of_suggestion(suggestion: Suggestion) -> ReadyQuery:
    return ReadyQuery(suggestion.query, suggestion_reason(suggestion))


class ReadyQueryList(OptionList, can_focus=False):
    """A list without focus: the screen's keys move its highlight.

    It begins without a highlight, so that Enter alone does nothing.
    """

    class QueryChosen(Message):
        """One was clicked."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

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
        self.add_options([Option(_drawn(choice)) for choice in choices])
        queries = [choice.query for choice in choices]
        self.highlighted = queries.index(before) if before in queries else None

    @property
    def highlighted_query(self) -> str | None:
        """The highlighted query, or None."""
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


def _drawn(choice: ReadyQuery) -> Content:
    query = Content(clean(choice.query))
    return query + Content.styled(f"\n  {clean(choice.why)}", MUTED) if choice.why else query
