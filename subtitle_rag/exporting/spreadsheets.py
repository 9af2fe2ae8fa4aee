"""Scenes as rows: CSV, JSON Lines, and the notes of Anki."""

import csv
import html
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from subtitle_rag.domain import clock
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.i18n import _

_FORMULA = re.compile(r"[\s'\"]*[=+\-@＝＋－＠]|[\t\r]")
"""The beginning of a cell that spreadsheets calculate; they skip spaces, and read full-width signs too."""


def jsonl(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write a scene a line, with the fields of `search --json`."""
    rows = (json.dumps(scene.values(rank), ensure_ascii=False) for rank, scene in enumerate(scenes, start=1))
    return "".join(f"{row}\n" for row in rows)


def comma_separated(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write a scene a row; the columns are the fields of `search --json`, such as `video.title`."""
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
    """Return a value that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "")
    return f"'{text}" if _FORMULA.match(text) else text


def anki(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write a note a line for Anki's import of text: sentence, speech around it, context, link, clip, tags.

    The clip is a file of Anki's media folder.
    """
    columns = "\t".join((_("Sentence"), _("Scene"), _("Context"), _("Link"), _("Clip"), _("Tags")))
    head = ["#separator:tab", "#html:true", f"#columns:{columns}", "#tags column:6"]
    rows = ["\t".join(_anki_fields(scene)) for scene in scenes]
    return "".join(f"{line}\n" for line in (*head, *rows))


def _anki_fields(scene: ExportedScene) -> tuple[str, ...]:
    source = f"{scene.video.title} {clock(scene.at_ms)}"
    link = f'<a href="{html.escape(scene.jump_url)}">{_field(source)}</a>' if scene.jump_url else _field(source)
    tag = re.sub(r"[^\w:-]+", "_", scene.tag)
    context = "<br>".join(_field(text) for text in (scene.context, scene.note) if text)
    # double quotes would make Anki look for the end of a quoted field
    clip = f"[sound:{scene.clip.name}]" if scene.clip else ""
    return _field(scene.sentence), _field(scene.text), context, link.replace('"', "'"), clip, tag


def _field(text: str) -> str:
    """Return outside text as HTML on one line; a number sign would begin a comment."""
    return html.escape(" ".join(text.split())).replace("#", "&#35;")
