"""Reader of `config.toml`: tables become the dataclasses of `config`, and mistakes are collected by key and line.

Nothing is refused here: an unusable value is recorded, and its default applies. A caller that needs correct settings
raises the first mistake (`bad_config`).
"""

import difflib
import re
import stat
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from subtitle_rag.base.config.config_lines import line_of
from subtitle_rag.base.domain.errors import UsageError, localize_reason
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import N_, _

Section = TypeVar("Section")

KINDS: dict[type[Any], str] = {
    int: N_("a whole number"),
    bool: N_("true or false"),
    str: N_("text in quotation marks"),
}
"""Words for the type of a setting."""
MAX_BYTES = 1_000_000
"""Largest config file; one with every setting and comment has 20,000 bytes."""
MAX_NUMBER = 10**12
"""Largest number of a setting, in seconds, bytes or anything else."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a setting; without a key, in the file as a whole."""

    place: str
    """The file, flag or variable with the mistake."""
    key: str
    message: str
    nearest: str = ""
    """The name that may have been meant."""
    line: int | None = None

    @property
    def reason(self) -> str:
        """The message, and the name that may have been meant."""
        return self.message + did_you_mean(self.nearest)

    @property
    def where(self) -> str:
        """The file with the line, if known, in the form of compiler messages."""
        return f"{self.place}:{self.line}" if self.line else self.place


def bad_config(mistake: Mistake) -> UsageError:
    """Return the mistake as an error."""
    return UsageError("bad_config", path=mistake.place, place=mistake.where, reason=mistake.reason)


def mistake_in(path: Path, key: str, message: str, nearest: str = "") -> Mistake:
    """Return a mistake found after reading the file at `path`, with its line."""
    return Mistake(str(path), key, message, nearest, ConfigFile.read(path).line(key))


