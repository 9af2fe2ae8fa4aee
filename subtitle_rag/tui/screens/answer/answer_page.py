"""The question field and the conversation with its scenes.

An input method may deliver its last syllable after Enter. So the question stays in the field until its answer begins.
If the field has changed by then, a second Enter replaces the question by the new text.
"""

from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.reactive import var
from textual.widgets import Input

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.answer.answer_pane import AnswerPane
from subtitle_rag.tui.screens.answer.dialogue import Dialogue
from subtitle_rag.tui.screens.answer.recent_answers import RecentAnswers
from subtitle_rag.tui.screens.settings.setting_dialog import SettingDialog
from subtitle_rag.tui.shared.answer_lines import recent_answer_row
from subtitle_rag.tui.shared.conversation import QuestionTurn, turn_of_answer
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import deletion_confirmation
from subtitle_rag.tui.shared.fields.text_field import QueryBar, TextField
from subtitle_rag.tui.shared.messages import (
    ActionFailed,
    AddressEntered,
    AnswerEnded,
    AnswerGrew,
    EvidenceFound,
    PromptSent,
)
from subtitle_rag.tui.shared.source_field import typed_url
from subtitle_rag.tui.threads import run_in_thread

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.workflows.app_settings import AppSetting


READING_TICK_S = 1.0
RECENT_ANSWERS = 10
"""Listed answers."""
MODEL = "llm.model"
"""Setting of the model for answers."""


