"""`paths`, `doctor`: the installation's folders and its checks."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.doctor import Check


@click.command("paths", help=N_("Show where config, data, cache and log lie."))
@json_option
@click.pass_obj
def paths_(settings: Settings, as_json: bool) -> int:
    paths = settings.paths
    named_paths = {"config": paths.config, "data": paths.data, "cache": paths.cache, "log": paths.log}
    values = {name: str(path) for name, path in named_paths.items()}
    return output.finish("paths", output.Outcome(values), output.table(list(values.items())), as_json=as_json)


@click.command("doctor", help=N_("Check what is installed, what is missing, and how to fix it."))
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
