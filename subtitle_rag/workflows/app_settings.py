"""Settings for the app's list: read with their origins, checked, changed in the config file, and applied.

Functions that read files or query services are for worker threads.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from subtitle_rag.base.config import settings as config_settings
from subtitle_rag.base.config.config_file import checked_value
from subtitle_rag.base.config.origins import effective_settings
from subtitle_rag.base.config.settings import SECTIONS, about_field, read_again
from subtitle_rag.base.config.template import change_setting, written_value
from subtitle_rag.base.domain.errors import AppError, LlmError
from subtitle_rag.base.i18n import LANGUAGES, N_, _
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import OLLAMA, context_models, ollama_encoders
from subtitle_rag.models.ollama import host_guard
from subtitle_rag.models.ollama.llm_client import local_models
from subtitle_rag.sharing import player

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from subtitle_rag.base.config.origins import EffectiveSetting
    from subtitle_rag.base.config.settings import LoadedConfig, Settings
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

NAMES = {
    "language": N_("Language"),
    "tui.theme": N_("Theme"),
    "player.default": N_("Player"),
    "player.lead_in": N_("Start early, seconds"),
    "search.remember": N_("Remember searches"),
    "youtube.languages": N_("Caption languages"),
    "youtube.tabs": N_("From a channel"),
    "youtube.pause": N_("Wait between videos, seconds"),
    "youtube.cookies_from_browser": N_("Signed-in browser"),
    "llm.contexts": N_("AI descriptions"),
    "llm.model": N_("AI model"),
    "llm.hosts": N_("Address of Ollama"),
    "models.encoder": N_("Model of similar meaning"),
    "models.reranker": N_("Model that reorders results"),
}
"""Settings worth a user's decision, in order. The others are only in the config file."""

LIVE = ("search.limit", "search.remember", "player.", "youtube.", "llm.", "tui.theme")
"""Prefixes of keys that apply at once; other changes apply when the app restarts."""

_LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_SIMPLE = (bool, int, float, str, tuple)

Kind = Literal["switch", "number", "text", "list"]


@dataclass(frozen=True, slots=True)
class AppSetting:
    """A setting in the app's list."""

    key: str
    about: str
    value: Any
    """The current value, or the one in the file that applies after a restart."""
    default: Any
    written: Any
    """The value in the file; None without one."""
    origin: "EffectiveSetting"
    """Its value hides secrets."""
    mistake: str = ""
    """What is wrong with the value in the file."""
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        label = NAMES[self.key]
        return _(label)

    @property
    def kind(self) -> Kind:
        if isinstance(self.default, bool):
            return "switch"
        if isinstance(self.default, int | float):
            return "number"
        return "list" if isinstance(self.default, tuple) else "text"

    @property
    def is_overridden(self) -> bool:
        """Whether an option or a variable overrides the file."""
        return self.origin.source in ("flag", "environment")

    @property
    def is_live(self) -> bool:
        return self.key.startswith(LIVE)

    @property
    def typed(self) -> str:
        """The value as one types it."""
        return ", ".join(self.value) if isinstance(self.value, tuple) else str(self.value)


def read_app_settings(settings: "Settings") -> list[AppSetting]:
    """Read the settings of the app's list, in order. For worker threads."""
    return _listed(read_again(settings))


def _listed(reading: "LoadedConfig") -> list[AppSetting]:
    settings = {each.key: each for each in _settings(reading)}
    return [settings[key] for key in NAMES]


def _settings(reading: "LoadedConfig") -> "Iterator[AppSetting]":
    origins = {each.key: each for each in effective_settings(reading)}
    mistakes = {mistake.key: mistake.message for mistake in reversed(reading.mistakes)}

    def setting(key: str, about: str, value: Any, default: Any, rules: Mapping[str, Any]) -> AppSetting:
        """Return one setting of the list.

        Args:
            key: Table and name.
            about: The sentence about it.
            value: Its value in `settings`.
            default: Its default.
            rules: The rules of valid values.

        Returns:
            The setting with its origin and any mistake in the file.
        """
        value_in_file = written_value(reading.file, key)
        return AppSetting(key, about, value, default, value_in_file, origins[key], mistakes.get(key, ""), rules)

    language = written_value(reading.file, "language") or ""
    if "language" in reading.overrides:
        language = reading.settings.language
    yield setting("language", config_settings.about("language"), language, "", {"one_of": ("", *LANGUAGES)})
    for name, kind in SECTIONS.items():
        section, defaults = getattr(reading.settings, name), kind()
        for each in fields(kind):
            default = getattr(defaults, each.name)
            if isinstance(default, _SIMPLE):
                value = getattr(section, each.name)
                yield setting(f"{name}.{each.name}", about_field(each), value, default, each.metadata)


