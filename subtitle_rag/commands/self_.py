"""`self`: this copy of the program, and the packages that it can be given."""

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.errors import AppError
from subtitle_rag.events import PackagesAdvanced, PackagesEvent
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import EXTRAS
from subtitle_rag.installation.steps import step_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from subtitle_rag.config import Settings
    from subtitle_rag.installation.distributions import Needed

UPDATABLE = ("yt-dlp",)
"""Packages that age faster than releases of this program come."""


STATES = {
    "ok": N_("ok"),
    "missing": N_("missing"),
    "too_old": N_("too old"),
    "too_new": N_("too new"),
    "unfit": N_("does not fit"),
}


@click.group("self", help=N_("Look after this copy of the program: extras that it lacks, packages that have aged."))
def self_() -> None:
    """The group."""


@self_.command("add", help=N_("Install an extra into this copy's environment; other packages stay as they are."))
@click.argument("name", metavar="EXTRA", type=click.Choice(list(EXTRAS)))
@json_option
@click.pass_obj
def self_add(settings: "Settings", name: str, as_json: bool) -> int:
    from subtitle_rag.installation.package_installer import PackageInstaller

    extra = EXTRAS[name]
    changed: tuple[str, ...] = ()
    if not extra.is_installed:
        output.say(_("About {size} MB for the extra {name}.").format(size=f"{extra.megabytes:,}", name=name))
        with closing(PackageInstaller(settings.paths.cache).add(extra)) as events:
            changed = _followed(events, name)
    _tell(
        as_json,
        "self add",
        {"extra": name, "packages": list(changed)},
        _("The extra {name} is here.").format(name=name),
    )
    return 0


@self_.command("update", help=N_("Bring the newest yt-dlp, which follows YouTube; other packages stay as they are."))
@click.argument("package", type=click.Choice(UPDATABLE))
@json_option
@click.pass_obj
def self_update(settings: "Settings", package: str, as_json: bool) -> int:
    from importlib.metadata import version

    from subtitle_rag.installation.package_installer import PackageInstaller

    before = version(package)
    with closing(PackageInstaller(settings.paths.cache).upgrade(package)) as events:
        _followed(events, package)
    after = version(package)
    said = _("{package} {version} is the newest.") if before == after else _("{package} {version} is here.")
    result: dict[str, object] = {"package": package, "before": before, "version": after}
    _tell(as_json, "self update", result, said.format(package=package, version=after))
    return 0


@self_.command(
    "check",
    help=N_(
        "Compare the packages that are installed with those that this copy needs. Nothing is asked of any network."
    ),
)
@json_option
def self_check(as_json: bool) -> int:
    from subtitle_rag.installation.distributions import standing
    from subtitle_rag.installation.extras import PACKAGE

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
    output.data(f"{PACKAGE} {found.version}")
    for line in output.table([_row(one) for one in (found.python, *found.packages)]):
        output.data(line)
    for name, lacking in found.extras.items():
        told = _("not whole: {names}").format(names=", ".join(lacking)) if lacking else _("whole")
        output.data(f"[{name}] {told}")
    return code


def _followed(events: "Iterable[PackagesEvent]", name: str) -> tuple[str, ...]:
    """Show how far an installer has come; what it has brought."""
    with output.progress() as bar:
        task = bar.add_task(name, total=None)
        for event in events:
            if not isinstance(event, PackagesAdvanced):
                return event.packages
            said = step_text(event)
            bar.update(task, description=f"{name}: {said}"[:40], completed=event.done, total=event.all or None)
    return ()


def _tell(as_json: bool, command: str, result: dict[str, object], said: str) -> None:
    if as_json:
        output.envelope(command, output.Outcome(result))
    else:
        output.data(said)


def _row(one: "Needed") -> tuple[str, ...]:
    absent = bool(one.extras) and one.state == "missing"
    mark = "✓" if one.state == "ok" else "·" if absent else "!" if one.extras else "✗"
    said = _("not installed") if absent else _(STATES[one.state])
    return mark, one.name, one.installed or "–", one.wanted or "–", said, ", ".join(f"[{e}]" for e in one.extras)


def _error(one: "Needed") -> AppError:
    if one.state == "missing":
        return AppError("package_missing", name=one.name)
    return AppError("package_unfit", name=one.name, installed=one.installed, wanted=one.wanted)
