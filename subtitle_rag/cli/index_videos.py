"""`index` and `sync`: add captions to the library, with progress and totals."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag.base import event_json, output
from subtitle_rag.base.domain.errors import EXPECTED, AppError, UsageError
from subtitle_rag.base.domain.events import (
    FetchEstimate,
    FileNotice,
    IndexEvent,
    IndexReport,
    ListCutShort,
    Resting,
    VideoDone,
    VideoFailed,
)
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import TABS
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli import stage_runs
from subtitle_rag.cli.options import (
    complete_channels,
    complete_files,
    confirmed,
    jsonl_option,
    newest_option,
    pack_options,
    runtime_outcome,
    wants_json,
)
from subtitle_rag.cli.progress_bar import progress_bar
from subtitle_rag.cli.renewal import renew_index

if TYPE_CHECKING:
    from subtitle_rag.captions.address_lists import AddressList
    from subtitle_rag.captions.addresses import Source
    from subtitle_rag.library.sources import SourceOptions
    from subtitle_rag.runtime import Runtime

WITHOUT_CAPTIONS = ("left_out_films", "left_out_unseen", "no_caption_files")
"""Failures that mean that no given file has captions, so the files can be listened to."""
STAGE_FAILURES = ("bad_prompt", "unknown", "model_kind", "model_damaged")
"""Failures that skip a stage although all captions were indexed."""
STDIN = "-"
MAX_STDIN = 2**25
"""Maximum size of a list in bytes; a longer one is refused."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of `index` and `sync`."""

    no_contexts: bool
    no_vectors: bool
    no_wait: bool
    jsonl: bool


index_options = pack_options(
    "options",
    IndexOptions,
    click.option("--no-contexts", is_flag=True, help=N_("Leave contexts to a later run.")),
    click.option("--no-vectors", is_flag=True, help=N_("Leave vectors to a later run.")),
    click.option(
        "--no-wait", is_flag=True, help=N_("If YouTube refuses, end with exit code 3 instead of resting and resuming.")
    ),
    jsonl_option,
)


@click.command("index")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=complete_files)
@click.option(
    "--lang",
    help=N_("Preferred languages, best first, separated by commas: ko,en (default: the config's)."),
)
@newest_option
@click.option("--since", metavar="DATE", help=N_("Only videos published on this day or later."))
@click.option("--match", metavar="REGEX", help=N_("Only YouTube videos whose title matches REGEX."))
@click.option(
    "--tabs", metavar="TABS", help=N_("The tabs of a channel to fetch: videos,shorts,streams or some of them.")
)
@click.option("--translated", is_flag=True, help=N_("Fetch a machine translation if there are no other captions."))
@click.option(
    "--playlist/--no-playlist",
    default=None,
    help=N_("For the address of a video in a playlist: fetch the playlist, or only the video."),
)
@click.option("--listen", is_flag=True, help=N_("Afterwards, transcribe videos without captions on this machine."))
@click.option("--refresh", is_flag=True, help=N_("Fetch videos that are already in the library again."))
@click.option(
    "--dry-run", is_flag=True, help=N_("Only list the videos that caption files would become; write nothing.")
)
@click.option("--yes", is_flag=True, help=N_("Do not ask: fetch every address of a list; with --listen, transcribe."))
@index_options
@runtime_outcome
def index_(
    runtime: "Runtime",
    sources: Sequence[str],
    lang: str | None,
    limit: int | None,
    since: str | None,
    match: str | None,
    tabs: str | None,
    translated: bool,
    playlist: bool | None,
    listen: bool,
    refresh: bool,
    dry_run: bool,
    yes: bool,
    options: IndexOptions,
) -> output.Outcome:
    from subtitle_rag.workflows import pipeline
    from subtitle_rag.workflows.requests import parse_request

    languages = _split(lang or "") or runtime.settings.youtube.languages
    source_options = _source_options(languages, limit, since, match, tabs, translated)
    if dry_run:
        return _preview(sources, source_options)
    lists = [text for text in sources if _names_list(text)]
    if listen:
        if lists:
            raise click.UsageError(_("--listen is for films, folders and addresses that are named."))
        runtime.listener()  # a missing model or package must be reported before anything is read
    caption_sources = [text for text in sources if text not in lists]
    request = parse_request(caption_sources, _wants_list if playlist is None else lambda _source: bool(playlist))
    if lists:
        request = replace(request, sources=(*request.sources, *_listed(runtime, lists, yes=yes)))
        if not (request.paths or request.sources):
            return output.Outcome({}, notes=[_("Nothing was fetched.")])
    from subtitle_rag.youtube.fetcher import RunOptions

    run_options = RunOptions(patient=not options.no_wait, refresh=refresh)
    try:
        events = pipeline.read_captions(runtime, request, source_options, run_options)
        outcome = _run(runtime, events, options, asks=not yes)
    except UsageError as error:
        if not listen or error.code not in WITHOUT_CAPTIONS:
            raise
        outcome = output.Outcome({})
    return _listen(runtime, sources, outcome, yes=yes, limit=limit, jsonl=options.jsonl) if listen else outcome


