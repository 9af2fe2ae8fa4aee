"""`player`: the script for mpv."""

import sys

import click

from subtitle_rag.commands.options import named_home, print_outcome
from subtitle_rag.domain import UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.output import Outcome

player_ = click.Group("player")


@player_.command(
    "mpv-script", help=N_("A script for mpv: Ctrl+f searches within the playing video and jumps to a scene.")
)
@click.option("--install", "action", flag_value="install", help=N_("Write it into mpv's folder."))
@click.option("--remove", "action", flag_value="remove", help=N_("Delete it from there."))
@click.option("--print", "action", flag_value="print", help=N_("Print it."))
@click.pass_context
@print_outcome
def mpv_script_(ctx: click.Context, action: str | None) -> Outcome:
    from subtitle_rag.player import mpv_script

    if action is None:
        raise UsageError("mpv_script_action")
    if action == "remove":
        removed = mpv_script.remove()
        lines = [str(removed)] if removed else []
        notes = [] if removed else [_("There is no script of subtitle-rag in mpv's folder.")]
        return Outcome({"path": str(removed) if removed else None, "text": None}, lines, notes)
    text = mpv_script.script([sys.executable, "-m", "subtitle_rag"], named_home(ctx))
    if action == "print":
        return Outcome({"path": None, "text": text}, [text.removesuffix("\n")])
    path = str(mpv_script.install(text))
    note = _("mpv reads it when it starts next. Ctrl+f opens the search.")
    return Outcome({"path": path, "text": None}, [path], [note])
