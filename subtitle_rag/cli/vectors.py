"""`vectors`: an encoder's vectors for each window, used to search by meaning."""

from typing import TYPE_CHECKING

import click

from subtitle_rag.base import output
from subtitle_rag.base.i18n import N_
from subtitle_rag.cli import stage_runs
from subtitle_rag.cli.options import runtime_outcome
from subtitle_rag.cli.stage_runs import StageOptions, stage_options

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


@click.command("vectors")
@stage_options(N_("Make all vectors again; the old ones are used until then."))
@runtime_outcome
def vectors_(runtime: "Runtime", options: StageOptions) -> output.Outcome:
    selection = stage_runs.select_windows(runtime, options)
    report = stage_runs.write_vectors(runtime, selection, jsonl=options.jsonl)
    counts = runtime.library.vectors.counts(report.encoder)
    values = {"windows": counts.windows, "made": counts.made, "due": counts.due}
    return stage_runs.report_outcome(report, values, options)