def read_regular(path: Path, most: int = MAX_BYTES) -> bytes:
    """Return the content. Raises OSError for a pipe, which would block, and for more than `most` bytes."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # the system has its own message for a folder
        raise OSError(0, _("it is not a regular file"))
    with path.open("rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(0, _("it is larger than {size}").format(size=byte_size(most)))
    return raw


class _WrongValueError(Exception):
    """The setting's name, and why its value is unusable."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """Content of the file at `path`; empty if it is missing or not TOML."""

    path: Path
    table: Mapping[str, Any]
    text: str = ""
    mistakes: list[Mistake] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        try:
            text = read_regular(path).decode("utf-8-sig").replace("\r\n", "\n")
            table = tomllib.loads(text)
            list(_flat(table, ""))  # fails for tables nested too deeply
            return cls(path, table, text)
        except FileNotFoundError:
            return cls(path, {})
        except OSError as error:
            reason = localize_reason(error.strerror or str(error))
            key, line, message = "", None, _("cannot be read: {reason}").format(reason=reason)
        except UnicodeDecodeError as error:
            key, line, message = "", 1 + error.object.count(b"\n", 0, error.start), _("it is not UTF-8 text")
        except tomllib.TOMLDecodeError as error:
            match = re.search(r"at line (\d+)", str(error))
            key, line = "", int(match[1]) if match else text.count("\n") + 1
            message = _("not in the form of TOML: {reason}").format(reason=error)
        except (RecursionError, ValueError):  # also a number with more digits than Python reads
            line, longest = max(enumerate(text.split("\n"), 1), key=lambda each: len(each[1]))
            match = re.match(r"[ \t]*([\w.-]{1,60})", longest)
            key, message = match[1] if match else "", _("a name or value is too long or too deep")
        message = f"{key}: {message}" if key else message
        return cls(path, {}, mistakes=[Mistake(str(path), key, message, line=line)])

    def line(self, key: str) -> int | None:
        """Return the line of a setting, or of its table."""
        return line_of(self.text, key)

    def note(self, key: str, message: str, nearest: str = "") -> None:
        self.mistakes.append(Mistake(str(self.path), key, message, nearest, self.line(key)))

    def note_unknown(self, prefix: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Record each name in a table outside these keys as a mistake."""
        keys = tuple(keys)
        for name in table:
            if name not in keys:
                message = _("there is no setting {name}").format(name=prefix + name)
                self.note(prefix + name, message, nearest(name, keys, prefix))

    def section(self, name: str, table: Any, kind: type[Section]) -> Section:
        """Return the table `name` as the dataclass `kind`; the defaults determine the settings' types."""
        table = self._table(name, table)
        field_map: dict[str, Any] = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
        self.note_unknown(f"{name}.", table, field_map)
        defaults = kind()
        values = {}
        for key in (key for key in table if key in field_map):
            expected = type(getattr(defaults, key))
            try:
                values[key] = _value(f"{name}.{key}", expected, field_map[key].metadata, table[key])
            except _WrongValueError as wrong:
                self.note(*wrong.args)
        return kind(**values)

    def strings(self, name: str, value: Any) -> tuple[str, ...]:
        """Return a list of strings; () if it is empty or anything else."""
        try:
            return _strings(name, value)
        except _WrongValueError as wrong:
            self.note(*wrong.args)
            return ()

    def tables(self, name: str) -> dict[str, Any]:
        """Return the entries of the table `name`, which should be tables."""
        return self._table(name, self.table.get(name, {}))

    def texts(self, name: str) -> dict[str, str]:
        """Return the strings in a table; `a.b = "x"` and `"a.b" = "x"` are the same."""
        texts = {}
        for key, value in _flat(self.tables(name), ""):
            if isinstance(value, str):
                texts[key] = value
            else:
                self.note(f"{name}.{key}", _type_message(f"{name}.{key}", str))
        return texts

    def _table(self, name: str, table: Any) -> dict[str, Any]:
        if not isinstance(table, dict):
            self.note(name, _("{name} must be a table").format(name=name))
            return {}
        return dict(table)


def checked_value(name: str, expected: type[Any], rules: Mapping[Any, Any], value: Any) -> tuple[Any, str]:
    """Return the value as `section` would, and ""; or the mistake in words."""
    try:
        return _value(name, expected, rules, value), ""
    except _WrongValueError as wrong:
        return None, str(wrong.args[1])


def _value(name: str, expected: type[Any], rules: Mapping[Any, Any], value: Any) -> Any:
    """Return the value if it has the expected type and follows `least`, `among`, `one_of` and `empty`."""
    if expected is tuple:
        value = () if value == [] and rules.get("empty") else _strings(name, value)
    if type(value) in (int, float) and not -MAX_NUMBER <= value <= MAX_NUMBER:  # nan is in no range
        raise _WrongValueError(name, _("{name} is not a usable number").format(name=name))
    if type(value) is not expected:
        raise _WrongValueError(name, _type_message(name, expected))
    least = rules.get("least", 0)
    if expected is int and value < least:
        raise _WrongValueError(name, _("{name} must be at least {least}").format(name=name, least=least))
    _check_choice(name, value, rules)
    return value


def _check_choice(name: str, value: Any, rules: Mapping[Any, Any]) -> None:
    one_of, among = rules.get("one_of", ()), rules.get("among", ())
    if one_of and value not in one_of:
        raise _WrongValueError(name, _("{name} may be {known}").format(name=name, known=", ".join(one_of)))
    if among and not all(part in among for part in value):
        raise _WrongValueError(name, _("{name} may hold {known}").format(name=name, known=", ".join(among)))


def _strings(name: str, value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and value and all(isinstance(part, str) for part in value)):
        raise _WrongValueError(name, _("{name} must be a list of strings").format(name=name))
    return tuple(value)


def _type_message(name: str, expected: type[Any]) -> str:
    return _("{name} must be {kind}").format(name=name, kind=_(KINDS[expected]))


def _flat(table: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    """Yield the values in a table and its subtables, by dotted names."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def nearest(name: str, names: Iterable[str], prefix: str = "") -> str:
    """Return the most similar known name after the prefix; "" if none is similar."""
    near = difflib.get_close_matches(name, tuple(names), n=1)
    return prefix + near[0] if near else ""


def did_you_mean(name: str) -> str:
    """Return the end of a sentence on an unknown name; "" if no name is similar."""
    return _(" (did you mean {name}?)").format(name=name) if name else ""
