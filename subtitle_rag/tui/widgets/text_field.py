"""A one-line text field that plays well with input methods."""

from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.highlighter import Highlighter
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input

from subtitle_rag.tui.state import pasted_address, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text
    from textual import events
    from textual.screen import Screen


MAX_PASTED = 10_000
"""Characters of a pasted text: no query, address or path is as long, and every key draws the field."""


class VisibleHighlighter(Highlighter):
    def highlight(self, text: "Text") -> None:
        text.plain = visible(text.plain)


class TextField(Input):
    """A text field that steals no key of ours: ctrl+d, ctrl+k and the like of `Input` lose to priority bindings."""

    virtual_size = Reactive(Size(0, 0))
    """Constant, so that no key causes a new layout: the width of the field does not depend on its text."""

    def __init__(self, placeholder: str, id: str) -> None:
        super().__init__(
            placeholder=placeholder, id=id, compact=True, select_on_focus=False, highlighter=VisibleHighlighter()
        )
        self.replacement = ""
        """A text that → at the end of the value puts in its place; empty for none."""
        # every repaint can make the window of an input method flicker
        self.cursor_blink = False

    @property
    def cursor_screen_offset(self) -> Offset:
        """The cell of the caret: Textual 8.2.8 adds one at the text's end, and a composition is drawn beside it."""
        left, top, _width, _height = self.content_region
        return Offset(left + self._position_to_cell(self.cursor_position) - self.scroll_offset.x, top)

    def action_cursor_right(self, select: bool = False) -> None:
        """Move the cursor; at the end of the value, put the replacement in its place."""
        if self.replacement and not select and self.cursor_position == len(self.value):
            self.replace_value(self.replacement)
        else:
            super().action_cursor_right(select)

    def on_resize(self) -> None:
        """Keep the cursor in view, and place the caret: the field got the focus before it had a place."""
        cursor = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(cursor, 0, 1, 1), animate=False, force=True)
        self._place_caret()

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_x(old_value, new_value)
        self._place_caret()

    def _place_caret(self) -> None:
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset

    class AddressPasted(Message):
        """A web address was pasted: neither a query nor a part of the field's text."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    def _on_paste(self, event: "events.Paste") -> None:
        if address := pasted_address(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.AddressPasted(address))
        event.text = event.text[:MAX_PASTED]

    def replace_value(self, text: str) -> None:
        """Put a text in the place of the value, with the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)

    def take_paste(self, text: str) -> None:
        """Take text pasted elsewhere on the screen as one pasted here."""
        if address := pasted_address(text):
            self.post_message(self.AddressPasted(address))
        else:
            self.put(text)

    def put(self, text: str) -> None:
        """Insert the first line of a text at the cursor."""
        self.focus()
        self.insert_text_at_cursor(next(iter(text[:MAX_PASTED].strip().splitlines()), ""))


def after_typing(screen: "Screen[Any]", act: "Callable[..., object]", *arguments: object) -> None:
    """Call `act` after the keys before this one have arrived.

    An input method delivers its last syllable and Enter in one breath, and the app gets Enter before the field has
    the syllable.
    """
    (screen.focused or screen).call_later(screen.call_later, act, *arguments)
