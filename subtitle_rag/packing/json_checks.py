"""Fields of a record of JSON from outside, each checked for its type and its bounds."""

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping, Sized
from typing import Any, NoReturn, TypeVar

from subtitle_rag.domain import nfc

T = TypeVar("T")
Checks = Mapping[str, tuple[Any, ...]]
"""Names of fields with their check, a method of `Fields` or a function of fields and name, and its bounds."""

MAX_OBJECTS, MAX_VALUES = 1_500_000, 5_000_000
"""Brackets and commas of a record, those in captions too. Values of Python take a hundred times the bytes of `{}`."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class FieldError(ValueError):
    """A field of a record that is missing, of another type, or beyond its bounds. The text names the field."""


class Fields:
    """A JSON object from outside. Every method raises `FieldError`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def parse(cls, line: bytes) -> "Fields":
        """Parse one JSON object; refuses NaN, infinity, a repeated name, and too many values."""
        if line.count(b"{") + line.count(b"[") > MAX_OBJECTS or line.count(b",") > MAX_VALUES:
            raise FieldError("JSON")
        try:
            values = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise FieldError("JSON") from error
        if not isinstance(values, dict):
            raise FieldError("JSON")
        return cls(values)

    def _value(self, name: str, kind: type[T], longest: int | None = None) -> T:
        """Return a value of just this type, with at most `longest` characters or items."""
        value = self._values.get(name)
        is_too_long = longest is not None and isinstance(value, Sized) and len(value) > longest
        if type(value) is not kind or is_too_long:
            raise FieldError(name)
        return value

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def optional(self, name: str, check: Callable[..., T], *bounds: Any) -> T | None:
        """Return the value by `check`, which is a method of this class or a function; None without a value."""
        return check(self, name, *bounds) if self.has(name) else None

    def read(self, checks: Checks) -> dict[str, Any]:
        """Return the values of several fields: name → value."""
        return {name: check(self, name, *bounds) for name, (check, *bounds) in checks.items()}

    def integer(self, name: str, low: int, high: int) -> int:
        value = self._value(name, int)
        if not low <= value <= high:
            raise FieldError(name)
        return value

    def flag(self, name: str) -> bool:
        return self._value(name, bool)

    def raw(self, name: str, limit: int) -> bytes:
        """Return a text as it is there, in UTF-8."""
        try:
            return self._value(name, str, limit).encode()
        except UnicodeEncodeError as error:  # a lone surrogate
            raise FieldError(name) from error

    def text(self, name: str, limit: int) -> str:
        """Return a text of at most `limit` characters, in NFC; of control characters tabs and line feeds stay."""
        return nfc(_CONTROLS.sub("", self.raw(name, limit).decode()))

    def match(self, name: str, pattern: str) -> str:
        """Return a text that the whole pattern matches."""
        value = self._value(name, str)
        if not re.fullmatch(pattern, value, re.ASCII):
            raise FieldError(name)
        return value

    def choice(self, name: str, choices: Collection[str]) -> str:
        value = self._value(name, str)
        if value not in choices:
            raise FieldError(name)
        return value

    def decoded(self, name: str, limit: int) -> bytes:
        """Return bytes that are there as base64."""
        try:
            return base64.b64decode(self._value(name, str, limit * 4 // 3 + 4), validate=True)
        except ValueError as error:
            raise FieldError(name) from error

    def items(self, name: str, limit: int) -> list[Any]:
        return self._value(name, list, limit)

    def texts(self, name: str, limit: int, length: int) -> tuple[str, ...]:
        return tuple(Fields({name: item}).text(name, length) for item in self.items(name, limit))

    def record(self, name: str) -> "Fields":
        return Fields(self._value(name, dict))

    def records(self, name: str, limit: int) -> list["Fields"]:
        """Return a list of objects."""
        return [Fields({name: item}).record(name) for item in self.items(name, limit)]

    def items_by_name(self, name: str, limit: int) -> dict[str, Any]:
        """Return an object whose names are data."""
        return self._value(name, dict, limit)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands twice")
    return values
