"""One-line text fields that work well with input methods, and the bar at the top of a screen with one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.highlighter import Highlighter
from textual import events, on, work
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from subtitle_rag.base.domain.values import tidy
from subtitle_rag.tui.shared import source_field
from subtitle_rag.tui.shared.clean_text import visible
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.messages import FieldChecked, FieldTaken
from subtitle_rag.tui.shared.source_field import pasted_line

if TYPE_CHECKING:
    from rich.text import Text


MAX_PASTED = 10_000
"""Most characters of a pasted text: no query, address or path is as long, and every key redraws the field."""


EDITING_KEYS = {
    binding.key: binding.action
    for binding in Binding.make_bindings(Input.BINDINGS)
    if binding.action.startswith(("cursor_", "delete_", "home", "end"))
}
"""Keys of `Input` that move the cursor or delete, with their actions. The app's own keys come first."""


class VisibleHighlighter(Highlighter):
    def highlight(self, text: "Text") -> None:
        text.plain = visible(text.plain)


class TextField(Input):
    """A text field that leaves the app's keys alone: ctrl+d, ctrl+k and other keys of `Input` lose to priority
    bindings.
    """

    virtual_size = Reactive(Size(0, 0))
    """Constant, so that no key causes a new layout: the field's width does not depend on its text."""

    def __init__(self, placeholder: str, id: str) -> None:
        super().__init__(
            placeholder=placeholder, id=id, compact=True, select_on_focus=False, highlighter=VisibleHighlighter()
        )
        self.replacement = ""
        """Text that replaces the value when → is pressed at its end; empty for none."""
        # Every repaint may make the window of an input method flicker.
        self.cursor_blink = False
        # Textual 8.2.8 does not scroll to the end of a long initial text.
        self._initial_value = False

    @property
    def typed(self) -> str:
        """The text, tidied."""
        return tidy(self.value)

    async def _on_key(self, event: events.Key) -> None:
        """Edit in the order of the keys.

        Textual inserts letters here, but runs editing keys only after they reach the app. Input methods of phones send
        a burst per syllable, so the letters would arrive before the deletions.
        """
        if action := EDITING_KEYS.get(event.key):
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    @property
    def cursor_screen_offset(self) -> Offset:
        """The cell of the caret: Textual 8.2.8 adds one at the end of the text, where compositions appear."""
        x, y, _width, _height = self.content_region
        return Offset(x + self._position_to_cell(self.cursor_position) - self.scroll_offset.x, y)

    def action_cursor_right(self, select: bool = False) -> None:
        """Move the cursor; at the end of the value, replace it."""
        if self.replacement and not select and self.cursor_position == len(self.value):
            self.replace_value(self.replacement)
        else:
            super().action_cursor_right(select)

    def action_delete_left_word(self) -> None:
        """Delete back to a space, as a shell does, so that a filter or an address goes whole."""
        if self.selection.is_empty:
            before = self.value[: self.cursor_position].rstrip()
            self.delete(before.rfind(" ") + 1, self.cursor_position)
        else:
            self.delete_selection()

    def on_resize(self) -> None:
        """Keep the cursor visible and place the caret: the field had the focus before it had a position."""
        cursor = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(cursor, 0, 1, 1), animate=False, force=True)
        self._place_caret()

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_x(old_value, new_value)
        self._place_caret()

    def _place_caret(self) -> None:
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset

    def _on_paste(self, event: events.Paste) -> None:
        """Keep all lines: the handler of `Input`, which runs next, keeps only the first."""
        first, *rest = event.text[:MAX_PASTED].splitlines() or [""]
        event.text = " ".join(filter(None, map(str.strip, (first, *rest)))) if rest else first

    def replace_value(self, text: str) -> None:
        """Replace the value, with the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)


def after_typing(screen: Screen[Any], act: Callable[..., object], *arguments: object) -> None:
    """Call `act` after the keys before this one have arrived.

    An input method sends its last syllable together with Enter, and the app receives Enter before the field has the
    syllable.
    """
    (screen.focused or screen).call_later(screen.call_later, act, *arguments)


class SourceInput(TextField):
    """Posts `FieldChecked` after each change, and `FieldTaken` after `submit`."""

    @on(Input.Changed)
    @work(thread=True, group="look", exclusive=True, exit_on_error=False)
    def _check(self, event: Input.Changed) -> None:
        worker = get_current_worker()
        check = source_field.look(event.value, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(FieldChecked(event.value, check))

    def _on_paste(self, event: events.Paste) -> None:
        """Write the lines as on a command line, since they are files."""
        event.text = pasted_line(event.text[:MAX_PASTED])

    @work(thread=True, group="take", exclusive=True, exit_on_error=False)
    def submit(self, value: str, whole_list: bool) -> None:
        """Read the value; `whole_list` selects the lists in addresses of videos."""
        check = source_field.read(value, whole_list=whole_list)
        self.post_message(FieldTaken(value, source_field.look(value) if check.kind == "files" else check))


class Counter(Static):
    """A line as wide as its text, without a new layout while the width stays the same."""

    def __init__(self) -> None:
        super().__init__(id="counter", markup=False)
        self._content = Content()

    def say(self, text: str) -> None:
        before, self._content = self._content, Content(text)
        if self._content != before:
            self.update(self._content, layout=self._content.cell_length != before.cell_length)


class QueryBar(Horizontal):
    """The panel at the top of the search, the answers and a transcript: a sign, the field, and a counter."""

    def __init__(self, field: TextField, title: str) -> None:
        self._prompt = Static("❯", id="prompt", markup=False)
        self.field = field
        self.counter = Counter()
        super().__init__(self._prompt, field, self.counter, id="top", classes="panel")
        self._title = title
        label_panel(self, title)

    def set_prompt(self, sign: str) -> None:
        self._prompt.update(Content(sign))

    def set_hint(self, hint: str) -> None:
        """Show under the field why its text is not searched, its unknown words, or an offer, which begins with an
        arrow.

        Empty: show nothing.
        """
        is_offer = hint.startswith("→")
        self.set_class(not is_offer, "-warned")
        label_panel(self, self._title, hint if is_offer or not hint else f"! {hint}")
