"""`config.toml` as read: tables turned into the dataclasses of `config`, and every mistake noted by key and line.

Nothing is refused here: a value that cannot be used is noted, and its default stands in its place. Whoever needs the
settings to be right raises the first mistake (`bad_config`).
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from subtitle_rag.config_lines import line_of
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _

Section = TypeVar("Section")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with a setting. Without a key it is the file as a whole that cannot be used."""

    place: str
    """The file, or the flag or variable that says it."""
    key: str
    message: str
    nearest: str = ""
    """The name that may have been meant."""
    line: int | None = None

    @property
    def reason(self) -> str:
        """The message, and what may have been meant."""
        return self.message + did_you_mean(self.nearest)

    @property
    def where(self) -> str:
        """The place as editors and compilers write it, with the line where it is known."""
        return f"{self.place}:{self.line}" if self.line else self.place


def bad_config(mistake: Mistake) -> UsageError:
    """The mistake as a failure."""
    return UsageError("bad_config", path=mistake.place, place=mistake.where, reason=mistake.reason)


def mistake_in(path: Path, key: str, message: str, nearest: str = "") -> Mistake:
    """A mistake that was found after the file at `path` had been read; the line is looked up there."""
    return Mistake(str(path), key, message, nearest, ConfigFile.read(path).line(key))


class _WrongValueError(Exception):
    """Carries the name of a value that cannot be used, and why."""

    def __init__(self, name: str, message: str) -> None:
        self.name, self.message = name, message
        super().__init__(name, message)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What stands in the file at `path`; nothing where there is none, or where it is no TOML."""

    path: Path
    table: Mapping[str, Any]
    text: str = ""
    mistakes: list[Mistake] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        try:
            text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
            return cls(path, tomllib.loads(text), text)
        except FileNotFoundError:
            return cls(path, {})
        except OSError as error:
            mistake = Mistake(str(path), "", error.strerror or str(error))
        except UnicodeDecodeError as error:
            mistake = Mistake(str(path), "", str(error), line=1 + error.object.count(b"\n", 0, error.start))
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"at line (\d+)", str(error))
            mistake = Mistake(str(path), "", str(error), line=int(found[1]) if found else text.count("\n") + 1)
        return cls(path, {}, mistakes=[mistake])

    def line(self, key: str) -> int | None:
        """The line of a setting, or of the table that it would stand in."""
        return line_of(self.text, key)

    def note(self, key: str, message: str, nearest: str = "") -> None:
        """Take down a mistake."""
        self.mistakes.append(Mistake(str(self.path), key, message, nearest, self.line(key)))

    def known(self, prefix: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Note what a table holds besides these keys."""
        keys = tuple(keys)
        for name in table:
            if name not in keys:
                message = _("there is no setting {name}").format(name=prefix + name)
                self.note(prefix + name, message, nearest(name, keys, prefix))

    def section(self, name: str, kind: type[Section]) -> Section:
        """The table `name` as the dataclass `kind`, whose defaults say of which type each setting is."""
        return self.entry(name, self.table.get(name, {}), kind)

    def entry(self, name: str, table: Any, kind: type[Section]) -> Section:
        table = self._table(name, table)
        known: dict[str, Any] = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
        self.known(f"{name}.", table, known)
        defaults = kind()
        values = {}
        for key in (key for key in table if key in known):
            wanted = type(getattr(defaults, key))
            try:
                values[key] = _value(f"{name}.{key}", wanted, known[key].metadata, table[key])
            except _WrongValueError as wrong:
                self.note(wrong.name, wrong.message)
        return kind(**values)

    def strings(self, name: str, value: Any) -> tuple[str, ...]:
        """A list of strings that has some; none where it is anything else."""
        try:
            return _strings(name, value)
        except _WrongValueError as wrong:
            self.note(wrong.name, wrong.message)
            return ()

    def tables(self, name: str) -> dict[str, Any]:
        """What stands in the table `name`: tables, if all is well."""
        return self._table(name, self.table.get(name, {}))

    def texts(self, name: str) -> dict[str, str]:
        """The strings of a table; `a.b = "x"` and `"a.b" = "x"` are one and the same."""
        texts = {}
        for key, value in _flat(self._table(name, self.table.get(name, {})), ""):
            if isinstance(value, str):
                texts[key] = value
            else:
                self.note(f"{name}.{key}", _must_be(f"{name}.{key}", str))
        return texts

    def _table(self, name: str, table: Any) -> dict[str, Any]:
        if not isinstance(table, dict):
            self.note(name, _("{name} must be a table").format(name=name))
            return {}
        return dict(table)


def _value(name: str, wanted: type[Any], rules: Mapping[Any, Any], value: Any) -> Any:
    """The value if it is of the wanted type and within its field's `least`, `among`, `one_of` and `empty`."""
    if wanted is tuple:
        value = () if value == [] and rules.get("empty") else _strings(name, value)
    if wanted is float and type(value) is int:
        value = float(value)
    if wanted is dict and isinstance(value, dict):
        value = dict(_flat(value, ""))
        for key, text in value.items():
            if not isinstance(text, str):
                raise _WrongValueError(f"{name}.{key}", _must_be(f"{name}.{key}", str))
    if type(value) is not wanted:
        raise _WrongValueError(name, _must_be(name, wanted))
    least, known = rules.get("least", 0), rules.get("among", ())
    if wanted is int and value < least:
        raise _WrongValueError(name, _("{name} must be at least {least}").format(name=name, least=least))
    one_of = rules.get("one_of", ())
    if one_of and value not in one_of:
        raise _WrongValueError(name, _("{name} may be {known}").format(name=name, known=", ".join(one_of)))
    if known and not all(part in known for part in value):
        raise _WrongValueError(name, _("{name} may hold {known}").format(name=name, known=", ".join(known)))
    return value


def _strings(name: str, value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and value and all(isinstance(part, str) for part in value)):
        raise _WrongValueError(name, _("{name} must be a list of strings").format(name=name))
    return tuple(value)


def _must_be(name: str, wanted: type[Any]) -> str:
    return _("{name} must be of the type {type}").format(name=name, type=wanted.__name__)


def _flat(table: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    """What a table and those within it hold, by dotted names."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    """The known name that may have been meant, behind the prefix; empty where none is like it."""
    near = difflib.get_close_matches(name, tuple(known), n=1)
    return prefix + near[0] if near else ""


def did_you_mean(name: str) -> str:
    """The end of a sentence on what is not known; empty where no name is like it."""
    return _(" (did you mean {name}?)").format(name=name) if name else ""
