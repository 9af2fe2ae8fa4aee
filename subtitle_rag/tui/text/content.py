"""Outside text on the screen: titles and captions as `Content`, never as markup, measured in cells.

What would surprise: the library keeps text clean already, but a shared index holds what others wrote, so control
characters are dropped here once more; spans are cut out before, for dropping moves what follows.
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
"""Of a name in a sentence whose end matters."""


def short_name(name: str) -> str:
    """A name that leaves room for what is said of it."""
    from rich.cells import set_cell_size

    told = clean(name)
    return told if cell_len(told) <= NAME_CELLS else set_cell_size(told, NAME_CELLS - 1) + "…"


MARK = "bold underline $text-warning"
"""How the words that a query meant are drawn; the underline stays where there are no colours."""
MUTED = "dim"
TIME_CELLS = 8
LEAD = 60
"""A first mark further into its line than this many characters would be cut off: the excerpt begins near it."""


def marked(text: str, spans: Iterable[tuple[int, int]], start: int, end: int, style: str = "") -> Content:
    """`text[start:end]` in `style`, with the parts within `spans` (of the whole text) marked."""
    parts: list[tuple[str, str]] = []
    at = start
    for left, right in spans:
        left, right = max(left, at), min(right, end)
        if left < right:
            parts += [(clean(text[at:left]), style), (clean(text[left:right]), MARK)]
            at = right
    parts.append((clean(text[at:end]), style))
    return Content.assemble(*((part, style) for part, style in parts if part))


def byline(scene: "Scene") -> str:
    """Channel · date · title; the longest comes last, for the end is cut off."""
    video = scene.video
    published = video.published.isoformat() if video.published else ""
    return " · ".join(part for part in (clean(video.channel), published, clean(video.title)) if part)


def best_line(scene: "Scene") -> int:
    """Which of the scene's lines is the one to jump to."""
    return next((i for i, line in enumerate(scene.lines) if line.start_ms == scene.at_ms), 0)


def row(scene: "Scene", room: int) -> tuple[Content, Content]:
    """A scene in the list: when and what is said, then of which video; no line has more than `room` characters of it.

    Whatever does not fit costs time: a hundred characters of Hangul are as long to draw as all the rest of a row.
    """
    start = scene.lines[best_line(scene)].offset if scene.lines else 0
    lead = ""
    first = next((left for left, _right in scene.highlights if left >= start), start)
    if first - start > LEAD:
        start, lead = first - LEAD // 3, "… "
    said = marked(scene.text, scene.highlights, start, min(len(scene.text), start + room))
    head = clock(scene.at_ms).rjust(TIME_CELLS) + "  " + lead
    return Content.assemble(head, said), Content.assemble(" " * (TIME_CELLS + 2), (byline(scene)[:room], MUTED))


def hanging(head: str, content: Content, width: int, style: str = "") -> Sequence[Content]:
    """`content` wrapped to `width` cells under `head`, which is a time; no row where nothing is said."""
    if not content.plain.strip():
        return []
    indent = TIME_CELLS + 2
    wrapped = content.wrap(max(8, width - indent))
    first = Content.styled(head.ljust(indent), style or MUTED)
    blank = Content(" " * indent)
    return [(first if index == 0 else blank) + line.rstrip() for index, line in enumerate(wrapped)]


def paragraphs(rows: Iterable[str | tuple[str, str]]) -> Content:
    """Lines of plain text, each with its style."""
    return Content("\n").join(Content(row) if isinstance(row, str) else Content.styled(*row) for row in rows)