def _preview(sources: Sequence[str], source_options: "SourceOptions") -> output.Outcome:
    """Return what caption files would become. Raises UsageError for addresses, whose videos only YouTube knows."""
    from subtitle_rag.cli.index_preview import preview
    from subtitle_rag.workflows.requests import parse_request

    request = parse_request(sources)
    if request.sources or not request.paths:
        raise click.UsageError(_("--dry-run is for caption files and folders."))
    return preview(request.paths, source_options)


def _names_list(text: str) -> bool:
    """Whether an argument is a list of addresses: stdin, or a text file."""
    from subtitle_rag.captions.address_lists import is_address_list

    return text == STDIN or is_address_list(Path(text).expanduser())


def _listed(runtime: "Runtime", lists: Sequence[str], *, yes: bool) -> "tuple[Source, ...]":
    """Return the listed addresses that are not in the library, after one question; none if the user declines.

    Raises:
        UsageError: `list_unreadable`.
        click.UsageError: there is no terminal to ask on.
    """
    from subtitle_rag.workflows.requests import listed_sources

    listed = listed_sources(runtime.library, map(_read_list, lists))
    for note in listed.notes():
        output.say(note)
    return listed.sources if listed.sources and confirmed(listed.question, yes=yes) else ()


def _read_list(text: str) -> "AddressList":
    from subtitle_rag.captions.address_lists import parse_address_list, read_address_list

    if text == STDIN:
        return parse_address_list(sys.stdin.buffer.read(MAX_STDIN), "stdin")
    return read_address_list(Path(text).expanduser())


def _listen(
    runtime: "Runtime", sources: Sequence[str], captions: output.Outcome, *, yes: bool, limit: int | None, jsonl: bool
) -> output.Outcome:
    """Listen to the sources that have no captions.

    Args:
        runtime: opens the library and the transcriber.
        sources: the command's arguments.
        captions: outcome of reading their captions.
        yes: whether to skip the question.
        limit: maximum number of videos.
        jsonl: whether to print events on stdout.

    Returns:
        Both outcomes as one.
    """
    from subtitle_rag.cli.listen import listen_to

    heard = listen_to(runtime, sources, None, limit, again=False, yes=yes, jsonl=jsonl)
    result = {**captions.result, "listening": heard.result}
    errors = [*captions.errors, *heard.errors]
    code = heard.exit_code or captions.exit_code
    return output.Outcome(result, heard.lines, heard.notes, errors, exit_code=code, errors_shown=True)


def _wants_list(source: "Source") -> bool:
    """Ask on a terminal whether to index the playlist in a video's link; otherwise say how to."""
    if sys.stdin.isatty():
        question = _("The link names a video and the list {list}. Take the whole list?")
        return output.confirm(question.format(list=source.playlist))
    output.say(_("Only the video is taken; --playlist takes the list {list}.").format(list=source.playlist))
    return False


def _source_options(
    languages: tuple[str, ...],
    limit: int | None,
    since: str | None,
    match: str | None,
    tabs: str | None,
    translated: bool,
) -> "SourceOptions":
    """Parse the options that restrict a source.

    Args:
        languages: languages of the captions.
        limit: maximum number of videos.
        since: earliest date of publication.
        match: regular expression for titles.
        tabs: tabs of a channel, separated by commas.
        translated: whether to take YouTube's translations.

    Returns:
        The parsed options.

    Raises:
        UsageError: an option is invalid.
    """
    from subtitle_rag.library.sources import SourceOptions
    from subtitle_rag.search.query import parse_day
    from subtitle_rag.youtube.lister import compile_pattern

    tab_names = _split(tabs or "")
    for tab in tab_names:
        if tab not in TABS:
            raise UsageError("unknown_value", kind=_("channel tab"), name=tab, known=", ".join(TABS))
    first_day = parse_day("since", since) if since is not None else None
    return SourceOptions(
        tab_names,
        languages,
        translated,
        limit,
        first_day,
        compile_pattern(match).pattern if match else None,
    )


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@click.command("sync")
@click.argument("channels", nargs=-1, metavar="[CHANNEL|URL...]", shell_complete=complete_channels)
@click.option("--retry", is_flag=True, help=N_("Try everything that failed again, without waiting for its time."))
@index_options
@runtime_outcome
def sync_(
    runtime: "Runtime",
    channels: Sequence[str],
    retry: bool,
    options: IndexOptions,
) -> output.Outcome:
    if not runtime.library.sources.followed():
        output.say(_("No channel or playlist is followed yet: subtitle-rag index URL begins."))
    from subtitle_rag.captions.addresses import addresses_in
    from subtitle_rag.library.resolve import named_sources
    from subtitle_rag.workflows import pipeline

    sources_by_name = [each for name in channels for each in named_sources(runtime.library, name, addresses_in(name))]
    sources = list(dict.fromkeys(sources_by_name)) if channels else None
    return _run(runtime, pipeline.sync_sources(runtime, sources, patient=not options.no_wait, retry=retry), options)


