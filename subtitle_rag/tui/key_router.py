"""Where a key goes: text to a field, anything else to the commands.

A word of Hangul is never a command. An input method delivers composed syllables, which go to the field of the screen
where none has the focus. A letter of Hangul by itself is what its key is in Latin mode, unless text follows at once:
without an input method a word comes letter by letter.
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
"""Longest time between two letters of a word."""
LATE_S = 0.05
"""Time after a key in which no hand types another syllable."""
LINE_MODE = {"ctrl+j": "enter", "ctrl+@": "ctrl+d"}
"""What Enter and Ctrl+D leave in a terminal that still reads lines, as before the app's first frame."""
OPENING_S = 0.02
"""Time between two looks whether screen and library are open."""


class KeyRouter:
    """Hands on keys and pasted texts in their order. They wait while a screen or the library opens."""

    def __init__(
        self,
        app: PagesApp,
        deliver: Callable[[events.Event], Awaitable[None]],
        typed: Iterable[events.Key | events.Paste],
    ) -> None:
        """`deliver` runs the command of a key, or hands it to what has the focus. `typed` comes first."""
        self._app = app
        self._deliver = deliver
        self.waiting = deque(typed)
        self.is_closed = False
        """The app ends: what comes is for the one that opens in its place."""
        self._doubted: events.Key | events.Paste | None = None
        """For what follows this one it was waited long enough."""
        self._composed_in: Widget | None = None
        """What had the focus at the last key, unless that was Hangul."""
        self._pressed_at = 0.0
        """The time of the last key."""

    @property
    def waits(self) -> bool:
        """Whether a key waits: to be handed on, or for what follows it."""
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
            self._app.app_focus = True  # few terminals tell when they have it again
            event = self.waiting[0]
            following = self.waiting[1] if len(self.waiting) > 1 else None
            if following is None and event is not self._doubted and (doubt_s := self._doubt_s(event)):
                self._app.set_timer(doubt_s, partial(self._doubt_ended, event))
                return
            self.waiting.popleft()
            if isinstance(following, events.Key) and following.key == "backspace" and self._may_begin_word(event):
                self.waiting.popleft()  # a telephone's keyboard takes the letter back for the syllable
            else:
                await self._press(event, is_word=is_text(following))

    async def _doubt_ended(self, event: events.Key | events.Paste) -> None:
        self._doubted = event
        await self.hand_on()

    def _doubt_s(self, event: events.Key | events.Paste) -> float:
        """Return how long to wait for what follows a key, as that decides what it is."""
        return HOLD_S if self._may_begin_word(event) else LATE_S if self._may_be_late(event) else 0.0

    @property
    def _is_open(self) -> bool:
        """Whether the screen on top has its widgets, and the command of the first key does not wait for the library."""
        if not (self._app.screen_stack and self._app.screen.is_mounted):
            return False
        event = self.waiting[0]
        if self._app.library_is_open or isinstance(event, events.Paste):
            return True
        commands = [(node, binding) for node, binding in self._bindings(event) if binding.priority]
        return not commands or any(self._app._check_action_state(each.action, node) for node, each in commands)

    async def _press(self, event: events.Key | events.Paste, *, is_word: bool) -> None:
        """Press a key; `is_word`: text follows at once."""
        if self._may_be_late(event) and not is_word:
            self._take_late(event)
            return
        self._composed_in = None if is_hangul(event) else self._app.focused
        self._pressed_at = event.time
        if address := self._address(event):
            self._app.action_open_library(address)
        elif is_text(event) and (not self._is_command(event) or (is_word and is_letter(event))):
            self._app.screen._clear_tooltip()  # it lies over what is typed
            target = self._field() or self._app.focused or self._app.screen
            target._forward_event(event)
        else:
            await self._deliver(event)

    def _address(self, event: events.Key | events.Paste) -> str | None:
        """Return the address in a pasted text. In a dialog it is as good as any text."""
        if not isinstance(event, events.Paste) or self._app.screen.is_modal:
            return None
        return pasted_address(event.text)

    def _is_command(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key is that of a command, be it possible at the moment or not. In a field text is none."""
        if isinstance(event, events.Paste) or (isinstance(self._app.focused, Input) and is_text(event)):
            return False
        return bool(self._bindings(event))

    def _bindings(self, event: events.Key) -> list[tuple[DOMNode, Binding]]:
        """Return what a key is bound to, and where."""
        chain = self._app.screen._binding_chain
        return [(node, binding) for node, keys in chain for binding in keys.key_to_bindings.get(event.key, ())]

    def _field(self) -> Input | None:
        """Return the field with the focus. Without one, give it to the field of the screen.

        A page without a field leads back to the search.
        """
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
        """Return whether a key is a letter of Hangul and that of a command."""
        return is_letter(event) and self._is_command(event)

    def _may_be_late(self, event: events.Key | events.Paste) -> bool:
        """Return whether an input method may have composed a syllable before the key which ended that.

        A user who presses F3 after 치킨 sees the whole word in the field. Some terminals send the key first, and the
        last syllable milliseconds later, when another field has the focus, or keys are commands.
        """
        field = self._composed_in
        is_elsewhere = isinstance(field, TextField) and field is not self._app.focused and field.is_attached
        return is_hangul(event) and is_elsewhere and event.time - self._pressed_at <= LATE_S

    def _take_late(self, event: events.Key | events.Paste) -> None:
        """Put a syllable into the field where it was composed."""
        if isinstance(self._composed_in, TextField) and isinstance(event, events.Key):
            self._composed_in.insert_text_at_cursor(event.character or "")
            self._composed_in = None  # no more than one comes late
            self._app.query_changed()


def is_letter(event: events.Event) -> bool:
    """Return whether a key types a letter of Hangul by itself."""
    return isinstance(event, events.Key) and "ㄱ" <= (event.character or "") <= "ㅣ"


def is_hangul(event: events.Event) -> bool:
    """Return whether a key types a syllable or a letter of Hangul."""
    return is_letter(event) or (isinstance(event, events.Key) and "가" <= (event.character or "") <= "힣")


def is_text(event: events.Event | None) -> bool:
    """Return whether an event brings text that a field takes."""
    return isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
