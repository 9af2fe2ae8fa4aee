"""`migrate`: the search index in another place."""

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands.options import json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.app_state import EMBEDDED, index_address, last_migration
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.migrating import Migrated


@click.command("migrate", help=N_("Take the search index to a Qdrant server, or back into the library's folder."))
@click.option("--to", "to", metavar="URL|embedded", required=True, help=N_("Where the index is to be."))
@json_option
@click.pass_obj
def migrate_(settings: Settings, to: str, as_json: bool) -> int:
    from subtitle_rag.migrating import Migrated
    from subtitle_rag.retrieval.server_terms import address

    target = EMBEDDED if to == EMBEDDED else address(to)
    with Runtime(settings) as runtime:
        source, last = index_address(runtime.library), last_migration(runtime.library)
    if source != target:
        done = _migrate(settings, source, target)
    elif last.get("to") == target:  # the run before may have been killed after its last commit
        source, done = last["from"], Migrated(last["windows"], last["points"], last["queries"])
    else:
        raise UsageError("same_index", place=source)
    config = _config_text(target)
    if not as_json:
        output.say(
            n_(
                "{n} window is in the index {place}; {points} compared, {queries} searches found the same.",
                "{n} windows are in the index {place}; {points} compared, {queries} searches found the same.",
                done.windows,
            ).format(n=done.windows, place=target, points=done.points, queries=done.queries)
        )
        output.say(_("It is used when the config ({path}) says:").format(path=settings.paths.config))
    compared = {"points": done.points, "searches": done.queries}
    values = {"from": source, "to": target, "windows": done.windows, "config": config, "compared": compared}
    return output.finish("migrate", output.Outcome(values), [config], as_json=as_json)


def _migrate(settings: Settings, source: str, target: str) -> "Migrated":
    from subtitle_rag.migrating import Migrated, Migration

    event: object = None
    with (
        Runtime(_with_index(settings, source)) as old,
        Runtime(_with_index(settings, target)) as new,
        output.progress() as bar,
        closing(Migration(old.library, old.index, new.usable_index()).run()) as events,
    ):
        task = bar.add_task(_("Windows"), total=old.library.counts().searchable)
        for event in events:
            if not isinstance(event, Migrated):
                bar.update(task, completed=event.done, total=event.total)
    assert isinstance(event, Migrated)
    return event


def _with_index(settings: Settings, address: str) -> Settings:
    """Return the settings with another index."""
    return replace(settings, qdrant=replace(settings.qdrant, url="" if address == EMBEDDED else address))


def _config_text(address: str) -> str:
    return f"[qdrant]\nurl = {json.dumps('' if address == EMBEDDED else address)}"
