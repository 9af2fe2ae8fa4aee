"""`show`: the transcript of a video."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import (
    Chapter,
    Details,
    Line,
    Track,
    Video,
    Window,
    clock,
    named_text,
    pick_json,
    to_json,
)
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.cli.options import complete_videos, runtime_outcome, wants_json
from subtitle_rag.cli.scene_arguments import check_within, time_of, video_and_time

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

AROUND_MS = 60_000
CHAPTER_SLACK_MS = 5_000
"""Tolerance for chapter marks: authors set them by the second, and a little late."""


@click.command("show")
@click.argument("video", shell_complete=complete_videos)
@click.option("--at", "at", metavar="TIME", help=N_("Only a minute on either side of this time (12:41)."))
@runtime_outcome
def show_(runtime: "Runtime", video: str, at: str | None) -> output.Outcome:
    from subtitle_rag.captions.heard_tracks import read_gaps
    from subtitle_rag.library.resolve import named_video

    centre = time_of(at) if at else None
    if centre is None and "@" in video and runtime.library.video(video) is None:
        row, centre = video_and_time(runtime, video)
    else:
        row = named_video(runtime.library, video)
    check_within(row, centre or 0)
    track = runtime.library.track(row.id)
    spoken_lines = _spoken_near(runtime.library.windows_of(row.id), centre)
    gaps = [gap for gap in (read_gaps(track) if track else ()) if _is_near(gap.start_ms, centre)]
    if not wants_json():
        _say_heading(row, track)
    values = {
        "video": _video_values(row, track, runtime.library.details(row.id)),
        "lines": [{**pick_json(line, "start", "speaker"), "text": text} for line, text in spoken_lines],
        "gaps": [pick_json(gap, "start", "end", "reason") for gap in gaps],
    }
    lines = [(line.start_ms, named_text(line.speaker, text)) for line, text in spoken_lines]
    if gaps:
        from subtitle_rag.listening.gaps import gap_line

        lines = sorted([*lines, *((gap.start_ms, f"[{gap_line(gap)}]") for gap in gaps)])
    notes = []
    if centre is not None and not lines:
        start, end = clock(max(centre - AROUND_MS, 0)), clock(centre + AROUND_MS)
        notes = [AppError("range_silent", video=row.title, start=start, end=end).message]
    return output.Outcome(values, _transcript(lines, row.chapters if centre is None else ()), notes)


def _is_near(at_ms: int, centre: int | None) -> bool:
    """Whether a time is shown: all are unless `centre` is given."""
    return centre is None or abs(at_ms - centre) <= AROUND_MS


def _spoken_near(windows: Iterable[Window], centre: int | None) -> list[tuple[Line, str]]:
    return [
        (line, text)
        for window in windows
        for line, (_start, text) in zip(window.lines, window.spoken(), strict=True)
        if _is_near(line.start_ms, centre)
    ]


def _say_heading(video: Video, track: Track | None) -> None:
    from subtitle_rag.captions.speech import selection_notes

    output.say(f"{video.title}\n{video.channel}")
    if track and track.kind == "local":
        output.say(_("Transcribed on this machine by {model}.").format(model=track.model))
    for note in selection_notes(track.selection) if track and track.selection else ():
        output.say(note)


def _transcript(lines: Sequence[tuple[int, str]], chapters: Sequence[Chapter]) -> Iterator[str]:
    """Yield the lines with their times, under their chapters' titles."""
    pending = list(chapters)
    for number, (start, text) in enumerate(lines):
        while pending and pending[0].start_ms <= start + CHAPTER_SLACK_MS:
            if number:
                yield ""
            yield f"{' ' * 10}## {pending.pop(0).title}"
        yield f"{clock(start):>8}  {text}"


def _video_values(video: Video, track: Track | None, details: Details) -> dict[str, Any]:
    return {
        **video.to_json(),
        **pick_json(video, "duration", "kind", "chapters"),
        **to_json(details),
        "track": track and pick_json(track, "language", "kind", "flag", "model", "settings", "selection"),
    }
