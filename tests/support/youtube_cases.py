"""Checks of the real YouTube, and their results as rows of a table."""

import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import FetchError
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.youtube.track_selection import TrackSelecting
from subtitle_rag.youtube.youtube import YouTube

TRIES = 10
"""Maximum videos of a list to try before a case fails."""
COLUMNS = ("case", "video", "client", "track", "requests", "outcome")


@dataclass(frozen=True)
class LiveCase:
    """Something that YouTube treats specially. `address` is a video, or a list with such videos."""

    name: str
    address: str
    expected: str = "captions"
    """Expected result or error code; with `entries`, how many of the list's entries to read."""
    languages: tuple[str, ...] = ("ko",)
    cookies: bool = False
    entries: int = 0

    @property
    def variable(self) -> str:
        """Return the name of the variable that overrides the address."""
        return "SUBTITLE_RAG_TEST_YOUTUBE_" + re.sub(r"\W+", "_", self.name.upper()).strip("_")


@dataclass(frozen=True)
class Row:
    case: str
    video: str = ""
    client: str = ""
    track: str = ""
    requests: int = 0
    outcome: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        return self.case, self.video, self.client, self.track, str(self.requests), self.outcome


class _Requests(logging.Handler):
    """Counts the requests that a session logs."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += bool(re.match(r"(?:GET|POST|HEAD) .* in \d+ ms|.* failed after", record.getMessage()))


@contextmanager
def counted() -> Iterator[_Requests]:
    logger, handler = logging.getLogger("subtitle_rag.youtube.session"), _Requests()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def row_of(case: LiveCase, address: str, settings: YoutubeSettings) -> Row:
    """Request the videos of an address until one gives the expected result; return the last row."""
    row = Row(case.name)
    with closing(YouTube(settings)) as youtube, counted() as requests:
        try:
            if case.entries:
                (entries,) = youtube.listing(parse_address(address), ("videos", "shorts", "streams")).lists
                found = sum(1 for _entry in islice(entries, case.entries))
                return Row(case.name, requests=requests.count, outcome=f"{found} entries")
            for video_id, title, refusal in islice(_videos(youtube, address), TRIES):
                requests.count = 0
                row = Row(case.name, video_id, outcome=refusal) if refusal else _row(youtube, case, video_id, title)
                row = replace(row, requests=requests.count)
                if row.outcome == case.expected:
                    break
        except FetchError as error:
            return Row(case.name, requests=requests.count, outcome=error.code)
    return row


def _videos(youtube: YouTube, address: str) -> Iterator[tuple[str, str, str]]:
    source = parse_address(address)
    if source.kind == "video":
        yield source.key, source.key, ""
        return
    for entries in youtube.listing(source, ("videos",)).lists:
        for entry in entries:
            yield entry.video.id, entry.video.title, entry.refusal


def _row(youtube: YouTube, case: LiveCase, video_id: str, title: str) -> Row:
    outcome = "no captions"
    try:
        selecting = TrackSelecting()
        for page in youtube.pages(video_id, title):
            if page.is_live:
                return Row(case.name, video_id, page.client, outcome="live")
            if selected := youtube.best_track(page, case.languages, selecting, translated=False):
                track = selected.track
                cues = parse_captions(track.raw, track.format)
                told = f"{track.language} {track.kind} {len(cues)}"
                return Row(case.name, video_id, page.client, told, outcome="captions")
    except FetchError as error:
        outcome = error.code
    return Row(case.name, video_id, outcome=outcome)


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table with its heading."""
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    lines = (COLUMNS, tuple("-" * width for width in widths), *rows)
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
