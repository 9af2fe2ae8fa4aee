"""The base of all dialogs: modal screens that return a result, or None."""

from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    def check_consume_key(self, key: str, character: str | None) -> bool:  # noqa: ARG002 - Textual calls it so
        """Keep letters from the commands of the app: a key that was meant for the dialog must not close it."""
        return character is not None and character.isprintable()

    def action_back(self) -> None:
        """Close with the harmless answer."""
        self.dismiss(None)
