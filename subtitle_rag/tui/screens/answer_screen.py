"""Questions to the library, answered by a local model, beside the scenes of the answers.

Enter has the rule of the search screen: an input method may deliver its last syllable after Enter. So the question
stays in the field until the first word of its answer is there. If the field has another text by then, another Enter
asks that in the place of the first question.
"""

from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import Input

from subtitle_rag.domain import tidy
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.answer_messages import AnswerEnded, AnswerGrew, EvidenceFound
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.controllers.dialogue import Dialogue
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.messages import AnswersLeft
from subtitle_rag.tui.screens.preview_parts import make_preview
from subtitle_rag.tui.screens.preview_screen import PreviewScreen
from subtitle_rag.tui.state import conversation
from subtitle_rag.tui.state.conversation import CitationRef, QuestionTurn
from subtitle_rag.tui.text import answer_lines, quotes
from subtitle_rag.tui.widgets.answer_view import AnswerView, SourceList
from subtitle_rag.tui.widgets.footer import KeyBar
from subtitle_rag.tui.widgets.query_bar import QueryBar
from subtitle_rag.tui.widgets.text_field import TextField
from subtitle_rag.tui.widgets.transcript_list import TranscriptList

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.tui.context import AppContext


class AnswerScreen(PreviewScreen):
    BESIDE_ROWS = 30
    BELOW_ROWS = 40
    AUTO_FOCUS = "#question"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background", "app.ask", "app.library", "app.transcript"})
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "answer.enter",
        "answer.copy",
        "answer.copy-text",
        "answer.preview",
        "answer.play-with",
        "answer.new",
        "answer.history",
        "answer.back",
        "answer.switch",
        "answer.next",
        "answer.previous",
        "answer.page-down",
        "answer.page-up",
    )

    question = getters.query_one("#question", TextField)
    query_bar = getters.query_one(QueryBar)
    view = getters.query_one(AnswerView)
    sources = getters.query_one(SourceList)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self.dialogue = Dialogue(context.runtime, context.context_pause, self.post_message)
        self._cursor: CitationRef | None = None
        self._search_query = ""
        """The last query that came from the search screen."""
        self._cursor_moved = False
        """The user moved to a citation or a scene: Enter in the empty field plays it."""

    def compose(self) -> ComposeResult:
        yield QueryBar(TextField("", id="question"))
        with Container(id="answered"):
            yield AnswerView()
            with Vertical(id="evidence"):
                yield SourceList()
                yield make_preview(self.context, self)
        yield KeyBar()

    def on_mount(self) -> None:
        self._draw()

    def take(self, query: str) -> None:
        """Take a new query of the search screen as the next question."""
        if query and query != self._search_query and not self.running:
            self._search_query = query
            self._restart()
            self.question.replace_value(query)
            self.question.select_all()  # typing replaces it

    # --- asking ---

    @property
    def typed(self) -> str:
        return tidy(self.question.value)

    @property
    def running(self) -> bool:
        return self.dialogue.running

    @on(Input.Changed, "#question")
    def _question_changed(self) -> None:
        self.query_bar.set_hint("")

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        self.question.put(message.address)

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste into the list as one into the field."""
        self.question.put(event.text)

    def action_enter(self) -> None:
        self.after_typing(self._enter)

    def _enter(self) -> None:
        text = self.typed
        if not self.question.has_focus or (not text and self._cursor_moved):
            self._play()
        elif not text:
            self.query_bar.set_hint(_("Type a question first."))
        elif not self.running:
            self._ask(text)
        elif text != self.dialogue.turns[-1].question and self.dialogue.ask_next(text):
            hint = _("Will be asked when this answer ends; {key} stops it.")
            self.query_bar.set_hint(hint.format(key=key("answer.back")))

    def _ask(self, text: str) -> None:
        try:
            self.dialogue.ask(text)
        except UsageError as error:
            self.query_bar.set_hint(error.message)
            return
        self.query_bar.set_hint("")
        self.uncover()
        # a syllable that an input method commits after Enter belongs to this question and must not replace it
        self.question.cursor_position = len(self.question.value)
        self._cursor, self._cursor_moved = None, False
        self._draw(to_end=True)

    def action_anew(self) -> None:
        """Ask the typed question about other scenes, or make room for a new question."""
        if self._can_restart():
            self._restart()
            if self.typed:
                self._ask(self.typed)

    def _can_restart(self) -> bool:
        if self.running:
            hint = _("Wait for the end of this answer, or stop it with {key}.")
            self.query_bar.set_hint(hint.format(key=key("answer.back")))
        return not self.running

    # --- answers ---

    @on(EvidenceFound)
    def _evidence_found(self, message: EvidenceFound) -> None:
        message.turn.evidence = message.evidence
        if message.turn in self.dialogue.turns:
            self._draw()

    @on(AnswerGrew)
    def _answer_grew(self, message: AnswerGrew) -> None:
        first, message.turn.text = not message.turn.text, message.text
        if message.turn in self.dialogue.turns and first:
            self._clear(message.turn)
            self._draw()
        elif message.turn in self.dialogue.turns:
            self._draw_answers()

    @on(AnswerEnded)
    def _answer_ended(self, message: AnswerEnded) -> None:
        next_question = self.dialogue.answer_ended(message)
        if message.turn not in self.dialogue.turns:
            return
        if message.turn.text:
            self._clear(message.turn)
        self._draw()
        if next_question is not None:
            self._ask(next_question)

    def _clear(self, turn: QuestionTurn) -> None:
        """Make room for the next question, unless it is in the field already."""
        if self.typed == turn.question:
            self.question.value = ""

    def open(self, turn: QuestionTurn) -> None:
        """Show an answer of the history; the next question begins a new conversation."""
        self._restart(turn)

    def _restart(self, *turns: QuestionTurn) -> None:
        self.dialogue.restart(turns)
        self.uncover()
        self._cursor, self._cursor_moved = None, False
        self._draw()
        self.question.focus()

    # --- drawing ---

    def _draw(self, *, to_end: bool = False) -> None:
        follows = self.dialogue.follows
        self.query_bar.set_prompt("↳" if follows else "❯")
        further = _("Ask further about these scenes, or {key} for a new question").format(key=key("answer.new"))
        self.question.placeholder = further if follows else _("What do you want to know?")
        self._draw_counter()
        self._draw_sources()
        self._draw_answers(to_end=to_end)
        self.set_class(not self._shown_turn.sources, "-bare")

    def _draw_counter(self) -> None:
        self.query_bar.counter.say(_state(self.dialogue, show_times=self.context.show_times))

    @property
    def _shown_turn(self) -> QuestionTurn:
        """The turn whose scenes are listed."""
        turns = self.dialogue.turns
        if self._cursor:
            return turns[self._cursor.turn]
        return next((turn for turn in reversed(turns) if turn.sources), QuestionTurn(""))

    def _draw_sources(self) -> None:
        turn = self._shown_turn
        number = None if self._cursor_moved else turn.first_cited
        times: dict[int, int] = {}
        if self._cursor:
            citation = turn.citations[self._cursor.at]
            number = citation.number
            if citation.at_ms is not None:
                times[number] = citation.at_ms
        self.sources.show(turn, times, number)
        self.preview.show(self.sources.scene)

    def _draw_answers(self, *, to_end: bool = False) -> None:
        if self.dialogue.turns:
            scene = self.sources.scene
            text, offset = answer_lines.draw_answers(self.dialogue.turns, self._cursor, scene.id if scene else None)
            self.view.show(text, offset, to_end=to_end)
        else:
            self.view.show(answer_lines.welcome())

    # --- the cursor among citations and scenes ---

    def action_step(self, rows: int) -> None:
        """Move to the next citation. In the list, or without citations, move to the next scene."""
        if self.preview.transcript.has_focus:
            self.preview.transcript.move(rows)
            return
        refs = conversation.citation_refs(self.dialogue.turns)
        if self.sources.has_focus or not refs:
            self.sources.move(rows)
            self._cursor_moved = bool(self.sources.row_count)
            return
        if self._cursor is None:
            index = 0 if rows > 0 else len(refs) - 1
        else:
            index = max(0, min(len(refs) - 1, refs.index(self._cursor) + rows))
        self._move_cursor(refs[index])

    def _move_cursor(self, ref: CitationRef) -> None:
        self._cursor, self._cursor_moved = ref, True
        self._draw_sources()
        self._draw_answers()

    @on(AnswerView.CitationClicked)
    def _citation_clicked(self, message: AnswerView.CitationClicked) -> None:
        """Move to the citation with the first click, and play its scene with the second one."""
        if message.choice == self._cursor:
            self._play()
        else:
            self._move_cursor(message.choice)

    @on(SourceList.Highlighted)
    def _scene_highlighted(self) -> None:
        self._cursor, self._cursor_moved = None, True
        self.preview.show(self.sources.scene)
        self._draw_answers()

    def _chosen_scene(self) -> "Scene | None":
        """Return the chosen line of the transcript, the scene of the chosen citation, or that of the list.

        Without one, say so.
        """
        if line := self.preview.line_scene:
            return line
        if self._cursor:
            turn = self.dialogue.turns[self._cursor.turn]
            citation = turn.citations[self._cursor.at]
            source = turn.source(citation.number)
            if source is None:
                self.app.notify(_("No scene of this number was given."), markup=False)
                return None
            return conversation.scene_of(source, source.at_ms if citation.at_ms is None else citation.at_ms)
        if self.sources.scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return self.sources.scene

    @on(TranscriptList.DoubleClicked)
    @on(SourceList.RowDoubleClicked)
    def _play(self) -> None:
        if scene := self._chosen_scene():
            self.context.playback.play(scene)

    def action_choose_player(self) -> None:
        if scene := self._chosen_scene():
            self.context.playback.find_players(scene)

    def action_copy_link(self) -> None:
        if scene := self._chosen_scene():
            self.context.playback.copy_scene_link(scene)

    def action_copy_text(self) -> None:
        """Copy the answer under the cursor, else the last one. In the transcript copy the line."""
        if self.preview.line_scene:
            self.action_copy_quote()
            return
        turns = self.dialogue.turns
        turn = turns[self._cursor.turn] if self._cursor else next((turn for turn in reversed(turns) if turn.text), None)
        if turn is None:
            self.app.notify(_("There is no answer yet."), markup=False)
        else:
            self.context.playback.copy_text(quotes.answer(turn), _("Answer copied, with what it cites."))

    # --- keys ---

    def action_page(self, pages: int) -> None:
        if self.question.has_focus:
            self.view.page(pages)
        else:
            self.moving_rows.move(pages * self.moving_rows.page)

    def action_back(self) -> None:
        """Close the preview over the answer; then stop the answer; then go from the list to the question; then leave.

        A stopping answer does not hold it.
        """
        if self.uncover():
            return
        if self.running and not self.dialogue.stopping:
            self.dialogue.stop()
            self._draw_counter()
        elif self.leave_transcript():
            pass
        elif not self.question.has_focus:
            self.question.focus()
        else:
            self.app.post_message(AnswersLeft())

    def action_history(self) -> None:
        from subtitle_rag.tui.screens.history_screen import HistoryScreen

        if self._can_restart():
            self.app.push_screen(HistoryScreen(self.context, self.open))


def _state(dialogue: Dialogue, *, show_times: bool) -> str:
    """Return the stage of the current answer, or the number of its scenes."""
    if not dialogue.turns:
        return ""
    turn = dialogue.turns[-1]
    if dialogue.stopping:
        return _("stopping…")
    if dialogue.running:
        return _("answering…") if turn.text else _("reading…") if turn.evidence else _("searching…")
    count = len(turn.sources)
    text = n_("{n} scene", "{n} scenes", count).format(n=count)
    if show_times and turn.answer and "answer" in turn.answer.took_ms:
        text += f" {turn.answer.took_ms['answer'] / 1000:.1f}s"
    return text
