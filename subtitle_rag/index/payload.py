"""Payload of an index point: everything needed to filter by, and to show its scene."""

from typing import Any

from subtitle_rag.base.domain.values import Video, Window


def to_payload(video: Video, window: Window, context: str | None = None) -> dict[str, Any]:
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
        "lines": [list(line[:2]) for line in window.lines],
        **({"speakers": speakers} if any(speakers := [line.speaker for line in window.lines]) else {}),
        "overlap_before": window.overlap_before,
        "overlap_after": window.overlap_after,
        "context": context,
    }
