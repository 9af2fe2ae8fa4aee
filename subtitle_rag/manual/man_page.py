"""The manual as a page for man(1), in the language in force: roff with the macros of man(7)."""

import re
from collections.abc import Iterable, Iterator

import click

from subtitle_rag import __version__
from subtitle_rag.config import Settings
from subtitle_rag.i18n import N_, _
from subtitle_rag.manual.blocks import Block, Heading, Lines, Paragraph, Terms
from subtitle_rag.manual.topics import ENVIRONMENT, EXIT_CODES, TOPICS

SUMMARY = N_("search the captions of Korean video on your own machine")
APART = ("exit-codes",)
"""Topics that have a section of their own by man's custom."""


def man_page(root: click.Group, settings: Settings) -> str:
    """The page; `root` is the whole command line, `settings` what its examples name."""
    return "\n".join(_page(root, settings)) + "\n"


def _page(root: click.Group, settings: Settings) -> Iterator[str]:
    yield f'.TH SUBTITLE\\-RAG 1 "" "subtitle\\-rag {escaped(__version__)}" "subtitle\\-rag"'
    yield from _section(_("Name"))
    yield f"subtitle\\-rag \\- {escaped(_(SUMMARY))}"
    yield from _section(_("Synopsis"))
    yield ".B subtitle\\-rag"
    yield escaped("[OPTIONS] [COMMAND] [ARGUMENT]...")
    yield from _section(_("Description"))
    yield escaped(_("Without a command it opens the app in the terminal."))
    yield from _section(_("Options"))
    context = click.Context(root, info_name="subtitle-rag")
    yield from _options(root, context)
    yield from _section(_("Commands"))
    for name in root.list_commands(context):
        yield from _command(root, name, context)
    for topic in TOPICS:
        if topic.name not in APART:
            yield from _section(_(topic.title))
            yield from _blocks(topic.blocks(settings))
    yield from _section(_("Environment"))
    yield from _blocks([Terms(tuple((name, _(said)) for name, said in ENVIRONMENT.items()))])
    yield from _section(_("Exit status"))
    yield from _blocks([Terms(tuple((str(int(code)), _(said)) for code, said in EXIT_CODES.items()))])


def _section(title: str) -> Iterator[str]:
    yield f'.SH "{escaped(title.upper())}"'


def _command(group: click.Group, name: str, parent: click.Context) -> Iterator[str]:
    """A command, or those that it has."""
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent=parent, info_name=name)
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            yield from _command(command, sub, context)
        return
    usage = " ".join(piece for piece in command.collect_usage_pieces(context) if not piece.startswith("[OPTION"))
    path = context.command_path.partition(" ")[2]
    yield f'.SS "{escaped(f"{path} {usage}".rstrip())}"'
    yield escaped(_plain(command.help or ""))
    yield from _options(command, context)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for param in command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record is not None:
            yield from _term(*record)


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph(text):
                yield from (".PP", escaped(text))
            case Heading(text):
                yield f'.SS "{escaped(text)}"'
            case Terms(rows):
                for row in rows:
                    yield from _term(*row)
            case Lines(lines):
                yield from (".PP", ".nf", *map(escaped, lines), ".fi")


def _term(term: str, said: str) -> Iterator[str]:
    yield from (".TP", rf"\fB{escaped(term)}\fR", escaped(_plain(said)) or r"\&")


def _plain(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


def escaped(text: str) -> str:
    """Text that roff takes as it is: no escape, no request at the begin of a line, hyphens that can be copied."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    text = text.replace("`", r"\(ga").replace("^", r"\(ha").replace("~", r"\(ti")
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("'", r"\(aq"))
