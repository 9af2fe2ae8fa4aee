"""`player`: what players get from this program."""

import os

import click

from subtitle_rag import config, output
from subtitle_rag.commands.options import json_option
from subtitle_rag.domain import UsageError
from subtitle_rag.i18n import N_, _


@click.group("player")
def player_() -> None:
    """The verbs of players."""


@player_.command(
    "mpv-script", help=N_("A script for mpv: Ctrl+f searches within the playing video and jumps to a scene.")
)
@click.option("--install", "action", flag_value="install", help=N_("Write it into mpv's folder."))
@click.option("--remove", "action", flag_value="remove", help=N_("Delete it from there."))
@click.option("--print", "action", flag_value="print", help=N_("Print it."))
@json_option
@click.pass_context
def mpv_script_(ctx: click.Context, action: str | None, as_json: bool) -> int:
    from subtitle_rag.player import mpv_script

    if action is None:
        raise UsageError("mpv_script_action")
    if action == "remove":
        removed = mpv_script.remove()
        lines = [str(removed)] if removed else []
        notes = [] if removed else [_("There is no script of subtitle-rag in mpv's folder.")]
        values = {"path": str(removed) if removed else None, "text": None}
        return output.finish("player mpv-script", output.Outcome(values), lines, as_json=as_json, notes=notes)
    has_own_home = ctx.find_root().params.get("home") or os.environ.get(config.HOME_VARIABLE)
    home = str(ctx.obj.paths.config.parent.absolute()) if has_own_home else ""
    text = mpv_script.script(mpv_script.own_command(), home)
    if action == "print":
        outcome = output.Outcome({"path": None, "text": text})
        return output.finish("player mpv-script", outcome, [text.removesuffix("\n")], as_json=as_json)
    path = str(mpv_script.install(text))
    note = _("mpv reads it when it starts next. Ctrl+f opens the search.")
    outcome = output.Outcome({"path": path, "text": None})
    return output.finish("player mpv-script", outcome, [path], as_json=as_json, notes=[note])
