"""`index` and `sync`: captions for the library."""

import functools
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.captions.addresses import Source, looks_like_address, parse
from subtitle_rag.commands import completing, json_option, jsonl_option, stage_runs
from subtitle_rag.config import Settings
from subtitle_rag.domain import TABS
from subtitle_rag.errors import AppError, BusyError, LlmError, UsageError
from subtitle_rag.events import (
    ContextReport,
    Found,
    IndexEvent,
    IndexReport,
    Resting,
    VectorsReport,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.retrieval.query import day, tidy
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.library.sources import FollowedSource

logger = logging.getLogger(__name__)

RUN_OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option("--no-contexts", is_flag=True, help=N_("Leave contexts to a later run.")),
    click.option("--no-vectors", is_flag=True, help=N_("Leave the neural vectors to a later run.")),
    click.option(
        "--no-wait",
        is_flag=True,
        help=N_("Where YouTube refuses, end with exit code 3 instead of resting and going on."),
    ),
    jsonl_option,
    json_option,
)


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of `index` and `sync`."""

    no_contexts: bool
    no_vectors: bool
    no_wait: bool
    jsonl: bool
    as_json: bool


def run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of `IndexOptions`."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(RUN_OPTIONS), command)


@click.command("index", help=N_("Bring captions in: from YouTube (channel, playlist, video), or files and folders."))
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completing.files)
@click.option("--lang", default="ko", help=N_("Languages to prefer, best first, with commas: ko,en."))
@click.option("--limit", type=click.IntRange(min=1), help=N_("Only so many videos, the newest."))
@click.option("--since", metavar="DATE", help=N_("Only videos published on this day or later."))
@click.option("--match", metavar="REGEX", help=N_("From YouTube only videos whose title holds this."))
@click.option("--tabs", metavar="TABS", help=N_("Of a channel: videos,shorts,streams or some of them."))
@click.option("--translated", is_flag=True, help=N_("Take a machine translation where there is nothing better."))
@click.option("--playlist/--no-playlist", default=None, help=N_("Of a video's link in a list: take the list, or not."))
@click.option("--refresh", is_flag=True, help=N_("Ask YouTube again for videos that are in the library."))
@run_options
@click.pass_obj
def index_(
    settings: Settings,
    /,
    sources: Sequence[str],
    lang: str,
    limit: int | None,
    since: str | None,
    match: str | None,
    tabs: str | None,
    translated: bool,
    playlist: bool | None,
    refresh: bool,
    **options: bool,
) -> int:
    from subtitle_rag.fetching.fetcher import FetchRequest, RunOptions
    from subtitle_rag.library.sources import SourceOptions

    first_day = day("since", since) if since is not None else None
    source_options = SourceOptions(_tabs(tabs), _parts(lang), translated, limit, first_day, _pattern(match))
    paths, addresses = _split_sources(sources)
    requests = [FetchRequest(_video_or_list(source, playlist), source_options) for source in addresses]
    fetch_options = RunOptions(patient=not options["no_wait"], refresh=refresh)
    with Runtime(settings) as runtime:
        runs = []
        if paths:
            languages = source_options.languages
            runs.append(runtime.indexer.index(paths, languages=languages, since=first_day, limit=limit))
        if requests:
            runs.append(runtime.fetcher().run(requests, fetch_options))
        return _run("index", runtime, runs, IndexOptions(**options))


@click.command("sync", help=N_("Look for new videos of what is followed, and ask again for what is due."))
@click.argument("channels", nargs=-1, metavar="[CHANNEL|URL...]", shell_complete=completing.channels)
@click.option("--retry", is_flag=True, help=N_("Ask again for everything that failed, whenever its time is."))
@run_options
@click.pass_obj
def sync_(settings: Settings, /, channels: Sequence[str], retry: bool, **options: bool) -> int:
    from subtitle_rag.fetching.fetcher import RunOptions, followed_requests

    with Runtime(settings) as runtime:
        followed = runtime.library.sources.followed()
        sources = [source for name in channels for source in _find_followed(followed, name)] if channels else followed
        if not followed:
            output.say(_("No channel or playlist is followed yet: subtitle-rag index URL begins."))
        fetch_options = RunOptions(patient=not options["no_wait"], retry=retry, include_due=not channels)
        runs = [runtime.fetcher().run(followed_requests(dict.fromkeys(sources)), fetch_options)]
        return _run("sync", runtime, runs, IndexOptions(**options))


def _split_sources(sources: Sequence[str]) -> tuple[list[Path], list[Source]]:
    """Split into paths on the disk and addresses on YouTube."""
    paths: list[Path] = []
    addresses: list[Source] = []
    for source in sources:
        if os.path.lexists(source):
            paths.append(Path(source))
        elif looks_like_address(source):
            addresses.append(parse(source))
        else:
            addresses.append(_parse_bare_id(source))
    return paths, addresses


def _parse_bare_id(text: str) -> Source:
    """Parse a bare video id, which looks like a folder's name; raises UsageError `unsupported_source`."""
    try:
        return parse(text)
    except UsageError:
        raise UsageError("unsupported_source", source=tidy(text)) from None


