"""The settings as rows and sentences."""

from typing import TYPE_CHECKING, Any

from textual.content import Content

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.app_settings import AppSetting

NAME_CELLS = 24
LANGUAGE_NAMES = {"ko": "한국어", "en": "English"}
EMPTY = {
    "language": N_("the system's"),
    "tui.theme": N_("the one chosen last in the app"),
    "player.default": N_("the one chosen last in the app"),
    "llm.model": N_("what suits this machine's memory"),
    "models.encoder": N_("none"),
    "models.reranker": N_("none"),
    "llm.hosts": N_("none: no models"),
}


def value_text(key: str, value: Any) -> str:
    """Return a value in words."""
    if value is True or value is False:
        return _("on") if value else _("off")
    if key == "language" and value:
        return LANGUAGE_NAMES.get(value, str(value))
    if value in ("", ()):
        sentence = EMPTY.get(key)
        return _(sentence) if sentence else "–"
    return clean(", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value))


def setting_row(setting: "AppSetting") -> tuple[Content, Content]:
    """Return name, value and what has set it; below, its purpose or its mistake."""
    hidden = setting.origin.value if setting.kind in ("text", "list") and setting.key != "language" else setting.value
    name = Content.styled(setting.name, "bold").truncate(NAME_CELLS, ellipsis=True, pad=True)
    value = value_text(setting.key, tuple(hidden) if isinstance(hidden, list) else hidden)
    first = Content.assemble(" ", name, " ", value, (f"   {setting_origin(setting)}", MUTED))
    if setting.mistake:
        return first, Content.styled(f"   ! {clean(setting.mistake)}", "$alert")
    return first, Content.styled(f"   {setting.about}", MUTED)


def setting_origin(setting: "AppSetting") -> str:
    """Say what has set a value; empty for a default."""
    origin = setting.origin
    if setting.is_overridden:
        return _("by {place}").format(place=origin.place)
    if setting.written is None:
        return ""
    return _("line {line}").format(line=origin.line) if origin.line else _("config file")


def setting_note(setting: "AppSetting") -> str:
    """Say what the row has no room for: the whole purpose, and when a change is in force."""
    parts = [setting.about]
    if setting.is_overridden:
        why = _("{place} has set it for this run: what the config file says holds without it.")
        parts.append(why.format(place=setting.origin.place))
    elif setting.mistake:
        parts.insert(0, f"! {clean(setting.mistake)}")
    elif not setting.is_live:
        parts.append(_("Changes apply when the app is opened again ({key}).").format(key=key("screen.retry")))
    return "\n".join(parts)
