"""Fields of a record of JSON from outside, each checked for its type and its bounds."""

import base64
import binascii
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from subtitle_rag.domain import nfc

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
        """Parse one JSON object; refuses NaN, infinity, a name that stands twice, and too many values."""
        if line.count(b"{") + line.count(b"[") > MAX_OBJECTS or line.count(b",") > MAX_VALUES:
            raise FieldError("JSON")
        try:
            values = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise FieldError("JSON") from error
        if not isinstance(values, dict):
            raise FieldError("JSON")
        return cls(values)

    def integer(self, name: str, low: int, high: int) -> int:
        value = self._values.get(name)
        if type(value) is not int or not low <= value <= high:
            raise FieldError(name)
        return value

    def optional_integer(self, name: str, low: int, high: int) -> int | None:
        return None if self._values.get(name) is None else self.integer(name, low, high)

    def flag(self, name: str) -> bool:
        value = self._values.get(name)
        if type(value) is not bool:
            raise FieldError(name)
        return value

    def text(self, name: str, limit: int) -> str:
        """Return a text of so many characters at most, in NFC; of control characters tabs and line feeds stay."""
        value = self._values.get(name)
        if not isinstance(value, str) or len(value) > limit:
            raise FieldError(name)
        try:
            value.encode()
        except UnicodeEncodeError as error:  # a lone surrogate
            raise FieldError(name) from error
        return nfc(_CONTROLS.sub("", value))

    def match(self, name: str, pattern: str) -> str:
        """Return a text that the whole pattern matches."""
        value = self._values.get(name)
        if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
            raise FieldError(name)
        return value

    def optional_match(self, name: str, pattern: str) -> str | None:
        return None if self._values.get(name) is None else self.match(name, pattern)

    def choice(self, name: str, choices: Collection[str]) -> str:
        value = self._values.get(name)
        if not isinstance(value, str) or value not in choices:
            raise FieldError(name)
        return value

    def decoded(self, name: str, limit: int) -> bytes:
        """Return bytes that stand there as base64."""
        value = self._values.get(name)
        if not isinstance(value, str) or len(value) > limit * 4 // 3 + 4:
            raise FieldError(name)
        try:
            return base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error) as error:
            raise FieldError(name) from error

    def raw(self, name: str, limit: int) -> bytes:
        """Return a text as it stands there, in UTF-8."""
        value = self._values.get(name)
        if not isinstance(value, str) or len(value) > limit:
            raise FieldError(name)
        try:
            return value.encode()
        except UnicodeEncodeError as error:  # a lone surrogate
            raise FieldError(name) from error

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def items(self, name: str, limit: int) -> list[Any]:
        value = self._values.get(name)
        if not isinstance(value, list) or len(value) > limit:
            raise FieldError(name)
        return value

    def texts(self, name: str, limit: int, length: int) -> tuple[str, ...]:
        return tuple(Fields({name: item}).text(name, length) for item in self.items(name, limit))

    def record(self, name: str) -> "Fields":
        value = self._values.get(name)
        if not isinstance(value, dict):
            raise FieldError(name)
        return Fields(value)

    def items_by_name(self, name: str, limit: int) -> dict[str, Any]:
        """Return an object whose names are data."""
        value = self._values.get(name)
        if not isinstance(value, dict) or len(value) > limit:
            raise FieldError(name)
        return value

    def records(self, name: str, limit: int) -> list["Fields"]:
        """Return a list of objects."""
        items = self.items(name, limit)
        if not all(isinstance(item, dict) for item in items):
            raise FieldError(name)
        return [Fields(item) for item in items]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands twice")
    return values
