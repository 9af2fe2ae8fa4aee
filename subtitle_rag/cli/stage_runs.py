"""Command-line runs of the context and vector stages: options, progress, failures and totals."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from subtitle_rag.base import event_json, output
from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.base.domain.events import (
    ContextEvent,
    ContextReport,
    ContextsDue,
    VectorsReport,
    VideoFailed,
)
from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli.options import channel_option, jsonl_option, pack_options, video_option
from subtitle_rag.cli.progress_bar import follow

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import WindowSelection
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

limit_option = click.option("--limit", type=click.IntRange(min=1), help=N_("At most this many windows."))

Command = Callable[..., int]
Report = TypeVar("Report", ContextReport, VectorsReport)


@dataclass(frozen=True, slots=True)
class StageOptions:
    """Options of `contexts write` and `vectors`."""

    channel: Sequence[str]
    video: Sequence[str]
    redo: bool
    limit: int | None
    jsonl: bool
    model: str | None = None


def stage_options(redo_help: str, *more: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add the options of a stage, and `more`; the command gets them as one `StageOptions`."""
    redo_option = click.option("--redo", is_flag=True, help=redo_help)
    return pack_options(
        "options", StageOptions, channel_option, video_option, *more, redo_option, limit_option, jsonl_option
    )


def select_windows(runtime: "Runtime", options: StageOptions) -> "WindowSelection":
    """Select windows by the options. Raises UsageError `unknown`."""
    from subtitle_rag.library.context_store import WindowSelection
    from subtitle_rag.library.resolve import channel_ids, video_ids

    channels, videos = channel_ids(runtime.library, options.channel), video_ids(runtime.library, options.video)
    return WindowSelection(tuple(channels), tuple(videos), options.limit, options.redo)


def write_contexts(
    runtime: "Runtime",
    selection: "WindowSelection",
    model: str | None = None,
    *,
    jsonl: bool = False,
    prelude: str = "",
) -> ContextReport:
    """Write contexts with a bar on stderr.

    Args:
        runtime: opens the library.
        selection: windows to write about.
        model: the model; None: the configured one.
        jsonl: whether to print events on stdout.
        prelude: sentence to say first.

    Returns:
        The totals.

    Raises:
        LlmError: no host can be used.
    """
    from subtitle_rag.workflows import pipeline

    def tell(event: ContextEvent) -> None:
        if isinstance(event, ContextsDue) and event.by_other_prompts:
            output.say(_prompt_change(event))
        elif isinstance(event, VideoFailed):
            output.say(f"! {event_json.failure_entry(event)['message']}")

    events = pipeline.write_contexts(runtime, selection, model)
    return _with_failure(follow(ContextReport, events, tell, jsonl=jsonl, prelude=prelude))


def write_vectors(
    runtime: "Runtime", selection: "WindowSelection", *, jsonl: bool = False, patient: bool = True, prelude: str = ""
) -> VectorsReport:
    """Make vectors with a bar on stderr.

    Args:
        runtime: opens the library and the encoder.
        selection: windows to encode.
        jsonl: whether to print events on stdout.
        patient: whether to wait for contexts that are being written.
        prelude: sentence to say first.

    Returns:
        The totals.

    Raises:
        AppError: `model_missing`, and the others of `Runtime.encoding`.
    """
    from subtitle_rag.workflows import pipeline

    events = pipeline.write_vectors(runtime, selection, patient=patient)
    return _with_failure(follow(VectorsReport, events, jsonl=jsonl, prelude=prelude))


def contexts_after_index(
    runtime: "Runtime", selection: "WindowSelection", *, jsonl: bool, asks: bool
) -> ContextReport | None:
    """Write the contexts of new windows; return None without a model, or if the user declines.

    The windows are searchable already. With `asks`, the user is asked on a terminal if the settings say so.
    """
    prelude = _("Searchable. {model} writes contexts; Ctrl+C ends it, and nothing is lost.")
    try:
        if not _wants_contexts(runtime, asks=asks):
            return None
        return write_contexts(runtime, selection, jsonl=jsonl, prelude=prelude.format(model=runtime.context_model))
    except LlmError:
        logger.info("no contexts are written", exc_info=True)
        return None


def _wants_contexts(runtime: "Runtime", *, asks: bool) -> bool:
    """Return the setting for contexts, or ask once on a terminal. Raises like `pipeline.offer_contexts`."""
    from subtitle_rag.workflows import pipeline

    setting = runtime.settings.llm.contexts
    if setting != "ask" or not asks or not sys.stdin.isatty():
        return setting != "never"
    offer = pipeline.offer_contexts(runtime)
    if offer is None:
        return False
    question = _("Have {model} describe the scenes, so that search finds more ({size})? Later runs do as you answer.")
    wanted = output.confirm(question.format(model=runtime.context_model, size=offer.sentence))
    pipeline.answer_context_offer(runtime, wanted=wanted)
    return wanted


