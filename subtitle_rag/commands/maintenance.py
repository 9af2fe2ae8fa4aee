"""`paths`, `doctor`, `demo`."""

import logging
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.commands.find_scenes import result_values, scene_lines
from subtitle_rag.config import Paths, QdrantSettings, Settings
from subtitle_rag.errors import AppError, BusyError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.advice import instruction
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.doctor import Check
    from subtitle_rag.indexing import Indexer

logger = logging.getLogger(__name__)

DEMO_QUERY = "치킨 소스 찍어 먹는 장면"
"""A scene of the sample library."""


@click.command("paths", help=N_("Show where config, data, cache and log lie."))
@json_option
@click.pass_obj
def paths_(settings: Settings, as_json: bool) -> int:
    paths = settings.paths
    places = {"config": paths.config, "data": paths.data, "cache": paths.cache, "log": paths.log}
    if as_json:
        output.envelope("paths", output.Outcome({name: str(path) for name, path in places.items()}))
    else:
        for line in output.table([(name, str(path)) for name, path in places.items()]):
            output.data(line)
    return 0


@click.command("doctor", help=N_("Check what is there, what is missing, and what mends it."))
@click.option("--offline", is_flag=True, help=N_("Do not ask whether YouTube answers."))
@click.option(
    "--report", "report", metavar="FILE", help=N_("Write a bug report to this new file, without secrets; - prints it.")
)
@json_option
@click.pass_obj
def doctor_(settings: Settings, offline: bool, report: str | None, as_json: bool) -> int:
    from subtitle_rag import doctor

    if (
        report is not None and report != "-" and Path(report).expanduser().exists()
    ):  # before the checks, which take their time
        raise UsageError("report_exists", path=report)
    checks = []
    text = ""
    with Runtime(settings) as runtime:
        for check in doctor.run(runtime, offline=offline):
            checks.append(check)
            if not (as_json or report == "-"):
                _show(check)
        if report is not None:
            text = _reported(runtime, checks, report)
    failed = [check for check in checks if check.severity == "error"]
    if as_json:
        listed = [{"name": c.name, "severity": c.severity, "message": c.message, "hint": c.remedy} for c in checks]
        errors = [{"code": c.name, "message": c.message, "hint": c.remedy or "", "video": None} for c in failed]
        for entry in errors:
            output.say_error(entry)
        result: dict[str, object] = {"checks": listed}
        if report is not None:
            result["report"] = {"file": None, "text": text} if report == "-" else {"file": report, "text": None}
        output.envelope("doctor", output.Outcome(result, errors, 1 if failed else 0))
    elif report == "-":
        output.data(text)
    elif report is not None:
        output.say(_("The bug report is in {path}. Read it before you attach it to anything.").format(path=report))
    return 1 if failed else 0


def _show(check: "Check") -> None:
    marks = {"ok": "✓", "warning": "!", "error": "✗"}
    output.data(f"{marks[check.severity]} {check.name:<9} {check.message}")
    if check.remedy:
        output.data(f"            → {check.remedy}")


def _reported(runtime: Runtime, checks: "list[Check]", report: str) -> str:
    """The bug report, written to the file unless that is `-`."""
    from subtitle_rag import bug_report

    text = bug_report.compose(runtime, checks)
    if report != "-":
        bug_report.write(Path(report).expanduser(), text)
    return text


@click.command("demo", help=N_("Open the sample library: nine invented videos of a channel that does not exist."))
@json_option
@click.pass_obj
def demo_(settings: Settings, as_json: bool) -> int:
    own = replace(settings, paths=Paths.under(settings.paths.cache / "demo"), qdrant=QdrantSettings())
    with Runtime(own) as runtime, as_file(files("subtitle_rag") / "sample") as folder:
        indexer = _demo_indexer(runtime)
        runtime.preload()
        for _event in indexer.index([Path(folder)]):
            pass
        if not as_json and output.on_terminal():
            from subtitle_rag import tui

            return tui.run(own)
        from subtitle_rag.retrieval.query import parse

        found = runtime.searcher.search(parse(DEMO_QUERY), limit=5)
    if as_json:
        output.envelope("demo", output.Outcome(result_values(found)))
        return 0
    output.say(_("The sample library, and a search in it: {query}").format(query=DEMO_QUERY))
    for scene in found.scenes:
        for line in scene_lines(scene):
            output.data(line)
    output.say(_("On a terminal this opens the app. The channel and its links are invented."))
    if not NEURAL.is_installed:
        said = _(
            "These scenes were found by their words. Search by meaning, which finds other words too, is one step away "
            "({size} of packages, and models): {line}"
        )
        output.say(said.format(size=f"{NEURAL.megabytes:,} MB", line=instruction(NEURAL)))
    return 0


def _demo_indexer(runtime: Runtime) -> "Indexer":
    """The demo's indexer; an index of other rules, or a damaged one, is made anew: nobody else would."""
    try:
        return runtime.indexer
    except BusyError:
        raise
    except AppError:
        logger.info("the demo's index is made anew", exc_info=True)
        for _event in runtime.rebuilder().rebuild():
            pass
        return runtime.indexer
