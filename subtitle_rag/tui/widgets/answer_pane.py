"""The answers of a conversation with their citations, beside the scenes of one answer and the preview of one scene."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message

from subtitle_rag.i18n import _
from subtitle_rag.tui.state import CitationRef, QuestionTurn, conversation
from subtitle_rag.tui.text import answer_lines
from subtitle_rag.tui.widgets.answer_view import AnswerView, SourceList
from subtitle_rag.tui.widgets.preview import Preview

if TYPE_CHECKING:
    from subtitle_rag.retrieval import Scene


class AnswerPane(Container):
    """A cursor goes through the citations, and the list and the preview follow it."""

    view = getters.query_one(AnswerView)
    sources = getters.query_one(SourceList)
    preview = getters.query_one(Preview)

    class CitationPlayed(Message):
        """The citation under the cursor was clicked."""

    def __init__(self, make_preview: Callable[[], Preview]) -> None:
        super().__init__(id="answered")
        self._make_preview = make_preview
        self._turns: Sequence[QuestionTurn] = ()
        self._cursor: CitationRef | None = None
        self.has_choice = False
        """The user moved to a citation or a scene."""

    def compose(self) -> ComposeResult:
        yield AnswerView()
        with Vertical(id="evidence"):
            yield SourceList()
            yield self._make_preview()

    # --- drawing ---

    def reset(self) -> None:
        """Forget the citation or scene to which the user moved."""
        self._cursor, self.has_choice = None, False

    def show(self, turns: Sequence[QuestionTurn], *, to_end: bool = False) -> None:
        self._turns = turns
        self._draw_sources()
        self.draw_answers(to_end=to_end)

    def draw_answers(self, *, to_end: bool = False) -> None:
        """Draw the text of the turns anew. It grows while a model answers."""
        if self._turns:
            scene = self.sources.scene
            text = answer_lines.draw_answers(self._turns, self._cursor, scene.id if scene else None)
            self.view.show(text, self._cursor, to_end=to_end)
        else:
            self.view.show(answer_lines.welcome())

    def _draw_sources(self) -> None:
        turn = self.listed_turn
        number = None if self.has_choice else turn.first_cited
        times: dict[int, int] = {}
        if self._cursor:
            citation = turn.citations[self._cursor.at]
            number = citation.number
            if citation.at_ms is not None:
                times[number] = citation.at_ms
        self.sources.show(turn, times, number)
        self.preview.show(self.sources.scene)

    # --- the cursor among citations and scenes ---

    @property
    def listed_turn(self) -> QuestionTurn:
        """The turn whose scenes are listed."""
        if self._cursor:
            return self._turns[self._cursor.turn]
        return next((turn for turn in reversed(self._turns) if turn.sources), QuestionTurn(""))

    @property
    def chosen_turn(self) -> QuestionTurn | None:
        """The turn under the cursor, else the last one with an answer."""
        if self._cursor:
            return self._turns[self._cursor.turn]
        return next((turn for turn in reversed(self._turns) if turn.text), None)

    def step(self, rows: int) -> None:
        """Move to the next citation. In the list, or without citations, move to the next scene."""
        if self.preview.transcript.has_focus:
            self.preview.transcript.move(rows)
            return
        refs = conversation.citation_refs(self._turns)
        if self.sources.has_focus or not refs:
            self.sources.move(rows)
            self.has_choice = bool(self.sources.row_count)
            return
        if self._cursor is None:
            index = 0 if rows > 0 else len(refs) - 1
        else:
            index = max(0, min(len(refs) - 1, refs.index(self._cursor) + rows))
        self._move_cursor(refs[index])

    def _move_cursor(self, ref: CitationRef) -> None:
        self._cursor, self.has_choice = ref, True
        self._draw_sources()
        self.draw_answers()

    @on(AnswerView.CitationClicked)
    def _citation_clicked(self, message: AnswerView.CitationClicked) -> None:
        """Move to the citation with the first click, and play its scene with the second one."""
        if message.choice == self._cursor:
            self.post_message(self.CitationPlayed())
        else:
            self._move_cursor(message.choice)

    @on(SourceList.Highlighted)
    def _scene_highlighted(self) -> None:
        self._cursor, self.has_choice = None, True
        self.preview.show(self.sources.scene)
        self.draw_answers()

    def find_scene(self) -> "Scene | None":
        """Return the chosen line of the transcript, the scene of the chosen citation, or that of the list.

        Without one, say so.
        """
        if line := self.preview.line_scene:
            return line
        if self._cursor:
            turn = self._turns[self._cursor.turn]
            citation = turn.citations[self._cursor.at]
            source = turn.source(citation.number)
            if source is None:
                self.app.notify(_("No scene of this number was given."), markup=False)
                return None
            return conversation.scene_of(source, source.at_ms if citation.at_ms is None else citation.at_ms)
        if self.sources.scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return self.sources.scene
