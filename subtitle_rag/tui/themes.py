"""The themes: Textual's own, and those of `[themes]`; and which one the app begins with."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.color import Color, ColorParseError
from textual.css.constants import VALID_STYLE_FLAGS
from textual.theme import BUILTIN_THEMES, Theme

from subtitle_rag.config_file import Mistake, bad_config, mistake_in, nearest
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.config import Settings, ThemeSettings

COLOURS = (
    *("primary", "secondary", "accent", "foreground", "background", "surface", "panel", "boost"),
    *("success", "warning", "error"),
)


def made(settings: "Settings") -> dict[str, Theme]:
    """The user's own themes by name.

    Raises:
        UsageError: `bad_config`, naming the theme's field that is none of its kind.
    """
    for name, one in settings.themes.items():
        _raise_first(_theme_mistakes(settings, name, one))
    return {name: _theme(name, one) for name, one in settings.themes.items()}


def check(settings: "Settings") -> None:
    """Whether what the config says of themes can be used; raises as `made` does."""
    _raise_first(mistakes(settings))


def mistakes(settings: "Settings") -> Iterator[Mistake]:
    """All that cannot be used of what the config says of themes."""
    for name, one in settings.themes.items():
        yield from _theme_mistakes(settings, name, one)
    named, known = settings.tui.theme, {*BUILTIN_THEMES, *settings.themes}
    if named and named not in known:
        message = "tui.theme: " + _("there is no theme {name}").format(name=named)
        yield mistake_in(settings.paths.config, "tui.theme", message, nearest(named, known))


def _raise_first(found: Iterator[Mistake]) -> None:
    for mistake in found:
        raise bad_config(mistake)


def _theme_mistakes(settings: "Settings", name: str, one: "ThemeSettings") -> Iterator[Mistake]:
    path = settings.paths.config
    if not one.primary:
        key = f"themes.{name}.primary"
        yield mistake_in(path, key, _("{name} is missing").format(name=key))
    for field in COLOURS:
        colour = getattr(one, field)
        if colour and not _is_colour(colour):
            key = f"themes.{name}.{field}"
            yield mistake_in(path, key, _("{name} is no colour: {value}").format(name=key, value=colour))
    if not one.variables:
        return
    known = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    for field, value in one.variables.items():
        prefix = f"themes.{name}.variables."
        key = prefix + field
        if field not in known:
            yield mistake_in(path, key, _("there is no setting {name}").format(name=key), nearest(field, known, prefix))
            continue
        words = value.split()
        styled = "style" in field and words and VALID_STYLE_FLAGS.issuperset(words)
        coloured = "style" not in field and _is_colour(value.rpartition(" ")[0] if value.endswith("%") else value)
        if not styled and not coloured:
            said = _("{name} is no style: {value}") if "style" in field else _("{name} is no colour: {value}")
            yield mistake_in(path, key, said.format(name=key, value=value))


def _theme(name: str, one: "ThemeSettings") -> Theme:
    return Theme(
        name,
        **{field: getattr(one, field) for field in COLOURS if getattr(one, field)},
        dark=one.dark,
        ansi=one.ansi,
        luminosity_spread=one.luminosity_spread,
        text_alpha=one.text_alpha,
        variables=dict(one.variables),
    )


def _is_colour(value: str) -> bool:
    try:
        Color.parse(value)
    except ColorParseError:
        return value == "auto"
    return True
