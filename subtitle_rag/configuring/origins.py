"""Every setting in force, its value without secrets, and who has set it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from subtitle_rag.config import SECTIONS, Reading, ThemeSettings
from subtitle_rag.redaction import MARK, redact

Source = Literal["flag", "environment", "file", "default"]

_BEFORE_HOST = re.compile(r"^([\w+.-]+://)?.*@", re.DOTALL)
"""User and password of an address: everything up to its last @, since a password may hold others."""


@dataclass(frozen=True, slots=True)
class InForce:
    """A setting as it is in force."""

    key: str
    value: Any
    """As JSON has it; secrets are replaced."""
    source: Source
    place: str | None = None
    """The flag, the variable or the file; None for a default."""
    line: int | None = None
    """In the file."""


def in_force(reading: Reading) -> Iterator[InForce]:
    """All settings, in the order of the dataclasses; those that the user names come last."""
    settings = reading.settings
    for path in fields(settings.paths):
        yield _told(reading, f"paths.{path.name}", str(getattr(settings.paths, path.name)))
    yield _told(reading, "language", settings.language)
    for name in SECTIONS:
        yield from _section(reading, name, getattr(settings, name))
    for name, command in settings.players.items():
        yield _told(reading, f"players.{name}.command", _without_secrets(command))
    for id, keys in settings.keys.items():
        yield _told(reading, f"keys.{id}", keys)
    for name, theme in settings.themes.items():
        yield from _section(reading, f"themes.{name}", theme)


def _section(reading: Reading, name: str, section: Any) -> Iterator[InForce]:
    assert is_dataclass(section)
    for each in fields(section):
        value = getattr(section, each.name)
        if isinstance(value, Mapping):
            for key, text in value.items():
                yield _told(reading, f"{name}.{each.name}.{key}", text)
        elif each.metadata.get("address"):
            yield _told(reading, f"{name}.{each.name}", _addresses(value))
        elif isinstance(section, ThemeSettings) or not isinstance(value, str):
            yield _told(reading, f"{name}.{each.name}", list(value) if isinstance(value, tuple) else value)
        else:
            yield _told(reading, f"{name}.{each.name}", redact(value))


def _told(reading: Reading, key: str, value: Any) -> InForce:
    by = reading.overrides.get("paths" if key.startswith("paths.") else key)
    if by is not None:
        return InForce(key, value, "flag" if by.startswith("--") else "environment", by)
    wrong = any(mistake.key and (key + ".").startswith(mistake.key + ".") for mistake in reading.mistakes)
    if wrong or not _stands_in(reading.file.table, key):
        return InForce(key, value, "default")
    return InForce(key, value, "file", str(reading.file.path), reading.file.line(key))


def _stands_in(table: Mapping[str, Any], key: str) -> bool:
    """Whether the table holds the dotted key; a part of it may itself have dots."""
    for name, value in table.items():
        if key == name:
            return value != "" or name != "language"
        if isinstance(value, dict) and key.startswith(f"{name}.") and _stands_in(value, key[len(name) + 1 :]):
            return True
    return False


def _addresses(value: str | tuple[str, ...]) -> str | list[str]:
    return without_user(value) if isinstance(value, str) else [without_user(one) for one in value]


def without_user(address: str) -> str:
    """The address without user, password and other secrets."""
    return redact(_BEFORE_HOST.sub(lambda match: f"{match[1] or ''}{MARK}@", address))


def _without_secrets(command: tuple[str, ...]) -> list[str]:
    """A command's parts; what follows an option such as --password is replaced too."""
    told = []
    for before, part in zip(("", *command), command, strict=False):
        pair = f"{before.lstrip('-')}={part}"
        told.append(MARK if before.startswith("-") and redact(pair) != pair else redact(part))
    return told
