"""`doctor`: the checks of the installation, and the repair of the library."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from subtitle_rag.base import output
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.redaction import one_line
from subtitle_rag.cli.options import runtime_outcome, wants_json

if TYPE_CHECKING:
    from subtitle_rag.base.config.settings import Settings
    from subtitle_rag.library.recovery import Recovery
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.checks import Check


@click.command("doctor")
@click.option("--offline", is_flag=True, help=N_("Do not check whether YouTube answers."))
@click.option("--repair", is_flag=True, help=N_("Replace a damaged library by its newest intact backup."))
@runtime_outcome
def doctor_(runtime: "Runtime", offline: bool, repair: bool) -> output.Outcome | int:
    from subtitle_rag.workflows import checks as doctor

    if repair:
        return _repair(runtime.settings)
    checks = []
    for check in doctor.run(runtime, offline=offline):
        checks.append(check)
        if not wants_json():
            _print_check(check)
    failed = [check for check in checks if check.severity == "error"]
    code = output.ExitCode.FAILED if failed else output.ExitCode.DONE
    if not wants_json():
        return code
    listed = [
        {"name": check.name, "severity": check.severity, "message": check.message, "hint": check.remedy}
        for check in checks
    ]
    errors = [{"code": c.name, "message": c.message, "hint": c.remedy or "", "video": None} for c in failed]
    return output.Outcome({"checks": listed}, errors=errors, exit_code=code)


def _repair(settings: "Settings") -> output.Outcome:
    from subtitle_rag.library.recovery import repair

    path = settings.paths.library
    recovery = repair(path)
    backup, damaged = recovery.backup, recovery.damaged
    result = {
        "problem": recovery.problem or None,
        "damaged": str(damaged) if damaged else None,
        "backup": str(backup.path) if backup else None,
        "lost": [{"id": video.id, "title": video.title} for video in recovery.lost],
    }
    return output.Outcome(result, _recovery_lines(recovery, str(path)))


def _recovery_lines(recovery: "Recovery", path: str) -> Iterator[str]:
    if recovery.backup is None:
        yield _("The library {path} is sound; nothing was changed.").format(path=path)
        return
    yield _("The library {path} was damaged: {problem}.").format(path=path, problem=recovery.problem)
    yield _("The copy of {when} is in its place. Contexts, marks and answers after that are lost.").format(
        when=f"{recovery.backup.made_at.astimezone():%Y-%m-%d %H:%M}"
    )
    if recovery.lost:
        yield n_(
            "It lacks {n} video; subtitle-rag sync, or index with the same source, brings it back:",
            "It lacks {n} videos; subtitle-rag sync, or index with the same sources, brings them back:",
            len(recovery.lost),
        )
        yield from (one_line(f"  {video.title} ({video.id})") for video in recovery.lost)
    if recovery.damaged:
        yield _("The damaged file was kept: {path}").format(path=recovery.damaged)
    yield _("Now run subtitle-rag rebuild, so that the search index fits the library.")


def _print_check(check: "Check") -> None:
    from subtitle_rag.workflows.checks import SIGNS

    output.data(f"{SIGNS[check.severity]} {check.name:<9} {one_line(check.message)}")
    if check.remedy:
        output.data(f"            → {one_line(check.remedy)}")