def parse_setting(setting: AppSetting, text: str, *, remote: bool = False) -> tuple[Any, str]:
    """Return the value in a text and an empty sentence, or the mistake in words.

    `remote`: whether other computers are allowed as hosts.
    """
    text = text.strip()
    value: Any = text
    if setting.kind == "number":
        try:
            value = type(setting.default)(text)
        except ValueError:
            return None, _("Enter a number, such as {default}.").format(default=setting.default)
    elif setting.kind == "switch":
        value = text == "True"
    elif setting.kind == "list":
        value = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
        if not value and not setting.rules.get("empty"):
            return None, _("Enter at least one, such as {default}.").format(default=", ".join(setting.default))
    mistake = _meaning_mistake(setting.key, value, remote=remote)
    if mistake:
        return None, mistake
    raw = list(value) if isinstance(value, tuple) else value
    return checked_value(setting.key, type(setting.default), setting.rules, raw)


def _meaning_mistake(key: str, value: Any, *, remote: bool) -> str:
    """Return what is wrong with a value beyond its type."""
    if key == "youtube.languages" and (bad := next((tag for tag in value if not _LANGUAGE_TAG.fullmatch(tag)), "")):
        return _("{value} is no language tag; they are written as ko, en or zh-Hans.").format(value=bad)
    if key == "llm.hosts":
        try:
            for host in value:
                host_guard.address(host, remote=remote)
        except LlmError as error:
            return f"{error.message} {error.hint}"
    return ""


def setting_choices(runtime: "Runtime", key: str) -> "Sequence[str]":
    """Return the known values to choose from; empty for a setting to type.

    Looks up installed players and models: for worker threads.
    """
    if key == "player.default":
        extra = runtime.settings.players
        return ["", *(name for name in player.names(extra) if player.installed(name, extra))]
    if key == "llm.model":
        offered = (model.name for model in context_models())
        return list(dict.fromkeys(["", *installed_models(runtime), *offered]))
    if key == "models.encoder":
        through_ollama = (f"{OLLAMA}{model.name.removeprefix(OLLAMA)}" for model in ollama_encoders())
        return ["", *(model.name for model in manifest.encoders()), *through_ollama]
    if key == "models.reranker":
        return ["", *(model.name for model in manifest.rerankers())]
    return ()


def installed_models(runtime: "Runtime") -> list[str]:
    """Return the local models of Ollama that generate text; empty if no host answers."""
    try:
        with runtime.llms() as hosts:
            local = local_models(hosts)
            return [name for name in local.sizes if name not in local.embedders]
    except AppError:
        logger.info("Ollama's models are not known", exc_info=True)
        return []


def change_app_setting(runtime: "Runtime", setting: AppSetting, value: Any) -> list[AppSetting]:
    """Write a setting to the config file, or remove it if the value is None, and apply it if possible.

    Returns the settings afterwards. For worker threads.

    Raises:
        UsageError: As in `config.change_setting`.
    """
    change_setting(runtime.settings.paths.config, setting.key, value, seen=setting.written)
    reading = read_again(runtime.settings)
    runtime.settings = _put_in_force(runtime.settings, reading.settings)
    return _listed(reading)


def _put_in_force(current: "Settings", new: "Settings") -> "Settings":
    """Return the current settings with the live ones of `new`."""
    sections = {}
    for name, kind in SECTIONS.items():
        section = getattr(new, name)
        live = {
            each.name: getattr(section, each.name) for each in fields(kind) if f"{name}.{each.name}".startswith(LIVE)
        }
        sections[name] = replace(getattr(current, name), **live)
    return replace(current, **sections)


def settings_for_reopening(settings: "Settings") -> "Settings":
    """Return the settings in the file, or these ones if the file has mistakes."""
    try:
        reading = read_again(settings)
    except AppError:
        logger.info("the config cannot be read again", exc_info=True)
        return settings
    return settings if reading.mistakes else reading.settings
