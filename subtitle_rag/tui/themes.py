"""The user's themes, from the config's `[themes]`, beside Textual's own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.color import Color, ColorParseError
from textual.css.constants import VALID_STYLE_FLAGS
from textual.theme import BUILTIN_THEMES, Theme

from subtitle_rag.config import Mistake, bad_config, mistake_in, nearest
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.config import Settings, ThemeSettings

COLOURS = (
    *("primary", "secondary", "accent", "foreground", "background", "surface", "panel", "boost"),
    *("success", "warning", "error"),
)


SIXTEEN_COLOURS = "ansi-dark"
"""The theme of terminals with 16 colours, to which those of other themes are far: orange becomes red."""


def theme_at_start(settings: "Settings", remembered: str, color_system: str | None) -> str:
    """Return the theme of the settings, else the remembered one, else one that the terminal can show; or nothing."""
    usual = SIXTEEN_COLOURS if color_system == "standard" else ""
    return settings.tui.theme or remembered or usual


def user_themes(settings: "Settings") -> dict[str, Theme]:
    """Return the user's own themes by name. `check` must have passed them."""
    return {name: _theme(name, theme) for name, theme in settings.themes.items()}


def check(settings: "Settings") -> None:
    """Check the config's themes.

    Raises:
        UsageError: `bad_config`, with the first mistake.
    """
    for mistake in mistakes(settings):
        raise bad_config(mistake)


def mistakes(settings: "Settings") -> Iterator[Mistake]:
    """Yield every mistake in the config's themes."""
    for name, theme in settings.themes.items():
        yield from _theme_mistakes(settings, name, theme)
    name, names = settings.tui.theme, {*BUILTIN_THEMES, *settings.themes}
    if name and name not in names:
        message = "tui.theme: " + _("there is no theme {name}").format(name=name)
        yield mistake_in(settings.paths.config, "tui.theme", message, nearest(name, names))


def _theme_mistakes(settings: "Settings", name: str, theme: "ThemeSettings") -> Iterator[Mistake]:
    path = settings.paths.config
    if not theme.primary:
        key = f"themes.{name}.primary"
        yield mistake_in(path, key, _("{name} has no colour").format(name=key))
    for field in COLOURS:
        colour = getattr(theme, field)
        if colour and not _is_colour(colour):
            key = f"themes.{name}.{field}"
            yield mistake_in(path, key, _("{name} is not a colour: {value}").format(name=key, value=colour))
    if not theme.variables:
        return
    variables = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    for field, value in theme.variables.items():
        prefix = f"themes.{name}.variables."
        key = prefix + field
        if field not in variables:
            yield mistake_in(
                path, key, _("there is no setting {name}").format(name=key), nearest(field, variables, prefix)
            )
            continue
        words = value.split()
        styled = "style" in field and words and VALID_STYLE_FLAGS.issuperset(words)
        coloured = "style" not in field and _is_colour(value.rpartition(" ")[0] if value.endswith("%") else value)
        if not styled and not coloured:
            message = _("{name} is not a style: {value}") if "style" in field else _("{name} is not a colour: {value}")
            yield mistake_in(path, key, message.format(name=key, value=value))


def _theme(name: str, theme: "ThemeSettings") -> Theme:
    return Theme(
        name,
        **{field: getattr(theme, field) for field in COLOURS if getattr(theme, field)},
        dark=theme.dark,
        ansi=theme.ansi,
        luminosity_spread=theme.luminosity_spread,
        text_alpha=theme.text_alpha,
        variables=dict(theme.variables),
    )


def _is_colour(value: str) -> bool:
    try:
        Color.parse(value)
    except ColorParseError:
        return value == "auto"
    return True