def _run(
    runtime: "Runtime", events: Iterator[IndexEvent], options: IndexOptions, *, asks: bool = True
) -> output.Outcome:
    """Run, print the totals, then write contexts and make vectors for new and changed videos."""
    from subtitle_rag.library.context_store import WindowSelection

    as_text = not (options.jsonl or wants_json())
    total, videos = _drain(events, jsonl=options.jsonl)
    outcome = _report_outcome(total, runtime)
    if as_text:
        _print_lines(_report_lines(total, runtime.library.counts().due))
    renew_index(runtime)
    selection = WindowSelection(videos=tuple(videos))
    stages = (
        ("contexts", options.no_contexts, partial(stage_runs.contexts_after_index, asks=asks)),
        ("vectors", options.no_vectors, stage_runs.vectors_after_index),
    )
    for stage, skip, write in stages:
        report = None
        try:
            report = write(runtime, selection, jsonl=options.jsonl) if videos and not skip else None
        except AppError as error:
            if error.code in STAGE_FAILURES:
                output.say_error(error)
                outcome.errors = [*outcome.errors, error]
            elif error.details.get("lock") != stage:  # the process with the lock will do these videos as well
                raise
        outcome.result[stage] = event_json.report_values(report) if report else None
        if report and as_text:
            _print_lines(stage_runs.report_lines(report))
        if report and report.blocked:
            outcome.errors = [*outcome.errors, report.blocked]
    return outcome


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        output.data(line)


def _drain(events: Iterator[IndexEvent], *, jsonl: bool) -> tuple[IndexReport, list[str]]:
    """Run to the end; return the report, and the ids of new and changed videos."""
    videos = []
    for event in _narrate(events):
        if isinstance(event, VideoDone) and event.change != "unchanged":
            videos.append(event.video)
        if jsonl:
            event_json.event_line(event)
    assert isinstance(event, IndexReport)
    return event, videos


def _report_outcome(total: IndexReport, runtime: "Runtime") -> output.Outcome:
    errors = [event_json.failure_entry(failure) for failure in total.failures]
    failed_all = total.failed > 0 and not (total.new or total.changed or total.unchanged)
    code = output.ExitCode.FAILED if failed_all else output.ExitCode.DONE
    if total.blocked:
        errors.append(event_json.failure_entry(total.blocked))
        code = output.ExitCode.TRY_LATER
    size = runtime.library.counts()
    result = {**event_json.report_values(total), "library": {"videos": size.videos, "windows": size.windows}}
    return output.Outcome(result, errors=errors, exit_code=code, errors_shown=True)


def _narrate(events: Iterator[IndexEvent]) -> Iterator[IndexEvent]:
    """Yield the events; show a bar, failures and pauses on stderr."""
    from subtitle_rag.youtube.estimate import cut_short_text, estimate_text

    hinted: set[str] = set()
    with progress_bar() as show:
        for event in events:
            match event:
                case Progress():
                    show(event)
                case FetchEstimate():
                    output.say(f"{event.source}: {estimate_text(event)}")
                case ListCutShort():
                    output.say(f"– {cut_short_text(event)}")
                case VideoFailed() | FileNotice():
                    _say_once_hinted(event, hinted)
                case Resting():
                    _say_rest(event)
            yield event


def _say_once_hinted(event: VideoFailed | FileNotice, hinted: set[str]) -> None:
    """Print the failure or notice. Print its hint only once: a channel can have hundreds of members-only videos."""
    entry = event_json.failure_entry(event)
    sign = "–" if isinstance(event, FileNotice) or event.code in EXPECTED else "!"
    hint = "" if event.code in hinted else f"\n  {entry['hint']}"
    output.say(f"{sign} {entry['message']}{hint}")
    hinted.add(event.code)


def _say_rest(event: Resting) -> None:
    sentence = (
        _("Resting until {time}, then it resumes by itself; Ctrl+C ends it, and nothing is lost.")
        if event.goes_on
        else _("What is left is kept; subtitle-rag sync goes on with it after {time}.")
    )
    message = event_json.failure_entry(event)["message"]
    output.say(f"! {message}\n  {sentence.format(time=output.local_time(event.until))}")


def _report_lines(report: IndexReport, pending: int) -> Iterator[str]:
    counts = [
        n_("{n} new video", "{n} new videos", report.new),
        n_("{n} changed", "{n} changed", report.changed),
        n_("{n} unchanged", "{n} unchanged", report.unchanged),
    ]
    skipped = sum(failure.code in EXPECTED for failure in report.failures)
    if skipped:
        counts.append(n_("{n} skipped", "{n} skipped", skipped))
    failed = report.failed - skipped
    counts.append(n_("{n} failed", "{n} failed", failed))
    if left_out := sum(sum(notice.details.get("counts", {}).values()) for notice in report.notices):
        counts.append(n_("{n} file left out", "{n} files left out", left_out))
    yield ", ".join(counts)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows)
    if pending:
        yield n_("{n} video waits to be fetched.", "{n} videos wait to be fetched.", pending)
