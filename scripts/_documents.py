"""Checks of README*.md and docs/ for tests/test_documents.py; run as a program, it writes what is made of the program.

A shell block is fenced as `console`, `sh` or `bash`. In `console` a command follows `$ `, and the next lines are its
output, in which `…` matches anything. Words after the language change the check: `exit=2` is the expected exit code,
and `parse` only parses the commands.

A command runs if it needs neither network, model nor terminal; the others are parsed by click. Benchmarks without a
model run too, so that the figures on a page are the program's.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click

from scripts import _reference
from subtitle_rag.base import i18n
from subtitle_rag.base.config import settings as config
from subtitle_rag.base.installation.extras import EXTRAS
from subtitle_rag.cli import main as cli

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "subtitle-rag"
OFFLINE = frozenset(
    re.split(
        ", *\n? *",
        """ask, config, contexts export, contexts glossary, contexts import,
        contexts list, demo, doctor, eval run, export, index, list,
        marks add, marks list, marks note, marks remove, marks tag, models list, open, overview, rebuild,
        remove, search, show, status""",
    )
)
"""Commands that work without network, model and terminal, unless an argument asks for one."""
NEEDED_OPTIONS = {"doctor": "--offline", "open": "--print", "remove": "--yes"}
"""Option without which the command asks YouTube, starts a player or asks the user."""
ONLINE_ARGUMENTS = re.compile(r"https?://|@\w+$|--(edit|propose|follow|model|questions)$")
BENCH = "scripts/bench"
WITHOUT_MODEL = ("guards", "misheard")
"""Benchmarks with the same figures on every machine."""
TOOLS = frozenset(("cat", "cp", "head", "jq", "mkdir"))
"""Other programs that may run if they are installed; their arguments are not checked."""
OTHER_PROGRAMS = frozenset(("cd", "curl", "git", "ollama", "pip", "pipx", "source", "sqlite3", "uv", "uvx"))
"""Other programs that never run; their arguments are not checked."""
PLACEHOLDERS = {
    "VIDEO_ID": "sample-0001",
    f".venv/bin/{PROGRAM}": PROGRAM,
    BENCH: f"cd {shlex.quote(str(ROOT))} && {shlex.quote(sys.executable)} -m scripts.benchmarks",
}
"""Placeholder → its replacement when a command runs."""

FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|a)[^>]+(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
VARIABLE = re.compile(r"\bSUBTITLE_RAG_[A-Z_]+")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
KEY = re.compile(r"(Ctrl|Alt|Shift)\+\w+|F\d+")
OPTION = re.compile(r"--[a-z][\w-]*")
FIGURE = re.compile(r"\d \[-?[\d.]+, -?[\d.]+\]")
"""A measured figure with its interval."""
MEASURING = re.compile(r"\b(eval run|scripts/bench)\b")
COMMIT = re.compile(r"\bcommit `?[0-9a-f]{7,40}\b")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line in a document, with its expected exit code and output."""

    position: str
    text: str
    exit_code: int = 0
    parse_only: bool = False
    output: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the words after it, and its lines."""

    line: int
    language: str
    words: tuple[str, ...]
    lines: tuple[str, ...]


class CommandError(Exception):
    """A wrong command in a document."""


def documents() -> list[Path]:
    """Return README.md, README.en.md, and everything in docs/."""
    return [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def other_documents() -> list[Path]:
    """Return the developers' documents, in which only links are checked."""
    return sorted({*ROOT.glob("*.md")} - {*documents()})


def position(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}"


