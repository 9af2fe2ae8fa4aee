"""`vectors`: what an encoder makes of each window, so that scenes are found by what they mean."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.commands.contexts import Asked, channels_of, videos_of, writing_options
from subtitle_rag.config import Settings
from subtitle_rag.events import EncoderActive, VectorEvent, VectorsDue, VectorsMade, VectorsReport, VectorsWaiting
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.output import ExitCode, exit_code_for
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import WindowSelection
    from subtitle_rag.library.vector_store import VectorCounts

NAMES = {
    VectorsDue: "vectors_due",
    VectorsMade: "vectors_made",
    VectorsWaiting: "vectors_waiting",
    EncoderActive: "encoder_active",
    VectorsReport: "report",
}
"""Events as `--jsonl` names them."""


@click.group("vectors", help=N_("Have a local model read every window, so that scenes are found by what they mean."))
def vectors_() -> None:
    """The verbs of vectors."""


@vectors_.command("write", help=N_("Make the vectors that are missing, of the newest videos first."))
@click.pass_obj
@writing_options()
def vectors_write(settings: Settings, asked: Asked) -> int:
    return _written("vectors write", settings, asked)


@vectors_.command("redo", help=N_("Make vectors anew; the old ones are searched until they are replaced."))
@click.pass_obj
@writing_options()
def vectors_redo(settings: Settings, asked: Asked) -> int:
    return _written("vectors redo", settings, asked, anew=True)


@vectors_.command("status", help=N_("Show how many windows have vectors, and of which model."))
@json_option
@click.pass_obj
def vectors_status(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        encoder = runtime.neural.encoder()
        values = status_values(runtime, encoder.id if encoder else None)
        state = runtime.neural.state()
    held = [model.plan.line for model in state.models if encoder and model.id == encoder.id] if state else []
    values["device"] = held[0] if held else None
    if as_json:
        output.envelope("vectors status", output.Outcome(values))
    else:
        for line in _status_lines(values):
            output.data(line)
    return 0


def status_values(runtime: Runtime, encoder_id: str | None) -> dict[str, Any]:
    """How far the vectors have come that are searched, and those of an encoder (None: not here) that take over."""
    from subtitle_rag.encoding import waiting

    vectors = runtime.library.vectors
    active = vectors.active() or encoder_id
    coming = encoder_id if encoder_id and encoder_id != active else None
    counts = vectors.counts(active)
    current = coming or active
    return {
        **count_values(counts),
        "waiting": len(waiting(runtime.library, current)) if current else 0,
        "encoder": active,
        "here": encoder_id is not None,
        "coming": {"encoder": coming, **count_values(vectors.counts(coming))} if coming else None,
    }


def count_values(counts: "VectorCounts") -> dict[str, int]:
    return {"windows": counts.windows, "made": counts.made, "due": counts.due}


def write(
    runtime: Runtime, chosen: "WindowSelection", *, jsonl: bool = False, patient: bool = True, prelude: str = ""
) -> VectorsReport:
    """Have vectors made, and narrate it on stderr; with `jsonl` the events go to stdout.

    `prelude` is said when it begins.

    Raises:
        AppError: `model_missing` and what else `Runtime.encoding` raises.
    """
    report = None
    for event in _narrated(runtime.encoding().run(chosen, patient=patient)):
        if prelude and isinstance(event, VectorsDue):
            output.say(prelude)
            prelude = ""
        if jsonl:
            values = report_values(event) if isinstance(event, VectorsReport) else asdict(event)
            output.json_line({"event": NAMES[type(event)], **values})
        if isinstance(event, VectorsReport):
            report = event
    assert report is not None  # the last event
    if report.blocked:
        output.say_error(report.blocked)
    return report


def _narrated(events: Iterator[VectorEvent]) -> Iterator[VectorEvent]:
    with output.progress() as bar:
        task = bar.add_task(_("Vectors"), total=None)
        for event in events:
            match event:
                case VectorsDue(windows=windows):
                    bar.update(task, total=windows, description=_("Vectors"))
                case VectorsMade(count=count):
                    bar.update(task, advance=count, description=_("Vectors"))
                case VectorsWaiting():
                    bar.update(task, description=_("Waiting for contexts"))
            yield event


def report_values(report: VectorsReport) -> dict[str, Any]:
    """The sum of a run, as `--json` tells it."""
    return {"encoder": report.encoder, "made": report.made, "left": report.left, "waiting": report.waiting}


def report_lines(report: VectorsReport) -> Iterator[str]:
    yield n_("{n} window got its vectors.", "{n} windows got their vectors.", report.made).format(n=report.made)
    if report.waiting:
        yield n_(
            "{n} window waits for its context: subtitle-rag vectors write goes on with it.",
            "{n} windows wait for their contexts: subtitle-rag vectors write goes on with them.",
            report.waiting,
        ).format(n=report.waiting)
    elif report.left:
        yield n_(
            "{n} window is left: subtitle-rag vectors write goes on with it.",
            "{n} windows are left: subtitle-rag vectors write goes on with them.",
            report.left,
        ).format(n=report.left)


def _written(command: str, settings: Settings, asked: Asked, *, anew: bool = False) -> int:
    """Write, narrate, and print the sum."""
    from subtitle_rag.library.context_store import WindowSelection

    with Runtime(settings) as runtime:
        channels, videos = channels_of(runtime, asked.channel), videos_of(runtime, asked.video)
        chosen = WindowSelection(tuple(channels), tuple(videos), asked.limit, anew)
        report = write(runtime, chosen, jsonl=asked.jsonl)
        counts = runtime.library.vectors.counts(report.encoder)
    errors = [output.error_entry(report.blocked)] if report.blocked else []
    code = exit_code_for(report.blocked) if report.blocked else ExitCode.DONE
    if asked.as_json:
        values = {**report_values(report), "library": count_values(counts)}
        output.envelope(command, output.Outcome(values, errors, code))
    elif not asked.jsonl:
        for line in report_lines(report):
            output.data(line)
    return code


def _status_lines(values: dict[str, Any]) -> Iterator[str]:
    coming = values["coming"]
    rows = [
        (_("Windows"), f"{values['windows']:,}"),
        (_("With vectors"), f"{values['made']:,}"),
        *([(_("Waiting for contexts"), f"{values['waiting']:,}")] if values["waiting"] else []),
    ]
    yield from output.table(rows, right=frozenset({1}))
    if values["made"]:
        yield _("Searched: those of {encoder}.").format(encoder=values["encoder"])
    if coming:
        yield _("Taking over: {encoder}, with {made} of {windows}.").format(
            encoder=coming["encoder"], made=f"{coming['made']:,}", windows=f"{coming['windows']:,}"
        )
    if values["device"]:
        yield values["device"]
    if not values["here"]:
        yield _("The model is not here: subtitle-rag models get fetches it. Search for words works without it.")
