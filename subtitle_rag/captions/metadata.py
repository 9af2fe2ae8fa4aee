"""Metadata of a video, from yt-dlp's `.info.json` or extractor, as domain values.

It is outside data: any field may be missing, of any type and of any size.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import unquote

from subtitle_rag.base.domain.values import Chapter, Details, Heat, nfc
from subtitle_rag.captions.caption_text import plain_text

Info = Mapping[str, Any]

MAX_NAME = 300
"""Longest title or channel name, in characters; the rest is cut."""
MAX_DESCRIPTION = 5_000
"""Longest description in characters, YouTube's own limit."""
MAX_ENTRIES = 1_000
"""Maximum number of chapters or heatmap pieces; real videos have far fewer."""
MAX_VIDEOS = 10_000_000
"""Maximum number of videos of a list; the largest channels have a tenth."""

_CHANNEL_ID = re.compile(r"[A-Za-z0-9_@.-]{1,100}")


def clean_name(text: str) -> str:
    """Return a title or name from outside, safe to show and store."""
    return plain_text(text)[:MAX_NAME].rstrip()


def text(info: Info, key: str) -> str:
    """Return a name or title, or ""."""
    value = info.get(key)
    return clean_name(value[: 10 * MAX_NAME]) if isinstance(value, str) else ""


def channel_id(info: Info) -> str | None:
    value = info.get("channel_id")
    return value if isinstance(value, str) and _CHANNEL_ID.fullmatch(value) else None


def handle(info: Info) -> str | None:
    """Return a channel's `@handle` in lower case, as in addresses."""
    value = info.get("uploader_id")
    return nfc(unquote(value)).lower() if isinstance(value, str) and value.startswith("@") else None


def channel_name(info: Info) -> str:
    return text(info, "channel") or text(info, "uploader")


def count(info: Info, key: str) -> int | None:
    """Return a number of videos; None for anything else."""
    value = info.get(key)
    return value if type(value) is int and 0 <= value <= MAX_VIDEOS else None


def day(value: object) -> date | None:
    """Read a date of eight digits; None for anything else."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{8}", value):
        return None
    try:
        return datetime.strptime(value, "%Y%m%d").date()
    except ValueError:
        return None


def published(info: Info) -> date | None:
    """Return the day of the upload, the release, or yt-dlp's timestamp."""
    moment = info.get("timestamp")
    if isinstance(moment, int | float) and 0 < moment < 4e9:
        stamp = datetime.fromtimestamp(moment, UTC).date()
    else:
        stamp = None
    return day(info.get("upload_date")) or day(info.get("release_date")) or stamp


def ms(seconds: object) -> int | None:
    """Return seconds as milliseconds, from 0 to a year (the longest video); None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= 366 * 86_400:
        return None
    return round(seconds * 1000)


def chapters(value: object) -> tuple[Chapter, ...]:
    chapters = []
    for item in _items(value):
        start, title = ms(item.get("start_time")), text(item, "title")
        if start is not None and title:
            chapters.append(Chapter(start, title))
    return tuple(sorted(chapters, key=lambda chapter: chapter.start_ms))


def kind(info: Info) -> str:
    """Return `video`, `short` or `stream`."""
    return {"short": "short", "livestream": "stream"}.get(str(info.get("media_type")), "video")


def details(info: Info) -> Details:
    return Details(
        description=_description(info.get("description")),
        thumbnail=_thumbnail(info),
        heatmap=_heatmap(info.get("heatmap")),
    )


def _items(value: object) -> list[Info]:
    return [item for item in value[:MAX_ENTRIES] if isinstance(item, dict)] if isinstance(value, list) else []


def _description(value: object) -> str:
    """Return the lines of a description, each safe to show."""
    lines = value[: 2 * MAX_DESCRIPTION].splitlines() if isinstance(value, str) else []
    return "\n".join(plain_text(line) for line in lines)[:MAX_DESCRIPTION].strip()


def _address(value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"https://[!-~]{1,2000}", value) else None


def _thumbnail(info: Info) -> str | None:
    """Return YouTube's widest thumbnail. yt-dlp adds guessed addresses without a width."""
    sized = [item for item in _items(info.get("thumbnails")) if type(item.get("width")) is int]
    widest = max(sized, key=lambda item: int(item["width"]), default={})
    return _address(widest.get("url")) or _address(info.get("thumbnail"))


def _heatmap(value: object) -> tuple[Heat, ...]:
    heats = []
    for item in _items(value):
        start, end, height = ms(item.get("start_time")), ms(item.get("end_time")), item.get("value")
        if start is None or end is None or end < start or isinstance(height, bool):
            continue
        if isinstance(height, int | float) and 0 <= height <= 1:
            heats.append(Heat(start, end, round(height, 4)))
    return tuple(heats)