def blocks(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        indent, info, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        language, *words = info.split() or [""]
        yield Block(line, language, tuple(words), tuple(row.removeprefix(indent) for row in body.splitlines()))


def commands(path: Path) -> Iterator[Command]:
    """Yield the command lines in all shell blocks."""
    for block in blocks(path):
        if block.language in ("console", "sh", "bash"):
            yield from _block_commands(path, block)


def _block_commands(path: Path, block: Block) -> Iterator[Command]:
    codes = [int(word.removeprefix("exit=")) for word in block.words if word.startswith("exit=")]
    parse_only = "parse" in block.words
    rows = list(enumerate(block.lines, block.line + 1))
    while rows:
        line, text = rows.pop(0)
        if block.language == "console" and not text.startswith("$ "):
            continue
        text = text.removeprefix("$ ")
        while text.endswith("\\") and rows:
            text = text[:-1] + rows.pop(0)[1].strip()
        output: list[str] = []
        while block.language == "console" and rows and not rows[0][1].startswith("$ "):
            output.append(rows.pop(0)[1])
        if bare := re.sub(r"(^|\s)#(\s.*)?$", "", text).strip():
            lines = tuple(filter(str.strip, output))
            yield Command(position(path, line), bare, codes[0] if codes else 0, parse_only, lines)


def simple_commands(text: str) -> list[list[str]]:
    """Return the words of each program in a command line, without redirections and variable assignments.

    Raises:
        CommandError: a quote is not closed.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError as error:
        raise CommandError(f"{text}: {error}") from error
    parts: list[list[str]] = [[]]
    while tokens:
        token = tokens.pop(0)
        if token in ("<", ">", ">>"):
            tokens = tokens[1:]
        elif token in ("|", "&&", "||", ";", "&"):
            parts.append([])
        elif parts[-1] or not ASSIGNMENT.fullmatch(token):
            parts[-1].append(token)
    return [words for words in parts if words]


def check_words(words: Sequence[str]) -> None:
    """Check the program, and the arguments if it is ours.

    Raises:
        CommandError: a part of it does not exist.
    """
    program = words[0]
    name = program.rpartition("/")[2]
    if name == PROGRAM:
        parse(words[1:])
    elif name == "make":
        check_make(words[1:])
    elif "scripts/" in program:
        check_script(program.removeprefix("./"), words[1:])
    elif name not in OTHER_PROGRAMS | TOOLS:
        raise CommandError(f"unknown program: {program}")


def check_make(words: Sequence[str]) -> None:
    for verb in words:
        if not ASSIGNMENT.fullmatch(verb) and not re.search(rf"^{verb}:", _text(ROOT / "Makefile"), re.MULTILINE):
            raise CommandError(f"make has no verb {verb}")


def check_script(path: str, words: Sequence[str]) -> None:
    if not (ROOT / path).is_file():
        raise CommandError(f"there is no {path}")
    helper = ROOT / "scripts" / f"_{Path(path).name.replace('-', '_')}.py"
    if path == "scripts/bench" and words and re.fullmatch("[a-z]+", words[0]):
        helper = ROOT / "scripts" / "benchmarks" / f"{words[0]}.py"
        if not helper.is_file():
            raise CommandError(f"{path} has no benchmark {words[0]}")
    text = _text(ROOT / path) + (_text(helper) if helper.is_file() else "")
    for word in words:
        if word.startswith("--") and word not in text and word not in ("--", "--data"):
            raise CommandError(f"{path} has no option {word}")


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def parse(arguments: Sequence[str]) -> str:
    """Parse a command with click, without running anything; return the verb. Paths need not exist.

    Raises:
        CommandError: no such verb or option, or a missing, extra or wrong argument.
    """
    command: click.Command = cli.localized(cli.root)
    context: click.Context | None = None
    names, rest = [PROGRAM], list(arguments)
    try:
        with patch.object(click.Path, "convert", lambda _type, value, *_: value), redirect_stdout(StringIO()):
            while True:
                context = command.make_context(names[-1], rest, context)
                rest = [*context._protected_args, *context.args]
                if not isinstance(command, click.Group) or not rest:
                    break
                name, inner, rest = command.resolve_command(context, rest)
                assert name is not None
                assert inner is not None
                names.append(name)
                command = inner
    except click.exceptions.NoArgsIsHelpError as error:
        raise CommandError(f"{PROGRAM} {' '.join(arguments)}: missing command") from error
    except click.ClickException as error:
        raise CommandError(f"{PROGRAM} {' '.join(arguments)}: {error.format_message()}") from error
    except click.exceptions.Exit:  # --help and --version end the parsing
        pass
    return " ".join(names[1:])


def runs(command: Command) -> bool:
    """Whether every program of the command can run here."""
    return not command.parse_only and all(_runs_here(words) for words in simple_commands(command.text))


def _runs_here(words: Sequence[str]) -> bool:
    if words[0].rpartition("/")[2] == PROGRAM:
        return _runs_offline(words)
    if words[0] == BENCH:
        return len(words) == 2 and words[1] in WITHOUT_MODEL
    return words[0] in TOOLS and shutil.which(words[0]) is not None


def _runs_offline(words: Sequence[str]) -> bool:
    verb = parse(words[1:])
    if not verb:
        return bool({"--help", "-h", "--version"} & set(words))
    needed = NEEDED_OPTIONS.get(verb)
    if any(ONLINE_ARGUMENTS.search(word) for word in words[1:] if verb != "open"):
        return False
    return verb in OFFLINE and (needed is None or needed in words)


def static_problems(path: Path) -> list[str]:
    """Return broken links, commands, options, settings and variables in a document, and figures without a source."""
    checks = (link_problems, command_problems, inline_problems, setting_problems, figure_problems)
    return [problem for check in checks for problem in check(path)]


def figure_problems(path: Path) -> Iterator[str]:
    """Yield measured figures on a page that does not name their command and commit."""
    text = path.read_text(encoding="utf-8")
    first = FIGURE.search(text)
    if first is None:
        return
    line = text.count("\n", 0, first.start()) + 1
    for needed, name in ((MEASURING, "command"), (COMMIT, "commit")):
        if not needed.search(text):
            yield f"{position(path, line)}: figures without the {name}"


def link_problems(path: Path) -> Iterator[str]:
    for line, text in _prose(path):
        for target in (first or second for first, second in LINK.findall(text)):
            if "://" in target or target.startswith("mailto:"):
                continue
            name, _hash, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                yield f"{position(path, line)}: dead link: {target}"
            elif anchor and anchor not in anchors(file):
                yield f"{position(path, line)}: no such heading: {target}"


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines outside fenced blocks, with their numbers."""
    text = FENCE.sub(lambda match: "\n" * match.group().count("\n"), path.read_text(encoding="utf-8"))
    return enumerate(text.split("\n"), 1)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    slugs: list[str] = []
    for heading in HEADING.findall("\n".join(text for _line, text in _prose(path))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.casefold()).replace(" ", "-")
        count = sum(1 for slug_before in slugs if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", slug_before))
        slugs.append(f"{slug}-{count}" if count else slug)
    return set(slugs)


def command_problems(path: Path) -> Iterator[str]:
    for command in commands(path):
        try:
            for words in simple_commands(command.text):
                check_words(words)
        except CommandError as error:
            yield f"{command.position}: {error}"


def inline_problems(path: Path) -> Iterator[str]:
    """Yield unknown commands, options and variables in sentences and tables; placeholders may replace arguments."""
    for line, text in _prose(path):
        for quoted in INLINE.findall(text):
            if problem := inline_problem(quoted):
                yield f"{position(path, line)}: {problem}"
    for line, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        for name in VARIABLE.findall(text):
            if name not in _program_text():
                yield f"{position(path, line)}: no such variable: {name}"


def inline_problem(quoted: str) -> str:
    """Return the unknown part of inline code; empty if there is none, or it is not a command."""
    words = quoted.split()
    program = words[0].rpartition("/")[2] if words else ""
    if program == PROGRAM:
        return _lenient_problem(words[1:])
    if words and words[0] in cli.GROUPS and len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]):
        return _lenient_problem(words)
    if words and words[0] in cli.VERBS and len(words) > 1 and words[1].startswith("--"):
        return _lenient_problem(words)
    if words and "scripts/" in words[0] and not words[0].endswith("/"):
        try:
            check_script(words[0].removeprefix("./"), words[1:])
        except CommandError as error:
            return str(error)
    if KEY.fullmatch(quoted) and quoted not in _keys():
        return f"no such key: {quoted}"
    if OPTION.match(quoted):
        options = [word.partition("=")[0].rstrip(",") for word in words if word.startswith("--")]
        wrong = [option for option in options if option not in _all_options() and option not in _scripts_text()]
        return f"no such option: {', '.join(wrong)}" if wrong else ""
    return ""


