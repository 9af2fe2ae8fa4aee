"""Fields of JSON records: each is declared once, with its check for values from outside and how it is written."""

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from subtitle_rag.domain import nfc

T = TypeVar("T")

MAX_OBJECTS, MAX_VALUES = 1_500_000, 5_000_000
"""Brackets and commas of a record, those in captions too. Values of Python take a hundred times the bytes of `{}`."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class FieldError(ValueError):
    """A field of a record that is missing, of another type, or beyond its bounds. The text names the field."""


@dataclass(frozen=True, slots=True)
class FieldKind(Generic[T]):
    """What a field holds."""

    read: Callable[[Any], T]
    """Return the value of a JSON value from outside, None where it is missing; raises ValueError."""
    write: Callable[[T], Any] = lambda value: value
    """Return the JSON value, such as `read` takes."""


Fields = Mapping[str, FieldKind[Any]]


def parse_record(line: bytes) -> dict[str, Any]:
    """Parse one JSON object; raises FieldError for NaN, infinity, a repeated name, and too many values."""
    if line.count(b"{") + line.count(b"[") > MAX_OBJECTS or line.count(b",") > MAX_VALUES:
        raise FieldError("JSON")
    try:
        return _typed(json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_object), dict)
    except (ValueError, RecursionError) as error:
        raise FieldError("JSON") from error


def read_fields(fields: Fields, values: Any) -> dict[str, Any]:
    """Return the checked fields of a JSON object; others in it are left alone. Raises FieldError."""
    checked = {}
    for name, kind in fields.items():
        try:
            checked[name] = kind.read(_typed(values, dict).get(name))
        except FieldError:  # of a record in it
            raise
        except ValueError as error:
            raise FieldError(name) from error
    return checked


def read_field(name: str, kind: FieldKind[T], values: Any) -> T:
    """Return one checked field of a JSON object. Raises FieldError."""
    value: T = read_fields({name: kind}, values)[name]
    return value


def write_fields(fields: Fields, value: object) -> dict[str, Any]:
    """Return the fields of a value, which are its attributes of the same names, as JSON has them."""
    return {name: kind.write(getattr(value, name)) for name, kind in fields.items()}


ANYTHING: FieldKind[Any] = FieldKind(lambda value: value)
"""A field that is written for others and not read."""


def integer(low: int, high: int) -> FieldKind[int]:
    return _checked(int, lambda number: low <= number <= high)


def raw_text(limit: int) -> FieldKind[bytes]:
    """Return the kind of a text that is read as its bytes in UTF-8; half of a surrogate pair is none."""
    return FieldKind(lambda value: _typed(value, str, limit).encode(), bytes.decode)


def text(limit: int) -> FieldKind[str]:
    """Return the kind of a text of at most `limit` characters, in NFC; of control characters tabs and line feeds stay.

    A longer one is written as far as the limit.
    """
    raw = raw_text(limit)
    return FieldKind(lambda value: nfc(_CONTROLS.sub("", raw.read(value).decode())), lambda value: value[:limit])


def match(pattern: str) -> FieldKind[str]:
    """Return the kind of a text that the whole pattern matches."""
    return _checked(str, lambda string: re.fullmatch(pattern, string, re.ASCII) is not None)


def choice(choices: Collection[str]) -> FieldKind[str]:
    return _checked(str, lambda string: string in choices)


def base64_bytes(limit: int) -> FieldKind[bytes]:
    return FieldKind(
        lambda value: base64.b64decode(_typed(value, str, limit * 4 // 3 + 4), validate=True),
        lambda value: base64.b64encode(value).decode(),
    )


def optional(kind: FieldKind[T]) -> FieldKind[T | None]:
    return FieldKind(
        lambda value: None if value is None else kind.read(value),
        lambda value: None if value is None else kind.write(value),
    )


def items(kind: FieldKind[T], limit: int) -> FieldKind[tuple[T, ...]]:
    """Return the kind of a list."""
    return FieldKind(
        lambda value: tuple(kind.read(item) for item in _typed(value, list, limit)),
        lambda value: [kind.write(item) for item in value],
    )


def items_by_name(names: FieldKind[str], kind: FieldKind[T], limit: int) -> FieldKind[dict[str, T]]:
    """Return the kind of an object whose names are data."""
    return FieldKind(
        lambda value: {names.read(name): kind.read(item) for name, item in _typed(value, dict, limit).items()},
        lambda value: {name: kind.write(item) for name, item in value.items()},
    )


def record(make: Callable[..., T], fields: Fields) -> FieldKind[T]:
    """Return the kind of an object with these fields."""
    return FieldKind(lambda value: make(**read_fields(fields, value)), lambda value: write_fields(fields, value))


def row(make: Callable[..., T], fields: Fields) -> FieldKind[T]:
    """Return the kind of a list that has these fields by their places."""

    def read(value: Any) -> T:
        if len(_typed(value, list)) != len(fields):
            raise ValueError
        return make(**read_fields(fields, dict(zip(fields, value, strict=True))))

    return FieldKind(read, lambda value: list(write_fields(fields, value).values()))


def _typed(value: Any, kind: type[T], longest: int | None = None) -> T:
    """Return a value of just this type, with at most `longest` characters or items. Raises ValueError for others."""
    if type(value) is not kind or (longest is not None and isinstance(value, Sized) and len(value) > longest):
        raise ValueError
    return value


def _checked(kind: type[T], accepts: Callable[[T], bool]) -> FieldKind[T]:
    def read(value: Any) -> T:
        typed = _typed(value, kind)
        if not accepts(typed):
            raise ValueError
        return typed

    return FieldKind(read)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands twice")
    return values


FLAG = _checked(bool, lambda _flag: True)
