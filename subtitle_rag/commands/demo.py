"""`demo`: the sample library."""

import logging
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.commands.find_scenes import result_values, scene_lines
from subtitle_rag.config import Paths, QdrantSettings, Settings
from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.advice import instruction
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.indexing import Indexer

logger = logging.getLogger(__name__)

DEMO_QUERY = "치킨 소스 찍어 먹는 장면"
"""A scene of the sample library."""


@click.command("demo", help=N_("Open the sample library: nine invented videos of a channel that does not exist."))
@json_option
@click.pass_obj
def demo_(settings: Settings, as_json: bool) -> int:
    demo_settings = replace(settings, paths=Paths.under(settings.paths.cache / "demo"), qdrant=QdrantSettings())
    with Runtime(demo_settings) as runtime, as_file(files("subtitle_rag") / "sample") as folder:
        indexer = _demo_indexer(runtime)
        runtime.preload()
        for _event in indexer.index([Path(folder)]):
            pass
        if not as_json and output.on_terminal():
            from subtitle_rag import tui

            return tui.run(demo_settings)
        from subtitle_rag.retrieval.query import parse

        result = runtime.searcher.search(parse(DEMO_QUERY), limit=5)
    if not as_json:
        output.say(_("The sample library, and a search in it: {query}").format(query=DEMO_QUERY))
    lines = (line for scene in result.scenes for line in scene_lines(scene))
    notes = [_("On a terminal this opens the app. The channel and its links are invented.")]
    if not NEURAL.is_installed:
        sentence = _(
            "These scenes were found by their words. Search by meaning, which finds other words too, is one step away "
            "({size} of packages, and models): {line}"
        )
        notes.append(sentence.format(size=f"{NEURAL.megabytes:,} MB", line=instruction(NEURAL)))
    return output.finish("demo", output.Outcome(result_values(result)), lines, as_json=as_json, notes=notes)


def _demo_indexer(runtime: Runtime) -> "Indexer":
    """Return the demo's indexer; rebuild an index of other rules, or a damaged one."""
    try:
        return runtime.indexer
    except BusyError:
        raise
    except AppError:
        logger.info("the demo's index is made anew", exc_info=True)
        for _event in runtime.rebuilder().rebuild():
            pass
        return runtime.indexer
