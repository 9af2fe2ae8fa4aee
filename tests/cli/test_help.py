"""`--help`: what it names exists, and it speaks one language."""

import re
from collections.abc import Iterator
from dataclasses import fields

import click

from subtitle_rag.answers.context_builder import SCENES
from subtitle_rag.base import i18n
from subtitle_rag.base.config import settings
from subtitle_rag.cli import main as cli
from subtitle_rag.cli.main import VERBS


def test_the_line_of_a_verb_names_its_own_options() -> None:
    """Also of the inner verbs; an option of another verb has that one before it, as in `eval run --contexts`."""
    context = click.Context(cli.root)
    named = {
        (verb, option)
        for verb, entry in VERBS.items()
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", entry.help)
    }
    own = {
        (verb, option)
        for verb in VERBS
        for command, _inner in _commands(cli.root.get_command(context, verb) or cli.root, context)
        for param in command.params
        for option in (*param.opts, *param.secondary_opts)
    }

    assert named - own == set()


def test_help_names_settings_that_are_there_and_the_default_in_force() -> None:
    commands = list(_commands(cli.root, click.Context(cli.root)))
    params = ((command.name, param) for command, _context in commands for param in command.params)
    texts = {(command, param.name): getattr(param, "help", "") for command, param in params}
    named = [pair for text in texts.values() for pair in re.findall(r"(\w+) under \[(\w+)\]", text or "")]
    kinds = {table: {each.name for each in fields(kind)} for table, kind in settings.SECTIONS.items()}
    assert [(name, table) for name, table in named if name not in kinds.get(table, ())] == []
    assert f"(default {SCENES})" in texts["ask", "scenes"]
    assert f"(default {settings.SearchSettings().limit})" in texts["search", "limit"]


def test_no_second_language_stands_for_values_in_korean_help() -> None:
    i18n.activate("ko")
    try:
        root = cli.localized(cli.root)
        commands = list(_commands(root, click.Context(root)))
        texts = [text for command, context in commands for text in _value_texts(command, context)]
    finally:
        i18n.activate("en")

    assert [text for text in texts if re.search(r"[A-Z]{2}", text)] == []
    words = re.compile(rf"(?<![A-Za-z])({'|'.join(set(cli.METAVARS) - {'URL'})})(?![A-Za-z])")
    assert [command.help for command, _context in commands if words.search(command.help or "")] == []


def test_every_word_for_a_value_stands_in_the_help_and_numbers_are_short() -> None:
    root = cli.localized(cli.root)
    commands = list(_commands(root, click.Context(root)))
    texts = [text for command, context in commands for text in _value_texts(command, context)]
    texts += [command.subcommand_metavar for command, _context in commands if isinstance(command, click.Group)]
    short = {"INTEGER RANGE": "N"}
    assert [word for word in cli.METAVARS if not any(short.get(word, word) in text for text in texts)] == []
    assert not any("RANGE" in text for text in texts)


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    yield command, context
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from _commands(inner, click.Context(inner, parent=context))


def _value_texts(command: click.Command, context: click.Context) -> list[str]:
    options = (param.make_metavar(context) for param in command.params if not getattr(param, "is_flag", False))
    return [*command.collect_usage_pieces(context), *options]
