"""`migrate`."""

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.app_state import EMBEDDED, index_address
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.migrating import Migrated


@click.command("migrate", help=N_("Take the search index to a Qdrant server, or back into the library's folder."))
@click.option("--to", "to", metavar="URL|embedded", required=True, help=N_("Where the index is to be."))
@json_option
@click.pass_obj
def migrate_(settings: Settings, to: str, as_json: bool) -> int:
    from subtitle_rag.retrieval.server_terms import address

    target = EMBEDDED if to == EMBEDDED else address(to)
    with Runtime(settings) as runtime:
        source = index_address(runtime.library)
    if source == target:
        raise UsageError("same_index", place=source)
    done = _moved(settings, source, target)
    config = _config(target)
    if as_json:
        values = {"from": source, "to": target, "windows": done.windows, "config": config}
        compared = {"points": done.points, "searches": done.queries}
        output.envelope("migrate", output.Outcome({**values, "compared": compared}))
        return 0
    output.say(
        n_(
            "{n} window is in the index {place}; {points} compared, {queries} searches found the same.",
            "{n} windows are in the index {place}; {points} compared, {queries} searches found the same.",
            done.windows,
        ).format(n=done.windows, place=target, points=done.points, queries=done.queries)
    )
    output.say(_("It is used when the config ({path}) says:").format(path=settings.paths.config))
    output.data(config)
    return 0


def _moved(settings: Settings, source: str, target: str) -> "Migrated":
    from subtitle_rag.migrating import Migrated, Migration

    last: object = None
    with Runtime(_at(settings, source)) as here, Runtime(_at(settings, target)) as there, output.progress() as bar:
        task = bar.add_task(_("Windows"), total=here.library.counts().searchable)
        with closing(Migration(here.library, here.index, there.usable_index()).run()) as run:
            for last in run:
                if not isinstance(last, Migrated):
                    bar.update(task, completed=last.done, total=last.total)
    assert isinstance(last, Migrated)
    return last


def _at(settings: Settings, place: str) -> Settings:
    """The settings with the index in this place."""
    return replace(settings, qdrant=replace(settings.qdrant, url="" if place == EMBEDDED else place))


def _config(place: str) -> str:
    return f"[qdrant]\nurl = {json.dumps('' if place == EMBEDDED else place)}"
