"""`export`: scenes for other programs."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands.options import pass_runtime, print_outcome
from subtitle_rag.commands.scene_arguments import SceneChoice, choose_scenes, chosen_spans
from subtitle_rag.domain import UsageError
from subtitle_rag.i18n import N_, n_

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

NAMES = ("md", "csv", "jsonl", "txt", "srt", "vtt", "m3u", "edl", "html", "anki")
"""The formats, which are imported when one is used."""
SUFFIXES = {"markdown": "md", "htm": "html", "m3u8": "m3u", "tsv": "anki"}
"""Other endings of files for a format."""


@click.command("export")
@click.option("--format", "name", type=click.Choice(NAMES), help=N_("The format; else the ending of FILE, else md."))
@choose_scenes
@click.option("-o", "--output", "file", metavar="FILE", help=N_("Write this file instead of standard output."))
@click.option("--clips", metavar="DIR", help=N_("Where the clips of the scenes are, for Anki's cards."))
@click.option("--force", is_flag=True, help=N_("Replace a file that exists."))
@pass_runtime
@print_outcome
def export_(
    runtime: "Runtime", name: str | None, choice: SceneChoice, file: str | None, clips: str | None, force: bool
) -> output.Outcome:
    from subtitle_rag.exporting import clip_of, left_out_sentence, read_scenes, render_export, write_export

    path = Path(file).expanduser() if file not in (None, "-") else None
    format_name = name or _format_of(path) or "md"
    if path is not None and not force and os.path.lexists(path):
        raise UsageError("export_exists", path=str(path))
    scenes = read_scenes(runtime.library, chosen_spans(runtime, choice))
    if clips is not None:
        scenes = [replace(scene, clip=clip_of(Path(clips).expanduser(), scene)) for scene in scenes]
    text, count, left_out = render_export(format_name, scenes, choice.query)
    values = {"format": format_name, "file": str(path) if path else None, "scenes": count, "left_out": left_out}
    notes = [left_out_sentence(left_out)] if left_out else []
    if path is None:
        lines = text.replace("\r\n", "\n").removesuffix("\n")  # a carriage return moves a terminal's cursor
        return output.Outcome({**values, "text": text}, [lines], notes)
    write_export(path, format_name, text)
    line = n_("{n} scene: {path}", "{n} scenes: {path}", count).format(n=count, path=path)
    return output.Outcome({**values, "text": None}, [line], notes)


def _format_of(path: Path | None) -> str | None:
    suffix = path.suffix.lower().removeprefix(".") if path else ""
    suffix = SUFFIXES.get(suffix, suffix)
    return suffix if suffix in NAMES else None
