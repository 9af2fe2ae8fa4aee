"""Where a screen has room for its preview."""

from enum import Enum

WIDE = 100
"""Columns from which there is room beside the list."""


class PreviewRoom(Enum):
    """The values are classes of the style sheet."""

    BESIDE = "-beside"
    BELOW = "-below"
    OVER = "-over"
    """None by itself: a key opens the preview over the list."""


def choose_preview_room(width: int, height: int, *, beside_rows: int, below_rows: int) -> PreviewRoom:
    """Return the room on a screen of this size. Beside or below the list, the preview needs so many rows of screen."""
    if width >= WIDE:
        return PreviewRoom.BESIDE if height >= beside_rows else PreviewRoom.OVER
    return PreviewRoom.BELOW if height >= below_rows else PreviewRoom.OVER
