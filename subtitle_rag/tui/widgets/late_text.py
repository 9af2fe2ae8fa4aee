"""Text that an input method delivers after the key that ended its composition.

A user who presses F3 behind 치킨 sees the whole word in the field. Some terminals send the key first, and the last
syllable milliseconds later, when another field has the focus, or keys are commands.
"""

from typing import TYPE_CHECKING

from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from textual import events
    from textual.widget import Widget

LATE_S = 0.05
"""Time after a key in which no hand types another syllable."""


class LateText:
    """The field that had the focus at the last key."""

    def __init__(self) -> None:
        self._field: TextField | None = None
        self._pressed_at = 0.0

    def take(self, event: "events.Key", focused: "Widget | None") -> bool:
        """Put a late syllable into the field where it was composed, and return whether `event` is one."""
        character = event.character or ""
        if not ("ㄱ" <= character <= "ㅣ" or "가" <= character <= "힣"):
            self._field = focused if isinstance(focused, TextField) else None
            self._pressed_at = event.time
            return False
        field = self._field
        if field is None or field is focused or not field.is_attached or event.time - self._pressed_at > LATE_S:
            return False
        field.insert_text_at_cursor(character)
        return True