class AnswerPage(Vertical):
    counts: var["Counts | None"] = var(None, init=False)
    """The library's size; None while it opens."""

    def __init__(self, context: AppContext, counts: "Counts | None") -> None:
        super().__init__(id="conversation")
        self.context = context
        self.pane = AnswerPane()
        self.question = TextField("", id="question")
        self.query_bar = QueryBar(self.question, _("Ask"))
        self.recent = RecentAnswers()
        self.dialogue = Dialogue(context.runtime, context.context_pause, self.post_message)
        self._search_query = ""
        """The last query taken from the search screen."""
        self._has_drawn = False
        self.set_reactive(AnswerPage.counts, counts)

    def compose(self) -> ComposeResult:
        yield self.query_bar
        with Container(id="answered"):
            yield self.pane
            yield self.recent

    def on_mount(self) -> None:
        self._has_drawn = True
        self._draw()
        self._look_up_recent()
        self.set_interval(READING_TICK_S, self._show_reading_time)

    def take(self, query: str) -> None:
        """Offer a new query from the search screen as the next question."""
        if query and query != self._search_query and not self.dialogue.running:
            self._search_query = query
            self.dialogue.restart()
            self._show_restart()
            self.question.replace_value(query)
            self.question.select_all()  # typing replaces it

    # --- asking ---

    @on(Input.Changed, "#question")
    def _question_changed(self) -> None:
        self.query_bar.set_hint("")

    def ask_typed(self) -> None:
        """Ask the question in the field, and focus the answer."""
        text = self.question.typed
        if address := typed_url(text):
            self.question.value = ""
            self.context.app.post_message(AddressEntered(address))
        elif not text:
            self.query_bar.set_hint(_("Type a question first."))
        elif not self.dialogue.running:
            self._ask(text)
        elif text != self.dialogue.turns[-1].question and self.dialogue.ask_next(text):
            hint = _("Will be asked when this answer ends; {key} stops it.")
            self.query_bar.set_hint(hint.format(key=key("screen.back")))

    def _ask(self, text: str) -> None:
        if self.counts is not None and not self.counts.videos:
            self.query_bar.set_hint(_("The library is empty."))
            return
        try:
            self.dialogue.ask(text)
        except UsageError as error:
            self.query_bar.set_hint(error.message)
            return
        # a syllable committed after Enter belongs to this question and must not replace it
        self.question.cursor_position = len(self.question.value)
        self._show_new_answer()

    def _show_new_answer(self) -> None:
        self.query_bar.set_hint("")
        self.pane.reset()
        self._draw(to_end=True)
        self.pane.focus()

    def begin_question(self) -> None:
        """Ask the typed question about new scenes, or empty the field for a new question."""
        if self.can_restart():
            self.dialogue.restart()
            self._show_restart()
            if self.question.typed:
                self._ask(self.question.typed)

    def ask_again(self) -> None:
        """Ask the last question again, with another seed if the answer was a loop.

        If the model is missing, let the user choose another one first.
        """
        turn = self.dialogue.turns[-1] if self.dialogue.turns else None
        if turn is None or not self.can_restart():
            return
        if turn.failure is not None and turn.failure.code == "llm_model_missing":
            run_in_thread(self, self._models, ActionFailed, take=self._choose_model, group="models", exclusive=True)
        elif self.dialogue.ask_again():
            self._show_new_answer()
        else:
            self._ask_anew()

    def _ask_anew(self) -> None:
        question = self.dialogue.turns[-1].question
        self.dialogue.restart()
        self._ask(question)

    def _models(self) -> "tuple[AppSetting, list[str]]":
        from subtitle_rag.workflows.app_settings import installed_models, read_app_settings

        runtime = self.context.runtime
        setting = next(each for each in read_app_settings(runtime.settings) if each.key == MODEL)
        return setting, installed_models(runtime)

    def _choose_model(self, found: "tuple[AppSetting, list[str]]") -> None:
        """Let the user choose an installed model, then ask again. Without models, ask again at once."""
        from subtitle_rag.workflows.app_settings import change_app_setting

        setting, models = found

        def take(model: str | None) -> None:
            if model is not None:
                run_in_thread(
                    self,
                    lambda: change_app_setting(self.context.runtime, setting, model),
                    ActionFailed,
                    take=lambda _settings: self._ask_anew(),
                    group="models",
                )

        if models:
            self.app.push_screen(SettingDialog(setting, models, mistake_in=lambda _text: ""), take)
        else:
            self._ask_anew()

    def ask_whole(self) -> None:
        """Ask the typed or last question about all captions; after such an answer, about the best scenes again."""
        question = self.question.typed or (self.dialogue.turns[-1].question if self.dialogue.turns else "")
        if not question:
            self.query_bar.set_hint(_("Type a question first."))
        elif self.can_restart():
            self.dialogue.restart(whole=not self.dialogue.read_whole)
            self._show_restart()
            self._ask(question)

    def can_restart(self) -> bool:
        """Return whether no answer is running. If one is, show a toast."""
        if self.dialogue.running:
            hint = _("Wait for the end of this answer, or stop it with {key}.")
            self.query_bar.set_hint(hint.format(key=key("screen.back")))
        return not self.dialogue.running

    def stop(self) -> bool:
        """Stop the running answer. Return False if there is none or it is stopping already."""
        if not self.dialogue.running or self.dialogue.stopping:
            return False
        self.dialogue.stop()
        self._draw_counter()
        return True

    # --- answers ---

    @on(EvidenceFound)
    @on(PromptSent)
    @on(AnswerGrew)
    def _answer_changed(self, message: EvidenceFound | PromptSent | AnswerGrew) -> None:
        is_stage = self.dialogue.answer_changed(message)
        if message.turn not in self.dialogue.turns:
            return
        if not is_stage:
            self.pane.draw()
            return
        self._clear(message.turn)
        self._draw()

    def _show_reading_time(self) -> None:
        if self.dialogue.count_reading():
            self.pane.draw()

    @on(AnswerEnded)
    def _answer_ended(self, message: AnswerEnded) -> None:
        next_question = self.dialogue.answer_ended(message)
        if message.turn not in self.dialogue.turns:
            return
        self._clear(message.turn)
        self._draw()
        self._look_up_recent()
        if next_question is not None:
            self._ask(next_question)

    def _clear(self, turn: QuestionTurn) -> None:
        """Empty the field once the answer begins, unless it has the next question already."""
        if turn.text and self.question.typed == turn.question:
            self.question.value = ""

    def _show_restart(self) -> None:
        self.pane.reset()
        self._draw()
        self._look_up_recent()
        self.question.focus()

    def move(self, rows: int) -> None:
        """Move through the recent questions or the numbers of the answers; leaves the field first."""
        if not self.recent.has_focus and self.dialogue.turns:
            self.pane.focus()
            self.pane.step(rows)
        else:
            self.recent.step(rows)

    # --- earlier answers ---

    def _look_up_recent(self) -> None:
        if self.counts is not None:
            run_in_thread(self, self._read_recent, ActionFailed, take=self._show_recent, group="recent", exclusive=True)

    def _read_recent(self) -> dict[int, tuple[Content, QuestionTurn]]:
        """Return the rows and turns of the last answers by id, newest first."""
        library = self.context.runtime.library
        answers = library.answers.latest(RECENT_ANSWERS)
        videos = library.videos_by_id(*{source.video for answer in answers for source in answer.sources})
        row = partial(recent_answer_row, show_times=self.context.show_times)
        return {answer.id: (row(answer), turn_of_answer(answer, videos)) for answer in answers}

    def _show_recent(self, answers: dict[int, tuple[Content, QuestionTurn]]) -> None:
        self.recent.fill(answers)
        if not answers and self.recent.has_focus:
            self.question.focus()
        self._draw()

    @on(RecentAnswers.Opened)
    def _opened(self, message: RecentAnswers.Opened) -> None:
        """Show an earlier answer; the next question begins a new conversation."""
        self.dialogue.restart([message.turn])
        self._show_restart()
        self.pane.focus()

    @on(RecentAnswers.DeletionAsked)
    def _deletion_asked(self, message: RecentAnswers.DeletionAsked) -> None:
        def delete() -> dict[int, tuple[Content, QuestionTurn]]:
            self.context.runtime.library.answers.forget(message.id)
            return self._read_recent()

        delete_and_list = partial(
            run_in_thread, self, delete, ActionFailed, take=self._show_recent, group="recent", exclusive=True
        )
        self.app.push_screen(ConfirmScreen(deletion_confirmation(message.question), delete_and_list))

    # --- drawing ---

    def watch_counts(self, before: "Counts | None") -> None:
        if self._has_drawn and not self.dialogue.turns:
            self._draw()
            if before is None:
                self._look_up_recent()

    def _draw(self, *, to_end: bool = False) -> None:
        follows = self.dialogue.follows
        self.query_bar.set_prompt("↳" if follows else "❯")
        further = _("Ask further about these scenes, or {key} for a new question").format(key=key("app.ask"))
        self.question.placeholder = further if follows else _("What do you want to know?")
        self._draw_counter()
        self.recent.display = self.recent.option_count > 0
        self.set_class(bool(self.dialogue.turns), "-answered")
        self.pane.show(self.dialogue.turns, self.counts, to_end=to_end)

    def _draw_counter(self) -> None:
        self.query_bar.counter.say(_state(self.dialogue))


def _state(dialogue: Dialogue) -> str:
    """Return the current answer's stage, or its number of scenes."""
    if not dialogue.turns:
        return ""
    turn = dialogue.turns[-1]
    if dialogue.stopping:
        return _("stopping…")
    if dialogue.running:
        return _("answering…") if turn.text else _("reading…") if turn.evidence else _("searching…")
    return n_("{n} scene", "{n} scenes", len(turn.sources))
