"""Routing of keys: text goes to a field, everything else to commands.

Composed Hangul syllables are always text: if no field has the focus, they go to the screen's field. A single Hangul
letter counts as the same key in Latin mode (ㅈ is `w`), unless more text follows at once: without an input method,
words arrive letter by letter.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Input

from subtitle_rag.tui.navigation import PagesApp
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.shared.fields.text_field import TextField
from subtitle_rag.tui.shared.source_field import pasted_address

HOLD_S = 0.3
"""Longest pause between two letters of a word."""
LATE_S = 0.05
"""A syllable this soon after a key is not newly typed: the terminal delivered it late."""
LINE_MODE = {"ctrl+j": "enter", "ctrl+@": "ctrl+d"}
"""Enter and Ctrl+D as they arrive if typed before the app's first frame, while the terminal was in line mode."""
OPENING_S = 0.02
"""Interval of checks whether screen and library are open."""


class KeyRouter:
    """Delivers keys and pastes in order, and holds them while a screen or the library opens."""

    def __init__(
        self,
        app: PagesApp,
        deliver: Callable[[events.Event], Awaitable[None]],
        typed: Iterable[events.Key | events.Paste],
    ) -> None:
        """Deliver `typed` first. `deliver` runs the key's command or passes the event to the focused widget."""
        self._app = app
        self._deliver = deliver
        self.waiting = deque(typed)
        self.is_closed = False
        """The app is ending: further keys are for the app that replaces it."""
        self._doubted: events.Key | events.Paste | None = None
        """The event that has already been held for a possible follower."""
        self._composed_in: Widget | None = None
        """The widget with the focus at the last key, unless that key was Hangul."""
        self._pressed_at = 0.0
        """Time of the last key."""

    @property
    def waits(self) -> bool:
        """Whether any key is held."""
        return bool(self.waiting)

    async def take(self, event: events.Key | events.Paste) -> None:
        early = None if self._app.library_is_open else LINE_MODE.get(getattr(event, "key", ""))
        self.waiting.append(events.Key(early, None) if early else event)
        await self.hand_on()

    async def hand_on(self) -> None:
        while self.waiting and not self.is_closed:
            if not self._is_open:
                self._app.set_timer(OPENING_S, self.hand_on)
                return
            self._app.app_focus = True  # few terminals report regained focus
            event = self.waiting[0]
            following = self.waiting[1] if len(self.waiting) > 1 else None
            if following is None and event is not self._doubted and (doubt_s := self._doubt_s(event)):
                self._app.set_timer(doubt_s, partial(self._doubt_ended, event))
                return
            self.waiting.popleft()
            if isinstance(following, events.Key) and following.key == "backspace" and self._may_begin_word(event):
                self.waiting.popleft()  # phone keyboards delete the letter, then send the syllable
            else:
                await self._press(event, is_word=is_text(following))

    async def _doubt_ended(self, event: events.Key | events.Paste) -> None:
        self._doubted = event
        await self.hand_on()

    def _doubt_s(self, event: events.Key | events.Paste) -> float:
        """Return how long to hold an event whose meaning depends on the next one."""
        return HOLD_S if self._may_begin_word(event) else LATE_S if self._may_be_late(event) else 0.0

    @property
    def _is_open(self) -> bool:
        """Whether the first event can be handled: the screen is mounted, and no command needs the unopened library."""
        if not (self._app.screen_stack and self._app.screen.is_mounted):
            return False
        event = self.waiting[0]
        if self._app.library_is_open or isinstance(event, events.Paste):
            return True
        commands = [(node, binding) for node, binding in self._bindings(event) if binding.priority]
        return not commands or any(self._app._check_action_state(each.action, node) for node, each in commands)

    async def _press(self, event: events.Key | events.Paste, *, is_word: bool) -> None:
        """Deliver an event. `is_word` means that text follows at once."""
        if self._may_be_late(event) and not is_word:
            self._take_late(event)
            return
        self._composed_in = None if is_hangul(event) else self._app.focused
        self._pressed_at = event.time
        if address := self._address(event):
            self._app.action_open_library(address)
        elif is_text(event) and (not self._is_command(event) or (is_word and is_letter(event))):
            self._app.screen._clear_tooltip()  # it would cover the typed text
            target = self._field() or self._app.focused or self._app.screen
            target._forward_event(event)
        else:
            await self._deliver(event)

    def _address(self, event: events.Key | events.Paste) -> str | None:
        """Return the address in a pasted text. Dialogs take addresses as plain text."""
        if not isinstance(event, events.Paste) or self._app.screen.is_modal:
            return None
        return pasted_address(event.text)

    def _is_command(self, event: events.Key | events.Paste) -> bool:
        """Return whether a command has this key, even a disabled one. In a field, text never runs commands."""
        if isinstance(event, events.Paste) or (isinstance(self._app.focused, Input) and is_text(event)):
            return False
        return bool(self._bindings(event))

    def _bindings(self, event: events.Key) -> list[tuple[DOMNode, Binding]]:
        """Return the bindings of a key, each with its node."""
        chain = self._app.screen._binding_chain
        return [(node, binding) for node, keys in chain for binding in keys.key_to_bindings.get(event.key, ())]

    def _field(self) -> Input | None:
        """Return the focused field, or focus the screen's field. A page without one goes back to the search."""
        screen = self._app.screen
        if isinstance(screen.focused, Input):
            return screen.focused
        field = next((field for field in screen.query(TextField) if field.focusable), None)
        if field is None and isinstance(screen, BaseScreen):
            field = self._app.begin_search()
        if field is not None:
            self._app.screen.set_focus(field)
        return field

    # --- Hangul ---

    def _may_begin_word(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key is a Hangul letter that is also a command's key."""
        return is_letter(event) and self._is_command(event)

    def _may_be_late(self, event: events.Key | events.Paste) -> bool:
        """Return whether a syllable may have been composed before the previous key.

        If F3 ends the composition of 치킨, some terminals send F3 first and 킨 milliseconds later, when another field
        may have the focus.
        """
        field = self._composed_in
        is_elsewhere = isinstance(field, TextField) and field is not self._app.focused and field.is_attached
        return is_hangul(event) and is_elsewhere and event.time - self._pressed_at <= LATE_S

    def _take_late(self, event: events.Key | events.Paste) -> None:
        """Insert a late syllable into the field where it was composed."""
        if isinstance(self._composed_in, TextField) and isinstance(event, events.Key):
            self._composed_in.insert_text_at_cursor(event.character or "")
            self._composed_in = None  # only one can be late
            self._app.query_changed()


def is_letter(event: events.Event) -> bool:
    """Return whether a key types a single Hangul letter (ㄱ to ㅣ)."""
    return isinstance(event, events.Key) and "ㄱ" <= (event.character or "") <= "ㅣ"


def is_hangul(event: events.Event) -> bool:
    """Return whether a key types a Hangul syllable or letter."""
    return is_letter(event) or (isinstance(event, events.Key) and "가" <= (event.character or "") <= "힣")


def is_text(event: events.Event | None) -> bool:
    """Return whether an event is text: a paste or a printable key."""
    return isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