def vectors_after_index(runtime: "Runtime", selection: "WindowSelection", *, jsonl: bool) -> VectorsReport | None:
    """Make the vectors of new windows, which are searchable already; return None without an encoder."""
    prelude = _("Searchable. {model} makes vectors; Ctrl+C ends it, and nothing is lost.")
    try:
        encoder = runtime.neural.encoder()
        if encoder is None:
            return None
        return write_vectors(runtime, selection, jsonl=jsonl, patient=False, prelude=prelude.format(model=encoder.id))
    except LlmError as error:  # the encoder's Ollama is not running
        output.say_error(error)
        return None


def _prompt_change(event: ContextsDue) -> str:
    """Return how many contexts a different prompt has made, and how long redoing them takes."""
    sentence = n_(
        "The prompt has changed: {n} of {all} windows has a context by an earlier one, valid until its replacement.",
        "The prompt has changed: {n} of {all} windows have contexts by an earlier one, valid until their replacement.",
        event.by_other_prompts,
        n=f"{event.by_other_prompts:,}",
        all=f"{event.windows:,}",
    )
    minutes = max(1, round(event.seconds / 60))
    time = n_("That takes about {n} minute.", "That takes about {n} minutes.", minutes, n=f"{minutes:,}")
    return f"{sentence} {time}" if event.seconds else sentence


def _with_failure(report: Report) -> Report:
    """Return the report, and say why its run ended early."""
    if report.blocked:
        output.say_error(report.blocked)
    return report


def report_outcome(
    report: ContextReport | VectorsReport, library: Mapping[str, Any], options: StageOptions
) -> output.Outcome:
    """Return the totals of a run with the library's counts."""
    result = {**event_json.report_values(report), "library": library}
    lines = () if options.jsonl else report_lines(report)
    errors = [report.blocked] if report.blocked else []
    return output.Outcome(result, lines, errors=errors, errors_shown=True)


def report_lines(report: ContextReport | VectorsReport) -> Iterator[str]:
    """Yield the totals of a run as sentences."""
    if isinstance(report, VectorsReport):
        yield n_("{n} window got its vectors.", "{n} windows got their vectors.", report.made)
        if report.waiting:
            yield n_(
                "{n} window waits for its context: subtitle-rag vectors goes on with it.",
                "{n} windows wait for their contexts: subtitle-rag vectors goes on with them.",
                report.waiting,
            )
        elif windows_left := report.left - report.failed:
            yield n_(
                "{n} window is left: subtitle-rag vectors goes on with it.",
                "{n} windows are left: subtitle-rag vectors goes on with them.",
                windows_left,
            )
        if report.pieces:
            yield n_("{n} window got vectors of its pieces.", "{n} windows got vectors of their pieces.", report.pieces)
        if report.pieces_left and not report.left:
            yield n_(
                "{n} window is left without vectors of its pieces: subtitle-rag vectors goes on with it.",
                "{n} windows are left without vectors of their pieces: subtitle-rag vectors goes on with them.",
                report.pieces_left,
            )
        if report.failed:
            yield n_(
                "{n} window stays without vectors: {model} cannot read it.",
                "{n} windows stay without vectors: {model} cannot read them.",
                report.failed,
                model=report.encoder,
            )
        if report.cut:
            yield n_(
                "{n} window was too long for {model}, and its end was left out.",
                "{n} windows were too long for {model}, and their ends were left out.",
                report.cut,
                model=report.encoder,
            )
        return
    yield n_("{n} context written.", "{n} contexts written.", report.written)
    if report.empty:
        yield n_(
            "{n} window stays without: nothing of the answer could be used.",
            "{n} windows stay without: nothing of the answers could be used.",
            report.empty,
        )
    if report.left_out:
        yield n_(
            "{n} is left out, as it repeats another or names what its video does not: subtitle-rag contexts list",
            "{n} are left out, as they repeat others or name what their video does not: subtitle-rag contexts list",
            report.left_out,
        )
    if report.suspect:
        yield n_(
            "{n} only retells its window: subtitle-rag contexts list",
            "{n} only retell their windows: subtitle-rag contexts list",
            report.suspect,
        )
    if report.summaries:
        yield n_("{n} video was summarised.", "{n} videos were summarised.", report.summaries)
    if report.empty_summaries:
        yield n_(
            "{n} video stays without a summary: nothing of the answers could be used.",
            "{n} videos stay without a summary: nothing of the answers could be used.",
            report.empty_summaries,
        )
    if report.empty_overviews:
        yield n_(
            "{n} part of a long video stays without an overview: nothing of the answers could be used.",
            "{n} parts of long videos stay without an overview: nothing of the answers could be used.",
            report.empty_overviews,
        )
    if report.tokens:
        yield cost(report.prompt_tokens, report.tokens, report.ms)


def cost(prompt_tokens: int, tokens: int, ms: int) -> str:
    """Return the cost of a run as a sentence."""
    return _("Cost: {read} tokens read, {written} written, {time} of model time.").format(
        read=f"{prompt_tokens:,}", written=f"{tokens:,}", time=clock(ms)
    )
