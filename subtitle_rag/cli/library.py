"""`list`, `status`, `remove`, `rebuild`: the library and its index."""

import itertools
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import EXPECTED, SILENT, AppError
from subtitle_rag.base.domain.progress import Meter
from subtitle_rag.base.domain.values import clock, moment, pick_json, to_json
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli.options import (
    complete_channels,
    complete_channels_and_videos,
    removal_confirmed,
    runtime_outcome,
    wants_json,
    yes_option,
)
from subtitle_rag.cli.progress_bar import progress_bar
from subtitle_rag.cli.vector_status import vector_status

if TYPE_CHECKING:
    from subtitle_rag.base.domain.values import TrackSelection, Video
    from subtitle_rag.index.interface import Index
    from subtitle_rag.library.app_state import LastSync
    from subtitle_rag.library.rows import Counts, VideoState
    from subtitle_rag.library.sources import FollowedSource
    from subtitle_rag.runtime import Runtime

SELECTIONS = 10
"""Maximum number of videos whose choice of captions `status` explains."""


@click.command("list")
@click.option("--channel", shell_complete=complete_channels, help=N_("Only channels whose name contains TEXT."))
@runtime_outcome
def list_(runtime: "Runtime", channel: str | None) -> output.Outcome:
    from subtitle_rag.library.resolve import channel_ids

    runtime.require_library()
    states = runtime.library.videos()
    if channel:
        ids = channel_ids(runtime.library, [channel])
        states = [state for state in states if state.video.channel_id in ids]
    groups: dict[tuple[str, str], list[VideoState]] = {}
    for state in states:
        groups.setdefault((state.video.channel_id, state.video.channel), []).append(state)
    channels = [
        {"id": id, "name": name, "videos": [_video_values(state) for state in group]}
        for (id, name), group in groups.items()
    ]
    lines = (line for (_id, name), group in groups.items() for line in _channel_lines(name, group))
    empty = _("The library is empty. subtitle-rag index SOURCE imports captions, subtitle-rag demo shows a sample.")
    notes = [] if states else [empty]
    return output.Outcome({"channels": channels}, lines, notes)


def _channel_lines(name: str, states: "Sequence[VideoState]") -> Iterator[str]:
    size = n_("{n} video", "{n} videos", len(states))
    yield f"{name}  ({size})"
    rows = [
        (
            "  " + ("–" if s.failure in EXPECTED else "!" if s.failure else "…" if s.due else " "),
            s.video.id,
            str(s.video.published or ""),
            n_("{n} window", "{n} windows", s.windows),
            _("{title}  (heard here)").format(title=s.video.title) if s.heard_by else s.video.title,
        )
        for s in states
    ]
    yield from output.table(rows, right=frozenset({3}))


def _video_values(state: "VideoState") -> dict[str, Any]:
    return {
        **pick_json(state.video, "id", "title", "kind", "url", "published", "duration", "source"),
        **pick_json(state, "windows", "searchable", "due", "selection", "heard_by"),
        "listening": _listening_values(state),
        "failure": _failure_values(state),
        "retry_at": moment(state.retry_at),
    }


def _listening_values(state: "VideoState") -> dict[str, Any] | None:
    listening = state.listening
    if listening is None:
        return None
    error = AppError(listening.failure, **listening.details) if listening.failure else None
    failure = output.error_entry(error, state.video.id) if error else None
    return {**pick_json(listening, "state", "heard", "length"), "failure": failure}


def _failure_values(state: "VideoState") -> dict[str, Any] | None:
    return output.error_entry(_reason(state), state.video.id) if state.failure else None


def _reason(state: "VideoState") -> AppError:
    """Return why a video is not searchable; without captions, the result of listening if it was requested."""
    listening = state.listening
    if listening and state.failure in SILENT:
        if listening.state == "failed":
            return AppError(listening.failure, **listening.details)
        if listening.heard_ms:
            heard, length = clock(listening.heard_ms), clock(listening.length_ms)
            return AppError("half_heard", title=state.video.title, heard=heard, length=length)
    return AppError(str(state.failure), **state.details)


