"""`overview`: what a video or a channel is about."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.values import clock, pick_json
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.cli.options import complete_channels_and_videos, runtime_outcome

if TYPE_CHECKING:
    from subtitle_rag.answers.content_overview import ChannelOverview, OverviewTerm, VideoOverview
    from subtitle_rag.index.sections import Section
    from subtitle_rag.runtime import Runtime


@click.command("overview")
@click.argument("target", metavar="VIDEO|CHANNEL", shell_complete=complete_channels_and_videos)
@runtime_outcome
def overview_(runtime: "Runtime", target: str) -> output.Outcome:
    from subtitle_rag.answers.content_overview import channel_overview, video_overview
    from subtitle_rag.library.resolve import named_channel, named_video, resolve_name

    runtime.require_library()
    matches = resolve_name(runtime.library, target)
    if matches.channels and not matches.videos:
        of_channel = channel_overview(runtime.library, named_channel(runtime.library, target), runtime.words)
        return output.Outcome(_channel_values(of_channel), _channel_lines(of_channel))
    of_video = video_overview(runtime.library, named_video(runtime.library, target), runtime.words)
    return output.Outcome(_video_values(of_video), _video_lines(of_video))


def _video_values(overview: "VideoOverview") -> dict[str, Any]:
    return {
        **pick_json(overview, "video", "summary", "peaks"),
        "sections": [pick_json(each, "start", "end", "title", "words") for each in overview.sections],
        "words": list(map(_mention_values, overview.words)),
        "names": list(map(_mention_values, overview.names)),
    }


def _channel_values(overview: "ChannelOverview") -> dict[str, Any]:
    return {
        "channel": {"id": overview.channel_id, "name": overview.name},
        "videos": [{**video.to_json(), "summary": sentence or None} for video, sentence in overview.videos],
        "words": list(map(_mention_values, overview.words)),
        "names": list(map(_mention_values, overview.names)),
    }


def _mention_values(mention: "OverviewTerm") -> dict[str, Any]:
    return {**pick_json(mention, "text", "at", "windows"), "video": mention.video.id}


def _video_lines(overview: "VideoOverview") -> Iterator[str]:
    yield overview.video.title
    if overview.summary:
        yield from ("", overview.summary)
    yield from _part(_("Sections"), (_section_line(each) for each in overview.sections))
    yield from _part(
        _("Most replayed"), (f"{clock(part.start_ms):>8}  {part.line}".rstrip() for part in overview.peaks)
    )
    yield from _part(_("Key terms"), map(_mention_line, overview.words))
    yield from _part(_("Names"), map(_mention_line, overview.names))


def _section_line(section: "Section") -> str:
    words = ", ".join(section.words)
    text = f"{section.title}  ({words})" if section.title and words else section.title or words
    return f"{clock(section.start_ms):>8}  {text}"


def _channel_lines(overview: "ChannelOverview") -> Iterator[str]:
    yield f"{overview.name}  ({n_('{n} video', '{n} videos', len(overview.videos))})"
    yield from _part(_("Key terms"), _places(overview.words))
    yield from _part(_("Names"), _places(overview.names))
    rows = ((str(video.published or ""), f"{video.title}  {sentence}".rstrip()) for video, sentence in overview.videos)
    yield from _part(_("Videos"), (f"{day:>10}  {text}" for day, text in rows))


def _places(mentions: "Sequence[OverviewTerm]") -> Iterator[str]:
    return (f"{_mention_line(mention)}  {mention.video.title}" for mention in mentions)


def _mention_line(mention: "OverviewTerm") -> str:
    return f"{clock(mention.at_ms):>8}  {mention.text}  ×{mention.windows}"


def _part(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a title with its lines, or nothing if there are no lines."""
    rows = list(lines)
    if rows:
        yield from ("", title, *rows)
