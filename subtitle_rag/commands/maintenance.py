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
    named_paths = {"config": paths.config, "data": paths.data, "cache": paths.cache, "log": paths.log}
    values = {name: str(path) for name, path in named_paths.items()}
    return output.finish("paths", output.Outcome(values), output.table(list(values.items())), as_json=as_json)


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
                _print_check(check)
        if report is not None:
            text = _write_report(runtime, checks, report)
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


def _print_check(check: "Check") -> None:
    marks = {"ok": "✓", "warning": "!", "error": "✗"}
    output.data(f"{marks[check.severity]} {check.name:<9} {check.message}")
    if check.remedy:
        output.data(f"            → {check.remedy}")


def _write_report(runtime: Runtime, checks: "list[Check]", report: str) -> str:
    """Compose the bug report, and write it to the file; `-` is no file."""
    from subtitle_rag import bug_report

    text = bug_report.compose(runtime, checks)
    if report != "-":
        bug_report.write(Path(report).expanduser(), text)
    return text


@click.command("demo", help=N_("Open the sample library: nine invented videos of a channel that does not exist."))
@json_option
@click.pass_obj
def demo_(settings: Settings, as_json: bool) -> int:
    demo_settings = replace(settings, paths=Paths.under(settings.paths.cache / "demo"), qdrant=QdrantSettings())
    with Runtime(demo_settings) as runtime, as_file(files("subtitle_rag") / "sample") as folder:
        indexer = _demo_indexer(runtime)
        runtime.preload()
        for _event in indexer.index([Path(folder)]):
            pass
        if not as_json and output.on_terminal():
            from subtitle_rag import tui

            return tui.run(demo_settings)
        from subtitle_rag.retrieval.query import parse

        result = runtime.searcher.search(parse(DEMO_QUERY), limit=5)
    if not as_json:
        output.say(_("The sample library, and a search in it: {query}").format(query=DEMO_QUERY))
    lines = (line for scene in result.scenes for line in scene_lines(scene))
    code = output.finish("demo", output.Outcome(result_values(result)), lines, as_json=as_json)
    if as_json:
        return code
    output.say(_("On a terminal this opens the app. The channel and its links are invented."))
    if not NEURAL.is_installed:
        sentence = _(
            "These scenes were found by their words. Search by meaning, which finds other words too, is one step away "
            "({size} of packages, and models): {line}"
        )
        output.say(sentence.format(size=f"{NEURAL.megabytes:,} MB", line=instruction(NEURAL)))
    return code


def _demo_indexer(runtime: Runtime) -> "Indexer":
    """Return the demo's indexer; rebuild an index of other rules, or a damaged one."""
    try:
        return runtime.indexer
    except BusyError:
        raise
    except AppError:
        logger.info("the demo's index is made anew", exc_info=True)
        for _event in runtime.rebuilder().rebuild():
            pass
        return runtime.indexer
