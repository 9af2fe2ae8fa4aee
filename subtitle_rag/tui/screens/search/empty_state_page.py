"""Page for an empty list of scenes: a notice, ready queries, and advice."""

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

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.tui.shared import search_text
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, Rows, paragraphs
from subtitle_rag.tui.shared.progress.stage import Stages

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.search.suggestions import Suggestion


@dataclass(frozen=True, slots=True)
class ReadyQuery:
    """A query to search, or a `scene` to play."""

    query: str
    why: str = ""
    scene: "Scene | None" = None


class ReadyQueryList(OptionList, can_focus=False):
    """A list without focus: the screen's keys move its highlight.

    Starts without a highlight, so that Enter alone does nothing.
    """

    @dataclass
    class QueryChosen(Message):
        query: str

    @dataclass
    class PlaceChosen(Message):
        scene: "Scene"

    def __init__(self) -> None:
        super().__init__(id="choices", markup=False, compact=True)
        self.display = False
        self._choices: list[ReadyQuery] = []

    def fill(self, choices: Sequence[ReadyQuery]) -> None:
        """Show other queries; the highlight stays on its query."""
        self.display = bool(choices)
        if list(choices) == self._choices:
            return
        before, self._choices = self.highlighted_choice, list(choices)
        self.clear_options()
        self.add_options([_row(choice) for choice in choices])
        self.highlighted = self._choices.index(before) if before in self._choices else None

    @property
    def highlighted_choice(self) -> ReadyQuery | None:
        at = self.highlighted
        return self._choices[at] if self.display and at is not None and at < len(self._choices) else None

    def move(self, rows: int) -> None:
        """Move the highlight; above the first row it disappears."""
        at = (-1 if self.highlighted is None else self.highlighted) + rows
        self.highlighted = min(at, len(self._choices) - 1) if at >= 0 and self._choices else None
        self.call_after_refresh(self._into_view)

    def choose(self) -> bool:
        """Post the highlighted query or place. Returns False if there is none."""
        choice = self.highlighted_choice
        if choice is not None:
            self.post_message(self.PlaceChosen(choice.scene) if choice.scene else self.QueryChosen(choice.query))
        return choice is not None

    def leave(self) -> bool:
        """Remove the highlight; returns False without one."""
        has_left = self.highlighted_choice is not None
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


RECENTS = 5
"""Recent searches on the page."""


@dataclass(frozen=True, slots=True)
class StartOffers:
    """Offers of the start page in addition to its field."""

    recents: Sequence[str] = ()
    examples: Sequence[str] = ()
    """Searches that find something, for users without recent ones."""
    place: "Scene | None" = None
    """The last place played."""
    new_videos: int = 0
    """New videos since the last time."""
    indexing: str = ""
    """The running indexing, here or in another window."""


class EmptyStatePage(VerticalScroll, can_focus=False):
    def __init__(self) -> None:
        self._notice = Static(id="notice", markup=False)
        self._tips = Static(id="tips", markup=False)
        self.ready_queries = ReadyQueryList()
        super().__init__(self._notice, self.ready_queries, self._tips, id="calm")

    def show_failure(self, error: AppError) -> None:
        self._fill(search_text.failure(error))

    def show_welcome(self, counts: "Counts | None", stages: Stages, offers: StartOffers) -> None:
        """Show the program's name, ready searches, the last place, and one line about a possible improvement."""
        queries = [ReadyQuery(query) for query in offers.recents[:RECENTS] or offers.examples]
        if offers.place:
            label = search_text.place_label(offers.place.video.title, offers.place.at_ms)
            queries.append(ReadyQuery(label, scene=offers.place))
        notice = search_text.welcome(counts, offers.indexing, recents=bool(offers.recents), choices=bool(queries))
        self._fill(notice, queries, search_text.news(counts, stages, offers.new_videos))

    def show_no_scenes(
        self, text: str, counts: "Counts | None", suggestions: "Sequence[Suggestion] | None", indexing: str
    ) -> None:
        """Show the page for a query without scenes. Suggestions are None until they are known."""
        from subtitle_rag.search.suggestions import suggestion_reason

        queries = [ReadyQuery(each.query, suggestion_reason(each)) for each in suggestions or ()]
        tips = search_text.tips(text, len(queries)) if queries else []
        self._fill(search_text.no_scenes(text, counts, suggestions, indexing), queries, tips)

    def hide(self) -> None:
        self.display = False
        self.ready_queries.fill(())

    def _fill(self, notice: Rows, queries: Sequence[ReadyQuery] = (), advice: Rows | None = None) -> None:
        self.display = True
        self._notice.update(paragraphs(notice))
        self._tips.update(paragraphs(advice or []))
        self.ready_queries.fill(queries)
