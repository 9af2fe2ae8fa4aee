"""`index` and `sync`: what brings captions into the library."""

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.captions.addresses import Source, looks_like_address, parse
from subtitle_rag.commands import completing, contexts_progress, json_option, jsonl_option, vectors
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
    from subtitle_rag.library.sources import Followed

logger = logging.getLogger(__name__)

no_contexts_option = click.option("--no-contexts", is_flag=True, help=N_("Leave contexts to a later run."))
no_vectors_option = click.option("--no-vectors", is_flag=True, help=N_("Leave the neural vectors to a later run."))
no_wait_option = click.option(
    "--no-wait", is_flag=True, help=N_("Where YouTube refuses, end with exit code 3 instead of resting and going on.")
)


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
@no_contexts_option
@no_vectors_option
@no_wait_option
@jsonl_option
@json_option
@click.pass_obj
def index_(
    settings: Settings,
    sources: Sequence[str],
    lang: str,
    limit: int | None,
    since: str | None,
    match: str | None,
    tabs: str | None,
    translated: bool,
    playlist: bool | None,
    refresh: bool,
    no_contexts: bool,
    no_vectors: bool,
    no_wait: bool,
    jsonl: bool,
    as_json: bool,
) -> int:
    from subtitle_rag.fetching.fetcher import Manner, Order
    from subtitle_rag.library.sources import Wishes

    first_day = day("since", since) if since is not None else None
    wishes = Wishes(_tabs(tabs), _parts(lang), translated, limit, first_day, _pattern(match))
    paths, addresses = _divided(sources)
    orders = [Order(_chosen(source, playlist), wishes) for source in addresses]
    manner = Manner(patient=not no_wait, refresh=refresh)
    with Runtime(settings) as runtime:
        runs = []
        if paths:
            runs.append(runtime.indexer.index(paths, languages=wishes.languages, since=first_day, limit=limit))
        if orders:
            runs.append(runtime.fetcher().run(orders, manner))
        return _ran("index", runtime, runs, Later(not no_contexts, not no_vectors), jsonl=jsonl, as_json=as_json)


@click.command("sync", help=N_("Look for new videos of what is followed, and ask again for what is due."))
@click.argument("channels", nargs=-1, metavar="[CHANNEL|URL...]", shell_complete=completing.channels)
@click.option("--retry", is_flag=True, help=N_("Ask again for everything that failed, whenever its time is."))
@no_contexts_option
@no_vectors_option
@no_wait_option
@jsonl_option
@json_option
@click.pass_obj
def sync_(
    settings: Settings,
    channels: Sequence[str],
    retry: bool,
    no_contexts: bool,
    no_vectors: bool,
    no_wait: bool,
    jsonl: bool,
    as_json: bool,
) -> int:
    from subtitle_rag.fetching.fetcher import Manner, Order

    with Runtime(settings) as runtime:
        followed = runtime.library.sources.followed()
        chosen = [source for name in channels for source in _named(followed, name)] if channels else followed
        if not followed:
            output.say(_("No channel or playlist is followed yet: subtitle-rag index URL begins."))
        orders = [Order(parse(source.url), source.wishes) for source in dict.fromkeys(chosen)]
        manner = Manner(patient=not no_wait, retry=retry, leftovers=not channels)
        runs = [runtime.fetcher().run(orders, manner)]
        return _ran("sync", runtime, runs, Later(not no_contexts, not no_vectors), jsonl=jsonl, as_json=as_json)


# What was asked for


def _divided(sources: Sequence[str]) -> tuple[list[Path], list[Source]]:
    """What lies on the disk, and what is on YouTube."""
    paths: list[Path] = []
    addresses: list[Source] = []
    for source in sources:
        if os.path.lexists(source):
            paths.append(Path(source))
        elif looks_like_address(source):
            addresses.append(parse(source))
        else:
            addresses.append(_bare(source))
    return paths, addresses


def _bare(text: str) -> Source:
    """A bare video id looks like a folder's name; what is neither is named as the path that it is not."""
    try:
        return parse(text)
    except UsageError:
        raise UsageError("unsupported_source", source=tidy(text)) from None


def _chosen(source: Source, playlist: bool | None) -> Source:
    """The video, or the list that its link names too."""
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


def _named(followed: "Sequence[Followed]", name: str) -> "list[Followed]":
    """What is followed under this address, id or name, or a name that holds it."""
    wanted = tidy(name)
    try:
        url = parse(wanted).url
    except UsageError:
        url = ""
    found = [source for source in followed if wanted in (source.name, source.channel_id) or source.url == url]
    found = found or [source for source in followed if wanted.casefold() in source.name.casefold()]
    if not found:
        raise UsageError("unknown_channel", channel=wanted)
    return found


# What came of it


@dataclass(frozen=True, slots=True)
class Later:
    """What is made of the captions that came in, when they can be searched already."""

    contexts: bool
    vectors: bool


