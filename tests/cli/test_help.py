"""`help`: topics and commands. What the code knows is told as the code has it."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import subtitle_rag
from subtitle_rag import cli, i18n
from subtitle_rag.cli import VERBS
from subtitle_rag.config import settings as config
from subtitle_rag.manual.blocks import Block, Heading, Lines, Terms, text_lines, wrap
from subtitle_rag.manual.topics import ENVIRONMENT, EXIT_CODES, FILTERS, TOPICS
from subtitle_rag.output import ExitCode
from subtitle_rag.retrieval.search.query import KOREAN
from tests.support.cases import cases
from tests.support.commandline import ENVELOPE, Run

PACKAGE = Path(subtitle_rag.__file__).parent
COMMAND = re.compile(r"subtitle-rag ((?:[a-z]+ ?)+)")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")


def test_without_a_topic_all_are_listed(run: Run) -> None:
    told = run("help")
    assert [line.split()[0] for line in told.out.splitlines()] == [topic.name for topic in TOPICS]
    listed = run("help", "--json").result["topics"]
    assert [entry["name"] for entry in listed] == [topic.name for topic in TOPICS]
    assert all(list(entry) == ["name", "korean", "title"] for entry in listed)


@cases("language", i18n.LANGUAGES)
@cases("topic", TOPICS)
def test_every_topic_is_told_in_both_languages(run: Run, topic: object, language: str) -> None:
    assert topic in TOPICS
    for name in (getattr(topic, "name"), getattr(topic, "korean")):  # noqa: B009
        told = run("--language", language, "help", name)
        assert (told.code, told.err) == (0, "")
        assert bool(re.search("[가-힣]{2,}", told.out.splitlines()[0])) == (language == "ko")


def test_words_of_a_topic_may_stand_apart(run: Run) -> None:
    assert run("help", "exit", "codes").out == run("help", "exit-codes").out
    assert run("help", "EXIT-CODES", "--json").result["topic"] == "exit-codes"


def test_a_command_is_told_as_its_own_help(run: Run) -> None:
    assert run("help", "search").out == run("search", "--help").out
    assert run("help", "eval", "run").out == run("eval", "run", "--help").out
    told = run("help", "contexts")  # both a topic and a command
    assert told.out.startswith("Contexts: ")
    assert told.out.endswith(run("contexts", "--help").out)
    assert run("help", "search", "--json").result["usage"] + "\n" == run("search", "--help").out


@cases(("name", "near"), [("exitcodes", "exit-codes"), ("serch", "search"), ("유튜부", "유튜브"), ("qqqq", "")])
def test_what_is_unknown_is_told_with_the_nearest(run: Run, name: str, near: str) -> None:
    refused = run("help", name, "--json")
    assert (refused.code, refused.failure) == (2, "unknown_topic")
    assert (f"did you mean {near}?" in refused.err) == bool(near)


def test_a_wrong_config_hinders_nobody_who_reads(run: Run, isolated_home: Path) -> None:
    isolated_home.mkdir()
    (isolated_home / "config.toml").write_text("[serch]\n[keys]\nnonsense = 'F8'")
    for name in ("config", "keys", "troubleshooting"):
        assert run("help", name).code == 0


# --- what is told is so ---


def test_exit_codes_are_the_code_s(run: Run) -> None:
    assert set(EXIT_CODES) == set(ExitCode)
    told = re.findall(r"^  (\d+) ", run("help", "exit-codes").out, re.MULTILINE)
    assert [int(code) for code in told] == [int(code) for code in ExitCode]


def test_every_variable_of_the_program_is_told() -> None:
    named = {name for path in PACKAGE.rglob("*.py") for name in re.findall(r"\bSUBTITLE_RAG_\w+", path.read_text())}
    assert set(ENVIRONMENT) == named | {config.OLLAMA_VARIABLE}


def test_every_setting_is_told(run: Run) -> None:
    told = run("help", "config").out
    for name, kind in config.SECTIONS.items():
        assert f"[{name}]" in told
        assert all(f"  {key} = " in told for key in kind.__dataclass_fields__)


def test_every_filter_is_told(run: Run) -> None:
    assert FILTERS.keys() == KOREAN.keys()
    told = run("help", "syntax").out
    assert all(f"{name}:" in told and f"{korean}:" in told for name, korean in KOREAN.items())


def test_the_keys_of_the_envelope_are_told(run: Run) -> None:
    assert re.findall(r"^  (\w+)  ", run("help", "json").out, re.MULTILINE) == ENVELOPE


def test_every_host_that_is_asked_is_told(run: Run) -> None:
    told = " ".join(run("--language", "en", "help", "privacy").out.split())  # lines are wrapped
    hosts = ("YouTube", "section of a clip", "index of packages", "Hugging Face hub", "Ollama", "Qdrant")
    assert [host for host in hosts if host not in told] == []


def test_the_own_keys_are_told(run: Run, isolated_home: Path) -> None:
    isolated_home.mkdir()
    (isolated_home / "config.toml").write_text("[keys]\n'app.checks' = 'f11'")
    assert re.search(r"^  F11 +what is installed", run("help", "keys").out, re.MULTILINE)
    from subtitle_rag.tui.keys import keymap

    keymap.activate({})


@cases("topic", [topic.name for topic in TOPICS])
def test_commands_and_options_that_are_named_exist(run: Run, topic: str) -> None:
    told = run("help", topic, "--json").result["text"]
    for words in COMMAND.findall(told):
        verb = words.split()[0]
        assert verb in VERBS, verb
    named = set(re.findall(r"--[a-z][a-z-]+", told)) - {"--mpv-start"}  # a player's
    root = cli.localized(cli.root)  # a copy: a command keeps the option of its first help
    assert named <= set(_options(root, click.Context(root)))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the options of a command and of those inside it."""
    for param in command.get_params(context):
        yield from (*param.opts, *param.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner
            yield from _options(inner, click.Context(inner, parent=context))


# --- how it looks ---


def test_no_line_is_wider_than_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    blocks: list[Block] = ["낱말 " * 60, Terms(("이름", "설명이 아주 길다 " * 20), ("x" * 50, "y")), Heading("제목")]
    lines = list(text_lines(blocks, 60))
    assert max(cell_len(line) for line in lines) <= 60
    assert "" in lines
    assert list(wrap("가나 다라 마", 9)) == ["가나 다라", "마"]
    assert list(text_lines([Lines("a  b")], 10)) == ["  a  b"]


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


def test_no_second_language_stands_for_values_in_korean_help() -> None:
    i18n.activate("ko")
    try:
        root = cli.localized(cli.root)
        commands = list(_commands(root, click.Context(root)))
        texts = [text for command, context in commands for text in _value_texts(command, context)]
    finally:
        i18n.activate("en")

    assert [text for text in texts if re.search(r"[A-Z]{2}", text)] == []
    words = re.compile(rf"(?<![A-Za-z])({'|'.join(set(cli.METAVARS) - {'ID', 'URL'})})(?![A-Za-z])")
    assert [command.help for command, _context in commands if words.search(command.help or "")] == []


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
