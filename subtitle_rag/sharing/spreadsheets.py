"""Scenes as rows: CSV and JSON Lines."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from subtitle_rag.sharing.export_formats import ExportFormat
from subtitle_rag.sharing.exported_scene import ExportedScene

_FORMULA = re.compile(r"[\s'\"]*[=+\-@＝＋－＠]|[\t\r]")
"""Start of a cell that a spreadsheet would calculate; it ignores spaces and accepts full-width signs."""


def jsonl(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write one scene per line, with the fields of `search --json`."""
    rows = (json.dumps(scene.values(rank), ensure_ascii=False) for rank, scene in enumerate(scenes, start=1))
    return "".join(f"{row}\n" for row in rows)


def comma_separated(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write one scene per row; the columns are the fields of `search --json`, such as `video.title`."""
    rows = [_flat(scene.values(rank)) for rank, scene in enumerate(scenes, start=1)]
    text = io.StringIO(newline="")
    if rows:
        writer = csv.writer(text)
        writer.writerow(rows[0])
        writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue()


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _cell(value: object) -> object:
    """Return a value that no spreadsheet reads as a formula."""
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "")
    return f"'{text}" if _FORMULA.match(text) else text


CSV, JSON_LINES = ExportFormat(comma_separated, byte_order_mark=True), ExportFormat(jsonl)
