"""`self`: this copy of the program, and the packages that it can be given."""

from contextlib import closing
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.events import PackagesAdvanced, PackagesEvent
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import EXTRAS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from subtitle_rag.config import Settings

STEPS = {
    "resolving": N_("choosing versions {package}"),
    "fetching": N_("fetching {package}"),
    "installing": N_("installing"),
}
UPDATABLE = ("yt-dlp",)
"""Packages that age faster than releases of this program come."""


@click.group("self", help=N_("Look after this copy of the program: extras that it lacks, packages that have aged."))
def self_() -> None:
    """The group."""


@self_.command("add", help=N_("Install an extra into this copy's environment; other packages stay as they are."))
@click.argument("name", metavar="EXTRA", type=click.Choice(list(EXTRAS)))
@json_option
@click.pass_obj
def self_add(settings: "Settings", name: str, as_json: bool) -> int:
    from subtitle_rag.installation.run import PackageInstaller

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

    from subtitle_rag.installation.run import PackageInstaller

    before = version(package)
    with closing(PackageInstaller(settings.paths.cache).upgrade(package)) as events:
        _followed(events, package)
    after = version(package)
    said = _("{package} {version} is the newest.") if before == after else _("{package} {version} is here.")
    result: dict[str, object] = {"package": package, "before": before, "version": after}
    _tell(as_json, "self update", result, said.format(package=package, version=after))
    return 0


def _followed(events: "Iterable[PackagesEvent]", name: str) -> tuple[str, ...]:
    """Show how far an installer has come; what it has brought."""
    with output.progress() as bar:
        task = bar.add_task(name, total=None)
        for event in events:
            if not isinstance(event, PackagesAdvanced):
                return event.packages
            said = _(STEPS[event.step]).format(package=event.package).strip()
            bar.update(task, description=f"{name}: {said}"[:40], completed=event.done, total=event.all or None)
    return ()


def _tell(as_json: bool, command: str, result: dict[str, object], said: str) -> None:
    if as_json:
        output.envelope(command, output.Outcome(result))
    else:
        output.data(said)
