"""The documents name only what exists.

In ARCHITECTURE.md, docs/dev/architecture.md and CONTRIBUTING.md every word in backticks is looked up: paths, modules,
classes, commands. Files are parsed and not imported. Of README*.md and docs/ `scripts._documents` checks links,
commands, options and settings, and runs what can be run.
"""

import ast
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts import _documents, _reference
from scripts._documents import FENCE, INLINE, LINK
from scripts.benchmarks.__main__ import NAMES
from subtitle_rag.answers.token_budget import AUTOMATIC_TOKENS
from subtitle_rag.base.config import settings
from subtitle_rag.base.output import ExitCode
from subtitle_rag.cli.main import VERBS
from subtitle_rag.index.server_terms import OLDEST
from subtitle_rag.models import manifest
from subtitle_rag.models.neural.neural_host import IDLE_S
from subtitle_rag.models.neural.protocols import PATIENCE_S
from subtitle_rag.search.query import KINDS, KOREAN
from subtitle_rag.search.reranking import FULL_DEPTH
from subtitle_rag.tui.screens.answer.answer_page import RECENT_ANSWERS
from tests.support.commandline import ENVELOPE
from tests.support.sources import tree

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "subtitle_rag"
PLACES = (PACKAGE, ROOT)
"""Where a path or a dotted name may begin."""
DOCUMENTS = ("ARCHITECTURE.md", "docs/dev/architecture.md", "CONTRIBUTING.md")

PATH = re.compile(r"[\w.*/-]+(/|\.py|\.md|\.tcss|\.sh)|[\w.*-]+/[\w.*/-]+")
DOTTED = re.compile(r"[A-Za-z_]\w*(\.\w+)+")
CLASS = re.compile(r"_?[A-Z][a-z]\w*")
PLACEHOLDER = re.compile(r"\bTIME_\w+")
MADE = (".db", ".json", ".lock", ".log", ".toml")
"""Endings of files that the program reads or writes at a user's: their names stand in the source."""


@cache
def sources() -> dict[Path, str]:
    """The text of everything that a name may come from, without this file, which holds wrong ones."""
    folders = [path for name in ("subtitle_rag", "tests", "scripts") for path in (ROOT / name).rglob("*")]
    files = [*folders, *(ROOT / name for name in ("pyproject.toml", "Makefile", ".ci/run"))]
    wanted = (path for path in files if path.suffix in ("", ".py", ".toml", ".sh", ".tcss") and path.is_file())
    return {path: path.read_text(encoding="utf-8") for path in wanted if path != Path(__file__).resolve()}


@cache
def all_text() -> str:
    return "\n".join(sources().values())


@cache
def lines() -> list[str]:
    return all_text().splitlines()


@cache
def words() -> set[str]:
    return set(re.findall(r"\w+", all_text()))


@cache
def imported() -> set[str]:
    lines = re.findall(r"^\s*(?:from \S+ )?import (.+)$", all_text(), re.MULTILINE)
    return set(re.findall(r"\w+", "\n".join(lines)))


@cache
def classes() -> dict[str, list[Path]]:
    """The modules that define a class, by its name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path, text in sources().items():
        for name in re.findall(r"^class (\w+)", text, re.MULTILINE):
            found[name].append(path)
    return found


@cache
def modules() -> dict[str, list[Path]]:
    """The packages and modules of the program by their last name, and the folders beside it."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in [*PACKAGE.rglob("*.py"), *PACKAGE.glob("*/")]:
        found[path.stem].append(path.with_suffix(""))
    for name in ("subtitle_rag", "tests", "scripts"):
        found[name].append(ROOT / name)
    return found


def defined(body: Sequence[ast.stmt]) -> set[str]:
    """The names that a module or a class defines or imports, and those that its methods assign to `self`."""
    names: set[str] = set()
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update(alias.asname or alias.name for alias in aliases)
    for inner in (inner for each in body if isinstance(each, ast.FunctionDef) for inner in ast.walk(each)):
        match inner:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
    return names


def is_defined(path: Path, names: Sequence[str]) -> bool:
    """Whether the module at `path` defines `names[0]`, and that class `names[1]`."""
    body = tree(path).body
    if len(names) == 1:
        return names[0] in defined(body)
    return any(has_member(node, names[1]) for node in body if isinstance(node, ast.ClassDef) and node.name == names[0])


