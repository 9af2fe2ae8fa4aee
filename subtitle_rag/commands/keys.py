"""`keys`: what can be bound in `[keys]`, and what is."""

from collections.abc import Sequence

import click

from subtitle_rag import output
from subtitle_rag.commands import completing, json_option
from subtitle_rag.config import Settings
from subtitle_rag.config_file import did_you_mean, nearest
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_


@click.command("keys", help=N_("Show the app's keys by the ids under which [keys] in the config changes them."))
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=completing.key_ids)
@json_option
@click.pass_obj
def keys_(settings: Settings, ids: Sequence[str], as_json: bool) -> int:
    from subtitle_rag.tui import keymap
    from subtitle_rag.tui.text import key_help

    keymap.check(settings.keys, settings.paths.config)
    keymap.activate(settings.keys)
    known = keymap.declared()
    for id in ids:
        if id not in known:
            raise UsageError("unknown_setting", name=id, near=did_you_mean(nearest(id, known)))
    listed = [(id, keymap.keys(id), key_help.meaning(id)) for id in known if not ids or id in ids]
    if as_json:
        values = [{"id": id, "keys": names, "meaning": meaning} for id, names, meaning in listed]
        output.envelope("keys", output.Outcome({"keys": values}))
    else:
        for line in output.table([(id, " ".join(names), meaning) for id, names, meaning in listed]):
            output.data(line)
    return 0
