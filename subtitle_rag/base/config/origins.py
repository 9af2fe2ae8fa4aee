"""Effective settings with their origins and values, without secrets."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from subtitle_rag.base.config.settings import SECTIONS, LoadedConfig
from subtitle_rag.base.redaction import MARK, redact

Source = Literal["flag", "environment", "file", "default"]

_BEFORE_HOST = re.compile(r"^([\w+.-]+://)?.*@", re.DOTALL)
"""User and password of an address: everything up to the last @, since passwords may have one."""


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """An effective setting."""

    key: str
    value: Any
    """JSON value, with secrets replaced."""
    source: Source
    place: str | None = None
    """The flag, variable or file; None for a default."""
    line: int | None = None
    """Line in the file."""


def effective_settings(reading: LoadedConfig) -> Iterator[EffectiveSetting]:
    """Yield all settings in the order of the dataclasses, then players and keys."""
    settings = reading.settings
    for path in fields(settings.paths):
        yield _effective(reading, f"paths.{path.name}", str(getattr(settings.paths, path.name)))
    yield _effective(reading, "language", settings.language)
    for name in SECTIONS:
        yield from _section(reading, name, getattr(settings, name))
    for name, command in settings.players.items():
        yield _effective(reading, f"players.{name}.command", _without_secrets(command))
    for id, keys in settings.keys.items():
        yield _effective(reading, f"keys.{id}", keys)


def _section(reading: LoadedConfig, name: str, section: Any) -> Iterator[EffectiveSetting]:
    assert is_dataclass(section)
    for each in fields(section):
        value = getattr(section, each.name)
        if each.metadata.get("address"):
            addresses = without_user(value) if isinstance(value, str) else [without_user(address) for address in value]
            yield _effective(reading, f"{name}.{each.name}", addresses)
        elif not isinstance(value, str):
            yield _effective(reading, f"{name}.{each.name}", list(value) if isinstance(value, tuple) else value)
        else:
            yield _effective(reading, f"{name}.{each.name}", redact(value))


def _effective(reading: LoadedConfig, key: str, value: Any) -> EffectiveSetting:
    by = reading.overrides.get("paths" if key.startswith("paths.") else key)
    if by is not None:
        return EffectiveSetting(key, value, "flag" if by.startswith("--") else "environment", by)
    wrong = any(mistake.key and (key + ".").startswith(mistake.key + ".") for mistake in reading.mistakes)
    if wrong or not _holds(reading.file.table, key):
        return EffectiveSetting(key, value, "default")
    return EffectiveSetting(key, value, "file", str(reading.file.path), reading.file.line(key))


def _holds(table: Mapping[str, Any], key: str) -> bool:
    """Whether the table has the dotted key, parts of which may have dots themselves."""
    for name, value in table.items():
        if key == name:
            return value != "" or name != "language"
        if isinstance(value, dict) and key.startswith(f"{name}.") and _holds(value, key[len(name) + 1 :]):
            return True
    return False


def without_user(address: str) -> str:
    """Return the address without user, password and other secrets."""
    return redact(_BEFORE_HOST.sub(lambda match: f"{match[1] or ''}{MARK}@", address))


def _without_secrets(command: tuple[str, ...]) -> list[str]:
    """Return a command's parts without secrets, such as the value after --password."""
    parts = []
    for before, part in zip(("", *command), command, strict=False):
        pair = f"{before.lstrip('-')}={part}"
        parts.append(MARK if before.startswith("-") and redact(pair) != pair else redact(part))
    return parts
