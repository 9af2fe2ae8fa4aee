"""Reader of scenes from the library, by place in a video, with everything that export formats need."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Cue, Line, Video, Window, spoken
from subtitle_rag.library.store import Library
from subtitle_rag.search.scenes import Scene
from subtitle_rag.sharing.exported_scene import ExportedScene

logger = logging.getLogger(__name__)


def read_scenes(library: Library, spans: Iterable[ExportedScene]) -> list[ExportedScene]:
    """Return the scenes of these spans without repeats, with captions, contexts and files.

    A span of a video missing from the library keeps its own captions and context, because several libraries may share
    an index. Raises the errors of `Library`.
    """
    scenes = []
    for video_id, group in groupby(dict.fromkeys(spans), key=lambda span: span.video.id):
        windows = library.windows_of(video_id)
        cues = _video_cues(library, video_id, windows)
        scenes += [_scene(library, span, windows, cues) for span in group]
    return scenes


def _scene(library: Library, span: ExportedScene, windows: Sequence[Window], cues: Sequence[Cue]) -> ExportedScene:
    """Return the scene of a span, from its video's windows and cues."""
    from subtitle_rag.captions.films import find_media

    window = max(windows, key=lambda each: _overlap_ms(each, span), default=None)
    if window is not None and _overlap_ms(window, span) <= 0:
        window = None
    contexts = library.contexts.of_windows([window.id]) if window else {}
    return replace(
        span,
        cues=tuple(_shown_cues(cues, span, windows)) or span.cues,
        id=window.id if window else None,
        context=contexts[window.id].text if window and window.id in contexts else span.context,
        media=find_media(span.video),
    )


def _shown_cues(cues: Sequence[Cue], span: ExportedScene, windows: Sequence[Window]) -> Iterator[Cue]:
    """Yield the cues shown in a span, including those that began before it.

    A span from one cue to the end of a window has only whole cues: those across its ends are spoken before or after it.
    """
    starts_with_cue = any(cue.start_ms == span.start_ms for cue in cues)
    end_ms = span.end_ms
    for window, following in zip_longest(windows, windows[1:]):
        if window.end_ms == span.end_ms and starts_with_cue:
            end_ms = following.start_ms if following else end_ms + 1  # the last line may have no length
    for cue in cues:
        is_on_screen = cue.start_ms >= span.start_ms or (cue.end_ms > span.start_ms and not starts_with_cue)
        if cue.start_ms < end_ms and is_on_screen:
            yield cue


def _video_cues(library: Library, video_id: str, windows: Sequence[Window]) -> list[Cue]:
    """Return a track's cues divided as in windows, or the windows' own cues, which have no ends."""
    from subtitle_rag.captions.parse import parse_captions
    from subtitle_rag.captions.windows import divide_cues

    track = library.track(video_id)
    try:
        cues = divide_cues(parse_captions(track.raw, track.format, language=track.language)) if track else []
    except AppError:  # another version could read what this one cannot
        logger.info("the track of %s cannot be read again", video_id, exc_info=True)
        cues = []
    return cues or [cue for window in windows for cue in line_cues(window.text, window.lines, window.end_ms)]


def _overlap_ms(window: Window, span: ExportedScene) -> int:
    return min(window.end_ms, span.end_ms) - max(window.start_ms, span.start_ms)


def line_cues(text: str, lines: Sequence[Line], end_ms: int) -> Iterator[Cue]:
    """Yield the lines of a text as cues, each until the next."""
    ends = [line.start_ms for line in lines[1:]] + [end_ms]
    for (start_ms, line_text), line, end in zip(spoken(text, lines), lines, ends, strict=True):
        yield Cue(start_ms, end, line_text, speaker=line.speaker)


def span_at(library: Library, video: Video, at_ms: int) -> ExportedScene:
    """Return the span from a time to the end of its window, or the last window before that time."""
    windows = library.windows_of(video.id)
    window = next((each for each in reversed(windows) if each.start_ms <= at_ms), next(iter(windows), None))
    start_ms, end_ms = (window.start_ms, window.end_ms) if window else (at_ms, at_ms)
    return ExportedScene(video, at_ms if start_ms <= at_ms < end_ms else start_ms, end_ms, at_ms)


def scene_span(library: Library, scene: Scene) -> ExportedScene:
    """Return the span of a found scene from the displayed second on; for a single line, the span in its window."""
    if scene.start_ms == scene.end_ms:
        return span_at(library, scene.video, scene.at_ms)
    cues = tuple(cue for cue in line_cues(scene.text, scene.lines, scene.end_ms) if cue.start_ms >= scene.at_ms)
    return ExportedScene(scene.video, scene.at_ms, scene.end_ms, scene.at_ms, cues, context=scene.context)


def marked_spans(library: Library, tag: str | None = None) -> Iterator[ExportedScene]:
    """Yield the spans of all marks, or of those with a tag. For a removed video, the mark has title and link."""
    marks = library.marks.all(tag)
    videos = library.videos_by_id(*{mark.video_id for mark in marks})
    for mark in marks:
        video = videos.get(mark.video_id) or Video(mark.video_id, mark.title, "", mark.channel, mark.url)
        cues = (Cue(mark.at_ms, max(mark.end_ms, mark.at_ms), mark.line),) if mark.line else ()
        yield ExportedScene(video, mark.at_ms, mark.end_ms, mark.at_ms, cues, note=mark.note, tag=mark.tag)
