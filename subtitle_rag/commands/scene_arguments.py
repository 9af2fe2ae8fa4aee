"""Arguments of `show`, `open`, `export` and `marks`: scenes and videos by number, id, title and time."""

import uuid
from collections.abc import Iterator

from subtitle_rag.domain import UsageError, Video, clock, parse_clock, tidy
from subtitle_rag.exporting import SceneSpan, span_at
from subtitle_rag.library import found_scenes
from subtitle_rag.runtime import Runtime

NUMBER_DIGITS = 3
"""Longest number of a scene: a search shows 200 at most."""


def video_and_time(runtime: Runtime, target: str) -> tuple[Video, int]:
    """Return the video and the time in ms of `NUMBER`, `SCENE` or `VIDEO@TIME`."""
    name, separator, time = target.rpartition("@")
    if separator and name:
        video, at_ms = named_video(runtime, name), time_of(time)
        check_within(video, at_ms)
        return video, at_ms
    if _is_number(runtime, target):
        return _scene_of_number(runtime, int(target))
    try:
        window = runtime.library.window(str(uuid.UUID(target)))
    except ValueError:
        window = None
    if window is None:
        return _shared_scene(runtime, target) or (named_video(runtime, target), 0)
    return named_video(runtime, window.video_id), window.start_ms


def _scene_of_number(runtime: Runtime, number: int) -> tuple[Video, int]:
    """Return video and time of a scene of the last `search`."""
    if not runtime.settings.search.remember:  # what an earlier search left would be another scene
        raise UsageError("searches_not_remembered", number=number)
    scenes = found_scenes(runtime.library)
    if not scenes:
        raise UsageError("no_last_search", number=number)
    if not 1 <= number <= len(scenes):
        raise UsageError("no_such_number", number=number, last=len(scenes))
    id, at_ms = scenes[number - 1][:2]
    window = runtime.library.window(id)
    if window is not None:
        return named_video(runtime, window.video_id), at_ms
    if shared := _shared_scene(runtime, id):
        return shared[0], at_ms
    raise UsageError("scene_gone", number=number)


def _shared_scene(runtime: Runtime, target: str) -> tuple[Video, int] | None:
    """Return video and time of another library's scene in a shared index."""
    from subtitle_rag.retrieval import read_payload

    try:
        id = str(uuid.UUID(target))
    except ValueError:
        return None
    payloads = runtime.index.shared_payloads([id]) if runtime.settings.qdrant.url else {}
    scene = read_payload(id, payloads[id]) if id in payloads else None
    return (scene.video, scene.window.start_ms) if scene else None


def named_video(runtime: Runtime, name: str) -> Video:
    """Return the video with this id, or the only one with this in its title."""
    name = tidy(name)
    ids = runtime.library.find_videos(name)
    video = runtime.library.video(ids[0]) if len(ids) == 1 else None
    if video is None:
        raise UsageError("several_videos" if ids else "unknown_video", video=name)
    return video


def check_within(video: Video, at_ms: int) -> None:
    """Raise UsageError `beyond_end` for a time after the end of the video, if that is known."""
    if video.duration_ms and at_ms > video.duration_ms:
        raise UsageError("beyond_end", value=clock(at_ms), video=video.title, length=clock(video.duration_ms))


def time_of(text: str) -> int:
    try:
        return parse_clock(text)
    except (ValueError, OverflowError):
        raise UsageError("bad_time", value=text) from None


def spans(runtime: Runtime, target: str) -> Iterator[SceneSpan]:
    """Yield the span of `scene_span`, or those of all windows of `VIDEO`."""
    name, separator, _time = target.rpartition("@")
    if (separator and name) or _is_scene(runtime, target):
        yield scene_span(runtime, target)
    else:
        yield from whole_video(runtime, named_video(runtime, target))


def scene_span(runtime: Runtime, target: str) -> SceneSpan:
    """Return the span of `NUMBER`, `SCENE`, `VIDEO@TIME` or `VIDEO@TIME-TIME`, the first window's of `VIDEO`."""
    name, separator, time = target.rpartition("@")
    start, dash, end = time.partition("-")
    if separator and name and dash:
        video, start_ms, end_ms = named_video(runtime, name), time_of(start), time_of(end)
        check_within(video, start_ms)
        if end_ms <= start_ms:
            raise UsageError("bad_time", value=time)
        return SceneSpan(video, start_ms, end_ms, start_ms)
    video, at_ms = video_and_time(runtime, target)
    span = span_at(runtime.library, video, at_ms)
    if _is_number(runtime, target):
        scene = found_scenes(runtime.library)[int(target) - 1]
        if scene.start_ms is not None and scene.end_ms is not None:
            return span._replace(start_ms=scene.start_ms, end_ms=scene.end_ms)
    return span


def whole_video(runtime: Runtime, video: Video) -> Iterator[SceneSpan]:
    """Yield the spans of a video's windows."""
    for window in runtime.library.windows_of(video.id):
        yield SceneSpan(video, window.start_ms, window.end_ms, window.start_ms)


def _is_number(runtime: Runtime, target: str) -> bool:
    return target.isdecimal() and len(target) <= NUMBER_DIGITS and runtime.library.video(target) is None


def _is_scene(runtime: Runtime, target: str) -> bool:
    """Whether the target is a number or an id of a window."""
    if _is_number(runtime, target):
        return True
    try:
        uuid.UUID(target)
    except ValueError:
        return False
    return True
