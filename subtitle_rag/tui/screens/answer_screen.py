"""Questions to the library, answered by a local model, beside the scenes of the answers."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.keys import bindings
from subtitle_rag.tui.screens.answer_page import AnswerPage
from subtitle_rag.tui.screens.preview_screen import PreviewScreen, make_preview
from subtitle_rag.tui.text import quote_answer
from subtitle_rag.tui.widgets import AnswerPane, KeyBar, SourceList, TextField, TranscriptList, after_typing

if TYPE_CHECKING:
    from subtitle_rag.library import Counts
    from subtitle_rag.tui.controllers import AppContext


class AnswerScreen(PreviewScreen):
    BESIDE_ROWS = 30
    AUTO_FOCUS = "#question"
    FOOTER = "screen.enter scene.mark app.transcript app.ask scene.copy screen.back app.help"
    BINDINGS = bindings(
        "screen.enter scene.mark scene.copy scene.copy-markdown scene.play-with scene.preview answer.whole",
        "screen.retry list.remove screen.back screen.switch list.down list.up",
    )
    LABELS: ClassVar = {"app.ask": N_("New question")}
    MEANINGS: ClassVar = {
        "screen.enter": N_("ask, then ask further about the same scenes; play what is chosen"),
        "screen.retry": N_("ask the last question once more"),
        "scene.copy": N_("copy the answer with what it cites; in the transcript the line"),
        "screen.back": N_("stop the answer; then back to the page before"),
        "list.down": N_("citations of the answer, and the seconds that they rest on"),
        "list.up": N_("citations of the answer, and the seconds that they rest on"),
    }

    pane: AnswerPane

    def __init__(self, context: "AppContext", counts: "Counts | None" = None) -> None:
        self.question = TextField("", id="question")
        self.sources = SourceList()
        super().__init__(context, AnswerPane(self.question, self.sources, make_preview(context, self.sources)))
        self.page = AnswerPage(context, self.pane, counts)

    def compose(self) -> ComposeResult:
        yield self.page
        yield KeyBar()

    def label(self, id: str) -> str:
        if id == "screen.enter":
            return _("Ask") if self.in_field else _("Play")
        return super().label(id)

    # --- keys ---

    def action_take(self) -> None:
        after_typing(self, self._enter)

    def _enter(self) -> None:
        if scene := self.page.enter():
            self.scene_actions.run("play", scene)

    def action_again(self) -> None:
        self.page.ask_again()

    def action_whole(self) -> None:
        self.page.ask_whole()

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        in_recent = self.page.recent.has_focus
        if action == "take":  # there Enter opens an answer
            return not in_recent
        if action == "remove":
            return in_recent
        return super().allows(action, parameters)

    def action_remove(self) -> None:
        self.page.recent.action_remove()

    def action_move(self, rows: int) -> None:
        (self.page.recent if self.page.recent.display else self.pane).step(rows)

    def action_switch(self) -> None:
        recent = self.page.recent
        if recent.display and not recent.has_focus:
            recent.focus()
        else:
            super().action_switch()

    @on(AnswerPane.CitationPlayed)
    @on(TranscriptList.DoubleClicked)
    @on(SourceList.RowDoubleClicked)
    def _play(self) -> None:
        self.action_scene("play")

    def action_copy(self) -> None:
        """Copy the answer under the cursor, else the last one. In the transcript copy the line."""
        if line := self.preview.line_scene:
            self.scene_actions.copy_quote(line)
            return
        turn = self.pane.chosen_turn
        if turn is None:
            self.app.notify(_("There is no answer yet."), markup=False)
        else:
            self.context.playback.copy_text(quote_answer(turn), _("Answer copied, with what it cites."))

    def action_back(self) -> None:
        """Close the preview over the answer; then stop the answer; then go from the list to the question; then leave.

        A stopping answer does not hold it.
        """
        if self.pane.uncover() or self.page.stop() or self.pane.leave_transcript():
            return
        if not self.question.has_focus:
            self.question.focus()
        else:
            self.app.pop_screen()
            self.context.context_pause.resume_contexts()
