"""Where a key goes: text to a field, anything else to the commands.

A word of Hangul is never a command. An input method delivers composed syllables, which go to the field of the screen
where none has the focus. A letter of Hangul by itself is what its key is in Latin mode, unless text follows at once:
without an input method a word comes letter by letter.
"""

from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual._time import get_time
from textual.widgets import Input

from subtitle_rag.tui.screens import BaseScreen
from subtitle_rag.tui.state import pasted_address
from subtitle_rag.tui.widgets import TextField

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import App
    from textual.widget import Widget

    from subtitle_rag.tui.navigation import Navigation

HOLD_S = 0.3
"""Longest time between two letters of a word."""
LATE_S = 0.05
"""Time after a key in which no hand types another syllable."""
OPENING_S = 0.02
"""Time between two looks whether a screen is open."""


class KeyRouter:
    """Hands on keys and pasted texts in their order. They wait while a screen opens."""

    def __init__(
        self, app: "App[object]", navigation: "Navigation", deliver: "Callable[[events.Event], Awaitable[None]]"
    ) -> None:
        """`deliver` runs the command of a key, or hands it to what has the focus."""
        self._app = app
        self._navigation = navigation
        self._deliver = deliver
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._late_text = LateSyllables()

    @property
    def waits(self) -> bool:
        """Whether a key waits for a screen, or for what follows it."""
        return bool(self._waiting)

    async def take(self, event: events.Key | events.Paste) -> None:
        self._waiting.append(event)
        await self._hand_on()

    async def _hand_on(self) -> None:
        while self._waiting:
            if not (self._app.screen_stack and self._app.screen.is_mounted):
                self._app.set_timer(OPENING_S, self._hand_on)
                return
            self._app.app_focus = True  # few terminals tell when they have it again
            event = self._waiting[0]
            is_word = False
            if isinstance(event, events.Key) and is_letter(event) and self._is_command(event):
                following = self._waiting[1] if len(self._waiting) > 1 else None
                if following is None and (rest := event.time + HOLD_S - get_time()) > 0:
                    self._app.set_timer(rest, self._hand_on)
                    return
                if isinstance(following, events.Key) and following.key == "backspace":  # it takes the letter away
                    self._waiting.popleft()
                    self._waiting.popleft()
                    continue
                is_word = following is not None and is_text(following)
            self._waiting.popleft()
            await self._press(event, is_word=is_word)

    async def _press(self, event: events.Key | events.Paste, *, is_word: bool) -> None:
        if address := self._address(event):
            self._navigation.show_library(address)
        elif isinstance(event, events.Key) and self._late_text.take(event, self._app.focused):
            self._navigation.query_changed()
        elif is_word or (is_text(event) and not self._is_command(event)):
            target = self._field() or self._app.focused or self._app.screen
            target._forward_event(event)
        else:
            await self._deliver(event)

    def _address(self, event: events.Key | events.Paste) -> str | None:
        """Return the address in a pasted text. In a dialog it is as good as any text."""
        is_page = isinstance(event, events.Paste) and not self._app.screen.is_modal
        return pasted_address(event.text) if is_page else None

    def _is_command(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key is that of a command, be it possible at the moment or not. In a field text is none."""
        if isinstance(event, events.Paste) or isinstance(self._app.focused, Input):
            return False
        chain = self._app.screen._binding_chain
        return any(event.key in bindings.key_to_bindings for _node, bindings in chain)

    def _field(self) -> Input | None:
        """Return the field with the focus. Without one, give it to the field of the screen.

        A page without a field leads back to the search.
        """
        screen = self._app.screen
        if isinstance(screen.focused, Input):
            return screen.focused
        field = next((field for field in screen.query(TextField) if field.focusable), None)
        if field is None and isinstance(screen, BaseScreen):
            field = self._navigation.begin_search()
        if field is not None:
            self._app.screen.set_focus(field)
        return field


class LateSyllables:
    """Text that an input method delivers after the key that ended its composition.

    A user who presses F3 after 치킨 sees the whole word in the field. Some terminals send the key first, and the last
    syllable milliseconds later, when another field has the focus, or keys are commands.
    """

    def __init__(self) -> None:
        self._field: TextField | None = None
        """It had the focus at the last key."""
        self._pressed_at = 0.0

    def take(self, event: events.Key, focused: "Widget | None") -> bool:
        """Put a late syllable into the field where it was composed, and return whether `event` is one."""
        character = event.character or ""
        if not ("가" <= character <= "힣" or is_letter(event)):
            self._field = focused if isinstance(focused, TextField) else None
            self._pressed_at = event.time
            return False
        field = self._field
        if field is None or field is focused or not field.is_attached or event.time - self._pressed_at > LATE_S:
            return False
        field.insert_text_at_cursor(character)
        return True


def is_letter(event: events.Key) -> bool:
    """Return whether a key types a letter of Hangul by itself."""
    return "ㄱ" <= (event.character or "") <= "ㅣ"


def is_text(event: events.Event | None) -> bool:
    """Return whether an event brings text that a field takes."""
    return isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
