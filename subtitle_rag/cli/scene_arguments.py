"""Arguments that name scenes and videos: by number, id, title, time, mark, query or channel."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from subtitle_rag.base.domain.errors import UsageError, bad_time
from subtitle_rag.base.domain.values import Video, clock, parse_clock, tidy
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.cli.options import QueryFilters, channel_option, complete_videos, pack_options, video_option

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.sharing.exported_scene import ExportedScene

NUMBER_DIGITS = 3
"""Maximum digits of a scene's number: a search shows 200 scenes at most."""


class SceneChoice(NamedTuple):
    """Scenes for `export`, `play` and `clip`."""

    targets: Sequence[str]
    marked: bool
    """All marks."""
    tag: str | None
    """Marks with this tag."""
    query: str | None
    limit: int | None
    """Maximum number of scenes from the search."""
    video: Sequence[str]
    channel: Sequence[str]
    """Both restrict the named scenes; if none are named, they choose from all."""


choose_scenes = pack_options(
    "choice",
    SceneChoice,
    click.argument("targets", nargs=-1, metavar="[SCENE]...", shell_complete=complete_videos),
    click.option("--marks", "marked", is_flag=True, help=N_("The marked scenes.")),
    click.option("--tag", metavar="NAME", help=N_("The marked scenes with this tag.")),
    click.option(
        "--query", metavar="QUERY", help=N_("The scenes of a search. --video and --channel narrow the choice.")
    ),
    click.option("--limit", type=click.IntRange(1, 200), help=N_("At most this many scenes of a search (default 20).")),
    video_option,
    channel_option,
)
"""Decorator that adds the options of `SceneChoice`, passed to the verb as `choice`."""


def chosen_spans(runtime: "Runtime", choice: SceneChoice, *, whole: bool = True) -> "list[ExportedScene]":
    """Return the spans of marks, named scenes, a search, or whole videos and channels.

    Unless `whole`, a video's name means its first window, and nothing is chosen without a name.
    """
    from subtitle_rag.library.resolve import channel_ids, named_video
    from subtitle_rag.sharing import scene_reader
    from subtitle_rag.sharing.scene_reader import marked_spans

    if choice.limit is not None and choice.query is None:
        raise click.UsageError(_("--limit is for the scenes of --query."))
    spans: list[ExportedScene] = []
    if choice.marked or choice.tag is not None:
        spans += marked_spans(runtime.library, None if choice.tag is None else tidy(choice.tag))
    for target in choice.targets:
        spans += spans_of(runtime, target) if whole else [scene_span(runtime, target)]
    named_videos = [named_video(runtime.library, name) for name in choice.video]
    channels = channel_ids(runtime.library, choice.channel)
    if choice.query is None and not (choice.marked or choice.tag is not None or choice.targets):
        all_videos = [state.video for state in runtime.library.videos() if state.video.channel_id in channels]
        videos = dict.fromkeys((*named_videos, *all_videos)) if whole else ()
        return [span for video in videos for span in whole_video(runtime, video)]
    videos_ids = {video.id for video in named_videos}
    spans = [
        span
        for span in spans
        if (not videos_ids or span.video.id in videos_ids) and (not channels or span.video.channel_id in channels)
    ]
    if choice.query is not None:
        query = QueryFilters(choice.channel, choice.video).query(choice.query)
        result = runtime.searcher.search(query, limit=choice.limit or runtime.settings.search.limit)
        spans += [scene_reader.scene_span(runtime.library, scene) for scene in result.scenes]
    return spans


def video_and_time(runtime: "Runtime", target: str) -> tuple[Video, int]:
    """Return video and time in ms for `NUMBER`, `SCENE` or `VIDEO@TIME`."""
    from subtitle_rag.library.resolve import named_video

    name, separator, time = target.rpartition("@")
    if separator and name:
        return _video_at(runtime, name, time)
    if _is_number(runtime, target):
        return _scene_of_number(runtime, int(target))[:2]
    id = _window_id(target)
    window = runtime.library.window(id) if id else None
    if window is not None:
        return named_video(runtime.library, window.video_id), window.start_ms
    return named_video(runtime.library, target), 0


