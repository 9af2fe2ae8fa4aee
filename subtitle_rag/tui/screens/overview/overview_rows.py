"""Rows of an overview: a time, a text, and the time that the row opens."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.base.domain.values import Video
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, time_head

if TYPE_CHECKING:
    from subtitle_rag.answers.content_overview import ChannelOverview, OverviewTerm, VideoOverview
    from subtitle_rag.index.sections import Section

DAY_CELLS = 10


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A row, or a title, which opens nothing."""

    content: Content
    video: Video | None = None
    at_ms: int | None = None
    """None for a video of a channel; its row opens the video's overview."""
    words: str = ""
    """The speech there, if the row knows it."""


def video_rows(overview: "VideoOverview") -> list[OverviewRow]:
    """Return the rows of a video; empty parts have no title."""
    video = overview.video
    return _apart(
        _part(_("Sections"), (_section_row(video, each) for each in overview.sections)),
        _part(_("Most replayed"), (_timed_row(video, each.start_ms, clean(each.line), "") for each in overview.peaks)),
        _part(_("Key terms"), (_mention_row(each, "") for each in overview.words)),
        _part(_("Names"), (_mention_row(each, "") for each in overview.names)),
    )


def channel_rows(overview: "ChannelOverview") -> list[OverviewRow]:
    """Return the rows of a channel; empty parts have no title."""
    has_days = any(video.published for video, _sentence in overview.videos)
    return _apart(
        _part(_("Videos"), (_video_row(video, sentence, has_days) for video, sentence in overview.videos)),
        _part(_("Key terms"), (_mention_row(each, each.video.title) for each in overview.words)),
        _part(_("Names"), (_mention_row(each, each.video.title) for each in overview.names)),
    )


def _apart(*parts: Iterable[OverviewRow]) -> list[OverviewRow]:
    """Return the rows of all parts, with an empty line before each title but the first."""
    rows = list(chain.from_iterable(parts))
    apart = (row if row.video else replace(row, content=Content("\n") + row.content) for row in rows[1:])
    return [*rows[:1], *apart]


def _part(title: str, rows: Iterable[OverviewRow]) -> Iterator[OverviewRow]:
    entries = list(rows)
    if entries:
        yield OverviewRow(Content.styled(title, "bold"))
        yield from entries


def _section_row(video: Video, section: "Section") -> OverviewRow:
    words = clean(", ".join(section.words))
    title = clean(section.title)
    return _timed_row(video, section.start_ms, title or words, words if title else "")


def _mention_row(mention: "OverviewTerm", where: str) -> OverviewRow:
    detail = f"×{mention.windows}" + (f"  {clean(where)}" if where else "")
    return _timed_row(mention.video, mention.at_ms, clean(mention.text), detail)


def _timed_row(video: Video, at_ms: int, text: str, detail: str) -> OverviewRow:
    content = Content.assemble(time_head(at_ms), text, (f"  {detail}" if detail else "", MUTED))
    return OverviewRow(content, video, at_ms, text)


def _video_row(video: Video, sentence: str, has_days: bool) -> OverviewRow:
    """Return a row of a channel; days have a column if any video has one."""
    day = video.published.isoformat() if video.published else ""
    head = day.rjust(DAY_CELLS) + "  " if has_days else "  "
    detail = f"\n{' ' * len(head)}{clean(sentence)}" if sentence else ""
    return OverviewRow(Content.assemble(head, clean(video.title), (detail, MUTED)), video)