def has_member(owner: ast.ClassDef, name: str) -> bool:
    parents = (re.sub(r"\[.*", "", ast.unparse(base)).split(".")[-1] for base in owner.bases)
    return name in defined(owner.body) or any(is_member(parent, name) for parent in parents)


def is_member(owner: str, name: str) -> bool:
    return any(is_defined(path, [owner, name]) for path in classes().get(owner, ()))


def is_name(dotted: str) -> bool:
    """Whether a dotted name leads from a module or a class of ours to something that is there."""
    first, *rest = dotted.split(".")
    return is_member(first, rest[0]) or any(leads_on(path, rest) for path in modules().get(first, ()))


def leads_on(path: Path, names: Sequence[str]) -> bool:
    """Whether `names` lead on from the package or module at `path`, which has no suffix."""
    if not names:
        return True
    inner = path / names[0]
    if inner.is_dir() or inner.with_suffix(".py").is_file():
        return leads_on(inner, names[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.is_file() and is_defined(file, names)


def is_command(line: str) -> bool:
    match line.split():
        case ["make", verb, *_]:
            return re.search(rf"^{verb}\b.*:", sources().get(ROOT / "Makefile", ""), re.MULTILINE) is not None
        case ["subtitle-rag", *_]:
            return not _documents.inline_problem(line)
        case [program, *_] if "/" in program:
            return (ROOT / program).is_file()
    return is_in_source(line)


def is_in_source(text: str) -> bool:
    """Whether it stands there word by word."""
    ends = (r"(?<!\w)" if text[0].isalnum() else "", r"(?!\w)" if text[-1].isalnum() else "")
    whole = re.compile(re.escape(text).join(ends))
    return any(whole.search(line) for line in lines() if text in line)


def exists(quoted: str) -> bool:
    """Whether what stands in backticks is there, each kind by its own rule."""
    word = quoted.removesuffix("()")
    if any(True for place in PLACES for _found in place.glob(word.rstrip("/"))):
        return True
    if " " in word:
        return is_command(word)
    if PATH.fullmatch(word):
        return False
    first = word.split(".")[0]
    if DOTTED.fullmatch(word) and not word.endswith(MADE) and (first in modules() or first in classes()):
        return is_name(word)
    if CLASS.fullmatch(word):
        return word in classes() or word in imported()
    return word in words() if word.isidentifier() else is_in_source(word)


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def linked(document: str) -> set[str]:
    """The paths that its links lead to."""
    return {(first or second).split("#")[0] for first, second in LINK.findall(text_of(document))}


def quoted(document: str) -> list[str]:
    return list(dict.fromkeys(INLINE.findall(FENCE.sub("", text_of(document)))))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_is_there(document: str) -> None:
    assert [word for word in quoted(document) if not exists(word)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "dev").glob("*.md")), ids=lambda path: path.name)
def test_a_page_for_maintainers_names_files_that_are_there(path: Path) -> None:
    named = [word for word in quoted(str(path)) if re.match(r"(tests|scripts|subtitle_rag|docs)/\S+$", word)]
    assert [word for word in named if not exists(word)] == []