def _ran(
    command: str, runtime: Runtime, runs: Iterable[Iterator[IndexEvent]], later: Later, *, jsonl: bool, as_json: bool
) -> int:
    """Run, narrate, print the sum, and have contexts written and vectors made for what came in."""
    if as_json and jsonl:
        raise click.UsageError(_("--json and --jsonl exclude each other."))
    total, came = _summed(runs, jsonl=jsonl)
    outcome = _outcome(total, runtime)
    told = not jsonl and not as_json
    if jsonl:
        output.event_line(total)
    _tell(_report_lines(total, runtime.library.counts().due), told)
    written = _contexts(runtime, came, jsonl=jsonl) if later.contexts and came else None
    outcome.result["contexts"] = output.context_values(written) if written else None
    _tell(contexts_progress.report_lines(written) if written else (), told)
    made = _vectors(runtime, came, outcome, jsonl=jsonl) if later.vectors and came else None
    outcome.result["vectors"] = vectors.report_values(made) if made else None
    _tell(vectors.report_lines(made) if made else (), told)
    outcome.errors += [output.error_entry(report.blocked) for report in (written, made) if report and report.blocked]
    if as_json:
        output.envelope(command, outcome)
    return outcome.exit_code


def _tell(lines: Iterable[str], told: bool) -> None:
    for line in lines if told else ():
        output.data(line)


def _summed(runs: Iterable[Iterator[IndexEvent]], *, jsonl: bool) -> tuple[IndexReport, list[str]]:
    """What the runs came to, and the videos that are new or changed."""
    total, came = IndexReport(), []
    for run in runs:
        for event in _narrated(run):
            if isinstance(event, VideoDone) and event.change != "unchanged":
                came.append(event.video)
            if isinstance(event, IndexReport):
                total.add(event)
            elif jsonl:
                output.event_line(event)
    return total, came


def _contexts(runtime: Runtime, videos: Sequence[str], *, jsonl: bool) -> ContextReport | None:
    """The contexts of what came in, where there is a model to write them; everything is searchable already."""
    from subtitle_rag.library.context_store import WindowSelection

    prelude = _("Searchable. {model} writes contexts; Ctrl+C ends it, and nothing is lost.")
    prelude = prelude.format(model=runtime.context_model)
    try:
        return contexts_progress.write(runtime, WindowSelection(videos=tuple(videos)), jsonl=jsonl, prelude=prelude)
    except LlmError:
        logger.info("no contexts are written", exc_info=True)
        return None
    except BusyError as error:
        if error.code != "contexts_busy":  # whoever writes them already comes to these as well
            raise
        logger.info("contexts are written elsewhere", exc_info=True)
        return None


def _vectors(runtime: Runtime, videos: Sequence[str], outcome: output.Outcome, *, jsonl: bool) -> VectorsReport | None:
    """The vectors of what came in, where the encoder is here; everything is searchable already."""
    from subtitle_rag.library.context_store import WindowSelection

    try:
        encoder = runtime.neural.encoder()
        if encoder is None:
            return None
        prelude = _("Searchable. {model} makes vectors; Ctrl+C ends it, and nothing is lost.").format(model=encoder.id)
        chosen = WindowSelection(videos=tuple(videos))
        return vectors.write(runtime, chosen, jsonl=jsonl, patient=False, prelude=prelude)
    except AppError as error:
        if error.code in ("model_unknown", "model_kind", "model_damaged"):  # the captions came in all the same
            output.say_error(error)
            outcome.errors.append(output.error_entry(error))
        elif error.code != "vectors_busy":  # whoever makes them already comes to these as well
            raise
        return None


def _outcome(total: IndexReport, runtime: Runtime) -> output.Outcome:
    errors = [output.failure_entry(failure) for failure in total.failures]
    failed_all = total.failed > 0 and not (total.new or total.changed or total.unchanged)
    code = output.ExitCode.FAILED if failed_all else output.ExitCode.DONE
    if total.blocked:
        errors.append(output.resting_entry(total.blocked))
        code = output.ExitCode.TRY_LATER
    size = runtime.library.counts()
    result = {**output.report_values(total), "library": {"videos": size.videos, "windows": size.windows}}
    return output.Outcome(result, errors, code)


def _narrated(events: Iterator[IndexEvent]) -> Iterator[IndexEvent]:
    """The events, with a bar, the failures and the rests on stderr while they come."""
    hinted: set[str] = set()
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
                    _say_failure(event, hinted)
                case Resting():
                    _say_rest(event)
                case WindowsIndexed(count=count):
                    bar.advance(windows, count)
            yield event


def _say_failure(event: VideoFailed, hinted: set[str]) -> None:
    """What to do is said once for all that failed alike: a channel can have hundreds of videos for members."""
    entry = output.failure_entry(event)
    if event.code in hinted:
        output.say(f"! {entry['message']}")
    else:
        output.say_error(entry)
    hinted.add(event.code)


def _say_rest(event: Resting) -> None:
    entry = output.resting_entry(event)
    when = output.local_time(event.until)
    if event.goes_on:
        resting = _("Resting until {time}, then it goes on by itself; Ctrl+C ends it, and nothing is lost.")
        output.say(f"! {entry['message']}\n  {resting.format(time=when)}")
    else:
        later = _("What is left is kept; subtitle-rag sync goes on with it after {time}.")
        output.say(f"! {entry['message']}\n  {later.format(time=when)}")


def _report_lines(report: IndexReport, due: int) -> Iterator[str]:
    counts = [
        n_("{n} new video", "{n} new videos", report.new).format(n=report.new),
        n_("{n} changed", "{n} changed", report.changed).format(n=report.changed),
        n_("{n} unchanged", "{n} unchanged", report.unchanged).format(n=report.unchanged),
        n_("{n} failed", "{n} failed", report.failed).format(n=report.failed),
    ]
    yield ", ".join(counts)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows).format(n=report.windows)
    if due:
        yield n_("{n} video waits to be fetched.", "{n} videos wait to be fetched.", due).format(n=due)
