"""The app's last word when another library is to open in its place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LibrarySwitch:
    """Open the sample after the user's library, or the user's after the sample."""

    address: str = ""
    """Unsent text of the library's field, which the user's library takes over."""
