"""`keys`: what can be bound in `[keys]`, and what is."""

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.config import Settings
from subtitle_rag.i18n import N_


@click.command("keys", help=N_("Show the app's keys by the ids under which [keys] in the config changes them."))
@json_option
@click.pass_obj
def keys_(settings: Settings, as_json: bool) -> int:
    from subtitle_rag.tui import keymap
    from subtitle_rag.tui.text import key_help

    keymap.check(settings.keys, settings.paths.config)
    keymap.activate(settings.keys)
    listed = [(id, keymap.keys(id), key_help.meaning(id)) for id in keymap.declared()]
    if as_json:
        values = [{"id": id, "keys": names, "meaning": meaning} for id, names, meaning in listed]
        output.envelope("keys", output.Outcome({"keys": values}))
    else:
        for line in output.table([(id, " ".join(names), meaning) for id, names, meaning in listed]):
            output.data(line)
    return 0
