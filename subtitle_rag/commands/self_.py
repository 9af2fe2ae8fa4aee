"""`self`: this copy of the program, its extras and its packages."""

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import installation, output
from subtitle_rag.commands.options import print_outcome
from subtitle_rag.domain import AppError, PackagesAdvanced, PackagesEvent, PackagesInstalled, byte_size
from subtitle_rag.i18n import N_, _
from subtitle_rag.terminal_text import line_text

if TYPE_CHECKING:
    from collections.abc import Iterable


LINE_CELLS = 60
"""Characters of an installer's line in the progress bar."""
STATES = {
    "ok": N_("ok"),
    "missing": N_("missing"),
    "too_old": N_("too old"),
    "too_new": N_("too new"),
    "unfit": N_("does not fit"),
}


self_ = click.Group("self")


@self_.command("add", help=N_("Install an extra into this copy's environment; other packages stay as they are."))
@click.argument("name", metavar="EXTRA", type=click.Choice(list(installation.EXTRAS)))
@print_outcome
def self_add(name: str) -> output.Outcome:
    extra = installation.EXTRAS[name]
    changed: tuple[str, ...] = ()
    if not extra.is_installed:
        output.say(_("About {size} for the extra {name}.").format(size=byte_size(extra.megabytes * 1e6), name=name))
        with closing(installation.PackageInstaller().add(extra)) as events:
            changed = _show_progress(events, name)
    line = _("The extra {name} is installed.").format(name=name)
    return output.Outcome({"extra": name, "packages": list(changed)}, [line])


@self_.command(
    "update", help=N_("Update yt-dlp, which must follow YouTube's changes; of other packages only what it needs.")
)
@click.argument("package", type=click.Choice(["yt-dlp"]))
@print_outcome
def self_update(package: str) -> output.Outcome:
    from importlib.metadata import version

    before = version(package)
    with closing(installation.PackageInstaller().upgrade(package)) as events:
        _show_progress(events, package)
    after = version(package)
    sentence = _("{package} {version} is the newest.") if before == after else _("{package} {version} is installed.")
    line = sentence.format(package=package, version=after)
    return output.Outcome({"package": package, "before": before, "version": after}, [line])


@self_.command(
    "check",
    help=N_("Compare the installed packages with those that this copy needs. Nothing is sent over the network."),
)
@print_outcome
def self_check() -> output.Outcome:
    report = installation.version_report()
    result = {
        "version": report.version,
        "python": {"wanted": report.python.wanted, "installed": report.python.installed, "state": report.python.state},
        "packages": [asdict(package) for package in report.packages],
        "extras": [{"name": name, "whole": not lacking, "lacking": lacking} for name, lacking in report.extras.items()],
    }
    lines = [f"{installation.PACKAGE} {report.version}"]
    lines += output.table(list(map(_row, (report.python, *report.packages))))
    for name, lacking in report.extras.items():
        state = _("not whole: {names}").format(names=", ".join(lacking)) if lacking else _("whole")
        lines.append(f"[{name}] {state}")
    return output.Outcome(result, lines, errors=[_error(package) for package in report.unfit])


def _show_progress(events: "Iterable[PackagesEvent]", name: str) -> tuple[str, ...]:
    """Show an installer's last line; return the packages that it changed."""

    def update(event: PackagesAdvanced) -> dict[str, Any]:
        return {"description": line_text(f"{name}: {event.line}")[:LINE_CELLS]}

    return output.track_to_report(PackagesInstalled, events, name, update).packages


def _row(package: "installation.PackageStatus") -> tuple[str, ...]:
    absent = bool(package.extras) and package.state == "missing"
    mark = "✓" if package.state == "ok" else "·" if absent else "!" if package.extras else "✗"
    state = _("not installed") if absent else _(STATES[package.state])
    extras = ", ".join(f"[{extra}]" for extra in package.extras)
    return mark, package.name, package.installed or "–", package.wanted or "–", state, extras


def _error(package: "installation.PackageStatus") -> AppError:
    if package.state == "missing":
        return AppError("package_missing", name=package.name)
    return AppError("package_unfit", name=package.name, installed=package.installed, wanted=package.wanted)