def _video_or_list(source: Source, playlist: bool | None) -> Source:
    """Return the video, or the list in its link; None asks on a terminal."""
    if source.playlist is None:
        return source
    if playlist is None:
        if sys.stdin.isatty():
            question = _("The link names a video and the list {list}. Take the whole list?")
            playlist = click.confirm(question.format(list=source.playlist), err=True)
        else:
            output.say(_("Only the video is taken; --playlist takes the list {list}.").format(list=source.playlist))
    return Source("playlist", source.playlist) if playlist else replace(source, playlist=None)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _tabs(text: str | None) -> tuple[str, ...]:
    tabs = _parts(text or "")
    for tab in tabs:
        if tab not in TABS:
            raise UsageError("unknown_tab", name=tab, known=", ".join(TABS))
    return tabs


def _pattern(text: str | None) -> str | None:
    from subtitle_rag.fetching.lister import pattern

    return pattern(text).pattern if text else None


def _find_followed(followed: "Sequence[FollowedSource]", name: str) -> "list[FollowedSource]":
    """Find by address, id or name, or else by a part of the name; raises UsageError `unknown_channel`."""
    pattern = tidy(name)
    try:
        url = parse(pattern).url
    except UsageError:
        url = ""
    sources = [source for source in followed if pattern in (source.name, source.channel_id) or source.url == url]
    sources = sources or [source for source in followed if pattern.casefold() in source.name.casefold()]
    if not sources:
        raise UsageError("unknown_channel", channel=pattern)
    return sources


def _run(command: str, runtime: Runtime, runs: Iterable[Iterator[IndexEvent]], options: IndexOptions) -> int:
    """Run, print the sum, then write contexts and make vectors of the new and changed videos."""
    if options.as_json and options.jsonl:
        raise click.UsageError(_("--json and --jsonl exclude each other."))
    as_text = not options.jsonl and not options.as_json
    total, videos = _drain(runs, jsonl=options.jsonl)
    outcome = _outcome(total, runtime)
    if options.jsonl:
        output.event_line(total)
    if as_text:
        _print_lines(_report_lines(total, runtime.library.counts().due))
    for stage, skip, write in (("contexts", options.no_contexts, _contexts), ("vectors", options.no_vectors, _vectors)):
        report = write(runtime, videos, outcome, jsonl=options.jsonl) if videos and not skip else None
        outcome.result[stage] = output.report_values(report) if report else None
        if report and as_text:
            _print_lines(stage_runs.report_lines(report))
        if report and report.blocked:
            outcome.errors.append(output.error_entry(report.blocked))
    if options.as_json:
        output.envelope(command, outcome)
    return outcome.exit_code


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        output.data(line)


def _drain(runs: Iterable[Iterator[IndexEvent]], *, jsonl: bool) -> tuple[IndexReport, list[str]]:
    """Run to the end; return the sum of the reports, and the ids of new and changed videos."""
    total, videos = IndexReport(), []
    for run in runs:
        for event in _narrate(run):
            if isinstance(event, VideoDone) and event.change != "unchanged":
                videos.append(event.video)
            if isinstance(event, IndexReport):
                total.add(event)
            elif jsonl:
                output.event_line(event)
    return total, videos