@pytest.mark.parametrize("path", _documents.other_documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    assert list(_documents.link_problems(path)) == []


@pytest.mark.parametrize("path", _documents.documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_for_users_names_is_there(path: Path) -> None:
    assert _documents.static_problems(path) == []


def test_the_reference_is_what_the_program_makes_of_it() -> None:
    assert _reference.stale(_reference.pages()) == []


def test_the_reference_explains_what_the_program_has() -> None:
    assert list(_reference.EXIT_CODES) == list(ExitCode)
    assert list(_reference.ENVELOPE) == ENVELOPE
    named = {name for path in PACKAGE.rglob("*.py") for name in re.findall(r"\bSUBTITLE_RAG_\w+", path.read_text())}
    assert set(_reference.ENVIRONMENT) == named | {settings.OLLAMA_VARIABLE}


def test_the_page_on_json_is_short_and_loses_no_key() -> None:
    first = {"a": 1, "b": 2.5, "c": {"x": "", "y": ""}, "d": [{"e": None, "f": {"g": {"h": [1]}}}], "i": []}
    second: dict[str, Any] = {"a": 1, "b": 2, "c": None, "d": [], "i": [], "only": True}
    lines = _reference.member_lines([first, second])
    assert lines == [
        "a: integer",
        "b: number",
        "c: {x, y: string} or null",
        "d: list of {e: null; f: {g: {h: list of integer}}}",
        "i: list",
        "only: boolean",
    ]


KOREAN_SHELF, ENGLISH_SHELF = ROOT / "docs", ROOT / "docs" / "en"
MOST_WORDS = 10_000


def test_both_languages_have_the_same_pages_with_the_same_commands() -> None:
    def commands(shelf: Path) -> dict[str, list[str]]:
        return {path.name: [each.text for each in _documents.commands(path)] for path in sorted(shelf.glob("*.md"))}

    assert commands(KOREAN_SHELF)
    assert commands(KOREAN_SHELF) == commands(ENGLISH_SHELF)


@pytest.mark.parametrize("shelf", [KOREAN_SHELF, ENGLISH_SHELF], ids=["ko", "en"])
def test_what_users_read_is_short_and_names_every_verb(shelf: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in shelf.glob("*.md")]
    assert 0 < sum(len(text.split()) for text in texts) <= MOST_WORDS
    used = {words[1] for text in texts for words in map(str.split, re.findall(r"subtitle-rag [\w-]+", text))}
    assert set(VERBS) - used == {"demo", "eval", "listen"} - used


@pytest.mark.parametrize("shelf", [KOREAN_SHELF, ENGLISH_SHELF], ids=["ko", "en"])
def test_the_page_on_search_names_what_the_query_syntax_has(shelf: Path) -> None:
    text = (shelf / "search.md").read_text(encoding="utf-8")
    assert [name for name, korean in KOREAN.items() if f"`{name}:" not in text or f"`{korean}:" not in text] == []
    assert all(f"- `{kind}`: {', '.join(words)}" in text for kind, words in KINDS.items())


@pytest.mark.parametrize("page", ["docs/trouble.md", "docs/en/trouble.md"])
def test_every_place_that_is_asked_is_told(page: str) -> None:
    told = (ROOT / page).read_text(encoding="utf-8")
    for place in ("YouTube", "`clip`", "Hugging Face", "yt-dlp", "Ollama", "Qdrant", "`subtitle-rag mcp`"):
        assert re.search(rf"^\|.*{place}.*\|$", told, re.MULTILINE), place


def test_every_script_in_python_has_the_suffix_that_ruff_and_mypy_find_it_by() -> None:
    scripts = [path for path in (ROOT / "scripts").iterdir() if path.is_file() and not path.suffix]
    assert [path.name for path in scripts if b"python" in path.read_bytes().partition(b"\n")[0]] == []


def test_contributing_names_every_benchmark() -> None:
    benchmarks = [f"scripts/bench {name}" for name in NAMES]
    assert [name for name in benchmarks if f"`{name}`" not in text_of("CONTRIBUTING.md")] == []


@pytest.mark.parametrize("name", ["README.md", "README.en.md"])
def test_readme_is_short_and_has_one_picture_and_the_two_commands(name: str) -> None:
    text = text_of(name)
    hooks = tomllib.loads(text_of("pyproject.toml"))["tool"]["hatch"]["metadata"]["hooks"]
    assert len(text.splitlines()) <= 70
    assert text.count("![") == 1
    assert f"$ git clone {hooks['custom']['home']}.git && cd subtitle_rag\n$ ./scripts/start\n" in text
    assert {"ARCHITECTURE.md", "CONTRIBUTING.md"} <= linked(name)


def test_the_test_command_stands_where_a_contributor_looks() -> None:
    assert "$ ./scripts/test" in text_of("CONTRIBUTING.md").splitlines()


@pytest.mark.parametrize(("name", "folder"), [("README.md", "docs"), ("README.en.md", "docs/en")])
def test_readme_leads_to_every_page_for_users(name: str, folder: str) -> None:
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / folder).glob("*.md")}
    assert pages
    assert pages - linked(name) == set()


def test_the_shelf_of_maintainers_has_a_list_of_its_pages() -> None:
    shelf = ROOT / "docs" / "dev"
    pages = {path.name for path in shelf.glob("*.md")} - {"README.md"}
    assert pages
    assert pages - linked("docs/dev/README.md") == set()


