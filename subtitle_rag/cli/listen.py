"""`listen`: make captions on this machine for films and videos without any."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import event_json, output
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import (
    ListeningEvent,
    ListeningReport,
    VideoFailed,
    VideoHeard,
)
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli.options import (
    complete_channels_and_videos,
    confirmed,
    jsonl_option,
    newest_option,
    runtime_outcome,
    yes_option,
)
from subtitle_rag.cli.progress_bar import follow
from subtitle_rag.cli.renewal import finish_windows, renew_index

if TYPE_CHECKING:
    from subtitle_rag.captions.addresses import Source
    from subtitle_rag.runtime import Runtime


@click.command("listen")
@click.argument("targets", nargs=-1, metavar="[SOURCE|VIDEO|CHANNEL...]", shell_complete=complete_channels_and_videos)
@click.option("--model", help=N_("Transcribe with this model (a name from models list) instead of the configured one."))
@newest_option
@click.option("--again", is_flag=True, help=N_("Transcribe again, for example with another model."))
@click.option("--cancel", is_flag=True, help=N_("Cancel pending transcriptions."))
@yes_option
@jsonl_option
@runtime_outcome
def listen_(
    runtime: "Runtime",
    targets: Sequence[str],
    model: str | None,
    limit: int | None,
    again: bool,
    cancel: bool,
    yes: bool,
    jsonl: bool,
) -> output.Outcome:
    if cancel:
        if not targets:
            raise click.UsageError(_("Name the video."))
        from subtitle_rag.listening.listening_plan import cancel_listening

        count = cancel_listening(runtime.library, targets)
        line = n_("{n} video is not listened to any more.", "{n} videos are not listened to any more.", count)
        return output.Outcome({"cancelled": count}, [line])
    outcome = listen_to(runtime, targets, model, limit, again=again, yes=yes, jsonl=jsonl)
    finish_windows(runtime)
    renew_index(runtime)
    return outcome


def listen_to(
    runtime: "Runtime",
    targets: Sequence[str],
    model: str | None,
    limit: int | None,
    *,
    again: bool,
    yes: bool,
    jsonl: bool,
) -> output.Outcome:
    """Queue the targets and listen to them; without targets, listen to the whole queue.

    Args:
        runtime: opens the library and the transcriber.
        targets: folders, files, videos or channels.
        model: the transcriber; None: the configured one.
        limit: maximum number of videos.
        again: whether to include videos that have captions.
        yes: whether to skip the question.
        jsonl: whether to print events on stdout.

    Returns:
        The outcome, with the totals.
    """
    from subtitle_rag.listening.gaps import estimate_lines
    from subtitle_rag.listening.listening_plan import (
        estimate_listening,
        plan_listening,
        request_listening,
        videos_to_fetch,
    )

    if not targets:
        due_ids = [each.video_id for each in runtime.library.listenings.due()][:limit]
        if not due_ids:
            note = _("Nothing waits to be listened to: subtitle-rag listen FOLDER, VIDEO or CHANNEL asks for it.")
            return output.Outcome(event_json.report_values(ListeningReport()), notes=[note])
        return _run(runtime, due_ids, model, jsonl=jsonl)
    sources = videos_to_fetch(runtime.library, targets)
    plan = None if sources else plan_listening(runtime.library, targets, again=again)
    listener = runtime.listener(model)  # a missing model or package must be reported before anything is queued
    failures = _fetch_captions(runtime, sources)
    plan = plan or plan_listening(runtime.library, targets, again=again)
    for video in plan.captioned:
        sentence = _("{title} has captions: --again listens all the same.")
        output.say(sentence.format(title=video.title))
    videos = plan.videos[:limit]
    if not videos:
        notes = [] if plan.captioned else [_("Everything there already has captions.")]
        result = event_json.report_values(ListeningReport())
        return output.Outcome(result, notes=notes, errors=failures, errors_shown=True)
    estimate = estimate_listening(runtime.library, videos, listener.transcriber.model)
    for line in estimate_lines(estimate):
        output.say(line)
    if not confirmed(_("Listen?"), yes=yes):
        return output.Outcome(event_json.report_values(ListeningReport()), notes=[_("Nothing was done.")])
    request_listening(runtime.library, plan.first(limit))
    return _run(runtime, [video.id for video in videos], model, jsonl=jsonl)


def _fetch_captions(runtime: "Runtime", sources: "tuple[Source, ...]") -> list[dict[str, Any]]:
    """Fetch captions of YouTube videos missing from the library; return failures other than missing captions."""
    from subtitle_rag.workflows import pipeline
    from subtitle_rag.workflows.requests import JobRequest
    from subtitle_rag.youtube.fetcher import RunOptions

    if not sources:
        return []
    entries = []
    options = RunOptions(patient=False)
    for event in pipeline.read_captions(runtime, JobRequest(sources=sources), run_options=options):
        if isinstance(event, VideoFailed) and event.code != "no_captions":
            entries.append(event_json.failure_entry(event))
            output.say_error(entries[-1])
    return entries


def _run(runtime: "Runtime", videos: Sequence[str], model: str | None, *, jsonl: bool) -> output.Outcome:
    """Listen with a progress bar on stderr, and return the totals."""
    from subtitle_rag.workflows import pipeline

    events = pipeline.listen(runtime, videos, model)
    report = follow(ListeningReport, events, _tell, jsonl=jsonl)
    errors: list[AppError | dict[str, Any]] = [event_json.failure_entry(failure) for failure in report.failures]
    if report.blocked:
        output.say_error(report.blocked)
        errors.append(report.blocked)
    failed_all = report.failed > 0 and not report.heard
    code = output.ExitCode.FAILED if failed_all else output.ExitCode.DONE
    if report.blocked:
        code = output.exit_code_for(report.blocked)
    lines = () if jsonl else _report_lines(report)
    return output.Outcome(event_json.report_values(report), lines, errors=errors, exit_code=code, errors_shown=True)


def _tell(event: ListeningEvent) -> None:
    match event:
        case VideoFailed():
            output.say(f"! {event_json.failure_entry(event)['message']}")
        case VideoHeard():
            output.say(_("Searchable: {title}").format(title=event.title))


def _report_lines(report: ListeningReport) -> Iterator[str]:
    from subtitle_rag.base.domain.progress import duration_text, pace_text

    yield n_("{n} video was listened to.", "{n} videos were listened to.", report.heard)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows)
    if report.gap_ms:
        yield _("{time} was not understood; the transcript says where.").format(time=duration_text(report.gap_ms))
    if report.seconds >= 1 and report.sound_ms:
        pace = report.sound_ms / 1000 / report.seconds
        yield _("{time} of sound heard: {pace}.").format(time=duration_text(report.sound_ms), pace=pace_text(pace))
    if report.failed:
        yield n_("{n} video failed.", "{n} videos failed.", report.failed)
    if report.left:
        yield n_(
            "{n} video waits: subtitle-rag listen goes on with it.",
            "{n} videos wait: subtitle-rag listen goes on with them.",
            report.left,
        )
