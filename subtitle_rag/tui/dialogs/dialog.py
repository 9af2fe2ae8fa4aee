"""The base of all dialogs: modal screens that return a result, or None."""

from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    def action_back(self) -> None:
        """Close with the harmless answer."""
        self.dismiss(None)