def test_the_figures_of_readme_are_those_of_the_program() -> None:
    seconds = [json.loads(path.read_text())["duration"] for path in (PACKAGE / "sample").glob("*.info.json")]
    base = re.findall(r"about (\d+ MB)", (ROOT / "scripts" / "_environment.sh").read_text())
    assert [figure for figure in base if figure not in text_of("README.md")] == []
    assert f"{len(seconds)}편, {round(sum(seconds) / 60)}분" in text_of("README.md")


@pytest.mark.parametrize("name", ["README.md", "README.en.md"])
def test_readme_tells_the_size_that_the_app_tells(name: str) -> None:
    light = next(step for step in manifest.search_steps() if step.models)
    assert light.extra
    light_mb = light.extra.cpu_megabytes + round(sum(model.disk_gb for model in light.models) * 1000)
    assert f"{light_mb / 1000:.1f} GB" in text_of(name)


def sizes(step: manifest.SearchStep) -> list[str]:
    """The sizes of a step's packages and models, as the app tells them."""
    assert step.extra
    megabytes = [step.extra.cpu_megabytes, round(sum(model.disk_gb for model in step.models) * 1000)]
    return [f"{size / 1000:g} GB" if size >= 1000 else f"{size} MB" for size in megabytes]


@pytest.mark.parametrize(("page", "about"), [("docs/meaning.md", "약 {}초"), ("docs/en/meaning.md", "about {} s")])
def test_the_table_of_steps_has_the_figures_that_the_app_tells(page: str, about: str) -> None:
    rows = [re.sub(r"(?<=\d) %", "%", row) for row in text_of(page).splitlines() if row.startswith("| ")]
    steps = [step for step in manifest.search_steps() if step.models]
    (by_words,) = re.findall(r"by words alone for (\d+)", steps[0].gain["en"])
    told = [[f"{by_words}%"]]
    for step in steps:
        shares = re.findall(r"(\d+) of (?:the same )?100 questions", step.gain["en"])
        told.append([*sizes(step), about.format(f"{step.seconds:g}"), *(f"{share}%" for share in shares)])
    assert [figures for figures in told if not any(all(each in row for each in figures) for row in rows)] == []


def test_pages_for_users_tell_the_limits_in_force() -> None:
    pause = settings.YoutubeSettings()
    lead_in = f"{settings.PlayerSettings().lead_in:g}"
    patience, depth, idle = f"{PATIENCE_S:g}", f"{FULL_DEPTH}", f"{IDLE_S / 60:g}"
    (base,) = set(re.findall(r"about (\d+ MB)", (ROOT / "scripts" / "_environment.sh").read_text()))
    pauses = f"{pause.pause:g}–{pause.longest_pause_s:g}"
    tokens, server = f"{AUTOMATIC_TOKENS:,}", ".".join(map(str, OLDEST))
    told = {
        "start.md": ([f"디스크 {base}"], [f"{base} of disk"]),
        "search.md": ([f"{lead_in}초 앞"], [f"{lead_in} seconds before"]),
        "captions.md": ([f"{pauses}초"], [f"{pauses} seconds"]),
        "meaning.md": (
            [f"{patience}초 동안", f"{depth}개까지", f"{idle}분 동안"],
            [f"in {patience} seconds", f"up to {depth}", f"{idle} minutes"],
        ),
        "ask.md": ([f"{tokens}토큰", f"답 {RECENT_ANSWERS}개"], [f"{tokens} tokens", f"last {RECENT_ANSWERS}"]),
        "settings.md": ([f"{server} 이상"], [f"{server} or newer"]),
    }
    for page, both in told.items():
        for shelf, figures in zip((KOREAN_SHELF, ENGLISH_SHELF), both, strict=True):
            text = (shelf / page).read_text(encoding="utf-8")
            assert [figure for figure in figures if figure not in text] == [], page


