"""`eval asr`: how many errors a model makes in what it hears, how fast, and what that does to the search."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands.options import FILE_PATH, runtime_outcome
from subtitle_rag.evaluation.heard_speech import measure_speech
from subtitle_rag.i18n import N_, _

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


@click.command(
    "asr",
    help=N_(
        "Listen to a film or sound file, and compare what is heard with captions that a person wrote: errors in "
        "characters and words, without spaces, marks and notes; time, memory, and, with questions, scenes found."
    ),
)
@click.argument("sound", type=FILE_PATH)
@click.argument("captions", type=FILE_PATH)
@click.option(
    "--model", "names", multiple=True, metavar="NAME", help=N_("Listen by this model; may be given several times.")
)
@click.option("--queries", type=FILE_PATH, help=N_("Search by the questions of this file over both texts."))
@runtime_outcome
def eval_asr(
    runtime: "Runtime", sound: Path, captions: Path, names: tuple[str, ...], queries: Path | None
) -> output.Outcome:
    reports = []
    for name in names or (None,):
        with output.progress() as bar:
            task = bar.add_task(_("Listening"), total=None)
            report = measure_speech(
                runtime,
                sound,
                captions,
                name,
                queries,
                lambda done, total: bar.update(task, completed=done, total=total),  # noqa: B023
            )
        reports.append(report)
    return output.Outcome(
        {"models": [report.to_json() for report in reports]}, [line for report in reports for line in report.lines()]
    )
