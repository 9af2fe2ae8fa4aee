"""`self`: this copy of the program."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.errors import AppError
from subtitle_rag.i18n import N_, _

if TYPE_CHECKING:
    from subtitle_rag.distributions import Needed

STATES = {
    "ok": N_("ok"),
    "missing": N_("missing"),
    "too_old": N_("too old"),
    "too_new": N_("too new"),
    "unfit": N_("does not fit"),
}


@click.group("self", help=N_("This copy of subtitle-rag."))
def self_() -> None:
    """The verbs of the copy."""


@self_.command(
    "check",
    help=N_(
        "Compare the packages that are installed with those that this copy needs. Nothing is asked of any network."
    ),
)
@json_option
def self_check(as_json: bool) -> int:
    from subtitle_rag.distributions import NAME, standing

    found = standing()
    errors = [_error(one) for one in found.unfit]
    entries = [output.error_entry(error) for error in errors]
    for entry in entries:
        output.say_error(entry)
    code = output.ExitCode.FAILED if errors else output.ExitCode.DONE
    if as_json:
        extras = [{"name": name, "whole": not lacking, "lacking": lacking} for name, lacking in found.extras.items()]
        packages = [asdict(one) for one in found.packages]
        python = {key: value for key, value in asdict(found.python).items() if key not in ("name", "extras")}
        result = {"version": found.version, "python": python, "packages": packages, "extras": extras}
        output.envelope("self check", output.Outcome(result, entries, code))
        return code
    output.data(f"{NAME} {found.version}")
    for line in output.table([_row(one) for one in (found.python, *found.packages)]):
        output.data(line)
    for name, lacking in found.extras.items():
        told = _("not whole: {names}").format(names=", ".join(lacking)) if lacking else _("whole")
        output.data(f"[{name}] {told}")
    return code


def _row(one: "Needed") -> tuple[str, ...]:
    absent = bool(one.extras) and one.state == "missing"
    mark = "✓" if one.state == "ok" else "·" if absent else "!" if one.extras else "✗"
    said = _("not installed") if absent else _(STATES[one.state])
    return mark, one.name, one.installed or "–", one.wanted or "–", said, ", ".join(f"[{e}]" for e in one.extras)


def _error(one: "Needed") -> AppError:
    if one.state == "missing":
        return AppError("package_missing", name=one.name)
    return AppError("package_unfit", name=one.name, installed=one.installed, wanted=one.wanted)
