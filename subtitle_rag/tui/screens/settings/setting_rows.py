"""The settings as rows and sentences."""

from typing import TYPE_CHECKING, Any

from textual.content import Content

from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.workflows.app_settings import AppSetting

NAME_CELLS = 30
VALUE_CELLS = 26
WITH_EFFECT = 90
"""Cells from which a row also shows the effect."""
LANGUAGE_NAMES = {"ko": "한국어", "en": "English"}
EMPTY = {
    "language": N_("the system's"),
    "tui.theme": N_("the one chosen last in the app"),
    "player.default": N_("the browser"),
    "llm.model": N_("what suits this computer's memory"),
    "youtube.cookies_from_browser": N_("none"),
    "models.encoder": N_("none"),
    "models.reranker": N_("none"),
    "llm.hosts": N_("none: no models"),
}
ANSWERS = {"ask": N_("ask once"), "always": N_("on"), "never": N_("off")}


def value_text(key: str, value: Any) -> str:
    """Return a value in words."""
    if value is True or value is False:
        return _("on") if value else _("off")
    if key == "language" and value:
        return LANGUAGE_NAMES.get(value, str(value))
    if key == "llm.contexts" and value in ANSWERS:
        return _(ANSWERS[value])
    if value in ("", ()):
        sentence = EMPTY.get(key)
        return _(sentence) if sentence else "–"
    return clean(", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value))


def setting_row(setting: "AppSetting", width: int) -> Content:
    """Return name and value, then the mistake, or the effect if it fits."""
    hidden = setting.origin.value if setting.kind in ("text", "list") and setting.key != "language" else setting.value
    name = Content(setting.name).truncate(NAME_CELLS, ellipsis=True, pad=True)
    value = Content(value_text(setting.key, tuple(hidden) if isinstance(hidden, list) else hidden))
    if setting.mistake:
        return Content.assemble(name, "  ", value, (f"  ! {clean(setting.mistake)}", "$alert"))
    if width < WITH_EFFECT:
        return Content.assemble(name, "  ", value)
    value = value.truncate(VALUE_CELLS, ellipsis=True, pad=True)
    return Content.assemble(name, "  ", value, "  ", (setting.about, MUTED))


def setting_origin(setting: "AppSetting") -> str:
    """Return where the file sets a value; empty for a default, or a value from elsewhere."""
    origin = setting.origin
    if setting.is_overridden or setting.written is None:
        return ""
    return _("line {line}").format(line=origin.line) if origin.line else _("config file")


def setting_note(setting: "AppSetting") -> str:
    """Return what does not fit in the row: the full effect, the default, the origin, and when a change applies."""
    default = _("Default: {value}").format(value=value_text(setting.key, setting.default))
    origin = setting_origin(setting)
    parts = [setting.about, f"{default} · {origin}" if origin else default]
    if setting.is_overridden:
        why = _("{place} has set it for this run: what the config file says holds without it.")
        parts.append(why.format(place=setting.origin.place))
    elif setting.mistake:
        parts.insert(0, f"! {setting.mistake}")
    elif not setting.is_live:
        parts.append(_("Changes apply when the app is opened again ({key}).").format(key=key("screen.retry")))
    return "\n".join(map(clean, parts))