@click.command("status")
@runtime_outcome
def status_(runtime: "Runtime") -> output.Outcome:
    from subtitle_rag.library.app_state import last_sync
    from subtitle_rag.workflows.lock_holder import other_run_sentence

    runtime.require_library()
    other_run = other_run_sentence(runtime.library)
    counts = runtime.library.counts()
    states = runtime.library.videos()
    failed = [state for state in states if state.failure]
    lost_files = _lost_files([state.video for state in states])
    selected = [(state.video, state.selection) for state in states if state.selection]
    followed = runtime.library.sources.followed()
    contexts = runtime.library.contexts.counts()
    vectors, vector_lines = vector_status(runtime)
    listening_states = Counter(each.state for each in runtime.library.listenings.all().values())
    listening = {state: listening_states[state] for state in ("done", "due", "failed")}
    last = last_sync(runtime.library)
    rest, rest_code = runtime.library.sources.current_rest(runtime.settings.youtube.rest)
    result = {
        **pick_json(counts, "channels", "videos", "windows"),
        "stages": {
            "captions": {"done": counts.videos - counts.failed - counts.due, **pick_json(counts, "due", "failed")},
            "bm25": pick_json(counts, done="searchable", due="waiting"),
            "contexts": pick_json(contexts, done="written", due="due", empty="empty", left_out="left_out"),
            "vectors": vectors,
            "listening": listening,
        },
        "sources": [_source_values(source) for source in followed],
        "rest": {"until": moment(rest), "code": rest_code} if rest > time.time() else None,
        "selections": [{"video": video.id, **selection.to_json()} for video, selection in selected],
        "gone": [pick_json(video, "id", "title", "source") for video in lost_files],
        "failures": [{**(_failure_values(state) or {}), "retry_at": moment(state.retry_at)} for state in failed],
        "last_sync": _sync_values(last) if last else None,
    }
    lines = itertools.chain(
        filter(None, [other_run]),
        _status_lines(counts, contexts.written, vectors["done"], followed, rest, failed),
        vector_lines,
        _listening_lines(listening),
        [_sync_line(last)] if last else [],
        _selection_lines(selected),
        _failure_lines(failed),
        _gone_lines(lost_files),
    )
    return output.Outcome(result, lines, errors=_index_errors(runtime))


def _lost_files(videos: "Sequence[Video]") -> "list[Video]":
    """Return the videos whose caption files are missing; reads no caption module while all are in their places."""
    if all(os.path.exists(video.source) for video in videos if video.source):  # noqa: PTH110 - false for any error
        return []
    from subtitle_rag.captions import files

    return files.gone_sources(videos)


def _index_errors(runtime: "Runtime") -> list[AppError]:
    """Return why the index is unusable although the library counts searchable windows."""
    try:
        runtime.check_index()
    except AppError as error:
        return [error]
    return []


def _sync_line(sync: "LastSync") -> str:
    at = datetime.fromtimestamp(sync.at).astimezone()
    news = n_("{n} new video", "{n} new videos", sync.new)
    sentence = _("Last sync {time}: {news}").format(time=f"{at:%Y-%m-%d %H:%M}", news=news)
    return ", ".join([sentence, *([_("YouTube refused ({code})").format(code=sync.code)] if sync.code else [])])


def _sync_values(sync: "LastSync") -> dict[str, Any]:
    return {**pick_json(sync, "new", "failed", "code"), "at": moment(sync.at)}


def _source_values(source: "FollowedSource") -> dict[str, Any]:
    own = pick_json(source, "url", "name", "videos", "unlisted", "listed_at", "complete")
    return {**own, **to_json(source.options), "tabs": source.options.tabs or None}


def _status_lines(
    counts: "Counts",
    contexts: int,
    vectors: int,
    followed: "Sequence[FollowedSource]",
    rest: int,
    failed: "Sequence[VideoState]",
) -> Iterator[str]:
    skipped = sum(state.failure in EXPECTED for state in failed)
    rows = [
        (_("Channels"), counts.channels),
        (_("Videos"), counts.videos),
        (_("Waiting"), counts.due),
        (_("Windows"), counts.windows),
        (_("Searchable"), counts.searchable),
        (_("With a context"), contexts),
        (_("With vectors"), vectors),
        (_("Skipped"), skipped),
        (_("Failed"), len(failed) - skipped),
    ]
    yield from output.counts_table(rows)
    if rest > time.time():
        yield _("No requests to YouTube until {time}.").format(time=output.local_time(rest))
    for source in followed:
        looked = output.local_time(source.listed_at) if source.listed_at else _("not read to the end yet")
        size = n_("{n} video", "{n} videos", source.videos)
        yield _("Followed: {name} ({size}, {looked})").format(name=source.name, size=size, looked=looked)
        yield f"  {source.url}"
        if source.unlisted:
            from subtitle_rag.base.domain.events import ListCutShort
            from subtitle_rag.youtube.estimate import cut_short_text

            event = ListCutShort(source.url, source.name, source.videos, source.videos + source.unlisted)
            yield f"  – {cut_short_text(event)}"


def _listening_lines(listening: dict[str, int]) -> Iterator[str]:
    """Yield what was heard on this machine and what is queued, if listening was ever used."""
    if any(listening.values()):
        template = _("Listening: {done} heard, {due} waiting, {failed} failed.")
        yield template.format(**{state: f"{n:,}" for state, n in listening.items()})
    if listening["due"]:
        yield "  subtitle-rag listen"


def _selection_lines(selected: "Sequence[tuple[Video, TrackSelection]]") -> Iterator[str]:
    """Yield why each video has its captions; `--json` has all videos."""
    if not selected:
        return
    from subtitle_rag.captions.speech import selection_notes

    for video, selection in selected[:SELECTIONS]:
        yield f"· {video.title}: {' '.join(selection_notes(selection))}"
    if len(selected) > SELECTIONS:
        yield _more_videos(len(selected) - SELECTIONS)


