"""The themes: Textual's own, and those of `[themes]`; and which one the app begins with."""

from typing import TYPE_CHECKING, NoReturn

from textual.color import Color, ColorParseError
from textual.css.constants import VALID_STYLE_FLAGS
from textual.theme import BUILTIN_THEMES, Theme

from subtitle_rag.config_file import nearest
from subtitle_rag.errors import UsageError
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
    return {name: _theme(settings, name, one) for name, one in settings.themes.items()}


def check(settings: "Settings") -> None:
    """Whether what the config says of themes can be used; raises as `made` does."""
    known = {**BUILTIN_THEMES, **made(settings)}
    named = settings.tui.theme
    if named and named not in known:
        reason = _("there is no theme {name}").format(name=named) + nearest(named, known)
        _refuse(settings, f"tui.theme: {reason}")


def _theme(settings: "Settings", name: str, one: "ThemeSettings") -> Theme:
    colours = {field: getattr(one, field) for field in COLOURS if getattr(one, field)}
    if "primary" not in colours:
        _refuse(settings, _("{name} is missing").format(name=f"themes.{name}.primary"))
    for field, colour in colours.items():
        if not _is_colour(colour):
            said = _("{name} is no colour: {value}")
            _refuse(settings, said.format(name=f"themes.{name}.{field}", value=colour))
    theme = Theme(
        name,
        **colours,
        dark=one.dark,
        ansi=one.ansi,
        luminosity_spread=one.luminosity_spread,
        text_alpha=one.text_alpha,
        variables=dict(one.variables),
    )
    _check_variables(settings, name, one)
    return theme


def _check_variables(settings: "Settings", name: str, one: "ThemeSettings") -> None:
    known = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    for field, value in one.variables.items():
        prefix = f"themes.{name}.variables."
        if field not in known:
            said = _("there is no setting {name}").format(name=prefix + field)
            _refuse(settings, said + nearest(field, known, prefix))
        words = value.split()
        styled = "style" in field and words and VALID_STYLE_FLAGS.issuperset(words)
        coloured = "style" not in field and _is_colour(value.rpartition(" ")[0] if value.endswith("%") else value)
        if not styled and not coloured:
            said = _("{name} is no style: {value}") if "style" in field else _("{name} is no colour: {value}")
            _refuse(settings, said.format(name=prefix + field, value=value))


def _is_colour(value: str) -> bool:
    try:
        Color.parse(value)
    except ColorParseError:
        return value == "auto"
    return True


def _refuse(settings: "Settings", reason: str) -> NoReturn:
    raise UsageError("bad_config", path=str(settings.paths.config), reason=reason)
