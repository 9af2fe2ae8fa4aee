"""The JSON Schema of `config.toml`, made from the dataclasses of `config`, for editors."""

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from subtitle_rag.config.settings import SECTIONS, ThemeSettings, about, about_field
from subtitle_rag.i18n import LANGUAGES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_STRINGS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def settings_schema(keys: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the schema in the language in force; `keys`: id → its meaning and default keys."""
    player = {**_object({"command": {**_STRINGS, "minItems": 1}}), "required": ["command"]}
    tables = {
        "language": {"type": "string", "enum": list(LANGUAGES)},
        **{name: _table(kind) for name, kind in SECTIONS.items()},
        "players": {"type": "object", "additionalProperties": player},
        "keys": _nested_keys(keys, ""),
        "themes": {"type": "object", "additionalProperties": _table(ThemeSettings)},
    }
    described = {name: {**table, "description": about(name)} for name, table in tables.items()}
    return {"$schema": DIALECT, "title": "subtitle-rag config.toml", **_object(described)}


def _table(kind: type[Any]) -> dict[str, Any]:
    table = _object({each.name: _setting(each, getattr(kind(), each.name)) for each in fields(kind)})
    required = [each.name for each in fields(kind) if each.metadata.get("required")]
    return {**table, "required": required} if required else table


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _setting(each: "Field[Any]", default: Any) -> dict[str, Any]:
    """Return a setting by its default's type and its field's rules, as `config_file` reads them."""
    rules = each.metadata
    described = {"description": about_field(each)}
    if isinstance(default, Mapping):
        return {"type": "object", "additionalProperties": {"type": "string"}, "default": dict(default), **described}
    if isinstance(default, tuple):
        items = {"type": "string", **({"enum": list(rules["among"])} if "among" in rules else {})}
        least = 0 if rules.get("empty") else 1
        return {"type": "array", "items": items, "minItems": least, "default": list(default), **described}
    definition: dict[str, Any] = {"type": _TYPES[type(default)]}
    if type(default) is int:
        definition["minimum"] = rules.get("least", 0)
        if "most" in rules:
            definition["maximum"] = rules["most"]
    if "one_of" in rules:
        definition["enum"] = list(rules["one_of"])
    if not rules.get("required"):
        definition["default"] = default
    return {**definition, **described}


def _nested_keys(keys: Mapping[str, tuple[str, str]], prefix: str) -> dict[str, Any]:
    """Return the ids, in quotes or as tables: `"app.library"` and `app.library` are the same."""
    properties: dict[str, Any] = {}
    for id, (meaning, usual) in keys.items():
        if id.startswith(prefix):
            rest = id.removeprefix(prefix)
            properties[rest] = {"type": "string", "default": usual, "description": meaning}
            head, dot, _tail = rest.partition(".")
            if dot and head not in properties:
                properties[head] = _nested_keys(keys, f"{prefix}{head}.")
    return _object(properties)
