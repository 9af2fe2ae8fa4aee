"""Progress, failures and the sum of `index` and `sync`."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from subtitle_rag import output
from subtitle_rag.domain import (
    EXPECTED,
    Found,
    IndexEvent,
    IndexReport,
    Resting,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)
from subtitle_rag.i18n import _, n_

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

Runs = Iterable[Iterator[IndexEvent]]
"""One iterator of events for the files, one for YouTube."""


def drain(runs: Runs, *, jsonl: bool) -> tuple[IndexReport, list[str]]:
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


def report_outcome(total: IndexReport, runtime: "Runtime") -> output.Outcome:
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
    sign = "–" if event.code in EXPECTED else "!"
    if event.code in hinted:
        output.say(f"{sign} {entry['message']}")
    else:
        output.say(f"{sign} {entry['message']}\n  {entry['hint']}")
    hinted.add(event.code)


def _say_rest(event: Resting) -> None:
    entry = output.failure_entry(event)
    when = output.local_time(event.until)
    if event.goes_on:
        resting = _("Resting until {time}, then it resumes by itself; Ctrl+C ends it, and nothing is lost.")
        output.say(f"! {entry['message']}\n  {resting.format(time=when)}")
    else:
        later = _("What is left is kept; subtitle-rag sync goes on with it after {time}.")
        output.say(f"! {entry['message']}\n  {later.format(time=when)}")


def report_lines(report: IndexReport, pending: int) -> Iterator[str]:
    counts = [
        n_("{n} new video", "{n} new videos", report.new).format(n=report.new),
        n_("{n} changed", "{n} changed", report.changed).format(n=report.changed),
        n_("{n} unchanged", "{n} unchanged", report.unchanged).format(n=report.unchanged),
    ]
    skipped = sum(failure.code in EXPECTED for failure in report.failures)
    if skipped:
        counts.append(n_("{n} skipped", "{n} skipped", skipped).format(n=skipped))
    failed = report.failed - skipped
    counts.append(n_("{n} failed", "{n} failed", failed).format(n=failed))
    yield ", ".join(counts)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows).format(n=report.windows)
    if pending:
        yield n_("{n} video waits to be fetched.", "{n} videos wait to be fetched.", pending).format(n=pending)
