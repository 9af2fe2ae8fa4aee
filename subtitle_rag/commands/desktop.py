"""`desktop`: an entry in the desktop's menu."""

import os
import sys

import click

from subtitle_rag import config, output
from subtitle_rag.commands import json_option
from subtitle_rag.i18n import N_, _


@click.group("desktop", help=N_("An entry with an icon in the menu of a Linux desktop."))
def desktop_() -> None:
    """The verbs of the entry."""


@desktop_.command("install", help=N_("Write the entry and its icon, and print where they are."))
@json_option
@click.pass_context
def desktop_install(ctx: click.Context, as_json: bool) -> int:
    from subtitle_rag import desktop

    command = desktop.own_command(sys.argv[0])
    if ctx.find_root().params.get("home") or os.environ.get(config.HOME_VARIABLE):  # the desktop does not know of it
        command += ["--home", str(ctx.obj.paths.config.parent)]
    written = desktop.install(command)
    if as_json:
        output.envelope("desktop install", output.Outcome({"written": list(map(str, written)), "command": command}))
    else:
        for path in written:
            output.data(str(path))
    return 0


@desktop_.command("remove", help=N_("Delete the entry and its icon."))
@json_option
def desktop_remove(as_json: bool) -> int:
    from subtitle_rag import desktop

    removed = desktop.remove()
    if as_json:
        output.envelope("desktop remove", output.Outcome({"removed": list(map(str, removed))}))
        return 0
    for path in removed:
        output.data(str(path))
    if not removed:
        output.say(_("There is no entry of subtitle-rag in the menu."))
    return 0
