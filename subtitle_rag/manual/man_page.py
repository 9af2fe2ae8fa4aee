"""The manual as a page for man(1), in the language in force: roff with the macros of man(7)."""

import re
from collections.abc import Iterable, Iterator

import click

from subtitle_rag import __version__
from subtitle_rag.config import Settings
from subtitle_rag.i18n import N_, _
from subtitle_rag.manual.blocks import Block, Heading, Lines, Terms
from subtitle_rag.manual.topics import ENVIRONMENT, EXIT_CODES, TOPICS

SUMMARY = N_("search the captions of Korean video on your own machine")
OWN_SECTION = ("exit-codes",)
"""Topics with a section of their own by man's custom."""


def render_man_page(root: click.Group, settings: Settings) -> str:
    """Return the page; `root` is the whole command line, `settings` fill its examples."""
    return "\n".join(_page(root, settings)) + "\n"


def _page(root: click.Group, settings: Settings) -> Iterator[str]:
    yield f'.TH SUBTITLE\\-RAG 1 "" "subtitle\\-rag {escape(__version__)}" "subtitle\\-rag"'
    yield from _section(_("Name"))
    yield f"subtitle\\-rag \\- {escape(_(SUMMARY))}"
    yield from _section(_("Synopsis"))
    yield ".B subtitle\\-rag"
    yield escape(f"[{_('OPTIONS')}] [{_('COMMAND')}] [{_('ARGS')}]...")
    yield from _section(_("Description"))
    yield escape(_("Without a command it opens the app in the terminal."))
    yield from _section(_("Options"))
    context = click.Context(root, info_name="subtitle-rag")
    yield from _options(root, context)
    yield from _section(_("Commands"))
    for name in root.list_commands(context):
        yield from _command(root, name, context)
    for topic in TOPICS:
        if topic.name not in OWN_SECTION:
            yield from _section(_(topic.title))
            yield from _blocks(topic.blocks(settings))
    yield from _section(_("Environment"))
    yield from _blocks([Terms(*((name, _(text)) for name, text in ENVIRONMENT.items()))])
    yield from _section(_("Exit status"))
    yield from _blocks([Terms(*((str(int(code)), _(text)) for code, text in EXIT_CODES.items()))])


def _section(title: str) -> Iterator[str]:
    yield f'.SH "{escape(title.upper())}"'


def _command(group: click.Group, name: str, parent: click.Context) -> Iterator[str]:
    """Yield a command, or its subcommands."""
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent=parent, info_name=name)
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            yield from _command(command, sub, context)
        return
    usage = " ".join(piece for piece in command.collect_usage_pieces(context) if not piece.startswith("[OPTION"))
    path = context.command_path.partition(" ")[2]
    yield f'.SS "{escape(f"{path} {usage}".rstrip())}"'
    yield escape(_plain(command.help or ""))
    yield from _options(command, context)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for param in command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record is not None:
            yield from _term(*record)


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case str(text):
                yield from (".PP", escape(text))
            case Heading(text):
                yield f'.SS "{escape(text)}"'
            case Terms(rows):
                for row in rows:
                    yield from _term(*row)
            case Lines(lines):
                yield from (".PP", ".nf", *map(escape, lines), ".fi")


def _term(term: str, text: str) -> Iterator[str]:
    yield from (".TP", rf"\fB{escape(term)}\fR", escape(_plain(text)) or r"\&")


def _plain(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


def escape(text: str) -> str:
    """Escape text for roff: backslashes, requests at the start of a line, hyphens for copying."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    text = text.replace("`", r"\(ga").replace("^", r"\(ha").replace("~", r"\(ti")
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("'", r"\(aq"))
