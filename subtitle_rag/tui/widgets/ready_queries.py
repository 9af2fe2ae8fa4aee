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

from subtitle_rag.i18n import n_
from subtitle_rag.retrieval.suggestions import Suggestion
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text.content import MUTED


@dataclass(frozen=True, slots=True)
class ReadyQuery:
    query: str
    why: str = ""


def of_suggestion(suggestion: Suggestion) -> ReadyQuery:
    return ReadyQuery(suggestion.query, _why(suggestion))


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


def _why(suggestion: Suggestion) -> str:
    """Return the obstacle, and the number of scenes without it."""
    match suggestion.kind:
        case "layout":
            template = n_(
                "The keys of “{word}” write “{instead}” in the keyboard's other mode; there is {n} scene.",
                "The keys of “{word}” write “{instead}” in the keyboard's other mode; there are {n} scenes.",
                suggestion.scenes,
            )
        case "spelling":
            template = n_(
                "“{word}” is in no scene; with “{instead}” there is {n} scene.",
                "“{word}” is in no scene; with “{instead}” there are {n} scenes.",
                suggestion.scenes,
            )
        case "quotes":
            template = n_(
                "With exactly {word} nothing is found; with its words in any order there is {n} scene.",
                "With exactly {word} nothing is found; with its words in any order there are {n} scenes.",
                suggestion.scenes,
            )
        case "exclusion":
            template = n_(
                "{word} leaves nothing; without it there is {n} scene.",
                "{word} leaves nothing; without it there are {n} scenes.",
                suggestion.scenes,
            )
        case _:
            template = n_(
                "Nothing is left within {word}; without it there is {n} scene.",
                "Nothing is left within {word}; without it there are {n} scenes.",
                suggestion.scenes,
            )
    n = f"{suggestion.scenes}+" if suggestion.more else f"{suggestion.scenes}"
    return template.format(word=suggestion.changed, instead=suggestion.instead, n=n)
