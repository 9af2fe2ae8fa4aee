"""`help`, `keys`: topics, commands and the page for man; the ids of `[keys]` with the keys bound to them."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from subtitle_rag import manual, output
from subtitle_rag.commands.options import completions, print_outcome
from subtitle_rag.config import Settings, did_you_mean, nearest
from subtitle_rag.domain import UsageError
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.commands.options import Completions


def _complete_topics(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete topics of the help, and commands."""
    topics = [(topic.name, _(topic.title)) for topic in manual.TOPICS]
    return completions([*topics, *((verb, "") for verb in _verbs(ctx))], incomplete)


@click.command("help")
@click.argument("words", metavar="[TOPIC|COMMAND]", nargs=-1, shell_complete=_complete_topics)
@click.pass_context
@print_outcome
def help_(ctx: click.Context, words: Sequence[str]) -> output.Outcome:
    settings: Settings = ctx.obj
    if not words:
        topics = [{"name": each.name, "korean": each.korean, "title": _(each.title)} for each in manual.TOPICS]
        notes = [_("subtitle-rag help TOPIC explains one of these, subtitle-rag help COMMAND a command.")]
        return output.Outcome({"topics": topics}, output.table([tuple(each.values()) for each in topics]), notes)
    topic = manual.find_topic("-".join(words))
    usage = _usage(ctx, words)
    if topic is None and usage is None:
        name = " ".join(words)
        names = [each for topic in manual.TOPICS for each in (topic.name, topic.korean)]
        near = did_you_mean(nearest(name.casefold(), [*names, *_verbs(ctx)]))
        raise UsageError("unknown_topic", name=name, near=near)
    lines: list[str] = []
    if topic is not None:
        width = min(shutil.get_terminal_size().columns, 100)
        lines += [_(topic.title), "", *manual.text_lines(topic.blocks(settings), width)]
    result = {
        "topic": topic.name if topic else None,
        "text": "\n".join(lines) or None,
        "command": " ".join(words) if usage else None,
        "usage": usage,
    }
    lines += [*(["", ""] if lines and usage else []), *(usage or "").splitlines()]
    return output.Outcome(result, lines)


def _usage(ctx: click.Context, words: Sequence[str]) -> str | None:
    """Return the `--help` text of a command or subcommand; None for an unknown name."""
    parent = ctx.find_root()
    command: click.Command | None = parent.command
    for word in words:
        command = command.get_command(parent, word) if isinstance(command, click.Group) else None
        if command is None:
            return None
        parent = click.Context(command, info_name=word, parent=parent)
    return parent.get_help()


def _verbs(ctx: click.Context) -> list[str]:
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    return root.list_commands(ctx)


def _complete_key_ids(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete ids of the app's keys."""
    from subtitle_rag.tui.keys import COMMANDS
    from subtitle_rag.tui.text import key_meaning

    return completions([(id, key_meaning(id)) for id in COMMANDS], incomplete)


@click.command("keys")
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=_complete_key_ids)
@click.pass_obj
@print_outcome
def keys_(settings: Settings, ids: Sequence[str]) -> output.Outcome:
    from subtitle_rag.tui.keys import COMMANDS, keymap
    from subtitle_rag.tui.text import key_meaning

    keymap.check(settings.keys, settings.paths.config)
    keymap.activate(settings.keys)
    for id in ids:
        if id not in COMMANDS:
            raise UsageError("unknown_setting", name=id, near=did_you_mean(nearest(id, COMMANDS)))
    rows = [(id, keymap.keys(id), key_meaning(id)) for id in COMMANDS if not ids or id in ids]
    lines = output.table([(id, " ".join(map(keymap.key_text, keys)), meaning) for id, keys, meaning in rows])
    return output.Outcome({"keys": [{"id": id, "keys": keys, "meaning": meaning} for id, keys, meaning in rows]}, lines)
