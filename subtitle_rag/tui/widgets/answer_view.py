"""Parts of the answer screen: the answers with their citations, and the scenes behind them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from subtitle_rag.tui.state import CitationRef, QuestionTurn, conversation
from subtitle_rag.tui.text import META, answer_lines, lay_out
from subtitle_rag.tui.widgets.scene_list import SceneList

if TYPE_CHECKING:
    from subtitle_rag.tui.widgets.row_list import Row


class AnswerView(VerticalScroll):
    """Questions and answers. It stays at its end while an answer grows, unless the user has scrolled away."""

    can_focus = False

    class CitationClicked(Message):
        """A citation was clicked."""

        def __init__(self, choice: CitationRef) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self) -> None:
        super().__init__(id="answers")
        self._text: Content = Content("")
        """The answers, with tables as the model wrote them."""
        self._cursor: CitationRef | None = None
        self._width = 0

    def compose(self) -> ComposeResult:
        yield Static(id="said", markup=False)

    def show(self, text: Content, cursor: CitationRef | None = None, *, to_end: bool = False) -> None:
        """Show all of it, with the citation under the cursor in view, or the end."""
        to_end = cursor is None and (to_end or self.scroll_y >= self.max_scroll_y - 1)
        self._text, self._cursor = text, cursor
        self._draw()
        if cursor is not None:
            self.call_after_refresh(self._reveal)
        elif to_end:
            self.call_after_refresh(self.scroll_end, animate=False, force=True)

    def on_resize(self) -> None:
        if self._content_width != self._width:
            self._draw()

    @property
    def _content_width(self) -> int:
        return self.query_one("#said").content_size.width

    @property
    def _drawn(self) -> Content:
        return lay_out(self._text, self._width) if self._width else self._text

    def _draw(self) -> None:
        """Draw the answers, their tables in columns of the present width."""
        self._width = self._content_width
        self.query_one("#said", Static).update(self._drawn)

    def _reveal(self) -> None:
        """Scroll to the citation under the cursor if it is out of view."""
        drawn = self._drawn
        offset = answer_lines.citation_offset(drawn, self._cursor) if self._cursor else None
        if offset is None:
            return
        line = len(drawn[: offset + 1].wrap(self._width)) - 1 if self._width else 0
        top, height = round(self.scroll_y), self.size.height
        if not top <= line < top + height:
            self.scroll_to(y=max(0, line - height // 2), animate=False, force=True)

    def page(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(1, self.size.height - 1), animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        if (citation := event.style.meta.get(META)) is not None:
            self.post_message(self.CitationClicked(CitationRef(*citation)))


class SourceList(SceneList):
    """The numbered scenes of an answer."""

    def show(self, turn: QuestionTurn, at: Mapping[int, int], number: int | None = None) -> None:
        """Show the scenes of `turn`, each at its best line, or at the time in `at` for its number.

        The highlight goes to the scene `number`. Without a number it does not move.
        """
        before, self._scenes, self._cited = list(self._scenes), {}, {}
        rows: dict[str, Row] = {}
        to: int | None = None
        for row, source in enumerate(turn.sources):
            time = at.get(source.number, turn.best_ms(source))
            rows[source.scene] = answer_lines.row(turn, source, time)
            self._scenes[source.scene] = conversation.scene_of(source, time)
            to = row if source.number == number else to
        for citation in turn.citations:
            if (cited := turn.source(citation.number)) and citation.at_ms is not None:
                self._cited.setdefault(cited.video.id, []).append(citation.at_ms)
        with self.prevent(SceneList.Highlighted):
            self.put(list(rows), rows.__getitem__)
            if before != list(rows):
                self.highlighted = 0
            if to is not None:
                self.highlighted = to
