"""The payload of an index point: everything needed to show its scene, so that other libraries can read it too.

A shared index also holds payloads from other programs, so every field is checked when it is read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from subtitle_rag.domain import Line, Video, Window

_YOUTUBE_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


SCENE_KEYS = (
    *("video", "title", "channel_id", "channel", "url", "published", "ordinal", "start_ms", "end_ms", "text", "lines"),
    *("overlap_before", "overlap_after", "context"),
)
"""The keys of `to_payload`."""


@dataclass(frozen=True, slots=True)
class WindowPayload:
    """A payload as values of the domain."""

    video: Video
    window: Window
    context: str | None


def to_payload(video: Video, window: Window, context: str | None = None) -> dict[str, Any]:
    """Return a window's payload."""
    return {
        "video": video.id,
        "title": video.title,
        "channel_id": video.channel_id,
        "channel": video.channel,
        "url": video.url,
        "published": video.published.isoformat() if video.published else None,
        "ordinal": window.ordinal,
        "start_ms": window.start_ms,
        "end_ms": window.end_ms,
        "text": window.text,
        "lines": [list(line) for line in window.lines],
        "overlap_before": window.overlap_before,
        "overlap_after": window.overlap_after,
        "context": context,
    }


def read_payload(id: str, payload: Mapping[str, Any]) -> WindowPayload | None:
    """Return the payload of the window `id`, or None if `to_payload` cannot have written it."""
    try:
        published = payload["published"]
        text = _text(payload["text"])
        lines = tuple(Line(_number(offset), _number(start)) for offset, start in payload["lines"])
        offsets = [line.offset for line in lines]
        if not text or offsets != sorted(set(offsets)) or offsets[:1] != [0] or offsets[-1] >= len(text):
            return None
        video_id = _text(payload["video"])
        video = Video(
            id=video_id,
            title=_text(payload["title"]),
            channel_id=_text(payload["channel_id"]),
            channel=_text(payload["channel"]),
            url=f"https://www.youtube.com/watch?v={video_id}"
            if payload["url"] and _YOUTUBE_ID.fullmatch(video_id)
            else None,
            published=date.fromisoformat(published) if published else None,
        )
        window = Window(
            id=id,
            video_id=video.id,
            ordinal=_number(payload["ordinal"]),
            start_ms=_number(payload["start_ms"]),
            end_ms=_number(payload["end_ms"]),
            text=text,
            lines=lines,
            overlap_before=_text(payload["overlap_before"]),
            overlap_after=_text(payload["overlap_after"]),
        )
        context = payload.get("context")
        return WindowPayload(video, window, _text(context) if context else None)
    except (KeyError, TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    """Replace control characters, which a terminal would obey, and halves of others by blanks; offsets stay valid."""
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return _CONTROLS.sub(" ", value)


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(type(value).__name__)
    return value
