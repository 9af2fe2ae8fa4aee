"""The scenes of an export, and the name of its file."""

import re
from typing import TYPE_CHECKING, NamedTuple

from subtitle_rag.domain import tidy

if TYPE_CHECKING:
    from subtitle_rag.retrieval import Scene

SUFFIXES = {"anki": "tsv"}
"""Endings of files that differ from the name of the format."""
MOST_NAME = 60
"""Characters of a proposed name."""


class ExportSource(NamedTuple):
    name: str
    """For the user: the chosen scene, the results, the marks."""
    scenes: "tuple[Scene, ...]"
    query: str = ""
    """The heading of the text."""


def file_name(source: ExportSource, fallback: str, format: str) -> str:
    """Return a name for the file: the query, else the title of the only video, else `fallback`."""
    titles = {scene.video.title for scene in source.scenes}
    text = source.query or (next(iter(titles)) if len(titles) == 1 else "") or fallback
    stem = " ".join(re.sub(r"[^\w-]+", " ", tidy(text)).split())[:MOST_NAME].strip(" -")
    return f"{stem or fallback}.{suffix(format)}"


def with_suffix(name: str, format: str, formats: tuple[str, ...]) -> str:
    """Return a name of a file with the ending of a format in the place of another format's."""
    stem, dot, end = name.rpartition(".")
    is_known = bool(dot) and end.lower() in {suffix(each) for each in formats}
    return f"{stem if is_known else name}.{suffix(format)}"


def suffix(format: str) -> str:
    return SUFFIXES.get(format, format)
