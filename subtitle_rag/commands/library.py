"""`list`, `status`, `remove`, `rebuild`."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from subtitle_rag import output
from subtitle_rag.captions.addresses import parse
from subtitle_rag.commands import completing, json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.leaving import Leaving, of_channels
from subtitle_rag.library.rows import Counts, VideoState
from subtitle_rag.library.sources import FollowedSource
from subtitle_rag.retrieval.query import tidy
from subtitle_rag.runtime import Runtime


@click.command("list", help=N_("Show the channels and videos of the library."))
@click.option("--channel", shell_complete=completing.channels, help=N_("Only channels whose name holds this."))
@json_option
@click.pass_obj
def list_(settings: Settings, channel: str | None, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        states = runtime.library.videos()
    if channel:
        wanted = tidy(channel).casefold()
        states = [s for s in states if wanted in s.video.channel.casefold() or wanted == s.video.channel_id.casefold()]
        if not states:
            raise UsageError("unknown_channel", channel=channel)
    channels = list(dict.fromkeys((state.video.channel_id, state.video.channel) for state in states))
    groups = [(name, [s for s in states if s.video.channel_id == id]) for id, name in channels]
    if as_json:
        listed = [
            {"id": own[0].video.channel_id, "name": name, "videos": [_video_values(s) for s in own]}
            for name, own in groups
        ]
        output.envelope("list", output.Outcome({"channels": listed}))
        return 0
    if not states:
        output.say(
            _("The library is empty. subtitle-rag index SOURCE brings captions in, subtitle-rag demo shows a sample.")
        )
    for name, own in groups:
        for line in _channel_lines(name, own):
            output.data(line)
    return 0


def _channel_lines(name: str, own: Sequence[VideoState]) -> Iterator[str]:
    size = n_("{n} video", "{n} videos", len(own)).format(n=len(own))
    yield f"{name}  ({size})"
    rows = [
        (
            "  " + ("!" if s.failure else "…" if s.due else " "),
            s.video.id,
            str(s.video.published or ""),
            n_("{n} window", "{n} windows", s.windows).format(n=s.windows),
            s.video.title,
        )
        for s in own
    ]
    yield from output.table(rows, right=frozenset({3}))


def _video_values(state: VideoState) -> dict[str, Any]:
    video = state.video
    failure = output.error_entry(AppError(state.failure, **state.details), video.id) if state.failure else None
    return {
        "id": video.id,
        "title": video.title,
        "kind": video.kind or None,
        "url": video.url,
        "published": video.published.isoformat() if video.published else None,
        "duration": video.duration_ms / 1000 if video.duration_ms is not None else None,
        "source": video.source,
        "windows": state.windows,
        "searchable": state.searchable,
        "due": state.due,
        "failure": failure,
        "retry_at": output.moment(state.retry_at),
    }


@click.command("status", help=N_("Show how far the library has come, and what failed."))
@json_option
@click.pass_obj
def status_(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        counts = runtime.library.counts()
        failed = [state for state in runtime.library.videos() if state.failure]
        followed = runtime.library.sources.followed()
        contexts = runtime.library.contexts.counts()
        encoder = runtime.library.vectors.active()
        vectors = runtime.library.vectors.counts(encoder)
        rest, rest_code = runtime.library.sources.rest()
    if as_json:
        taken = counts.videos - counts.failed - counts.due
        result = {
            "channels": counts.channels,
            "videos": counts.videos,
            "windows": counts.windows,
            "stages": {
                "captions": {"done": taken, "due": counts.due, "failed": counts.failed},
                "bm25": {"done": counts.searchable, "due": counts.windows - counts.searchable},
                "contexts": {"done": contexts.written, "due": contexts.due, "empty": contexts.empty},
                "vectors": {"done": vectors.made, "due": vectors.due, "encoder": encoder},
            },
            "sources": [_source_values(source) for source in followed],
            "rest": {"until": output.moment(rest), "code": rest_code} if rest > time.time() else None,
            "failures": [{**_video_values(s)["failure"], "retry_at": output.moment(s.retry_at)} for s in failed],
        }
        output.envelope("status", output.Outcome(result))
        return 0
    for line in _status_lines(counts, contexts.written, vectors.made, followed, rest):
        output.data(line)
    for line in _failure_lines(failed):
        output.data(line)
    return 0


def _source_values(source: FollowedSource) -> dict[str, Any]:
    options = source.options
    return {
        "url": source.url,
        "name": source.name,
        "videos": source.videos,
        "listed_at": output.moment(source.listed_at),
        "complete": source.whole,
        "tabs": list(options.tabs) or None,
        "languages": list(options.languages),
        "translated": options.translated,
        "limit": options.limit,
        "since": options.since.isoformat() if options.since else None,
        "match": options.match,
    }


def _status_lines(
    counts: Counts, contexts: int, vectors: int, followed: Sequence[FollowedSource], rest: int
) -> Iterator[str]:
    rows = [
        (_("Channels"), f"{counts.channels:,}"),
        (_("Videos"), f"{counts.videos:,}"),
        (_("Waiting"), f"{counts.due:,}"),
        (_("Windows"), f"{counts.windows:,}"),
        (_("Searchable"), f"{counts.searchable:,}"),
        (_("With a context"), f"{contexts:,}"),
        (_("With vectors"), f"{vectors:,}"),
        (_("Failed"), f"{counts.failed:,}"),
    ]
    yield from output.table(rows, right=frozenset({1}))
    if rest > time.time():
        yield _("YouTube is left alone until {time}.").format(time=output.local_time(rest))
    for source in followed:
        looked = output.local_time(source.listed_at) if source.listed_at else _("not read to the end yet")
        size = n_("{n} video", "{n} videos", source.videos).format(n=source.videos)
        yield _("Followed: {name} ({size}, {looked})").format(name=source.name, size=size, looked=looked)
        yield f"  {source.url}"


def _failure_lines(failed: Sequence[VideoState]) -> Iterator[str]:
    """By reason: what to do is said once for all videos that failed alike."""
    for code in dict.fromkeys(state.failure for state in failed):
        alike = [state for state in failed if state.failure == code]
        for state in alike:
            again = _(" Asked again {time}.").format(time=output.local_time(state.retry_at)) if state.retry_at else ""
            yield f"! {AppError(str(code), **state.details).message}{again}"
        yield f"  {AppError(str(code), **alike[0].details).hint}"


@click.command("remove", help=N_("Forget videos, channels or playlists. The caption files themselves stay."))
@click.argument(
    "targets", nargs=-1, required=True, metavar="VIDEO|CHANNEL|URL...", shell_complete=completing.channels_and_videos
)
@click.option("--yes", is_flag=True, help=N_("Do not ask."))
@json_option
@click.pass_obj
def remove_(settings: Settings, targets: Sequence[str], yes: bool, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        leaving = _meant(runtime, [tidy(target) for target in targets])
        videos = len(leaving.videos)
        question = n_("Remove {n} video?", "Remove {n} videos?", videos).format(n=videos)
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(_("Without a terminal to ask on, --yes is needed."))
            if not click.confirm(question, err=True):
                leaving = Leaving()
        events = runtime.indexer.remove(sorted(leaving.videos))
        removed = [{"id": event.video, "title": event.title} for event in events]
        runtime.library.sources.unfollow(leaving.sources)
    if as_json:
        output.envelope("remove", output.Outcome({"removed": removed, "unfollowed": sorted(leaving.sources.values())}))
        return 0
    for video in removed:
        output.data(_("Removed: {title}").format(title=video["title"]))
    for url in sorted(leaving.sources.values()):
        output.data(_("No longer followed: {url}").format(url=url))
    return 0


def _meant(runtime: Runtime, targets: Sequence[str]) -> Leaving:
    """What the targets name."""
    leaving = Leaving()
    states, followed = runtime.library.videos(), runtime.library.sources.followed()
    for target in targets:
        if any(state.video.id == target for state in states):
            leaving |= Leaving(frozenset({target}))
            continue
        own = [s for s in followed if target in (s.name, s.channel_id)] or _addressed(runtime, target)
        found = of_channels(runtime.library, {target, *(s.channel_id for s in own if s.channel_id)}, own)
        if not found.videos and not own:
            raise UsageError("unknown_video", video=target)
        leaving |= found
    return leaving


def _addressed(runtime: Runtime, target: str) -> list[FollowedSource]:
    """The source that is followed under this address."""
    try:
        found = runtime.library.sources.find(parse(target).url)
    except UsageError:
        return []
    return [found] if found else []


@click.command("rebuild", help=N_("Make the search index anew from the library; nothing is read or downloaded again."))
@json_option
@click.pass_obj
def rebuild_(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime, output.progress() as bar:
        total = runtime.library.counts().windows
        task = bar.add_task(_("Windows"), total=total)
        done = 0
        vectors = runtime.library.vectors
        before = vectors.counts(vectors.active())
        for event in runtime.rebuilder().rebuild():
            done += event.count
            bar.update(task, completed=done)
        kept = vectors.counts(vectors.active())
    if as_json:
        output.envelope("rebuild", output.Outcome({"windows_indexed": done, "vectors_kept": kept.made}))
    else:
        output.data(n_("{n} window became searchable.", "{n} windows became searchable.", done).format(n=done))
    if lost := before.made - kept.made:
        told = n_(
            "{n} window has lost its vectors: subtitle-rag vectors write makes them anew.",
            "{n} windows have lost their vectors: subtitle-rag vectors write makes them anew.",
            lost,
        )
        output.say(told.format(n=lost))
    return 0
