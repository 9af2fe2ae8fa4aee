"""The answers of a conversation, with numbers that link to the cited scenes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from subtitle_rag.base.i18n import _, n_
from subtitle_rag.tui.shared import answer_lines, conversation
from subtitle_rag.tui.shared.answer_lines import META
from subtitle_rag.tui.shared.conversation import CitationRef, QuestionTurn
from subtitle_rag.tui.shared.fields.panel import label_panel

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.search.scenes import Scene


class AnswerPane(VerticalScroll):
    """The conversation. A cursor moves through the numbers; a growing answer scrolls along unless the user scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(number), f"play_number({number})", show=False) for number in range(1, 10)
    ]

    @dataclass
    class NumberChosen(Message):
        """A number was clicked under the cursor, or its digit was pressed."""

    def __init__(self) -> None:
        self._drawing = Static(id="said", markup=False)
        super().__init__(self._drawing, id="answers", classes="panel")
        self._text = Content("")
        self._turns: Sequence[QuestionTurn] = ()
        self._counts: Counts | None = None
        self._cursor: CitationRef | None = None

    def on_focus(self) -> None:
        """Move the terminal's caret here, so that an input method does not compose in the field."""
        self.app.cursor_position = self.region.offset

    def reset(self) -> None:
        """Clear the cursor."""
        self._cursor = None

    def show(self, turns: Sequence[QuestionTurn], counts: "Counts | None", *, to_end: bool = False) -> None:
        """Show a conversation. `counts` are the library's; None while it opens."""
        self._turns, self._counts = turns, counts
        self.can_focus = bool(turns)
        count = len(self.listed_turn.sources)
        label_panel(self, _("Answer") + (" · " + n_("{n} scene", "{n} scenes", count) if count else ""))
        self.draw(to_end=to_end)

    def draw(self, *, to_end: bool = False) -> None:
        """Redraw the turns."""
        to_end = self._cursor is None and (to_end or self.scroll_y >= self.max_scroll_y - 1)
        if self._turns:
            width = self._drawing.content_size.width
            self._text = answer_lines.draw_answers(self._turns, self._cursor, width)
        else:
            self._text = answer_lines.welcome(self._counts)
        self._drawing.update(self._text)
        if self._cursor is not None:
            self.call_after_refresh(self._reveal)
        elif to_end and self._turns:
            self.call_after_refresh(self.scroll_end, animate=False, force=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def _reveal(self) -> None:
        """Scroll to the number under the cursor if it is not visible."""
        offset = answer_lines.citation_offset(self._text, self._cursor) if self._cursor else None
        if offset is None:
            return
        width = self._drawing.content_size.width
        line = len(self._text[: offset + 1].wrap(width)) - 1 if width else 0
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        if not top <= line < top + height:
            self.scroll_to(y=max(0, line - height // 2), animate=False, force=True)

    @property
    def listed_turn(self) -> QuestionTurn:
        """The turn whose scenes are listed: the last one with any."""
        return next((turn for turn in reversed(self._turns) if turn.sources), QuestionTurn(""))

    @property
    def chosen_turn(self) -> QuestionTurn | None:
        """The turn under the cursor, else the last one with an answer."""
        if self._cursor:
            return self._turns[self._cursor.turn]
        return next((turn for turn in reversed(self._turns) if turn.text), None)

    # --- the cursor ---

    @property
    def has_choice(self) -> bool:
        """Whether the user has chosen a number."""
        return self._cursor is not None

    def step(self, rows: int) -> None:
        """Move to the next or previous number."""
        refs = conversation.citation_refs(self._turns)
        if not refs:
            return
        if self._cursor is None:
            index = 0 if rows > 0 else len(refs) - 1
        else:
            index = max(0, min(len(refs) - 1, refs.index(self._cursor) + rows))
        self._move_cursor(refs[index])

    def choose(self, number: int) -> bool:
        """Move the cursor to a number. Returns False if the last answer does not have it."""
        refs = conversation.citation_refs(self._turns)
        ref = next((ref for ref in reversed(refs) if ref.number == number and ref.at is None), None)
        if ref is not None:
            self._move_cursor(ref)
        return ref is not None

    def _move_cursor(self, ref: CitationRef) -> None:
        self._cursor = ref
        self.draw()

    def action_play_number(self, number: int) -> None:
        """Play the scene of a number."""
        if self.choose(number):
            self.post_message(self.NumberChosen())

    def on_click(self, event: events.Click) -> None:
        """Move to a number on the first click, and play its scene on the second."""
        if (meta := event.style.meta.get(META)) is None:
            return
        ref = CitationRef(*meta)
        if ref == self._cursor:
            self.post_message(self.NumberChosen())
        else:
            self._move_cursor(ref)

    def find_scene(self) -> "Scene | None":
        """Return the scene of the number under the cursor, else of the first number; None if there is none."""
        refs = conversation.citation_refs(self._turns)
        ref = self._cursor or next(iter(refs), None)
        source = self._turns[ref.turn].source(ref.number) if ref else None
        if ref is None or source is None:
            return None
        at_ms = self._turns[ref.turn].time_of(ref, source)
        return conversation.scene_of(source, at_ms)