def test_the_size_of_a_model_is_that_of_its_files() -> None:
    offered = (*manifest.encoders(), *manifest.rerankers(), *manifest.speech_models())
    models = [model for model in offered if all(file.bytes for file in model.files)]
    assert {model.name for step in manifest.search_steps() for model in step.models} <= {each.name for each in models}
    wrong = {
        model.name: total
        for model in models
        if abs((total := sum(file.bytes or 0 for file in model.files)) / 1e9 - model.disk_gb) > 0.05 * model.disk_gb
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("```console\n$ subtitle-rag search 치킨 --made-up\n```", "--made-up"),
        ("```console\n$ subtitle-rag serch 치킨\n```", "No such command 'serch'"),
        ("```console\n$ subtitle-rag contexts writes\n```", "No such command 'writes'"),
        ("```console\n$ subtitle-rag contexts\n```", "missing command"),
        ("```console\n$ subtitle-rag show\n```", "Missing"),
        ("```console\n$ subtitle-rag status here\n```", "unexpected extra argument (here)"),
        ("```console\n$ subtitle-rag search 치킨 --limit many\n```", "many"),
        ("```sh\nsubtitle-rag self add everything\n```", "everything"),
        ("```sh\nsubtitle-rag search 치킨 | subtitle-rag nothing\n```", "No such command 'nothing'"),
        ('```sh\nsubtitle-rag search "치킨\n```', "quotation"),
        ("```sh\n./scripts/nothing\n```", "there is no scripts/nothing"),
        ("```sh\n./scripts/campaign --made-up\n```", "has no option --made-up"),
        ("```sh\n./scripts/bench nothing\n```", "has no benchmark nothing"),
        ("```sh\n./scripts/bench fusion --made-up\n```", "has no option --made-up"),
        ("```sh\nmake nothing\n```", "make has no verb nothing"),
        ("```sh\nsubtitle-rug search\n```", "unknown program: subtitle-rug"),
        ("With `--made-up` it does.", "no such option: --made-up"),
        ("With `--limit --made-up` it does.", "no such option: --made-up"),
        ("`search --made-up` does.", "no such option: --made-up"),
        ("`subtitle-rag eval nothing` does.", "no such command"),
        ("`config nothing` does.", "no such command"),
        ("Press `Ctrl+J`.", "no such key: Ctrl+J"),
        ("Press `F11`.", "no such key: F11"),
        ("Set `SUBTITLE_RAG_MADE_UP` to 1.", "no such variable: SUBTITLE_RAG_MADE_UP"),
        ("```toml\n[search]\nlimits = 3\n```", "limits"),
        ('```toml\n[keys]\n"app.nothing" = "f8"\n```', "app.nothing"),
        ("[There](nowhere.md)", "dead link: nowhere.md"),
        ("[Here](#nowhere)", "no such heading: #nowhere"),
        ("![Picture](nowhere.svg)", "dead link: nowhere.svg"),
        ("| words | 0.5 [0.4, 0.6] | at commit 0a8f418d", "figures without the command"),
        ("`subtitle-rag eval run` prints | 50.0 [-4.0, 60.0] |", "figures without the commit"),
    ],
)
def test_a_mistake_in_a_document_is_seen(line: str, problem: str, tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"# A page\n\n{line}\n")
    (message,) = _documents.static_problems(document)
    assert message.startswith(f"{document}:3: " if "```" not in line or "toml" in line else f"{document}:4: ")
    assert problem in message


def test_what_is_right_is_not_complained_about(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        """# 뜻으로 찾기: `neural`

[here](#뜻으로-찾기-neural) [again](#뜻으로-찾기-neural-1) `contexts write｜redo` `--limit` `PATH` `F1` `Ctrl+G`

## 뜻으로 찾기: neural

```console
$ .venv/bin/subtitle-rag --language en search "치킨 소스" -- -광고 \\
    > scenes.txt   # a comment
an output --made-up
$ NO_COLOR=1 subtitle-rag open VIDEO_ID@12:41 --print
```
"""
    )
    assert _documents.static_problems(document) == []
    first, second = _documents.commands(document)
    assert (first.text, first.output) == (
        '.venv/bin/subtitle-rag --language en search "치킨 소스" -- -광고 > scenes.txt',
        ("an output --made-up",),
    )
    assert _documents.runs(first)
    assert second.position == f"{document}:11"


