"""`config.toml` as read: tables turned into the dataclasses of `config`, and every refusal named by file and key."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _

Section = TypeVar("Section")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What stands in the file at `path`; nothing where there is none."""

    path: Path
    table: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        """Raises: UsageError (`bad_config`) for what cannot be read or is no TOML, as all methods do."""
        try:
            with path.open("rb") as file:
                return cls(path, tomllib.load(file))
        except FileNotFoundError:
            return cls(path, {})
        except OSError as error:
            raise UsageError("bad_config", path=str(path), reason=error.strerror) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError("bad_config", path=str(path), reason=str(error)) from error

    def refuse(self, reason: str) -> NoReturn:
        raise UsageError("bad_config", path=str(self.path), reason=reason)

    def known(self, prefix: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Refuse a table that holds any other key."""
        keys = tuple(keys)
        for name in table:
            if name not in keys:
                said = _("there is no setting {name}").format(name=prefix + name)
                self.refuse(said + nearest(name, keys, prefix))

    def section(self, name: str, kind: type[Section]) -> Section:
        """The table `name` as the dataclass `kind`, whose defaults say of which type each setting is."""
        return self.entry(name, self.table.get(name, {}), kind)

    def entry(self, name: str, table: Any, kind: type[Section]) -> Section:
        table = self._table(name, table)
        known: dict[str, Any] = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
        self.known(f"{name}.", table, known)
        defaults = kind()
        values = {}
        for key, value in table.items():
            wanted = type(getattr(defaults, key))
            values[key] = self._value(f"{name}.{key}", wanted, known[key].metadata, value)
        return kind(**values)

    def _value(self, name: str, wanted: type[Any], rules: Mapping[Any, Any], value: Any) -> Any:
        """The value if it is of the wanted type and within its field's `least`, `among`, `one_of` and `empty`."""
        if wanted is tuple:
            value = () if value == [] and rules.get("empty") else self.strings(name, value)
        if wanted is float and type(value) is int:
            value = float(value)
        if wanted is dict and isinstance(value, dict):
            return dict(self._flat(name, value, ""))
        if type(value) is not wanted:
            self.refuse(_("{name} must be of the type {type}").format(name=name, type=wanted.__name__))
        least, known = rules.get("least", 0), rules.get("among", ())
        if wanted is int and value < least:
            self.refuse(_("{name} must be at least {least}").format(name=name, least=least))
        one_of = rules.get("one_of", ())
        if one_of and value not in one_of:
            self.refuse(_("{name} may be {known}").format(name=name, known=", ".join(one_of)))
        if known and not all(part in known for part in value):
            self.refuse(_("{name} may hold {known}").format(name=name, known=", ".join(known)))
        return value

    def strings(self, name: str, value: Any) -> tuple[str, ...]:
        if not (isinstance(value, list) and value and all(isinstance(part, str) for part in value)):
            self.refuse(_("{name} must be a list of strings").format(name=name))
        return tuple(value)

    def tables(self, name: str) -> dict[str, Any]:
        """What stands in the table `name`: tables, if all is well."""
        return self._table(name, self.table.get(name, {}))

    def texts(self, name: str) -> dict[str, str]:
        """The strings of a table; `a.b = "x"` and `"a.b" = "x"` are one and the same."""
        return dict(self._flat(name, self._table(name, self.table.get(name, {})), ""))

    def _flat(self, name: str, table: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
        for key, value in table.items():
            if isinstance(value, dict):
                yield from self._flat(name, value, f"{prefix}{key}.")
            elif isinstance(value, str):
                yield prefix + key, value
            else:
                said = _("{name} must be of the type {type}")
                self.refuse(said.format(name=f"{name}.{prefix}{key}", type="str"))

    def _table(self, name: str, table: Any) -> dict[str, Any]:
        if not isinstance(table, dict):
            self.refuse(_("{name} must be a table").format(name=name))
        return dict(table)


def nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    """What may have been meant, as the end of a sentence; empty where nothing is like it."""
    near = difflib.get_close_matches(name, tuple(known), n=1)
    return _(" (did you mean {name}?)").format(name=prefix + near[0]) if near else ""
