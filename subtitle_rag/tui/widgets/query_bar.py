"""The line at the top of the search and of the answers: a sign, the field, and a counter."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.tui.state import clean
from subtitle_rag.tui.widgets.status_bars import Counter
from subtitle_rag.tui.widgets.text_field import TextField


class QueryBar(Horizontal):
    def __init__(self, field: TextField) -> None:
        super().__init__(id="top")
        self._prompt = Static("❯", id="prompt", markup=False)
        self._field = field
        self.counter = Counter()

    def compose(self) -> ComposeResult:
        yield self._prompt
        yield self._field
        yield self.counter

    def set_prompt(self, sign: str) -> None:
        self._prompt.update(Content(sign))

    def set_hint(self, hint: str) -> None:
        """Show under the field why its text is not searched or asked, or the words that the library lacks.

        Empty: show nothing.
        """
        subtitle = Content(f"! {clean(hint)}").markup if hint else None
        if subtitle != self.border_subtitle:  # each assignment redraws the line
            self.border_subtitle = subtitle