@cache
def _keys() -> frozenset[str]:
    """Return the app's keys, and the key that stops a command."""
    from subtitle_rag.tui.keys import keymap

    return frozenset(keymap.key_text(key) for id in keymap.declarations() for key in keymap.keys(id)) | {"Ctrl+C"}


def _lenient_problem(words: Sequence[str]) -> str:
    """Return an unknown verb or option; values are not checked."""
    context = _reference.root_context()
    command = context.command
    rest = list(words)
    while rest and isinstance(command, click.Group) and not rest[0].startswith(("-", "…", "[")):
        inner = command.get_command(context, rest[0])
        if inner is None:
            return "" if re.fullmatch(r"[A-Z]+", rest[0]) else f"no such command: {PROGRAM} {' '.join(words)}"
        command = inner
        rest.pop(0)
    spellings = {option for param in (*cli.root.params, *command.get_params(context)) for option in _spellings(param)}
    for word in rest:
        option = word.partition("=")[0]
        if OPTION.fullmatch(option) and option not in spellings:
            return f"no such option: {option} ({PROGRAM} {' '.join(words)})"
    return ""


def _spellings(param: click.Parameter) -> list[str]:
    return [*param.opts, *param.secondary_opts]


@cache
def _all_options() -> frozenset[str]:
    context = _reference.root_context()
    params = [param for leaf in _reference.leaf_contexts(context) for param in leaf.command.get_params(leaf)]
    return frozenset(
        option for param in (*params, *context.command.get_params(context)) for option in _spellings(param)
    )


