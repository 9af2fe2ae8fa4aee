"""Generator of docs/reference/ in English: commands, settings and JSON results.

Commands come from click, settings from their dataclasses, keys from the app's commands, and results from commands run
in the sample library.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from subtitle_rag.answers.answer_prompt import built_in_prompt
from subtitle_rag.base import i18n, log_file
from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.template import EXAMPLE_KEY, EXAMPLE_PLAYER, to_toml
from subtitle_rag.base.output import SCHEMA, ExitCode
from subtitle_rag.cli import main as cli
from subtitle_rag.contexts.prompt_layout import CONTEXT_PROMPT_TEXT

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Made from the program: scripts/docs-check --write -->"
EXIT_CODES: Mapping[ExitCode, str] = {
    ExitCode.DONE: "Done, also where no scene was found.",
    ExitCode.FAILED: "Failed.",
    ExitCode.USAGE: "The command or the config is wrong.",
    ExitCode.TRY_LATER: "Try again later: YouTube refuses, Ollama or Qdrant cannot be reached, or the library is busy,"
    " read-only or on a full disk.",
    ExitCode.INTERRUPTED: "Interrupted; the same command resumes.",
}
ENVIRONMENT: Mapping[str, str] = {
    config.HOME_VARIABLE: "The folder for config, data, cache and log, like --home.",
    config.LANGUAGE_VARIABLE: "The language of messages and screens, like --language.",
    config.HOSTS_VARIABLE: "Addresses of Ollama, separated by commas; empty: no models.",
    config.OLLAMA_VARIABLE: "Ollama's own variable: its address, if neither the config nor the variable above has one.",
    log_file.DEBUG_VARIABLE: "1: log everything, including queries and captions, like --debug.",
    "SUBTITLE_RAG_HOST_LINGER": "Seconds that the index stays loaded after its last use (20).",
    "SUBTITLE_RAG_NEURAL_LINGER": "Seconds that the process of the neural models stays after its last use (300).",
    "SUBTITLE_RAG_NEURAL_IDLE": "Seconds after which an unused neural model leaves memory (600).",
}
"""Environment variables of the program."""
ENVELOPE: Mapping[str, str] = {
    "schema": f"the version of this format: {SCHEMA}",
    "command": "the command that ran",
    "status": "`success`, `partial` (done, with errors) or `error` (not done)",
    "result": "the result of the command, or null",
    "errors": "`code`, `message`, `hint` and `video` of each error; a code is the same in every language",
}
JSON = "--json"
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}
SHORT = 90
"""Maximum length of an object's members on one line."""
RESULT_COMMANDS = (
    *("index ~/captions", "contexts import contexts.jsonl", "search 치킨 --limit 2", "show sample-0001 --at 6:52"),
    *("overview sample-0001", "overview 느긋한", "open sample-0001@6:52 --print", "ask 소스"),
    *("marks add sample-0001@6:52 --note 소스 --tag 요리", "export sample-0001@6:52", "list", "status"),
    *("contexts list", "models list", "config", "doctor --offline"),
    *("eval run questions.jsonl --no-neural", "remove sample-0009 --yes", "rebuild"),
)
"""Commands whose results are described, in the order they run."""


def pages() -> dict[Path, str]:
    """Return the text of each page that needs no command run, by its path."""
    with in_english():
        return {FOLDER / "commands.md": _text(commands()), FOLDER / "settings.md": _text(settings())}


def results_page(result_of: Callable[[str], Any]) -> dict[Path, str]:
    """Return the page on JSON; `result_of` returns the result of one of `RESULT_COMMANDS`."""
    return {FOLDER / "json.md": _text(results(result_of))}


def stale(texts: Mapping[Path, str]) -> list[str]:
    """Return the pages that are out of date."""
    return [
        f"{path.relative_to(ROOT)}: differs from the program: scripts/docs-check --write makes it anew"
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


@contextmanager
def in_english() -> Iterator[None]:
    """Set English as the language of this process within the block."""
    before = os.environ.get("LANGUAGE", "")
    i18n.activate("en")
    try:
        yield
    finally:
        i18n.activate(before if before in i18n.LANGUAGES else "en")


def _text(lines: Iterable[str]) -> str:
    return "\n".join([NOTE, "", *lines]).rstrip() + "\n"


def root_context() -> click.Context:
    """Return the context of a copy of the program: click adds a help option to a command when it makes its context."""
    root = cli.localized(cli.root)
    return click.Context(root, info_name="subtitle-rag", **root.context_settings)


def leaf_contexts(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of all commands below this one, in the order of `--help`."""
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield inner
            yield from leaf_contexts(inner)
        else:
            yield inner


def commands() -> Iterator[str]:
    context = root_context()
    leaves = list(leaf_contexts(context))
    without = [_name(leaf) for leaf in leaves if JSON not in _spellings(leaf)]
    yield from ("# Commands", "", "`subtitle-rag` alone opens the app; `--help` after a command says this too.", "")
    yield f"All commands but {' and '.join(f'`{name}`' for name in without)} take `{JSON}` ([results](json.md))."
    yield from ("", "These options go before the command:", "", *_options(context))
    for leaf in leaves:
        pieces = [piece for piece in leaf.command.collect_usage_pieces(leaf) if piece != leaf.command.options_metavar]
        yield from (f"## {_name(leaf)}", "")
        yield from (f"`{' '.join([leaf.command_path, *pieces])}`", "", _one_line(leaf.command.help or ""), "")
        yield from _options(leaf)
    yield from ("## Exit codes", "", *(f"- `{code:d}`: {meaning}" for code, meaning in EXIT_CODES.items()))


def _name(leaf: click.Context) -> str:
    return leaf.command_path.partition(" ")[2]


def _spellings(context: click.Context) -> list[str]:
    return [option for param in context.command.get_params(context) for option in param.opts]


def _options(context: click.Context) -> Iterator[str]:
    """Yield the table of a command's own options."""
    params = [param for param in context.command.get_params(context) if not {JSON, "--help"} & {*param.opts}]
    records = [param.get_help_record(context) for param in params if isinstance(param, click.Option)]
    yield from table(("option", "meaning"), [(f"`{term}`", _one_line(text)) for term, text in filter(None, records)])


def _one_line(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield from (_row(names), _row(["---"] * len(names)), *map(_row, rows), "")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '｜') for cell in cells)} |"


