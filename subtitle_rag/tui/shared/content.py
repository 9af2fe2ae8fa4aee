"""Outside text on screen: titles and captions as `Content`, never as markup, measured in cells.

Drops control characters a second time, after cutting out spans, as that moves the text.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video, clock
from subtitle_rag.base.i18n import _
from subtitle_rag.search.reasons import REASONS, copies_sentence, is_borrowed, words_reason
from subtitle_rag.tui.shared.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene


NAME_CELLS = 30
"""Longest name in a sentence whose end matters."""


def short_name(name: str) -> str:
    """Return the name, cut to `NAME_CELLS`."""
    text = clean(name)
    return text if cell_len(text) <= NAME_CELLS else set_cell_size(text, NAME_CELLS - 1) + "…"


Rows = list[str | tuple[str, str]]
"""Lines, some with a style."""
MARK = "bold $match"
"""Style of typed words; the underline works without colours."""
RELATED_MARK = "underline"
"""Style of variants of typed words."""
MUTED = "dim"
SIGN = "✦"
"""The sign of marked scenes: one cell wide in every terminal, unlike a star."""
TIME_CELLS = 8


def marked(
    text: str,
    spans: Iterable[tuple[int, int]],
    start: int,
    end: int,
    style: str = "",
    related: Collection[tuple[int, int]] = (),
) -> Content:
    """Return `text[start:end]` with marks.

    Args:
        text: The whole text.
        spans: Spans of the whole text to mark.
        start: Where the part begins.
        end: Where the part ends.
        style: The style of the part.
        related: The spans to mark as variants.

    Returns:
        The part, without control characters.
    """
    parts: list[tuple[str, str]] = []
    at = start
    for span in spans:
        begin, stop = max(span[0], at), min(span[1], end)
        if begin < stop:
            mark = f"{style} {RELATED_MARK}".strip() if span in related else MARK
            parts += [(clean(text[at:begin]), style), (clean(text[begin:stop]), mark)]
            at = stop
    parts.append((clean(text[at:end]), style))
    return assembled(*((part, style) for part, style in parts if part))


def assembled(*parts: str | Content | tuple[str, str]) -> Content:
    """Join clean parts. Textual would check for control characters again, a third of a row's time."""
    return Content.assemble(*parts, strip_control_codes=False)


def mark_label(tag: str) -> str:
    """Return the sign of a marked scene with its tag, to precede its byline."""
    return f"{SIGN} #{clean(tag)} · " if tag else f"{SIGN} "


def byline(scene: "Scene") -> Content:
    """Return copies · channel · date · title; the longest is last, since the end is cut off.

    Without a mark in the speech, the reason comes first, then the matched title.
    """
    video = scene.video
    published = video.published.isoformat() if video.published else ""
    title = marked(video.title, scene.title_highlights, 0, len(video.title), MUTED)
    reason = words_reason(scene.words) if is_borrowed(scene.words) else ""
    reason = clean(reason) or (_(REASONS[scene.reason]) if scene.reason in REASONS else "")
    copies = copies_sentence(len(scene.copies)) if scene.copies else ""
    names = (copies, clean(video.channel), published)
    is_titled = scene.reason == "title" or any(word.source == "title" for word in scene.words)
    ordered = (reason, title, *names) if is_titled else (reason, *names, title)
    parts = [part if isinstance(part, Content) else (part, MUTED) for part in ordered if part]
    return assembled(*[each for part in parts for each in ((" · ", MUTED), part)][1:])


def time_head(at_ms: int) -> str:
    """Return the start of a row: a time in its column."""
    return clock(at_ms).rjust(TIME_CELLS) + "  "


def hanging(head: str, content: Content, width: int, style: str = "") -> Sequence[Content]:
    """Wrap `content` to `width` cells next to the time `head`. Empty content gives no row."""
    if not content.plain.strip():
        return []
    indent = TIME_CELLS + 2
    wrapped = content.wrap(max(8, width - indent))
    first = Content.styled(head.ljust(indent), style or MUTED)
    blank = Content(" " * indent)
    return [(first if index == 0 else blank) + line.rstrip() for index, line in enumerate(wrapped)]


def failure_rows(error: AppError) -> Rows:
    return [(f"! {clean(error.message)}", "bold"), f"  {clean(error.hint)}"]


def channel_and_date(video: Video) -> str:
    """Return channel · date, as far as they are known."""
    return " · ".join(filter(None, (clean(video.channel), video.published.isoformat() if video.published else "")))


def paragraphs(rows: Iterable[str | tuple[str, str]]) -> Content:
    return Content("\n").join(Content(row) if isinstance(row, str) else Content.styled(*row) for row in rows)
