"""Scenes to export, the name of the file, and the library's data for a scene to export, play or mark.

Functions with a library read it: for worker threads.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from subtitle_rag.base.domain.values import tidy
from subtitle_rag.tui.shared.scenes.marked_scenes import MarkedScenes

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.sharing.export_formats import ExportText
    from subtitle_rag.sharing.exported_scene import ExportedScene
    from subtitle_rag.sharing.player.mpv import Clip

SUFFIXES = {"anki": "apkg"}
"""Formats with a different file extension."""
MOST_NAME = 60
"""Most characters of a proposed name."""


class ExportSource(NamedTuple):
    name: str
    """For the user: the chosen scene, the results, the marks."""
    scenes: "tuple[Scene, ...]"
    query: str = ""
    """The heading of the text."""


def file_name(source: ExportSource, fallback: str, format: str) -> str:
    """Return a file name: the query, else the title of the only video, else `fallback`."""
    titles = {scene.video.title for scene in source.scenes}
    text = source.query or (next(iter(titles)) if len(titles) == 1 else "") or fallback
    stem = " ".join(re.sub(r"[^\w-]+", " ", tidy(text)).split())[:MOST_NAME].strip(" -")
    return f"{stem or fallback}.{suffix(format)}"


def with_suffix(name: str, format: str, formats: tuple[str, ...]) -> str:
    """Return a file name with the extension of a format in place of another format's."""
    stem, dot, end = name.rpartition(".")
    is_known = bool(dot) and end.lower() in {suffix(each) for each in formats}
    return f"{stem if is_known else name}.{suffix(format)}"


def suffix(format: str) -> str:
    return SUFFIXES.get(format, format)


def exported_scene(library: "Library", scene: "Scene") -> "ExportedScene":
    from subtitle_rag.sharing.scene_reader import read_scenes, scene_span

    [exported] = read_scenes(library, [scene_span(library, scene)])
    return exported


def scene_markdown(library: "Library", scene: "Scene", note: str, tag: str) -> str:
    """Return a scene as Markdown, with its video, lines, context and links."""
    from subtitle_rag.sharing.markdown import standalone_markdown

    return standalone_markdown(replace(exported_scene(library, scene), note=note, tag=tag))


def playable_clips(library: "Library", scenes: "Sequence[Scene]") -> "list[Clip]":
    """Return the scenes that can be played in a row."""
    from subtitle_rag.sharing.player_clips import make_clips
    from subtitle_rag.sharing.scene_reader import read_scenes, scene_span

    return make_clips(read_scenes(library, [scene_span(library, scene) for scene in scenes]))


def export_text(library: "Library", source: ExportSource, marks: MarkedScenes, format: str) -> "ExportText":
    """Return the scenes in a format, with notes and tags of their marks."""
    from subtitle_rag.sharing.export_formats import render_export
    from subtitle_rag.sharing.scene_reader import read_scenes, scene_span

    spans = []
    for scene in source.scenes:
        span, mark = scene_span(library, scene), marks.mark_of(scene)
        spans.append(replace(span, note=mark.note, tag=mark.tag) if mark else span)
    return render_export(format, read_scenes(library, spans), source.query or None)
