"""`index` and `sync`: captions for the library."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing, index_progress, stage_runs
from subtitle_rag.commands.options import json_option, jsonl_option, pass_runtime
from subtitle_rag.i18n import N_, _

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

RUN_OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option("--no-contexts", is_flag=True, help=N_("Leave contexts to a later run.")),
    click.option("--no-vectors", is_flag=True, help=N_("Leave vectors to a later run.")),
    click.option(
        "--no-wait",
        is_flag=True,
        help=N_("If YouTube refuses, end with exit code 3 instead of resting and resuming."),
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


@click.command("index")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completing.files)
@click.option("--lang", default="ko", help=N_("Preferred languages, best first, separated by commas: ko,en."))
@click.option("--limit", type=click.IntRange(min=1), help=N_("At most this many videos, the newest first."))
@click.option("--since", metavar="DATE", help=N_("Only videos published on this day or later."))
@click.option("--match", metavar="REGEX", help=N_("From YouTube, only videos whose title contains this."))
@click.option(
    "--tabs", metavar="TABS", help=N_("The tabs of a channel to fetch: videos,shorts,streams or some of them.")
)
@click.option("--translated", is_flag=True, help=N_("Fetch a machine translation if there are no other captions."))
@click.option(
    "--playlist/--no-playlist",
    default=None,
    help=N_("For the address of a video in a playlist: fetch the playlist, or only the video."),
)
@click.option("--refresh", is_flag=True, help=N_("Ask YouTube again for videos that are in the library."))
@run_options
@pass_runtime
def index_(
    runtime: "Runtime",
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
    from subtitle_rag.commands import source_arguments
    from subtitle_rag.fetching import RunOptions

    source_options = source_arguments.source_options(lang, limit, since, match, tabs, translated)
    paths, requests = source_arguments.paths_and_requests(sources, source_options, playlist)
    fetch_options = RunOptions(patient=not options["no_wait"], refresh=refresh)
    runs = []
    if paths:
        languages, first_day = source_options.languages, source_options.since
        runs.append(runtime.indexer.index(paths, languages=languages, since=first_day, limit=limit))
    if requests:
        runs.append(runtime.fetcher().run(requests, fetch_options))
    return _run("index", runtime, runs, IndexOptions(**options))


@click.command("sync")
@click.argument("channels", nargs=-1, metavar="[CHANNEL|URL...]", shell_complete=completing.channels)
@click.option("--retry", is_flag=True, help=N_("Try everything that failed again, without waiting for its time."))
@run_options
@pass_runtime
def sync_(runtime: "Runtime", /, channels: Sequence[str], retry: bool, **options: bool) -> int:
    from subtitle_rag.fetching import RunOptions, followed_requests

    followed = runtime.library.sources.followed()
    if not followed:
        output.say(_("No channel or playlist is followed yet: subtitle-rag index URL begins."))
    from subtitle_rag.commands import source_arguments

    sources = source_arguments.find_followed(followed, channels) if channels else followed
    fetch_options = RunOptions(patient=not options["no_wait"], retry=retry, include_due=not channels)
    runs = [runtime.fetcher().run(followed_requests(dict.fromkeys(sources)), fetch_options)]
    return _run("sync", runtime, runs, IndexOptions(**options))


def _run(command: str, runtime: "Runtime", runs: index_progress.Runs, options: IndexOptions) -> int:
    """Run, print the sum, then write contexts and make vectors of the new and changed videos."""
    if options.as_json and options.jsonl:
        raise click.UsageError(_("--json and --jsonl cannot be used together."))
    as_text = not options.jsonl and not options.as_json
    total, videos = index_progress.drain(runs, jsonl=options.jsonl)
    outcome = index_progress.report_outcome(total, runtime)
    if options.jsonl:
        output.event_line(total)
    if as_text:
        _print_lines(index_progress.report_lines(total, runtime.library.counts().due))
    stages = (
        ("contexts", options.no_contexts, stage_runs.contexts_after_index),
        ("vectors", options.no_vectors, stage_runs.vectors_after_index),
    )
    for stage, skip, write in stages:
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