@cache
def _scripts_text() -> str:
    paths = (path for path in (ROOT / "scripts").rglob("*") if path.suffix in ("", ".py", ".sh") and path.is_file())
    return "\n".join(map(_text, paths))


@cache
def _program_text() -> str:
    return "\n".join(_text(path) for folder in ("subtitle_rag", "scripts") for path in (ROOT / folder).rglob("*.py"))


def setting_problems(path: Path) -> Iterator[str]:
    """Yield the errors of `config` in the TOML blocks."""
    for block in blocks(path):
        if block.language == "toml":
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "config.toml"
                file.write_text("\n".join(block.lines), encoding="utf-8")
                yield from (f"{position(path, block.line)}: {message}" for message in _mistakes(file))


def _mistakes(file: Path) -> Iterator[str]:
    from subtitle_rag.tui import themes
    from subtitle_rag.tui.keys import keymap

    reading = config.read(file.parent, path=file)
    keys = keymap.mistakes(reading.settings.keys, file)
    for mistake in (*reading.mistakes, *keys, *themes.mistakes(reading.settings)):
        yield f"{mistake.key}: {mistake.message}"


@contextmanager
def throwaway_home() -> Iterator[dict[str, str]]:
    """Make an empty home with the sample captions in ~/captions, and yield the environment of commands in it."""
    with tempfile.TemporaryDirectory(prefix="docs-check-", ignore_cleanup_errors=True) as folder:
        home = Path(folder).resolve()
        shutil.copytree(ROOT / "subtitle_rag" / "sample", home / "captions")
        programs = home / "bin"
        programs.mkdir()
        wrapper = programs / PROGRAM
        wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m subtitle_rag "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        yield {
            **os.environ,
            "HOME": str(home),
            "PATH": os.pathsep.join((str(programs), os.environ.get("PATH", os.defpath))),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
            **{f"XDG_{name}_HOME": str(home / "xdg" / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
            config.HOME_VARIABLE: str(home / "library"),
            config.HOSTS_VARIABLE: "",
            "SUBTITLE_RAG_HOST_LINGER": "3",
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }


def run(command: Command, environment: Mapping[str, str], folder: Path) -> str:
    """Run the command in the folder through a shell; return what is wrong with its exit code or output, or ""."""
    ended = _run_filled_in(command, environment, folder)
    if ended.returncode != command.exit_code:
        return (
            f"{command.position}: {command.text}: exit code {ended.returncode} in place of {command.exit_code}:\n"
            f"{ended.stdout.rstrip()}"
        )
    missing = missing_lines(command.output, ended.stdout)
    return f"{command.position}: {command.text}: not in its output: {missing}" if missing else ""


def _run_filled_in(command: Command, environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    text = command.text
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    return _run_shell(text, environment, folder, stderr=subprocess.STDOUT)


def _run_shell(
    text: str, environment: Mapping[str, str], folder: Path, *, stderr: int
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        env=environment,
        cwd=folder,
        timeout=600,
        check=False,
    )


def results_page(environment: Mapping[str, str]) -> dict[Path, str]:
    """Make the page on JSON results by running its commands in an empty home.

    Raises:
        CommandError: a command has failed, so the page would be incomplete.
    """
    folder = work_folder(environment, "results")
    surroundings = {**environment, config.LANGUAGE_VARIABLE: "en"}

    def result_of(command: str) -> Any:
        ended = _run_shell(f"{PROGRAM} {command} --json", surroundings, folder, stderr=subprocess.PIPE)
        if ended.returncode:
            raise CommandError(f"{PROGRAM} {command}: exit code {ended.returncode}: {ended.stderr.strip()}")
        return json.loads(ended.stdout)["result"]

    return _reference.results_page(result_of)


def write_reference() -> str:
    """Write all pages of the reference, and the measured figures; return why nothing was written, empty if it was.

    Without all extras there are fewer commands and results, so the pages would lose them.
    """
    incomplete = sorted(extra.name for extra in EXTRAS.values() if not extra.is_installed)
    if incomplete:
        return f"nothing was written: incomplete extras: {', '.join(incomplete)}; scripts/setup installs them"
    try:
        with throwaway_home() as environment:
            texts = _reference.pages() | results_page(environment)
            write_figures({**environment, config.LANGUAGE_VARIABLE: "en"})
    except CommandError as error:
        return f"nothing was written: {error}"
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return ""


def write_figures(environment: Mapping[str, str]) -> None:
    """Replace the figures below commands that measure without a model, in every document."""
    for number, path in enumerate(documents()):
        measuring = [each for each in commands(path) if each.output and MEASURING.search(each.text) and runs(each)]
        if not measuring:
            continue
        folder = work_folder(environment, f"figures-{number}")
        _run_filled_in(Command("", f"{PROGRAM} index ~/captions"), environment, folder)
        for command in measuring:
            printed = _run_filled_in(command, environment, folder).stdout
            before, text, after = path.read_text(encoding="utf-8").partition(f"$ {command.text}\n")
            for old, new in zip(command.output, renewed(command.output, printed), strict=True):
                after = after.replace(old, new, 1)
            path.write_text(before + text + after, encoding="utf-8")


def renewed(lines: Iterable[str], output: str) -> list[str]:
    """Return the lines with the output's values: the same line, else the next one with the same first words."""
    rows = output.splitlines()
    result: list[str] = []
    for line in lines:
        found = next((row for row in rows if not missing_lines([line], row)), None)
        new = line
        if found is None:
            found = next(row for row in rows if _beginning(row) == _beginning(line))
            cells = found.split("|")
            new = found if not line.endswith("…") else "|".join([*cells[: line.count("|")], " …"])
        rows = rows[rows.index(found) + 1 :]
        result.append(new)
    return result


def _beginning(row: str) -> str:
    """Return the subject of a table's row, or of a line with a colon."""
    return re.split("[|:]", row.strip("| "))[0].strip()


def work_folder(environment: Mapping[str, str], name: str) -> Path:
    """Make a new folder in the home, with the questions and contexts named in examples."""
    folder = Path(environment["HOME"]) / name
    folder.mkdir()
    for kind in ("questions", "contexts"):
        shutil.copy(ROOT / "subtitle_rag" / "evaluation" / f"sample_{kind}.jsonl", folder / f"{kind}.jsonl")
    return folder


def missing_lines(lines: Iterable[str], output: str) -> str:
    """Return the first line missing from the output, in order; `…` matches anything, spaces are ignored."""
    rest = iter(" ".join(line.split()) for line in output.splitlines())
    for line in lines:
        pattern = ".*".join(map(re.escape, " ".join(line.split()).split("…")))
        if not any(re.fullmatch(pattern, row) for row in rest):
            return line
    return ""


def run_all(paths: Iterable[Path], environment: Mapping[str, str]) -> Iterator[str]:
    """Run the documents' commands, and yield the failures. Each document has the sample in its library."""
    for number, path in enumerate(paths):
        todo = [command for command in commands(path) if runs(command)]
        if not todo:
            continue
        folder = work_folder(environment, f"work-{number}")
        (Path(environment[config.HOME_VARIABLE]) / "config.toml").unlink(missing_ok=True)
        korean = path in (ROOT / "README.md", ROOT / "docs" / path.name)
        surroundings = {**environment, config.LANGUAGE_VARIABLE: "ko" if korean else "en"}
        prepare = Command(position(path, 1), f"{PROGRAM} index ~/captions")
        yield from filter(None, (run(command, surroundings, folder) for command in (prepare, *todo)))


if __name__ == "__main__":
    i18n.activate("en")
    sys.exit(write_reference())
