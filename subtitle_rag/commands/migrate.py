"""`migrate`: the search index in another place."""

import json
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands.options import print_outcome, wants_json
from subtitle_rag.config import Settings
from subtitle_rag.domain import UsageError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library import EMBEDDED, index_address, last_migration
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from subtitle_rag.migrating import Migrated
    from subtitle_rag.retrieval.index import Index


@click.command("migrate")
@click.option("--to", "to", metavar="URL|embedded", required=True, help=N_("The new place of the index."))
@click.option("--write-config", is_flag=True, help=N_("Write the new place into the config; a terminal is asked."))
@click.pass_obj
@print_outcome
def migrate_(settings: Settings, to: str, write_config: bool) -> output.Outcome:
    from subtitle_rag.migrating import Migrated
    from subtitle_rag.retrieval.index.server_terms import address, server_address

    target = EMBEDDED if to == EMBEDDED else address(to)
    with Runtime(_with_index(settings, target)) as runtime:
        source, last = index_address(runtime.library), last_migration(runtime.library)
        target_place = runtime.index_address
    if source != target_place:
        migrated = _migrate(settings, source, target)
    elif last.get("to") == target_place:  # the run before may have been killed after its last commit
        source, migrated = last["from"], Migrated(last["windows"], last["points"], last["queries"])
    else:
        raise UsageError("same_index", place=target)
    config = f"[qdrant]\nurl = {json.dumps('' if target == EMBEDDED else target)}"
    if not wants_json():
        output.say(
            n_(
                "{n} window is in the index {place}; {points} compared, {queries} searches found the same.",
                "{n} windows are in the index {place}; {points} compared, {queries} searches found the same.",
                migrated.windows,
                place=target,
                points=migrated.points,
                queries=migrated.queries,
            )
        )
    is_written = _write_config(settings, target, asks=not write_config)
    if not wants_json():
        sentence = _("The config ({path}) names it, and search uses it.")
        if not is_written:
            sentence = _("It is used when the config ({path}) says:")
        output.say(sentence.format(path=settings.paths.config))
    compared = {"points": migrated.points, "searches": migrated.queries}
    values = {
        "from": server_address(source),
        "to": target,
        "windows": migrated.windows,
        "config": config,
        "compared": compared,
    }
    values["written"] = is_written
    return output.Outcome(values, [] if is_written else [config])


def _write_config(settings: Settings, target: str, *, asks: bool) -> bool:
    """Write the new place into the config if the user wants that; return whether the config names it."""
    from subtitle_rag.retrieval.index.server_terms import address

    path = settings.paths.config
    url = "" if target == EMBEDDED else target
    if (address(settings.qdrant.url) if settings.qdrant.url else EMBEDDED) == target:
        return True
    question = _("Write it to the config ({path})?").format(path=path)
    if asks and (wants_json() or not output.on_terminal() or not output.confirm(question)):
        return False
    from subtitle_rag.config import write_setting

    return write_setting(path, "qdrant", "url", url)


def _migrate(settings: Settings, source: str, target: str) -> "Migrated":
    from subtitle_rag.migrating import Migrated, Migration

    with (
        Runtime(_with_index(settings, source)) as old,
        Runtime(_with_index(settings, target)) as new,
        _source_index(old, source) as index,
        closing(Migration(old.library, index, new.usable_index()).run()) as events,
    ):
        return output.track_to_report(Migrated, events, _("Windows"), total=old.library.counts().searchable)


@contextmanager
def _source_index(runtime: Runtime, index_place: str) -> "Iterator[Index]":
    """Open the index that the library has filled, which may be a collection of several libraries."""
    from subtitle_rag.retrieval import index, korean

    if index.server_terms.is_shared_place(index_place):
        with closing(
            index.SharedCollection(runtime.settings.qdrant, {"analyzer": korean.morphemes.ANALYZER})
        ) as shared:
            yield shared
    else:
        yield runtime.index


def _with_index(settings: Settings, index_place: str) -> Settings:
    """Return the settings with another index."""
    from subtitle_rag.retrieval.index.server_terms import server_address

    return replace(
        settings, qdrant=replace(settings.qdrant, url="" if index_place == EMBEDDED else server_address(index_place))
    )