def _contexts(
    runtime: Runtime, videos: Sequence[str], _outcome: output.Outcome, *, jsonl: bool
) -> ContextReport | None:
    """Write the contexts of these videos; None without a model. They are searchable already."""
    from subtitle_rag.library.context_store import WindowSelection

    prelude = _("Searchable. {model} writes contexts; Ctrl+C ends it, and nothing is lost.")
    prelude = prelude.format(model=runtime.context_model)
    try:
        return stage_runs.write_contexts(runtime, WindowSelection(videos=tuple(videos)), jsonl=jsonl, prelude=prelude)
    except LlmError:
        logger.info("no contexts are written", exc_info=True)
        return None
    except BusyError as error:
        if error.code != "contexts_busy":  # the process with the lock comes to these videos as well
            raise
        logger.info("contexts are written elsewhere", exc_info=True)
        return None


def _vectors(runtime: Runtime, videos: Sequence[str], outcome: output.Outcome, *, jsonl: bool) -> VectorsReport | None:
    """Make the vectors of these videos; None without an encoder. They are searchable already."""
    from subtitle_rag.library.context_store import WindowSelection

    try:
        encoder = runtime.neural.encoder()
        if encoder is None:
            return None
        prelude = _("Searchable. {model} makes vectors; Ctrl+C ends it, and nothing is lost.").format(model=encoder.id)
        selection = WindowSelection(videos=tuple(videos))
        return stage_runs.write_vectors(runtime, selection, jsonl=jsonl, patient=False, prelude=prelude)
    except AppError as error:
        if error.code in ("model_unknown", "model_kind", "model_damaged"):  # the captions came in all the same
            output.say_error(error)
            outcome.errors.append(output.error_entry(error))
        elif error.code != "vectors_busy":  # the process with the lock comes to these videos as well
            raise
        return None


def _outcome(total: IndexReport, runtime: Runtime) -> output.Outcome:
    errors = [output.failure_entry(failure) for failure in total.failures]
    failed_all = total.failed > 0 and not (total.new or total.changed or total.unchanged)
    code = output.ExitCode.FAILED if failed_all else output.ExitCode.DONE
    if total.blocked:
        errors.append(output.failure_entry(total.blocked))
        code = output.ExitCode.TRY_LATER
    size = runtime.library.counts()
    result = {**output.report_values(total), "library": {"videos": size.videos, "windows": size.windows}}
    return output.Outcome(result, errors, code)


def _narrate(events: Iterator[IndexEvent]) -> Iterator[IndexEvent]:
    """Yield the events; show a bar, failures and rests on stderr."""
    hinted: set[str] = set()
    with output.progress() as bar:
        task = bar.add_task(_("Captions"), total=None)
        windows = bar.add_task(_("Windows"), total=None, visible=False)
        total = 0
        for event in events:
            match event:
                case Found(videos=count):
                    bar.update(task, total=count)
                case VideoDone(change="unchanged"):
                    bar.advance(task)
                case VideoDone(windows=count):
                    total += count
                    bar.advance(task)
                    bar.update(windows, total=total, visible=True)
                case VideoFailed():
                    bar.advance(task)
                    _say_failure(event, hinted)
                case Resting():
                    _say_rest(event)
                case WindowsIndexed(count=count):
                    bar.advance(windows, count)
            yield event


def _say_failure(event: VideoFailed, hinted: set[str]) -> None:
    """Say the failure; its hint once, since a channel can have hundreds of videos for members."""
    entry = output.failure_entry(event)
    if event.code in hinted:
        output.say(f"! {entry['message']}")
    else:
        output.say_error(entry)
    hinted.add(event.code)


def _say_rest(event: Resting) -> None:
    entry = output.failure_entry(event)
    when = output.local_time(event.until)
    if event.goes_on:
        resting = _("Resting until {time}, then it goes on by itself; Ctrl+C ends it, and nothing is lost.")
        output.say(f"! {entry['message']}\n  {resting.format(time=when)}")
    else:
        later = _("What is left is kept; subtitle-rag sync goes on with it after {time}.")
        output.say(f"! {entry['message']}\n  {later.format(time=when)}")


def _report_lines(report: IndexReport, pending: int) -> Iterator[str]:
    counts = [
        n_("{n} new video", "{n} new videos", report.new).format(n=report.new),
        n_("{n} changed", "{n} changed", report.changed).format(n=report.changed),
        n_("{n} unchanged", "{n} unchanged", report.unchanged).format(n=report.unchanged),
        n_("{n} failed", "{n} failed", report.failed).format(n=report.failed),
    ]
    yield ", ".join(counts)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows).format(n=report.windows)
    if pending:
        yield n_("{n} video waits to be fetched.", "{n} videos wait to be fetched.", pending).format(n=pending)