def settings() -> Iterator[str]:
    yield from ("# Settings", "")
    yield "`subtitle-rag config edit` opens `config.toml`, `subtitle-rag config` shows what is in force and who set it."
    yield "A flag goes before an environment variable, that before the file, that before the default."
    languages = f"{config.about('language')} ({', '.join(i18n.LANGUAGES)})"
    yield from ("", *table(("setting", "default", "meaning"), [("`language`", "", languages)]))
    for name, kind in config.SECTIONS.items():
        yield from (f"## [{name}]", "", f"{config.about(name)}.", "", *_fields(kind))
    yield from ("## [players.NAME]", "", f"{config.about('players')}.", "", "```toml", "[players.celluloid]")
    yield from (f"command = {to_toml(EXAMPLE_PLAYER)}", "```", "", *_keys())
    yield from ("## Environment variables", "")
    yield from table(("variable", "meaning"), [(f"`{name}`", meaning) for name, meaning in ENVIRONMENT.items()])
    yield from ("## Built-in prompts", "", "Texts to begin with for a file that `[prompts]` names.")
    texts = {
        "contexts": CONTEXT_PROMPT_TEXT,
        "answers, Korean": built_in_prompt("ko"),
        "answers, English": built_in_prompt("en"),
    }
    for name, text in texts.items():
        yield from ("", f"### {name}", "", "```text", *text.splitlines(), "```")


def _fields(kind: type[Any]) -> Iterator[str]:
    rows = []
    for each in fields(kind):
        values = ", ".join(each.metadata.get("among") or ())
        meaning = config.about_field(each) + (f" ({values})" if values else "")
        rows.append((f"`{each.name}`", f"`{to_toml(getattr(kind(), each.name))}`", meaning))
    yield from table(("setting", "default", "meaning"), rows)


def _keys() -> Iterator[str]:
    from subtitle_rag.tui.keys import keymap
    from subtitle_rag.tui.keys.commands import COMMANDS
    from subtitle_rag.tui.keys.keymap import is_jamo

    yield from ("## [keys]", "", "Keys of the app, by the ids below. Letters also work in the Korean layout.", "")
    yield from ("```toml", "[keys]", " = ".join(map(json.dumps, EXAMPLE_KEY)), "```", "")
    rows = []
    for id in keymap.declarations():
        names = [f"`{keymap.key_text(key)}`" for key in keymap.keys(id) if not is_jamo(key)]
        rows.append((f"`{id}`", " ".join(names), i18n._(COMMANDS[id].tooltip)))
    yield from table(("id", "keys", "meaning"), rows)


def results(result_of: Callable[[str], Any]) -> Iterator[str]:
    yield from ("# JSON", "")
    yield f"With `{JSON}` a command prints one document on stdout. Progress, warnings and errors go to stderr."
    yield from ("", *(f"- `{name}`: {meaning}" for name, meaning in ENVELOPE.items()), "")
    events = [f"`{_name(leaf)}`" for leaf in leaf_contexts(root_context()) if "--jsonl" in _spellings(leaf)]
    yield f"{', '.join(events)} take `--jsonl` too: a line of JSON for every event. A run that"
    yield "fails or is interrupted ends with the event `error`: `code`, `message`, `hint` and `video`."
    yield "Times are seconds, moments ISO 8601 in UTC. Keys are stable: a change of them is a new `schema`."
    yield from ("", "```console", "$ subtitle-rag search 치킨 --json | jq -r '.result.scenes[].jump.url'", "```", "")
    yield "Below are the names and types of `result`, from running these commands in the sample library in this order."
    yield "A value that is only null or an empty list has no example in that library."
    for command in RESULT_COMMANDS:
        yield from ("", f"## {command}", "", "```text", *member_lines([result_of(command)]), "```")


def member_lines(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines on the members of objects; consecutive ones of the same shape share a line."""
    names = dict.fromkeys(name for each in tables for name in each)
    shapes = {name: _shape([each[name] for each in tables if name in each]) for name in names}
    lines: list[str] = []
    for (kind, inner), group in groupby(names, shapes.__getitem__):
        lines += [f"{', '.join(group)}: {kind}", *(f"  {line}" for line in inner)]
    return lines


def _shape(values: Sequence[Any]) -> tuple[str, tuple[str, ...]]:
    """Return the type of the values seen in one place, and lines on their members."""
    seen = [value for value in values if value is not None]
    or_null = " or null" if len(seen) < len(values) else ""
    if not seen:
        return "null", ()
    if all(isinstance(value, list) for value in seen):
        kind, inner = _shape([member for value in seen for member in value])
        return f"list{f' of {kind}' if any(seen) else ''}{or_null}", inner
    if all(isinstance(value, dict) for value in seen):
        lines = member_lines(seen)
        is_short = lines and len("; ".join(lines)) < SHORT and not any(line.startswith(" ") for line in lines)
        return (f"{{{'; '.join(lines)}}}{or_null}", ()) if is_short else (f"object{or_null}", tuple(lines))
    kinds = {TYPES[type(value)] for value in seen}
    return " or ".join(sorted(kinds - ({"integer"} if "number" in kinds else set()))) + or_null, ()
