"""The answers of a conversation with their citations, beside the scenes of one answer and the preview of one scene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from subtitle_rag.i18n import _
from subtitle_rag.tui.state import CitationRef, QuestionTurn, conversation
from subtitle_rag.tui.text import META, answer_lines
from subtitle_rag.tui.widgets.panel import label_panel
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.preview_pane import PreviewPane
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from subtitle_rag.library import Counts
    from subtitle_rag.retrieval.search.scenes import Scene
    from subtitle_rag.tui.widgets.row_list import Row


class AnswerView(VerticalScroll):
    """Questions and answers. It stays at its end while an answer grows, unless the user has scrolled away."""

    can_focus = False

    @dataclass
    class CitationClicked(Message):
        choice: CitationRef

    def __init__(self) -> None:
        self._drawing = Static(id="said", markup=False)
        super().__init__(self._drawing, id="answers")
        self._text: Content = Content("")
        self._cursor: CitationRef | None = None

    def show(self, text: Content, cursor: CitationRef | None = None, *, to_end: bool = False) -> None:
        """Show all of it, with the citation under the cursor in view, or the end."""
        to_end = cursor is None and (to_end or self.scroll_y >= self.max_scroll_y - 1)
        self._text, self._cursor = text, cursor
        self._drawing.update(text)
        if cursor is not None:
            self.call_after_refresh(self._reveal)
        elif to_end:
            self.call_after_refresh(self.scroll_end, animate=False, force=True)

    def _reveal(self) -> None:
        """Scroll to the citation under the cursor if it is out of view."""
        offset = answer_lines.citation_offset(self._text, self._cursor) if self._cursor else None
        if offset is None:
            return
        width = self._drawing.content_size.width
        line = len(self._text[: offset + 1].wrap(width)) - 1 if width else 0
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

    def on_mount(self) -> None:
        label_panel(self, _("Scenes"))

    def show(self, turn: QuestionTurn, at: Mapping[int, int], number: int | None = None) -> None:
        """Show the scenes of `turn`, each at its best line, or at the time in `at` for its number.

        The highlight goes to the scene `number`. Without a number it does not move.
        """
        before, self.cited_ms = list(self.values_by_key), {}
        scenes: dict[str, Scene] = {}
        rows: dict[str, Row] = {}
        to: int | None = None
        for row, source in enumerate(turn.sources):
            time = at.get(source.number, turn.best_ms(source))
            rows[source.scene] = answer_lines.row(turn, source, time)
            scenes[source.scene] = conversation.scene_of(source, time)
            to = row if source.number == number else to
        for citation in turn.citations:
            if (cited := turn.source(citation.number)) and citation.at_ms is not None:
                self.cited_ms.setdefault(cited.video.id, []).append(citation.at_ms)
        with self.prevent(SceneList.Highlighted):
            self.put(scenes, lambda scene: rows[scene.id])
            if before != list(scenes):
                self.cursor = 0
            if to is not None:
                self.cursor = to


class AnswerPane(PreviewPane):
    """A cursor goes through the citations, and the list and the preview follow it."""

    class CitationPlayed(Message):
        """The citation under the cursor was clicked."""

    scenes: SourceList

    def __init__(self, field: TextField, sources: SourceList, preview: Preview) -> None:
        self.view = AnswerView()
        evidence = Vertical(sources, preview, id="evidence")
        super().__init__(self.view, evidence, field=field, scenes=sources, preview=preview, id="answered")
        self._turns: Sequence[QuestionTurn] = ()
        self._counts: Counts | None = None
        self._cursor: CitationRef | None = None
        self.has_choice = False
        """The user moved to a citation or a scene."""

    def reset(self) -> None:
        """Forget the citation or scene to which the user moved."""
        self._cursor, self.has_choice = None, False

    def show(self, turns: Sequence[QuestionTurn], counts: "Counts | None", *, to_end: bool = False) -> None:
        """Show a conversation about a library of this size; None while it opens."""
        self._turns, self._counts = turns, counts
        self._draw_sources()
        self.set_class(not self.listed_turn.sources, "-bare")
        self.draw_answers(to_end=to_end)

    def draw_answers(self, *, to_end: bool = False) -> None:
        """Redraw the text of the turns. It grows while a model answers."""
        if self._turns:
            scene = self.scenes.value
            text = answer_lines.draw_answers(self._turns, self._cursor, scene.id if scene else None)
            self.view.show(text, self._cursor, to_end=to_end)
        else:
            self.view.show(answer_lines.welcome(self._counts))

    def _draw_sources(self) -> None:
        turn = self.listed_turn
        number = None if self.has_choice else turn.first_cited
        times: dict[int, int] = {}
        if self._cursor:
            citation = turn.citations[self._cursor.at]
            number = citation.number
            if citation.at_ms is not None:
                times[number] = citation.at_ms
        self.scenes.show(turn, times, number)
        self.preview.show(self.scenes.value)

    @property
    def listed_turn(self) -> QuestionTurn:
        if self._cursor:
            return self._turns[self._cursor.turn]
        return next((turn for turn in reversed(self._turns) if turn.sources), QuestionTurn(""))

    @property
    def chosen_turn(self) -> QuestionTurn | None:
        """The turn under the cursor, else the last one with an answer."""
        if self._cursor:
            return self._turns[self._cursor.turn]
        return next((turn for turn in reversed(self._turns) if turn.text), None)

    def page(self, pages: int) -> None:
        if self.field.has_focus:
            self.view.page(pages)
        else:
            super().page(pages)

    def step(self, rows: int) -> None:
        """Move to the next citation. In the list, or without citations, move to the next scene."""
        if self.preview.transcript.has_focus:
            self.preview.transcript.move(rows)
            return
        refs = conversation.citation_refs(self._turns)
        if self.scenes.has_focus or not refs:
            self.scenes.move(rows)
            self.has_choice = bool(self.scenes.row_count)
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
        self.preview.show(self.scenes.value)
        self.draw_answers()

    def find_scene(self) -> "Scene | None":
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
        if self.scenes.value is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return self.scenes.value