@pytest.mark.parametrize(
    "line",
    [
        "subtitle-rag",
        "subtitle-rag sync",
        "subtitle-rag index https://www.youtube.com/@channel",
        "subtitle-rag open VIDEO_ID@12:41",
        "subtitle-rag remove VIDEO_ID",
        "subtitle-rag doctor",
        "subtitle-rag self add neural",
        "subtitle-rag contexts glossary channel --edit",
        "subtitle-rag status && git clean",
        "cp ~/captions . && rm captions",
        "scripts/bench budgets",
        "scripts/bench guards --encoder bge",
    ],
)
def test_what_needs_network_models_or_people_is_not_run(line: str) -> None:
    assert not _documents.runs(_documents.Command("README.md:1", line))


@pytest.mark.programs("sh", "cat", "head")
@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("```console\n$ subtitle-rag config\nsearch.limit 20 …\n```", ""),
        ("```console exit=1\n$ cat nothing\n```", ""),
        ("```console exit=3\n$ cat page.md\n```", "exit code 0 in place of 3"),
        ("```console\n$ cat nothing\n```", "exit code 1 in place of 0"),
        ("```console\n$ head -n 1 page.md\na line … elsewhere\n```", "not in its output: a line … elsewhere"),
    ],
)
def test_a_wrong_exit_code_or_output_is_seen(block: str, problem: str, tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(block)
    (command,) = _documents.commands(document)
    assert _documents.runs(command)
    with _documents.throwaway_home() as environment:
        message = _documents.run(command, environment, tmp_path)
    assert problem in message
    assert bool(problem) == bool(message)


def test_figures_are_written_anew_where_their_rows_stand() -> None:
    lines = ["| search | hit@1 | …", "| words | 0.5 | 0.6 | …", "| both | 0.7 | 0.8 | …", "by hand: 7/9 stored"]
    printed = """| search | kind | hit@1 |
| words | all | 0.1 |

| search | hit@1 | hit@5 | time |
| words | 0.4 | 0.6 | 12 |
| both | 0.7 | 0.8 | 11 |

by hand: 8/9 stored
"""
    wanted = ["| search | hit@1 | …", "| words | 0.4 | 0.6 | …", "| both | 0.7 | 0.8 | …", "by hand: 8/9 stored"]
    assert _documents.renewed(lines, printed) == wanted


@pytest.mark.campaign(part="documents")
@pytest.mark.hosts
@pytest.mark.programs("sh", *_documents.TOOLS)
def test_every_command_that_can_run_here_ends_as_its_document_says() -> None:
    with _documents.throwaway_home() as environment:
        assert _reference.stale(_documents.results_page(environment)) == []
        assert list(_documents.run_all(_documents.documents(), environment)) == []


def test_the_map_has_every_part_of_the_package() -> None:
    named = set(quoted("ARCHITECTURE.md"))
    parts = (path.name for path in PACKAGE.iterdir() if not path.name.startswith(("__", ".")))
    assert [name for name in parts if not {name, f"{name}/"} & named] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_figure_is_filled_in(document: str) -> None:
    assert PLACEHOLDER.findall(text_of(document)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "tui/old_screen.py",
        "scripts/nothing",
        "tests/nowhere/",
        "tui.screens.search.live_search.DeadSearch",
        "tui.nothing",
        "fusion.unfused",
        "LiveSearch.search_later",
        "search.searcher.Searcher.find",
        "library.store.Library.put_nothing",
        "SearchScreenOfOld",
        "put_windows_of_old",
        "SUBTITLE_RAG_NOTHING",
        "make nothing",
        "scripts/nothing --all",
        "subtitle-rag nothing",
        "exit_on_error=Maybe",
    ],
)
def test_a_name_that_is_not_there_is_seen(wrong: str) -> None:
    assert not exists(wrong)


@pytest.mark.parametrize(
    "right",
    [
        "tui/app.py",
        "subtitle_rag/tui/app.py",
        "index/index_*.py",
        "tests/tui/",
        "tui.screens.search.live_search.LiveSearch",
        "fusion.fuse",
        "LiveSearch.search_now",
        "SearchPage.search_again",
        "SubtitleApp.context",
        "models.ollama.llm_client.Llm",
        "output.ExitCode.DONE",
        "Content",
        "library.db",
        "config.toml",
        "SUBTITLE_RAG_HOME",
        "exit_on_error=False",
        "subtitle-rag doctor --offline",
        "scripts/test tests/tui",
    ],
)
def test_a_name_that_is_there_is_known(right: str) -> None:
    assert exists(right)
