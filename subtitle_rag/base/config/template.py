"""Template of `config.toml`: every setting with its default, commented out, in the current language."""

import codecs
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from subtitle_rag.base.atomic_files import create_text, replace_content
from subtitle_rag.base.config.config_file import ConfigFile, bad_config, mistake_in
from subtitle_rag.base.config.config_lines import with_setting, without_setting
from subtitle_rag.base.config.settings import SECTIONS, about, about_field
from subtitle_rag.base.domain.errors import UsageError, os_error_as_unwritable
from subtitle_rag.base.i18n import LANGUAGES, _

ANYTHING = object()
"""Matches any value in the file."""
EXAMPLE_PLAYER = ("celluloid", "--mpv-start={seconds}", "{url}")
EXAMPLE_KEY = ("app.library", "F10,Ctrl+B")


def config_template(language: str) -> str:
    """Return the file's text, with each setting as a comment."""
    return "\n".join(_lines(language)) + "\n"


def _lines(language: str) -> Iterator[str]:
    first = _("The settings of subtitle-rag. To set a value, remove the # and the space in front of it.")
    second = _("subtitle-rag config shows the values in force and the mistakes.")
    yield from (f"# {first}", f"# {second}", "")
    yield from (f"# {about('language')} ({', '.join(LANGUAGES)})", f"# language = {to_toml(language)}")
    for name, kind in SECTIONS.items():
        yield from ("", f"# {about(name)}", f"[{name}]")
        for each in fields(kind):
            yield from ("", f"# {about_field(each)}{_allowed(each.metadata)}")
            yield f"# {each.name} = {to_toml(getattr(kind(), each.name))}"
    yield from ("", f"# {about('players')}", "[players]", "")
    yield from ("# [players.celluloid]", f"# command = {to_toml(EXAMPLE_PLAYER)}")
    yield from ("", f"# {about('keys')}", "[keys]", "", f"# {' = '.join(map(json.dumps, EXAMPLE_KEY))}")


def _allowed(rules: Any) -> str:
    values = rules.get("among") or ()
    return f" ({', '.join(values)})" if values else ""


def to_toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def write_setting(path: Path, table: str, name: str, value: str) -> bool:
    """Set a string in the config file, keeping comments and order; create the file if it is missing.

    Returns False, and changes nothing, if the file is not TOML or `table` names something else.

    Raises:
        UsageError: `unwritable`.
    """
    try:
        change_setting(path, f"{table}.{name}", value)
    except UsageError as error:
        if error.code == "unwritable":
            raise
        return False
    return True


def change_setting(path: Path, key: str, value: Any, *, seen: Any = ANYTHING) -> None:
    """Set a setting in the config file, or remove it if `value` is None; everything else stays.

    `seen` is the value in the file when the user decided, None for nothing.

    Raises:
        UsageError: `setting_changed` if another process has changed the setting since, `bad_config` if the file is not
            TOML or the table is something else, `unwritable`.
    """
    path = path.resolve()  # a link to the file stays a link
    table, _dot, name = key.rpartition(".")
    while True:
        config = ConfigFile.read(path)
        for mistake in config.mistakes:
            raise bad_config(mistake)
        if seen is not ANYTHING and written_value(config, key) != seen:
            raise UsageError("setting_changed", name=key)
        if value is None:
            changed = without_setting(config.text, table, name)
        else:
            changed = with_setting(config.text, table, name, value)
        if changed is None:
            raise bad_config(mistake_in(path, table, _("{name} must be a table").format(name=table)))
        if changed == config.text:
            return
        if os.path.lexists(path):
            if _replace(path, config.text, changed):
                return
        elif _create(path, changed):
            return


def written_value(config: ConfigFile, key: str) -> Any:
    """Return a setting's value in the file, or None; a list as a tuple."""
    table, _dot, name = key.rpartition(".")
    section = config.table.get(table, {}) if table else config.table
    value = section.get(name) if isinstance(section, Mapping) else None
    return tuple(value) if isinstance(value, list) else value


def _create(path: Path, text: str) -> bool:
    """Write the file, and return False if one has appeared meanwhile."""
    try:
        write_new(path, text)
    except UsageError as error:
        if error.code != "config_exists":
            raise
        return False
    return True


def _replace(path: Path, earlier_text: str, text: str) -> bool:
    """Replace the file's text atomically, keeping byte order mark, line ends and permissions.

    Returns False, and changes nothing, if the file's text is not `earlier_text`.
    """
    with os_error_as_unwritable(path):
        earlier = path.read_bytes()
        if earlier.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n") != earlier_text.encode():
            return False
        mark = codecs.BOM_UTF8 if earlier.startswith(codecs.BOM_UTF8) else b""
        lines = text.replace("\n", "\r\n") if b"\r\n" in earlier else text
        replace_content(path, mark + lines.encode(), stat.S_IMODE(path.stat().st_mode))
        return True


def write_new(path: Path, text: str) -> None:
    """Write the file atomically, readable only by its owner; never replace another.

    Raises:
        UsageError: `config_exists`, `unwritable`.
    """
    with os_error_as_unwritable(path):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            create_text(path, text)
        except FileExistsError as error:
            raise UsageError("config_exists", path=str(path)) from error
