"""`vectors`: an encoder's vectors of each window, for the search by meaning."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import stage_runs
from subtitle_rag.commands.options import runtime_outcome
from subtitle_rag.commands.stage_runs import StageOptions, stage_options
from subtitle_rag.domain import LlmError, byte_size
from subtitle_rag.i18n import N_, _
from subtitle_rag.models import ENCODER, NO_PROMPTS, without_prompts
from subtitle_rag.retrieval.named_vectors import piece_id
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.library import VectorCounts
    from subtitle_rag.retrieval.neural import Encoder

vectors_ = click.Group("vectors")


@vectors_.command("write", help=N_("Make the vectors that are missing, of the newest videos first."))
@stage_options()
@runtime_outcome
def vectors_write(runtime: Runtime, options: StageOptions) -> output.Outcome:
    return _write(runtime, options)


@vectors_.command("redo", help=N_("Make the vectors again; the old ones are searched until they are replaced."))
@stage_options()
@runtime_outcome
def vectors_redo(runtime: Runtime, options: StageOptions) -> output.Outcome:
    return _write(runtime, options, redo=True)


def _write(runtime: Runtime, options: StageOptions, *, redo: bool = False) -> output.Outcome:
    selection = stage_runs.select_windows(runtime, options, redo=redo)
    report = stage_runs.write_vectors(runtime, selection, jsonl=options.jsonl)
    counts = _count_values(runtime.library.vectors.counts(report.encoder))
    return stage_runs.report_outcome(report, counts, options)


@vectors_.command("status", help=N_("Show how many windows have vectors, and of which model."))
@runtime_outcome
def vectors_status(runtime: Runtime) -> output.Outcome:
    encoder = _find_encoder(runtime)
    values = _status_values(runtime, encoder.id if encoder else None)
    state = runtime.neural.state()
    cost_lines: list[str] = []
    values["pieces"], piece_lines = _pieces(runtime, encoder)
    devices = [model.plan.line for model in state.models if encoder and model.id == encoder.id] if state else []
    values["device"] = devices[0] if devices else None
    name = runtime.models.configured(ENCODER)
    if encoder and not runtime.models.knows_prompts(name):
        cost_lines.append(f"{name}: {_(NO_PROMPTS)}.")
    return output.Outcome(values, [*_status_lines(values), *cost_lines, *piece_lines])


def _pieces(runtime: Runtime, encoder: "Encoder | None") -> tuple[dict[str, Any] | None, list[str]]:
    """Return the state and cost of an encoder's vectors of pieces, as `--json` has them and in lines."""
    from subtitle_rag.encoding import piece_cost

    cost = piece_cost(runtime.library, encoder) if encoder else None
    if encoder is None or cost is None:
        return None, []
    counts = runtime.library.vectors.counts(piece_id(encoder.id))
    progress = _("With vectors of their pieces: {made} of {windows} windows.").format(
        made=f"{counts.made:,}", windows=f"{counts.windows:,}"
    )
    sentence = _(
        "A window has {pieces} pieces of about fifteen seconds: vectors of 1,000 windows take {size}, {all} for the "
        "library, and {times} times as long as those of the windows."
    )
    line = sentence.format(
        pieces=f"{cost.pieces:.1f}",
        size=byte_size(cost.bytes),
        all=byte_size(cost.bytes * counts.windows / 1_000),
        times=f"{cost.letters:.1f}",
    )
    values = {
        "made": counts.made,
        "due": counts.due,
        "per_window": round(cost.pieces, 2),
        "bytes_per_1000": cost.bytes,
        "encoding_ratio": round(cost.letters, 2),
    }
    return values, [progress, line]


def _find_encoder(runtime: Runtime) -> "Encoder | None":
    """Return the encoder of the settings; None if it is missing, or if its server does not answer."""
    try:
        return runtime.neural.encoder()
    except LlmError as error:
        output.say_error(error)
        return None


def _count_values(counts: "VectorCounts") -> dict[str, int]:
    return {"windows": counts.windows, "made": counts.made, "due": counts.due}


def _status_values(runtime: Runtime, encoder_id: str | None) -> dict[str, Any]:
    """Count the vectors in use, and those of `encoder_id` (None: not here) if they are to replace them."""
    from subtitle_rag.encoding import waiting

    vectors = runtime.library.vectors
    active = vectors.active() or encoder_id
    successor = encoder_id if encoder_id and encoder_id != active else None
    current = successor or active
    return {
        **_count_values(vectors.counts(active)),
        "waiting": len(waiting(runtime.library, current)) if current else 0,
        "encoder": active,
        "here": encoder_id is not None,
        "coming": {"encoder": successor, **_count_values(vectors.counts(successor))} if successor else None,
    }


def _status_lines(values: dict[str, Any]) -> Iterator[str]:
    successor = values["coming"]
    waiting = [(_("Waiting for contexts"), values["waiting"])] if values["waiting"] else []
    yield from output.counts_table([(_("Windows"), values["windows"]), (_("With vectors"), values["made"]), *waiting])
    if values["made"]:
        yield _("Searched: those of {encoder}.").format(encoder=without_prompts(values["encoder"]))
    if successor:
        count_text, windows = f"{successor['made']:,}", f"{successor['windows']:,}"
        sentence = _("Taking over: {encoder}, with {made} of {windows}.")
        yield sentence.format(encoder=without_prompts(successor["encoder"]), made=count_text, windows=windows)
    if values["device"]:
        yield values["device"]
    if not values["here"]:
        yield _("The model is not here: subtitle-rag models get fetches it. Search for words works without it.")