def _video_at(runtime: "Runtime", name: str, time: str) -> tuple[Video, int]:
    """Return a video, and the start of its first line within that second: times are shown without fractions."""
    from subtitle_rag.library.resolve import named_video

    video, at_ms = named_video(runtime.library, name), time_of(time)
    check_within(video, at_ms)
    lines = (line.start_ms for window in runtime.library.windows_of(video.id) for line in window.lines)
    whole_second = range(at_ms, at_ms + 1_000) if at_ms % 1_000 == 0 else ()
    return video, min((start for start in lines if start in whole_second), default=at_ms)


def _scene_of_number(runtime: "Runtime", number: int) -> tuple[Video, int, int]:
    """Return video, time and end of a scene in the last `search`."""
    from subtitle_rag.library.app_state import found_scenes
    from subtitle_rag.library.resolve import named_video

    if not runtime.settings.search.remember:  # the saved result would be an older search's
        reason = _(
            "searches are not remembered (remember = false under [search]); set remember = true to name them by number"
        )
        raise UsageError("no_such_scene", number=number, reason=reason)
    scenes = found_scenes(runtime.library)
    if not scenes:
        runtime.library.database.check_writable()  # a search in a read-only library is not saved either
    if scenes is None:
        raise UsageError("no_such_scene", number=number, reason=_("no search is remembered"))
    if not 1 <= number <= len(scenes):
        raise UsageError("no_such_scene", number=number, reason=_("the last search found {n}").format(n=len(scenes)))
    scene = scenes[number - 1]
    window = runtime.library.window(scene.id)
    if window is not None:
        return named_video(runtime.library, window.video_id), scene.at_ms, scene.end_ms
    raise UsageError("no_such_scene", number=number, reason=_("it is no longer in the library"))


def check_within(video: Video, at_ms: int) -> None:
    """Raise UsageError `beyond_end` for a time after the video's end, if its duration is known."""
    if video.duration_ms and at_ms > video.duration_ms:
        raise UsageError("beyond_end", value=clock(at_ms), video=video.title, length=clock(video.duration_ms))


def time_of(text: str) -> int:
    try:
        return parse_clock(text)
    except ValueError:
        raise bad_time(text) from None


def spans_of(runtime: "Runtime", target: str) -> "Iterator[ExportedScene]":
    """Yield the span from `scene_span`, or the spans of all windows of `VIDEO`."""
    from subtitle_rag.library.resolve import named_video

    name, separator, _time = target.rpartition("@")
    if (separator and name) or _is_number(runtime, target) or _window_id(target):
        yield scene_span(runtime, target)
    else:
        yield from whole_video(runtime, named_video(runtime.library, target))


def scene_span(runtime: "Runtime", target: str) -> "ExportedScene":
    """Return the span of `NUMBER`, `SCENE`, `VIDEO@TIME` or `VIDEO@TIME-TIME`; for `VIDEO`, its first window's."""
    from subtitle_rag.sharing.exported_scene import ExportedScene
    from subtitle_rag.sharing.scene_reader import span_at

    name, separator, time = target.rpartition("@")
    start, dash, end = time.partition("-")
    if separator and name and dash:
        (video, start_ms), end_ms = _video_at(runtime, name, start), time_of(end)
        if end_ms <= start_ms:
            raise bad_time(time)
        return ExportedScene(video, start_ms, end_ms, start_ms)
    if _is_number(runtime, target):
        video, at_ms, end_ms = _scene_of_number(runtime, int(target))
        return replace(span_at(runtime.library, video, at_ms), start_ms=at_ms, end_ms=end_ms)
    video, at_ms = video_and_time(runtime, target)
    return span_at(runtime.library, video, at_ms)


def whole_video(runtime: "Runtime", video: Video) -> "Iterator[ExportedScene]":
    """Yield the spans of a video's windows."""
    from subtitle_rag.sharing.exported_scene import ExportedScene

    for window in runtime.library.windows_of(video.id):
        yield ExportedScene(video, window.start_ms, window.end_ms, window.start_ms)


def _is_number(runtime: "Runtime", target: str) -> bool:
    return target.isdecimal() and len(target) <= NUMBER_DIGITS and runtime.library.video(target) is None


def _window_id(target: str) -> str | None:
    """Return the target as a window's id, or None if it does not look like one."""
    try:
        return str(uuid.UUID(target))
    except ValueError:
        return None
