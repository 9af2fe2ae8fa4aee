"""`keys`: the ids of `[keys]`, and the keys bound to them."""

from collections.abc import Sequence

import click

from subtitle_rag import output
from subtitle_rag.commands import completing
from subtitle_rag.commands.options import json_option
from subtitle_rag.config import Settings
from subtitle_rag.config_file import did_you_mean, nearest
from subtitle_rag.domain import UsageError


@click.command("keys")
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=completing.key_ids)
@json_option
@click.pass_obj
def keys_(settings: Settings, ids: Sequence[str], as_json: bool) -> int:
    from subtitle_rag.tui import keymap
    from subtitle_rag.tui.text import key_help

    keymap.check(settings.keys, settings.paths.config)
    keymap.activate(settings.keys)
    bindings = keymap.declared()
    for id in ids:
        if id not in bindings:
            raise UsageError("unknown_setting", name=id, near=did_you_mean(nearest(id, bindings)))
    rows = [(id, keymap.keys(id), key_help.meaning(id)) for id in bindings if not ids or id in ids]
    outcome = output.Outcome({"keys": [{"id": id, "keys": keys, "meaning": meaning} for id, keys, meaning in rows]})
    lines = output.table([(id, " ".join(map(keymap.key_text, keys)), meaning) for id, keys, meaning in rows])
    return output.finish("keys", outcome, lines, as_json=as_json)
