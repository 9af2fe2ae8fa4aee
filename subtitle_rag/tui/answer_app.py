"""The part of the app that opens the answer screen, and has contexts wait while a model answers.

A server of models works on one request after the other, and a context takes it seconds or a minute: the one that is
being written is given up for the question. The pause lasts a little longer than the answer, for the next question finds
the scenes in the server's cache only if nothing else was asked meanwhile.
"""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from subtitle_rag.i18n import N_
from subtitle_rag.tui.background_app import BackgroundApp
from subtitle_rag.tui.screens.search_screen import SearchScreen

if TYPE_CHECKING:
    from textual.timer import Timer

    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.screens.answer_screen import AnswerScreen

QUIET_S = 60.0
"""After an answer, before contexts are gone on with."""
LEAVING_S = 1.0
"""Longest wait at the end for an answer that was stopped to be kept."""


class AnswerApp(BackgroundApp):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f3", "ask", N_("Ask"), priority=True, id="app.ask"),
    ]

    search_screen: SearchScreen

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__(runtime)
        self._answer_screen: AnswerScreen | None = None
        self._gave_way = False
        self._quiet: Timer | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "ask":
            return self.screen is self.search_screen and not self.search_screen.failed
        return super().check_action(action, parameters)

    async def action_ask(self) -> None:
        """Show the answers, with the query that is typed as the question to come."""
        from subtitle_rag.tui.screens.answer_screen import AnswerScreen

        if self._answer_screen is None:
            self._answer_screen = AnswerScreen()
            self.install_screen(self._answer_screen, "answers")
        typed = self.search_screen.typed
        await self.push_screen(self._answer_screen)
        self._answer_screen.take(typed)

    def leave_answers(self) -> None:
        self.pop_screen()
        self._take_up()

    # --- contexts wait ---

    def give_way(self) -> None:
        """A question is about to be asked."""
        if self._quiet:
            self._quiet.stop()
        if "contexts" not in self._paused and self.settings.llm.hosts:
            self._gave_way = True
            self._pause("contexts")

    def take_up_soon(self) -> None:
        """It was answered."""
        if self._quiet:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_S, self._take_up)

    def _take_up(self) -> None:
        if not self._gave_way or (self._answer_screen and self._answer_screen.running):
            return
        self._gave_way = False
        progress = self.progress("contexts")
        if progress and progress.state == "failed":
            self._paused.discard("contexts")
        else:
            self._go_on("contexts")

    def action_background(self) -> None:
        self._gave_way = False  # from here on it is as the user has it
        super().action_background()

    # --- the end ---

    def halt_runs(self) -> None:
        super().halt_runs()
        if self._answer_screen:
            self._answer_screen.let_go()

    def await_runs(self) -> None:
        super().await_runs()
        if self._answer_screen:
            self._answer_screen.await_end(LEAVING_S)
