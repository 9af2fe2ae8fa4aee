"""`doctor`: the checks of the installation, and the repair of the library."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands.options import runtime_outcome, wants_json
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.redaction import one_line

if TYPE_CHECKING:
    from subtitle_rag.config import Settings
    from subtitle_rag.doctor import Check
    from subtitle_rag.library import Recovery
    from subtitle_rag.runtime import Runtime


@click.command("doctor")
@click.option("--offline", is_flag=True, help=N_("Do not ask whether YouTube answers."))
@click.option("--repair", is_flag=True, help=N_("Recover a damaged library into a new file, and list what is lost."))
@runtime_outcome
def doctor_(runtime: "Runtime", offline: bool, repair: bool) -> output.Outcome | int:
    from subtitle_rag import doctor

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
    from subtitle_rag.library import repair

    path = settings.paths.library
    recovery = repair(path)
    backup, damaged = recovery.backup, recovery.damaged
    result = {
        "problem": recovery.problem or None,
        "damaged": str(damaged) if damaged else None,
        "backup": str(backup.path) if backup and recovery.restored else None,
        "read": recovery.read,
        "restored": recovery.restored,
        "lost": [{"id": video.id, "title": video.title} for video in recovery.lost],
    }
    return output.Outcome(result, _recovery_lines(recovery, str(path)))


def _recovery_lines(recovery: "Recovery", path: str) -> Iterator[str]:
    if not recovery.problem:
        yield _("The library {path} is sound; nothing was changed.").format(path=path)
        return
    yield _("The library {path} was damaged: {problem}.").format(path=path, problem=recovery.problem)
    n = recovery.read.get("track", 0)
    yield n_("{n} video was read from it.", "{n} videos were read from it.", n)
    if recovery.backup and recovery.restored:
        n = recovery.restored.get("track", 0)
        when = f"{recovery.backup.made_at.astimezone():%Y-%m-%d %H:%M}"
        yield n_(
            "The copy of {when} filled the gaps, among them {n} video.",
            "The copy of {when} filled the gaps, among them {n} videos.",
            n,
            when=when,
        )
    if recovery.lost:
        n = len(recovery.lost)
        yield n_(
            "The captions of {n} video are lost; subtitle-rag sync fetches what YouTube has:",
            "The captions of {n} videos are lost; subtitle-rag sync fetches what YouTube has:",
            n,
        )
        yield from (one_line(f"  {video.title} ({video.id})") for video in recovery.lost)
    if recovery.damaged:
        yield _("The damaged file was kept: {path}").format(path=recovery.damaged)
    yield _("Now run subtitle-rag rebuild, so that the search index fits the library.")


def _print_check(check: "Check") -> None:
    from subtitle_rag.doctor import SIGNS

    output.data(f"{SIGNS[check.severity]} {check.name:<9} {one_line(check.message)}")
    if check.remedy:
        output.data(f"            → {one_line(check.remedy)}")
