"""Outside text on the screen: titles and captions as `Content`, never as markup, measured in cells.

The library holds clean text, but a shared index may not: control characters are dropped here once more. Spans are cut
out before, since dropping moves the text behind.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from subtitle_rag.domain import clock
from subtitle_rag.tui.state.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene


NAME_CELLS = 30
"""Longest name in a sentence whose end matters."""


def short_name(name: str) -> str:
    """Return the name, cut to `NAME_CELLS`."""
    from rich.cells import set_cell_size

    text = clean(name)
    return text if cell_len(text) <= NAME_CELLS else set_cell_size(text, NAME_CELLS - 1) + "…"


Rows = list[str | tuple[str, str]]
"""Lines, some with a style."""
MARK = "bold underline $text-warning"
"""Style of matched words; the underline remains without colours."""
MUTED = "dim"
TIME_CELLS = 8
LEAD = 60
"""A first mark further into its line than this many characters would be cut off: the excerpt begins near it."""


def marked(text: str, spans: Iterable[tuple[int, int]], start: int, end: int, style: str = "") -> Content:
    """Return `text[start:end]` in `style`, with the parts within `spans` (of all of `text`) marked."""
    parts: list[tuple[str, str]] = []
    at = start
    for begin, stop in spans:
        begin, stop = max(begin, at), min(stop, end)
        if begin < stop:
            parts += [(clean(text[at:begin]), style), (clean(text[begin:stop]), MARK)]
            at = stop
    parts.append((clean(text[at:end]), style))
    return Content.assemble(*((part, style) for part, style in parts if part))


def byline(scene: "Scene") -> str:
    """Return channel · date · title; the longest comes last, for the end is cut off."""
    video = scene.video
    published = video.published.isoformat() if video.published else ""
    return " · ".join(part for part in (clean(video.channel), published, clean(video.title)) if part)


def best_line(scene: "Scene") -> int:
    """Return the index of the line at the scene's jump time."""
    return next((i for i, line in enumerate(scene.lines) if line.start_ms == scene.at_ms), 0)


def row(scene: "Scene", room: int) -> tuple[Content, Content]:
    """Return a scene's two lines in the list: time and words, then the byline, each of at most `room` characters.

    Text beyond the edge costs time: a hundred characters of Hangul take as long to draw as the rest of a row.
    """
    start = scene.lines[best_line(scene)].offset if scene.lines else 0
    lead = ""
    first = next((begin for begin, _right in scene.highlights if begin >= start), start)
    if first - start > LEAD:
        start, lead = first - LEAD // 3, "… "
    words = marked(scene.text, scene.highlights, start, min(len(scene.text), start + room))
    head = clock(scene.at_ms).rjust(TIME_CELLS) + "  " + lead
    return Content.assemble(head, words), Content.assemble(" " * (TIME_CELLS + 2), (byline(scene)[:room], MUTED))


def hanging(head: str, content: Content, width: int, style: str = "") -> Sequence[Content]:
    """Wrap `content` to `width` cells beside the time `head`. Empty content gives no row."""
    if not content.plain.strip():
        return []
    indent = TIME_CELLS + 2
    wrapped = content.wrap(max(8, width - indent))
    first = Content.styled(head.ljust(indent), style or MUTED)
    blank = Content(" " * indent)
    return [(first if index == 0 else blank) + line.rstrip() for index, line in enumerate(wrapped)]


def paragraphs(rows: Iterable[str | tuple[str, str]]) -> Content:
    """Join lines of plain text, each with its style."""
    return Content("\n").join(Content(row) if isinstance(row, str) else Content.styled(*row) for row in rows)