def _failure_lines(failed: "Sequence[VideoState]") -> Iterator[str]:
    """Yield the failures by code, with one hint per code."""
    reasons = [(_reason(state), state.retry_at) for state in failed]
    for code in dict.fromkeys(reason.code for reason, _retry_at in reasons):
        group = [(reason, retry_at) for reason, retry_at in reasons if reason.code == code]
        sign = "–" if code in EXPECTED else "!"
        for reason, retry_at in group:
            again = _(" Asked again {time}.").format(time=output.local_time(retry_at)) if retry_at else ""
            yield f"{sign} {reason.message}{again}"
        yield f"  {group[0][0].hint}"


def _gone_lines(lost_files: "Sequence[Video]") -> Iterator[str]:
    """Yield the missing caption files; `--json` has all of them."""
    errors = [AppError("file_gone", title=video.title, path=str(video.source)) for video in lost_files]
    yield from (f"! {error.message}" for error in errors[:SELECTIONS])
    if more := len(errors) - len(errors[:SELECTIONS]):
        yield _more_videos(more)
    yield from (f"  {error.hint}" for error in errors[:1])


def _more_videos(n: int) -> str:
    return "  " + n_(
        "… and {n} more video: subtitle-rag status --json", "… and {n} more videos: subtitle-rag status --json", n
    )


@click.command("remove")
@click.argument(
    "targets", nargs=-1, required=True, metavar="VIDEO|CHANNEL|URL...", shell_complete=complete_channels_and_videos
)
@yes_option
@runtime_outcome
def remove_(runtime: "Runtime", targets: Sequence[str], yes: bool) -> output.Outcome:
    from subtitle_rag.workflows import removing

    plan = removing.plan_named_removal(runtime.library, targets)
    if not removal_confirmed(plan.labels or plan.names, plan.sentence(runtime.library), yes=yes):
        return output.Outcome({"removed": [], "unfollowed": []}, notes=[_("Nothing was removed.")])
    removing.remove(runtime.library, runtime.indexer, plan)
    videos = sorted(plan.titles.items())
    lines = [_("Removed: {title}").format(title=title) for _id, title in videos]
    lines += [_("Unfollowed: {url}").format(url=url) for url in plan.urls]
    removed = [{"id": id, "title": title} for id, title in videos]
    return output.Outcome({"removed": removed, "unfollowed": list(plan.urls)}, lines)


@click.command("rebuild")
@runtime_outcome
def rebuild_(runtime: "Runtime") -> int:
    vectors = runtime.library.vectors
    vectors_before = vectors.counts(vectors.active()).made
    rebuilder = runtime.rebuilder()
    with ExitStack() as opened:
        earlier = _open_earlier_index(runtime, vectors_before)
        if earlier is not None:
            opened.enter_context(closing(earlier))
        events = rebuilder.rebuild(earlier)
        total = runtime.library.counts().windows
        meter, count = Meter("windows", total), 0
        with progress_bar() as show:
            for event in events:
                count += event.count
                show(meter.advance(event.count))
    vectors_after = vectors.counts(vectors.active()).made
    line = n_("{n} window became searchable.", "{n} windows became searchable.", count)
    outcome = output.Outcome({"windows_indexed": count, "vectors_kept": vectors_after}, [line])
    code = output.finish("rebuild", outcome, as_json=wants_json())
    if lost_count := vectors_before - vectors_after:
        sentence = n_(
            "{n} window has lost its vectors: subtitle-rag vectors makes them again.",
            "{n} windows have lost their vectors: subtitle-rag vectors makes them again.",
            lost_count,
        )
        output.say(sentence)
    return code


def _open_earlier_index(runtime: "Runtime", vectors: int) -> "Index | None":
    """Open the index that the library is leaving, and say whether its vectors can be kept."""
    from subtitle_rag.index.server_terms import server_address
    from subtitle_rag.library.app_state import index_address

    filled, wanted = index_address(runtime.library), runtime.index_address
    try:
        earlier = runtime.open_earlier_index()
    except AppError as error:
        output.say_error(error)
        if vectors:
            sentence = n_(
                "The vectors of {n} window cannot be read from {found}: they have to be made again{time}.",
                "The vectors of {n} windows cannot be read from {found}: they have to be made again{time}.",
                vectors,
                found=server_address(filled),
                time=_encoding_time(runtime, vectors),
            )
            output.say(sentence)
            if output.on_terminal() and not wants_json() and not output.confirm(_("Go on without them?")):
                raise AppError("interrupted") from error
        return None
    if earlier is not None:
        sentence = n_(
            "The index moves from {found} to {wanted}; the vectors of {n} window are copied.",
            "The index moves from {found} to {wanted}; the vectors of {n} windows are copied.",
            vectors,
            found=server_address(filled),
            wanted=server_address(wanted),
        )
        output.say(sentence)
    return earlier


def _encoding_time(runtime: "Runtime", windows: int) -> str:
    """Return about how long the configured encoder takes for this many windows; empty if unknown."""
    from subtitle_rag.models.manifest import ENCODER, neural_model, search_steps

    model = neural_model(runtime.models.configured(ENCODER))
    seconds = next((step.seconds for step in search_steps() if model and step.encoder == model.name), None)
    if not seconds:
        return ""
    return _(", in about {minutes} min on one core").format(minutes=max(1, round(seconds * windows / 60_000)))
