"""`desktop`: the entry in the menu of a Linux desktop."""

import sys

import click

from subtitle_rag.commands.options import named_home, print_outcome
from subtitle_rag.i18n import N_, _
from subtitle_rag.output import Outcome

desktop_ = click.Group("desktop")


@desktop_.command("install", help=N_("Write the entry and its icon, and print where they are."))
@click.pass_context
@print_outcome
def desktop_install(ctx: click.Context) -> Outcome:
    from subtitle_rag import desktop

    command = desktop.start_command(sys.argv[0])
    if home := named_home(ctx):
        command += ["--home", home]
    paths = list(map(str, desktop.install(command)))
    return Outcome({"written": paths, "command": command}, paths)


@desktop_.command("remove", help=N_("Delete the entry and its icon."))
@print_outcome
def desktop_remove() -> Outcome:
    from subtitle_rag import desktop

    paths = list(map(str, desktop.remove()))
    notes = [] if paths else [_("There is no entry of subtitle-rag in the menu.")]
    return Outcome({"removed": paths}, paths, notes)
