"""The theme that the settings name, among Textual's own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.theme import BUILTIN_THEMES

from subtitle_rag.config import Mistake, bad_config, mistake_in, nearest
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.config import Settings

SIXTEEN_COLOURS = "ansi-dark"
"""The theme of terminals with 16 colours, to which those of other themes are far: orange becomes red."""


def theme_at_start(settings: "Settings", remembered: str, color_system: str | None) -> str:
    """Return the theme of the settings, else the remembered one, else one that the terminal can show; or nothing."""
    usual = SIXTEEN_COLOURS if color_system == "standard" else ""
    return settings.tui.theme or remembered or usual


def check(settings: "Settings") -> None:
    """Raise UsageError `bad_config` if the config names a theme that there is not."""
    for mistake in mistakes(settings):
        raise bad_config(mistake)


def mistakes(settings: "Settings") -> Iterator[Mistake]:
    """Yield the mistake if the config names a theme that there is not."""
    name = settings.tui.theme
    if name and name not in BUILTIN_THEMES:
        message = "tui.theme: " + _("there is no theme {name}").format(name=name)
        yield mistake_in(settings.paths.config, "tui.theme", message, nearest(name, BUILTIN_THEMES))
