"""Spans of scenes: at a time of a video, of a search's scene, and of the marks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subtitle_rag.domain import Cue, Video, spoken
from subtitle_rag.exporting.scene_reader import SceneSpan, line_cues

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library
    from subtitle_rag.retrieval.scenes import Scene


def span_at(library: "Library", video: Video, at_ms: int) -> SceneSpan:
    """Return the span of the window at a time, or of the last one before it."""
    windows = library.windows_of(video.id)
    window = next((each for each in reversed(windows) if each.start_ms <= at_ms), next(iter(windows), None))
    return SceneSpan(video, window.start_ms, window.end_ms, at_ms) if window else SceneSpan(video, at_ms, at_ms, at_ms)


def scene_span(library: "Library", scene: "Scene") -> SceneSpan:
    """Return the span of a search's scene; of a single line, the span of its window."""
    if scene.start_ms == scene.end_ms:
        return span_at(library, scene.video, scene.at_ms)
    cues = tuple(line_cues(spoken(scene.text, scene.lines), scene.end_ms))
    return SceneSpan(scene.video, scene.start_ms, scene.end_ms, scene.at_ms, cues=cues, context=scene.context)


def marked_spans(library: "Library", tag: str | None = None) -> Iterator[SceneSpan]:
    """Yield the spans of the marks, or of those with a tag. Of a removed video its mark has title and link."""
    marks = library.marks.all(tag)
    videos = library.videos_by_id(*{mark.video_id for mark in marks})
    for mark in marks:
        video = videos.get(mark.video_id) or Video(mark.video_id, mark.title, "", mark.channel, mark.url)
        cues = (Cue(mark.at_ms, max(mark.end_ms, mark.at_ms), mark.line),) if mark.line else ()
        yield SceneSpan(video, mark.start_ms, mark.end_ms, mark.at_ms, mark.note, mark.tag, cues)
