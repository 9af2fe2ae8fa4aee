"""Questions about the library, answered by a local model, and the recent questions."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import (
    BACK,
    COPY,
    COPY_MARKDOWN,
    DOWN,
    ENTER,
    MARK,
    PLAY_WITH,
    RETRY,
    UP,
    command,
    worded,
)
from subtitle_rag.tui.screens.answer.answer_page import AnswerPage
from subtitle_rag.tui.screens.answer.answer_pane import AnswerPane
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.text_field import after_typing
from subtitle_rag.tui.shared.quotes import quote_answer
from subtitle_rag.tui.shared.scenes.result_pane import WIDE
from subtitle_rag.tui.shared.spoken_lines import VideoMoment

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.search.scenes import Scene


class AnswerScreen(BaseScreen):
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#question"
    FOOTER = "screen.enter scene.mark app.transcript app.ask scene.copy screen.back app.help"
    BINDINGS: ClassVar[list[BindingType]] = [
        worded(
            ENTER,
            sentence=N_("in the field: ask; at a number: play the second that it rests on; a digit does it at once"),
        ),
        MARK,
        worded(COPY, sentence=N_("copy the answer with what it cites")),
        COPY_MARKDOWN,
        PLAY_WITH,
        command(
            "answer.whole",
            "",
            "whole",
            N_("All captions"),
            N_("ask of all captions instead of the best scenes, and back"),
        ),
        worded(RETRY, sentence=N_("ask the last question once more, or choose a model if there was none")),
        worded(BACK, sentence=N_("stop the answer; then field → answer → the page before")),
        worded(DOWN, sentence=N_("the next number of the answer, or the next of the last questions")),
        worded(UP, sentence=N_("the number before, or the question before")),
    ]

    def __init__(self, context: AppContext, counts: "Counts | None" = None) -> None:
        super().__init__(context)
        self.page = AnswerPage(context, counts)
        self.question, self.pane = self.page.question, self.page.pane

    def compose(self) -> ComposeResult:
        yield self.page
        yield KeyBar()

    @property
    def shows_videos(self) -> bool:
        return bool(self.page.dialogue.turns)

    @property
    def in_recent(self) -> bool:
        return self.page.recent.has_focus

    def label(self, id: str) -> str:
        if id == "app.ask":
            return _("New question")
        if id == "screen.enter":
            return _("Ask") if self.in_field else _("Read") if self.in_recent else _("Play")
        return super().label(id)

    @property
    def chosen_moment(self) -> VideoMoment | None:
        scene = self.pane.find_scene()
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def find_scene(self) -> "Scene | None":
        scene = self.pane.find_scene()
        if scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return scene

    # --- keys ---

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "take":  # in the list, Enter opens an answer
            return not self.in_recent
        if action in ("scene", "copy", "again"):
            return bool(self.page.dialogue.turns)
        return super().allows(action, parameters)

    def action_take(self) -> None:
        after_typing(self, self._enter)

    def _enter(self) -> None:
        """Ask the question, or play the chosen number. Enter right after a question only chooses the first number."""
        if self.in_field:
            self.page.ask_typed()
        elif self.pane.has_choice:
            self.action_scene("play")
        else:
            self.pane.step(1)

    @on(AnswerPane.NumberChosen)
    def _number_chosen(self) -> None:
        self.action_scene("play")

    def action_again(self) -> None:
        self.page.ask_again()

    def action_whole(self) -> None:
        self.page.ask_whole()

    def action_move(self, rows: int) -> None:
        self.page.move(rows)

    def action_copy(self) -> None:
        """Copy the answer under the cursor, or the last one."""
        turn = self.pane.chosen_turn
        if turn is None:
            self.app.notify(_("There is no answer yet."), markup=False)
        else:
            self.context.playback.copy_text(quote_answer(turn), _("Answer copied, with what it cites."))

    def action_back(self) -> None:
        """Go back one step: stop the answer, leave the field, close the screen. A stopping answer is not waited for."""
        if self.page.stop():
            return
        if self.in_field and self.page.dialogue.turns:
            self.pane.focus()
        else:
            self.app.pop_screen()
            self.context.context_pause.resume_contexts()
