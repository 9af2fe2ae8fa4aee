"""`index`, `list`, `status`, `remove`, `rebuild`."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import Found, IndexEvent, IndexReport, VideoDone, VideoFailed, WindowsIndexed
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.rows import VideoState
from subtitle_rag.retrieval.query import day, tidy
from subtitle_rag.runtime import Runtime


@click.command("index", help=N_("Bring caption files, or folders of them, into the library and make them searchable."))
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--lang", default="ko", help=N_("Languages to prefer, best first, with commas: ko,en."))
@click.option("--limit", type=click.IntRange(min=1), help=N_("Only so many videos, the newest."))
@click.option("--since", metavar="DATE", help=N_("Only videos published on this day or later."))
@click.option("--no-contexts", is_flag=True, expose_value=False, help=N_("Leave contexts to a later run."))
@click.option("--no-vectors", is_flag=True, expose_value=False, help=N_("Leave the neural vectors to a later run."))
@click.option("--jsonl", is_flag=True, help=N_("Print every event as a line of JSON while it happens."))
@json_option
@click.pass_obj
def index_(
    settings: Settings,
    sources: Sequence[str],
    lang: str,
    limit: int | None,
    since: str | None,
    jsonl: bool,
    as_json: bool,
) -> int:
    languages = [part.strip() for part in lang.split(",") if part.strip()]
    first_day = day("since", since) if since is not None else None
    if as_json and jsonl:
        raise click.UsageError(_("--json and --jsonl exclude each other."))
    with Runtime(settings) as runtime:
        paths = [Path(source) for source in sources]
        events = runtime.indexer.index(paths, languages=languages, since=first_day, limit=limit)
        report = IndexReport()
        for event in _narrated(events):
            if jsonl:
                output.event_line(event)
            if isinstance(event, IndexReport):
                report = event
        size = runtime.library.counts()
    failed_all = report.failed > 0 and not (report.new or report.changed or report.unchanged)
    outcome = output.Outcome(
        {**output.report_values(report), "library": {"videos": size.videos, "windows": size.windows}},
        [output.failure_entry(failure) for failure in report.failures],
        1 if failed_all else 0,
    )
    if as_json:
        output.envelope("index", outcome)
    elif not jsonl:
        for line in _report_lines(report):
            output.data(line)
    return outcome.exit_code


def _narrated(events: Iterator[IndexEvent]) -> Iterator[IndexEvent]:
    """The events, with a bar and the failures on stderr while they come."""
    with output.progress() as bar:
        task = bar.add_task(_("Captions"), total=None)
        windows = bar.add_task(_("Windows"), total=None, visible=False)
        waiting = 0
        for event in events:
            match event:
                case Found(videos=count):
                    bar.update(task, total=count)
                case VideoDone(change="unchanged"):
                    bar.advance(task)
                case VideoDone(windows=count):
                    waiting += count
                    bar.advance(task)
                    bar.update(windows, total=waiting, visible=True)
                case VideoFailed():
                    bar.advance(task)
                    output.say_error(output.failure_entry(event))
                case WindowsIndexed(count=count):
                    bar.advance(windows, count)
            yield event


def _report_lines(report: IndexReport) -> Iterator[str]:
    counts = [
        n_("{n} new video", "{n} new videos", report.new).format(n=report.new),
        n_("{n} changed", "{n} changed", report.changed).format(n=report.changed),
        n_("{n} unchanged", "{n} unchanged", report.unchanged).format(n=report.unchanged),
        n_("{n} failed", "{n} failed", report.failed).format(n=report.failed),
    ]
    yield ", ".join(counts)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows).format(n=report.windows)


@click.command("list", help=N_("Show the channels and videos of the library."))
@click.option("--channel", help=N_("Only channels whose name holds this."))
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
            _("The library is empty. subtitle-rag index FOLDER brings captions in, subtitle-rag demo shows a sample.")
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
            "  " + ("!" if s.failure else " "),
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
        "url": video.url,
        "published": video.published.isoformat() if video.published else None,
        "duration": video.duration_ms / 1000 if video.duration_ms is not None else None,
        "source": video.source,
        "windows": state.windows,
        "searchable": state.searchable,
        "failure": failure,
    }


@click.command("status", help=N_("Show how far the library has come, and what failed."))
@json_option
@click.pass_obj
def status_(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        counts = runtime.library.counts()
        failed = [state for state in runtime.library.videos() if state.failure]
    entries = [_video_values(state)["failure"] for state in failed]
    if as_json:
        result = {
            "channels": counts.channels,
            "videos": counts.videos,
            "windows": counts.windows,
            "stages": {
                "captions": {"done": counts.videos - counts.failed, "failed": counts.failed},
                "bm25": {"done": counts.searchable, "due": counts.windows - counts.searchable},
            },
            "failures": entries,
        }
        output.envelope("status", output.Outcome(result))
        return 0
    rows = [
        (_("Channels"), f"{counts.channels:,}"),
        (_("Videos"), f"{counts.videos:,}"),
        (_("Windows"), f"{counts.windows:,}"),
        (_("Searchable"), f"{counts.searchable:,}"),
        (_("Failed"), f"{counts.failed:,}"),
    ]
    for line in output.table(rows, right=frozenset({1})):
        output.data(line)
    for state, entry in zip(failed, entries, strict=True):
        output.data(f"! {state.video.title}: {entry['message']}\n  {entry['hint']}")
    return 0


@click.command("remove", help=N_("Forget videos or channels. The caption files themselves stay."))
@click.argument("targets", nargs=-1, required=True, metavar="VIDEO|CHANNEL...")
@click.option("--yes", is_flag=True, help=N_("Do not ask."))
@json_option
@click.pass_obj
def remove_(settings: Settings, targets: Sequence[str], yes: bool, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        states = runtime.library.videos()
        chosen = {state.video.id: state.video.title for target in targets for state in _meant(states, tidy(target))}
        question = n_("Remove {n} video?", "Remove {n} videos?", len(chosen)).format(n=len(chosen))
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(_("Without a terminal to ask on, --yes is needed."))
            if not click.confirm(question, err=True):
                chosen = {}
        removed = [{"id": event.video, "title": event.title} for event in runtime.indexer.remove(chosen)]
    if as_json:
        output.envelope("remove", output.Outcome({"removed": removed}))
    else:
        for video in removed:
            output.data(_("Removed: {title}").format(title=video["title"]))
    return 0


def _meant(states: Sequence[VideoState], target: str) -> list[VideoState]:
    """The video of this id, else the videos of the channel of this id or name."""
    found = [s for s in states if s.video.id == target] or [
        s for s in states if target in (s.video.channel_id, s.video.channel)
    ]
    if not found:
        raise UsageError("unknown_video", video=target)
    return found


@click.command("rebuild", help=N_("Make the search index anew from the library; nothing is read or downloaded again."))
@json_option
@click.pass_obj
def rebuild_(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime, output.progress() as bar:
        total = runtime.library.counts().windows
        task = bar.add_task(_("Windows"), total=total)
        done = 0
        for event in runtime.rebuilder().rebuild():
            done += event.count
            bar.update(task, completed=done)
    if as_json:
        output.envelope("rebuild", output.Outcome({"windows_indexed": done}))
    else:
        output.data(n_("{n} window became searchable.", "{n} windows became searchable.", done).format(n=done))
    return 0
