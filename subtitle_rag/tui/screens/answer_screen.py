"""Questions to the library, answered by a local model, beside the scenes that the answers rest on.

The Enter rule of the search screen holds here too: an input method may deliver its last syllable after Enter. So the
question stays in the field until the first word of its answer is there; what has changed by then is asked by another
Enter, in the place of the question that lacked it.
"""

from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _, n_
from subtitle_rag.retrieval.query import Query, parse, tidy
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.controllers.answering import Talk
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.messages import AnswerEnded, AnswerGrew, AnswersLeft, EvidenceFound
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.preview_parts import make_preview, pictures_shown
from subtitle_rag.tui.state import conversation
from subtitle_rag.tui.state.conversation import CitationRef, QuestionTurn
from subtitle_rag.tui.text import answer_lines
from subtitle_rag.tui.widgets.answer_view import AnswerView, SourceList
from subtitle_rag.tui.widgets.footer import KeyBar
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.tui.context import AppContext


class AnswerScreen(BaseScreen):
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#question"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background"})
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "answer.enter",
        "answer.copy",
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
    view = getters.query_one(AnswerView)
    sources = getters.query_one(SourceList)
    preview = getters.query_one(Preview)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._turns: list[QuestionTurn] = []
        self._talk: Talk | None = None
        self._next: str | None = None
        """Asked when the answer that is under way has ended."""
        self._chosen: CitationRef | None = None
        self._taken = ""
        self._moved = False
        """Somebody has chosen a citation or a scene: Enter in the empty field jumps there."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static(id="prompt", markup=False)
            yield TextField("", id="question")
            yield Static(id="counter", markup=False)
        with Container(id="answered"):
            yield AnswerView()
            with Vertical(id="evidence"):
                yield SourceList()
                yield make_preview(self.context, pictures=pictures_shown(self.context, self))
        yield KeyBar()

    def on_mount(self) -> None:
        self._draw()

    def take(self, typed: str) -> None:
        """The search screen's query as a new question, unless it is the one that was taken before."""
        if typed and typed != self._taken and not self.running:
            self._taken = typed
            self._begin([])
            self.question.value = typed
            self.question.cursor_position = len(typed)

    # --- asking ---

    @property
    def typed(self) -> str:
        return tidy(self.question.value)

    @property
    def running(self) -> bool:
        return bool(self._turns) and not self._turns[-1].ended

    @property
    def follows(self) -> bool:
        """The next question is about the same scenes."""
        return self._talk is not None and any(turn.text for turn in self._turns)

    @on(Input.Changed, "#question")
    def _typed(self) -> None:
        self._hint("")

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        self.question.put(message.address)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted while the list has the focus."""
        self.question.put(event.text)

    def action_enter(self) -> None:
        self.after_typing(self._enter)

    def _enter(self) -> None:
        text = self.typed
        if self.sources.has_focus or (not text and self._moved):
            self._jump()
        elif not text:
            self._hint(_("Type a question first."))
        elif not self.running:
            self._ask(text)
        elif text != self._turns[-1].question:
            self._ask_next(text)

    def _ask_next(self, text: str) -> None:
        """A question while another one is under way: instead of it where it has no answer yet, else after it."""
        self._next = text
        if self._talk and not self._turns[-1].text:
            self._talk.stop()
        else:
            self._hint(_("Asked as soon as this answer has ended; {key} stops it.").format(key=key("answer.back")))

    def _ask(self, text: str) -> None:
        turns = [turn for turn in self._turns if turn.text] if self.follows else []
        try:
            query = Query(text, text) if turns else parse(text)
        except UsageError as error:
            self._hint(error.message)
            return
        self._hint("")
        if not turns or self._talk is None:
            self._end_talk()
            self._talk = Talk(self.context.runtime, self.post_message)
            self._talk.start()
        turn = QuestionTurn(text)
        self._turns = [*turns, turn]
        self._chosen, self._moved = None, False
        self.context.context_pause.pause_contexts_for_answer()
        self._talk.ask(turn, query)
        self._draw(to_end=True)

    def action_anew(self) -> None:
        """Other scenes: ask what is typed in a new conversation, or make room for a new question."""
        if self.running:
            self._hint(_("Wait for the end of this answer, or stop it with esc."))
            return
        self._begin([])
        if self.typed:
            self._ask(self.typed)

    def halt(self) -> None:
        """Stop what is under way: the app ends."""
        if self._talk:
            self._talk.end()

    def wait(self, seconds: float) -> None:
        """After `halt`: wait so long for what had come to be kept."""
        if self._talk:
            self._talk.join(seconds)

    def _end_talk(self) -> None:
        self.halt()
        self._talk = None

    # --- what comes ---

    @on(EvidenceFound)
    def _evidence_found(self, message: EvidenceFound) -> None:
        message.turn.evidence = message.evidence
        if message.turn in self._turns:
            self._draw()

    @on(AnswerGrew)
    def _answer_grew(self, message: AnswerGrew) -> None:
        first, message.turn.text = not message.turn.text, message.text
        if message.turn in self._turns and first:
            self._clear(message.turn)
            self._draw()
        elif message.turn in self._turns:
            self._draw_answers()

    @on(AnswerEnded)
    def _answer_ended(self, message: AnswerEnded) -> None:
        turn, answer = message.turn, message.answer
        turn.answer, turn.error = answer, message.error
        if answer is not None:
            turn.text, turn.evidence = answer.text, answer.evidence
        self.context.context_pause.resume_contexts_later()
        if turn not in self._turns:
            return
        if turn.text:
            self._clear(turn)
        self._draw()
        if self._next is not None:
            text, self._next = self._next, None
            self._ask(text)

    def _clear(self, turn: QuestionTurn) -> None:
        """Make room for the next question, unless the one in the field is another one by now."""
        if self.typed == turn.question:
            self.question.value = ""

    def open(self, turn: QuestionTurn) -> None:
        """Show a kept answer; the next question begins a new conversation."""
        self._begin([turn])

    def _begin(self, turns: list[QuestionTurn]) -> None:
        """Show these alone; the next question chooses scenes."""
        self._end_talk()
        self._turns, self._chosen, self._moved = turns, None, False
        self._draw()
        self.question.focus()

    # --- what is shown ---

    def _hint(self, said: str) -> None:
        top = self.query_one("#top")
        top.border_subtitle = Content(f"! {said}").markup if said else None

    def _draw(self, *, to_end: bool = False) -> None:
        follows = self.follows
        self.query_one("#prompt", Static).update(Content("↳" if follows else "❯"))
        further = _("Ask further about these scenes, or {key} for a new question").format(key=key("answer.new"))
        self.question.placeholder = further if follows else _("What do you want to know?")
        self._draw_counter()
        self._draw_sources()
        self._draw_answers(to_end=to_end)
        self.set_class(not self._shown.sources, "-bare")

    def _draw_counter(self) -> None:
        self.query_one("#counter", Static).update(Content(self._state()))

    def _state(self) -> str:
        if not self._turns:
            return ""
        turn = self._turns[-1]
        if self.running:
            if self._talk and self._talk.stopping:
                return _("stopping…")
            return _("answering…") if turn.text else _("reading…") if turn.evidence else _("searching…")
        count = len(turn.sources)
        said = n_("{n} scene", "{n} scenes", count).format(n=count)
        if self.context.show_times and turn.answer and "answer" in turn.answer.took_ms:
            said += f" {turn.answer.took_ms['answer'] / 1000:.1f}s"
        return said

    @property
    def _shown(self) -> QuestionTurn:
        """Whose scenes are listed."""
        if self._chosen:
            return self._turns[self._chosen.turn]
        return next((turn for turn in reversed(self._turns) if turn.sources), QuestionTurn(""))

    def _draw_sources(self) -> None:
        turn = self._shown
        number = None if self._moved else turn.first_cited
        at: dict[int, int] = {}
        if self._chosen:
            citation = turn.citations[self._chosen.at]
            number = citation.number
            if citation.at_ms is not None:
                at[number] = citation.at_ms
        self.sources.show(turn, at, number)
        self.preview.show(self.sources.scene)

    def _draw_answers(self, *, to_end: bool = False) -> None:
        if self._turns:
            scene = self.sources.scene
            said, place = answer_lines.draw_answers(self._turns, self._chosen, scene.id if scene else None)
            self.view.show(said, place, to_end=to_end)
        else:
            self.view.show(answer_lines.welcome())

    # --- choosing and jumping ---

    def action_step(self, rows: int) -> None:
        """To the next citation; to the next scene in the list, and where there are no citations."""
        choices = conversation.citation_refs(self._turns)
        if self.sources.has_focus or not choices:
            self.sources.move(rows)
            self._moved = bool(self.sources.row_count)
            return
        if self._chosen is None:
            at = 0 if rows > 0 else len(choices) - 1
        else:
            at = max(0, min(len(choices) - 1, choices.index(self._chosen) + rows))
        self._choose(choices[at])

    def _choose(self, choice: CitationRef) -> None:
        self._chosen, self._moved = choice, True
        self._draw_sources()
        self._draw_answers()

    @on(AnswerView.CitationClicked)
    def _citation_clicked(self, message: AnswerView.CitationClicked) -> None:
        """The first click chooses, the second one jumps."""
        if message.choice == self._chosen:
            self._jump()
        else:
            self._choose(message.choice)

    @on(SourceList.Highlighted)
    def _scene_chosen(self) -> None:
        self._chosen, self._moved = None, True
        self.preview.show(self.sources.scene)
        self._draw_answers()

    def _target(self) -> "Scene | None":
        """What Enter and the link are about."""
        if self._chosen:
            turn = self._turns[self._chosen.turn]
            citation = turn.citations[self._chosen.at]
            source = turn.source(citation.number)
            if source is None:
                self.app.notify(_("No scene of this number was given."), markup=False)
                return None
            at = citation.at_ms if citation.at_ms is not None else source.at_ms
            return conversation.scene_of(source, at)
        if self.sources.scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return self.sources.scene

    def _jump(self) -> None:
        if scene := self._target():
            self.context.playback.play(scene)

    def action_choose_player(self) -> None:
        if scene := self._target():
            self.context.playback.find_players(scene)

    def action_copy_link(self) -> None:
        scene = self._target()
        if scene and scene.jump_url is None:
            self.context.app.tell(UsageError("no_link", video=scene.video.title))
        elif scene and scene.jump_url:
            self.context.playback.copy_link(scene.jump_url)

    # --- keys ---

    def action_page(self, pages: int) -> None:
        if self.sources.has_focus:
            self.sources.move(pages * self.sources.page)
        else:
            self.view.page(pages)

    def action_switch(self) -> None:
        if self.question.has_focus and self.sources.row_count:
            self.sources.focus()
        else:
            self.question.focus()

    def action_focus_query(self) -> None:
        self.question.focus()

    @on(SceneList.Typed)
    def _typed_in_list(self, message: SceneList.Typed) -> None:
        self.question.focus()
        self.question.insert_text_at_cursor(message.character)

    def action_back(self) -> None:
        """Stop; then from the list to the question; then leave. What does not stop at once goes on by itself."""
        if self.running and self._talk and not self._talk.stopping:
            self._talk.stop()
            self._draw_counter()
        elif not self.question.has_focus:
            self.question.focus()
        else:
            self.app.post_message(AnswersLeft())

    def action_history(self) -> None:
        from subtitle_rag.tui.screens.history_screen import HistoryScreen

        if self.running:
            self._hint(_("Wait for the end of this answer, or stop it with esc."))
        else:
            self.app.push_screen(HistoryScreen(self.context, self.open))
