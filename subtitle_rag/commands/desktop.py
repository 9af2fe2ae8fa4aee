"""`desktop`: an entry in the desktop's menu."""

import os
import sys

import click

from subtitle_rag import config, output
from subtitle_rag.commands.options import json_option
from subtitle_rag.i18n import N_, _


@click.group("desktop")
def desktop_() -> None:
    """The verbs of the entry."""


@desktop_.command("install", help=N_("Write the entry and its icon, and print where they are."))
@json_option
@click.pass_context
def desktop_install(ctx: click.Context, as_json: bool) -> int:
    from subtitle_rag import desktop

    command = desktop.start_command(sys.argv[0])
    if ctx.find_root().params.get("home") or os.environ.get(config.HOME_VARIABLE):  # the desktop does not know of it
        command += ["--home", str(ctx.obj.paths.config.parent)]
    paths = list(map(str, desktop.install(command)))
    return output.finish(
        "desktop install", output.Outcome({"written": paths, "command": command}), paths, as_json=as_json
    )


@desktop_.command("remove", help=N_("Delete the entry and its icon."))
@json_option
def desktop_remove(as_json: bool) -> int:
    from subtitle_rag import desktop

    paths = list(map(str, desktop.remove()))
    notes = [] if paths else [_("There is no entry of subtitle-rag in the menu.")]
    return output.finish("desktop remove", output.Outcome({"removed": paths}), paths, as_json=as_json, notes=notes)
