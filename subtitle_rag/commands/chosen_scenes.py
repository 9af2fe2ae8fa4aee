"""The scenes of `export` and `play`: by name, of the marks, of a search, of videos and channels."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from subtitle_rag.commands import scene_arguments
from subtitle_rag.commands.options import parse_query
from subtitle_rag.domain import UsageError, tidy
from subtitle_rag.exporting import SceneSpan, marked_spans, scene_span
from subtitle_rag.runtime import Runtime


class SceneChoice(NamedTuple):
    targets: Sequence[str]
    marked: bool
    """All marks."""
    tag: str | None
    """Those with this tag."""
    query: str | None
    limit: int | None
    """Most scenes of the search."""
    videos: Sequence[str]
    channels: Sequence[str]
    """Both narrow the search; without one, all of them are chosen."""


def chosen_spans(runtime: Runtime, choice: SceneChoice) -> list[SceneSpan]:
    """Return the spans of marks, of scenes by name, of a search, or of whole videos and channels."""
    spans: list[SceneSpan] = []
    if choice.marked or choice.tag is not None:
        spans += marked_spans(runtime.library, None if choice.tag is None else tidy(choice.tag))
    for target in choice.targets:
        spans += scene_arguments.spans(runtime, target)
    if choice.query is not None:
        spans += _found(runtime, choice.query, choice.limit, choice.videos, choice.channels)
        return spans
    for name in choice.videos:
        spans += scene_arguments.whole_video(runtime, scene_arguments.named_video(runtime, name))
    for name in choice.channels:
        spans += _channel(runtime, tidy(name))
    return spans


def _found(
    runtime: Runtime, query: str, limit: int | None, videos: Sequence[str], channels: Sequence[str]
) -> Iterator[SceneSpan]:
    parsed = parse_query(query, channels, videos, None, None)
    result = runtime.searcher.search(parsed, limit=limit or runtime.settings.search.limit)
    for scene in result.scenes:
        yield scene_span(runtime.library, scene)


def _channel(runtime: Runtime, name: str) -> Iterator[SceneSpan]:
    """Yield the spans of all videos of the channels whose name has this in it."""
    rows = [state.video for state in runtime.library.videos() if _matches(name, state.video.channel)]
    if not rows:
        raise UsageError("unknown_video", video=name)
    for video in rows:
        yield from scene_arguments.whole_video(runtime, video)


def _matches(name: str, channel: str) -> bool:
    return "".join(name.split()).lower() in "".join(channel.split()).lower()
