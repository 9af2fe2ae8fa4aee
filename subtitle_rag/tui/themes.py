"""The app's own themes, and the colour roles that every theme defines.

| role | colours |
|---|---|
| `$focus` | border and title of the focused panel, keys in the footer, the current place |
| `$match` | matches of a query |
| `$alert` | warnings and failures |
| `$chosen` | background of the row under the cursor |
| `$line` | unfocused borders and scrollbars |
| `$text-muted` | secondary text in the style sheet; in a `Content` it is `MUTED` |

Each colour has one role; anything else is said in words. The style classes are at the top of `app.tcss`.
"""

from collections.abc import Iterator, Mapping

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from subtitle_rag.base.config.config_file import Mistake, bad_config, mistake_in, nearest
from subtitle_rag.base.config.settings import Settings
from subtitle_rag.base.i18n import _

SIXTEEN_COLOURS = "ansi-dark"
"""The theme for 16-colour terminals, where other themes come out wrong: orange turns red."""
DARK, LIGHT = "calm-dark", "calm-light"
OWN_THEMES = (
    Theme(
        DARK,
        primary="#7aa2f7",
        accent="#e0af68",
        warning="#f7768e",
        error="#f7768e",
        success="#7aa2f7",
        foreground="#c8cdd8",
        background="#14161d",
        surface="#171a22",
        panel="#1b1e27",
        variables={"focus": "#7aa2f7", "match": "#e0af68", "alert": "#f7768e"},
    ),
    Theme(
        LIGHT,
        primary="#2f5fb3",
        accent="#985c00",
        warning="#b3261e",
        error="#b3261e",
        success="#2f5fb3",
        foreground="#2b2f38",
        background="#fafafa",
        surface="#f4f5f7",
        panel="#eceef2",
        dark=False,
        variables={"focus": "#2f5fb3", "match": "#985c00", "alert": "#b3261e"},
    ),
)
THEMES: Mapping[str, Theme] = {theme.name: theme for theme in (*OWN_THEMES, *BUILTIN_THEMES.values())}
"""Themes by name."""
_SIXTEEN: Mapping[str, str] = {
    "focus": "ansi_cyan",
    "match": "ansi_yellow",
    "alert": "ansi_red",
    "chosen": "ansi_default",
    "line": "ansi_bright_black",
}


def colour_roles(theme: Theme, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the CSS variables of all roles, and the Textual variables that derive from them, for a theme."""
    if theme.ansi:
        roles = dict(_SIXTEEN) if theme.dark else {**_SIXTEEN, "focus": "ansi_blue", "match": "ansi_magenta"}
    else:
        focus = variables.get("focus", variables["text-primary"])
        foreground = Color.parse(variables["foreground"])
        roles = {
            "focus": focus,
            "match": variables.get("match", variables["text-accent"]),
            "alert": variables.get("alert", variables["text-error"]),
            "chosen": Color.parse(focus).with_alpha(0.22).hex,
            "line": foreground.with_alpha(0.2).hex,
            "text-muted": foreground.with_alpha(0.5).hex,
            "block-hover-background": foreground.with_alpha(0.06).hex,
            "scrollbar-background": variables["background"],
        }
    cursor = {"foreground": variables["foreground"], "background": roles["chosen"], "text-style": "none"}
    cursors = {f"block-cursor-{each}{part}": value for each in ("", "blurred-") for part, value in cursor.items()}
    scrollbar = {f"scrollbar{state}": roles["line"] for state in ("", "-hover", "-active")}
    for state in ("-hover", "-active"):
        scrollbar[f"scrollbar-background{state}"] = roles.get("scrollbar-background", "ansi_default")
    return {
        **roles,
        **cursors,
        **scrollbar,
        "scrollbar-corner-color": roles.get("scrollbar-background", "ansi_default"),
        "border": roles["focus"],
        "footer-background": variables["panel"],
        "footer-key-foreground": roles["focus"],
    }


def theme_at_start(settings: Settings, remembered: str, color_system: str | None) -> str:
    """Return the theme from the settings, else the remembered one, else one that suits the terminal."""
    usual = SIXTEEN_COLOURS if color_system == "standard" else DARK
    named = settings.tui.theme or remembered
    return named if named in THEMES else usual


def check(settings: Settings) -> None:
    """Raise UsageError `bad_config` if the config names an unknown theme."""
    for mistake in mistakes(settings):
        raise bad_config(mistake)


def mistakes(settings: Settings) -> Iterator[Mistake]:
    """Yield a mistake if the config names an unknown theme."""
    name = settings.tui.theme
    if name and name not in THEMES:
        message = "tui.theme: " + _("there is no theme {name}").format(name=name)
        yield mistake_in(settings.paths.config, "tui.theme", message, nearest(name, THEMES))
