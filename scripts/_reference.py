"""The reference in docs/reference/ (Korean) and docs/en/reference/ (English), made from the code.

Commands come from click, settings from their dataclasses, keys from the app's bindings, models from
models.toml. The pages on exit codes, JSON and queries are written by hand.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from subtitle_rag import cli, i18n, log_file
from subtitle_rag.answers.answer_prompt import built_in_prompt
from subtitle_rag.config import settings as config
from subtitle_rag.config.template import EXAMPLE_KEY, EXAMPLE_PLAYER, to_toml
from subtitle_rag.contexts.prompt_layout import CONTEXT_PROMPT_TEXT
from subtitle_rag.models import manifest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"ko": ROOT / "docs" / "reference", "en": ROOT / "docs" / "en" / "reference"}
TEXTS: Mapping[str, tuple[str, str]] = {
    "generated": ("코드에서 만듭니다: scripts/docs-check --write", "Made from the code: scripts/docs-check --write"),
    "commands": ("명령", "Commands"),
    "commands_lead": (
        "`subtitle-rag`만 쓰면 터미널에서 앱이 열립니다. `--help`도 같은 설명을 보여 줍니다.",
        "`subtitle-rag` alone opens the app in the terminal. `--help` behind a command tells the same.",
    ),
    "global": ("어느 명령에나 쓰는 옵션", "Options of every command"),
    "global_lead": ("명령 앞에 씁니다.", "They stand in front of the command."),
    "option": ("옵션", "option"),
    "meaning": ("뜻", "meaning"),
    "configuration": ("설정", "Configuration"),
    "configuration_lead": (
        "설정은 `config.toml`에 적습니다. 어디에 있는지는 `subtitle-rag config`가 알려 줍니다. 명령의 옵션이"
        " 환경 변수보다, 환경 변수가 파일보다, 파일이 기본값보다 먼저입니다.",
        "Settings stand in `config.toml`; `subtitle-rag config` prints its place. A flag goes before an environment"
        " variable, that before the file, that before the default.",
    ),
    "setting": ("설정", "setting"),
    "default": ("기본값", "default"),
    "example": ("플레이어와 키는 이렇게 적습니다:", "Players and keys are written like this:"),
    "environment": ("환경 변수", "Environment variables"),
    "variable": ("변수", "variable"),
    "built_in_prompts": ("기본 프롬프트", "Built-in prompts"),
    "built_in_prompts_lead": (
        "`[prompts]`에 적는 파일은 이 글에서 시작하면 됩니다. 답의 프롬프트는 화면 언어를 따릅니다.",
        "A file for `[prompts]` can begin with these texts. The prompt of answers follows the language of the program.",
    ),
    "keys": ("키", "Keys"),
    "keys_lead": (
        "설정의 `[keys]`에서 이 이름으로 바꿉니다. 앱의 `F1`이 지금 있는 곳의 키를 보여 줍니다. 글자 키는 한글"
        " 자판에서도 됩니다.",
        "`[keys]` in the config changes them by these ids. `F1` in the app shows those of the place where you are."
        " Letters work on a Korean keyboard, too.",
    ),
    "id": ("이름", "id"),
    "key": ("키", "keys"),
    "models": ("모델", "Models"),
    "models_lead": (
        "`subtitle-rag models list`가 같은 목록과, 받아 둔 모델을 보여 줍니다. **굵은 것**이 기본입니다. 문맥 모델의"
        " 기본은 이 컴퓨터의 메모리에 따라 정해집니다.",
        "`subtitle-rag models list` prints the same list, and which are here. **Bold** ones are the defaults; for"
        " contexts, the machine's memory chooses.",
    ),
    "context_models": ("문맥과 답을 쓰는 모델 (Ollama)", "Models that write contexts and answers (Ollama)"),
    "offered": ("권함", "offered"),
    "yes": ("예", "yes"),
    "no": ("아니요", "no"),
    "encoders": ("의미 검색에 쓰는 인코더", "Encoders, which search by meaning"),
    "rerankers": ("순서를 다듬는 재정렬 모델", "Rerankers, which put the best scenes first"),
    "model": ("모델", "model"),
    "disk": ("디스크", "disk"),
    "memory": ("메모리", "memory"),
    "licence": ("사용권", "licence"),
    "default_from": ("메모리 {size} GB부터 기본", "default from {size} GB of memory on"),
    "json-results": ("명령마다의 JSON 결과", "JSON results by command"),
    "json-results_lead": (
        "[JSON 출력](json.md)의 `result`에 들어가는 이름과 값의 종류입니다. 예제 보관함에서 아래 명령을 실행해"
        " 만듭니다. `null`만 적힌 값은 예제에 없는 값입니다.",
        "The names and types of `result` in the [JSON output](../en/reference/json.md), made by running these commands"
        " on the sample library. A value with `null` alone is one that the sample does not have.",
    ),
}
"""The sentences of the pages that the program itself does not have: Korean, English."""
ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    config.HOME_VARIABLE: (
        "설정, 데이터, 캐시, 로그를 모두 둘 폴더입니다. --home과 같습니다.",
        "The folder that holds config, data, cache and log together, as --home does.",
    ),
    config.LANGUAGE_VARIABLE: (
        "메시지와 화면의 언어입니다. --language와 같습니다.",
        "The language of messages and screens, as --language does.",
    ),
    config.HOSTS_VARIABLE: (
        "Ollama의 주소를 쉼표로 나누어 적습니다. 비워 두면 모델을 쓰지 않습니다.",
        "Ollama hosts, separated by commas; empty: no models.",
    ),
    config.OLLAMA_VARIABLE: (
        "Ollama가 쓰는 변수입니다. 설정에도 위 변수에도 주소가 없으면 이 주소를 씁니다.",
        "Ollama's own variable: its host, where neither the config nor the variable above has one.",
    ),
    log_file.DEBUG_VARIABLE: (
        "1로 두면 검색어와 자막까지 모두 로그에 씁니다. --debug와 같습니다.",
        "Set to 1: write everything to the log, also queries and captions, as --debug does.",
    ),
    "SUBTITLE_RAG_HOST_LINGER": (
        "검색 색인을 마지막으로 쓴 뒤 메모리에 두는 초입니다(20).",
        "Seconds that the index stays loaded after its last use (20).",
    ),
    "SUBTITLE_RAG_NEURAL_LINGER": (
        "신경망 모델 프로세스를 마지막으로 쓴 뒤 남겨 두는 초입니다(300).",
        "Seconds that the process of the neural models stays after its last use (300).",
    ),
    "SUBTITLE_RAG_NEURAL_IDLE": (
        "쓰지 않는 신경망 모델을 메모리에서 내리기까지의 초입니다(600).",
        "Seconds after which an unused neural model leaves memory (600).",
    ),
}
"""The program's own variables, in Korean and English."""

RESULTS_PAGE = "json-results"
BY_HAND = ("exit-codes", "json", "search-syntax", RESULTS_PAGE)
"""Pages that are not made by `pages`."""
RESULT_COMMANDS = (
    *("index ~/captions", "search 치킨 --limit 2", "show sample-0001 --at 6:52"),
    *("overview sample-0001", "overview 느긋한"),
    *("open sample-0001@6:52 --print", "ask 소스", "list", "status", "contexts list"),
    *("models list", "config", "doctor --offline"),
    *("eval run questions.jsonl --no-neural", "remove sample-0009 --yes", "rebuild"),
)
"""Commands whose results are described, in the order in which they run."""


def root_context() -> click.Context:
    """The program's context, of a copy: click writes into a command the help option that it makes for a context."""
    root = cli.localized(cli.root)
    return click.Context(root, info_name="subtitle-rag", **root.context_settings)


def leaf_contexts(context: click.Context) -> Iterator[click.Context]:
    """Those of all commands below this one that have none of their own, in the order of `--help`."""
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


def pages() -> dict[Path, str]:
    """Every page's text by its path."""
    texts: dict[Path, str] = {}
    for language, folder in FOLDERS.items():
        with speaking(language):
            for name, lines in PAGES.items():
                head = (f"<!-- {own_text('generated')} -->", "", f"# {own_text(name)}", "")
                texts[folder / f"{name}.md"] = "\n".join([*head, *lines()]).rstrip() + "\n"
    return texts


def stale_pages() -> list[str]:
    """Pages that differ from what the code makes of them, and those that it does not make."""
    texts = pages()
    present = {path for folder in FOLDERS.values() for path in folder.glob("*.md") if path.stem not in BY_HAND}
    return [
        *stale(texts),
        *(f"{path.relative_to(ROOT)}: not made from the code" for path in sorted(present - set(texts))),
    ]


def stale(texts: Mapping[Path, str]) -> list[str]:
    """Those of the pages whose files differ."""
    return [
        f"{path.relative_to(ROOT)}: differs from the code: scripts/docs-check --write makes it anew"
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def results_pages(result_of: Callable[[str], Any]) -> dict[Path, str]:
    """The page on the results of `RESULT_COMMANDS`, one for all languages; `result_of` returns a command's result."""
    lines = [f"<!-- {TEXTS['generated'][1]} -->", "", f"# {' · '.join(TEXTS[RESULTS_PAGE])}"]
    for lead in TEXTS[f"{RESULTS_PAGE}_lead"]:
        lines += ["", lead]
    for command in RESULT_COMMANDS:
        lines += ["", f"## {command}", "", "```text", *shape("result", [result_of(command)], 0), "```"]
    return {FOLDERS["ko"] / f"{RESULTS_PAGE}.md": "\n".join(lines) + "\n"}


def shape(name: str, values: Sequence[Any], depth: int) -> Iterator[str]:
    """The types of a value that was seen with these contents, and those of its members below it."""
    types = sorted({_type(value) for value in values}, key=lambda name: (name == "null", name))
    yield f"{'  ' * depth}{name}: {' or '.join(types)}"
    members = [member for value in values if isinstance(value, list) for member in value]
    if members:
        yield from shape("each", members, depth + 1)
    tables = [value for value in values if isinstance(value, dict)]
    for key in dict.fromkeys(key for table in tables for key in table):
        yield from shape(key, [table[key] for table in tables if key in table], depth + 1)


def _type(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "list"}
    return "null" if value is None else names[type(value)]


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """The language in force is this one within the block."""
    before = os.environ.get("LANGUAGE", "")
    i18n.activate(language)
    try:
        yield
    finally:
        i18n.activate(before if before in i18n.LANGUAGES else "en")


def own_text(name: str) -> str:
    """One of `TEXTS` in the language in force."""
    return _in_language(TEXTS[name])


def _in_language(texts: tuple[str, str]) -> str:
    """Return the Korean or the English text, by the language in force."""
    return i18n.in_language(dict(zip(("ko", "en"), texts, strict=True)))


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table whose columns have these names among `TEXTS`."""
    yield _row([own_text(name) for name in names])
    yield _row(["---"] * len(names))
    yield from map(_row, rows)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '｜') for cell in cells)} |"


def code(text: str) -> str:
    """The text as code within a line."""
    return f"`{text}`" if "`" not in text else f"`` {text} ``"


def commands() -> Iterator[str]:
    context = root_context()
    yield from (own_text("commands_lead"), "")
    yield from (f"## {own_text('global')}", "", own_text("global_lead"), "")
    yield from _options(context)
    for leaf in leaf_contexts(context):
        pieces = [piece for piece in leaf.command.collect_usage_pieces(leaf) if piece != leaf.command.options_metavar]
        yield from (f"## {leaf.command_path.partition(' ')[2]}", "", _plain(leaf.command.help or ""), "")
        yield from ("```text", " ".join([leaf.command_path, *pieces]), "```", "")
        yield from _options(leaf)


def _options(context: click.Context) -> Iterator[str]:
    options = [param for param in context.command.get_params(context) if isinstance(param, click.Option)]
    records = [param.get_help_record(context) for param in options if "--help" not in param.opts]
    rows = [(code(term), _plain(meaning)) for term, meaning in filter(None, records)]
    if rows:
        yield from table(("option", "meaning"), rows)


def _plain(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


def configuration() -> Iterator[str]:
    yield from (own_text("configuration_lead"), "")
    language = (code("language"), "", f"{config.about('language')} ({', '.join(map(code, i18n.LANGUAGES))})")
    yield from table(("setting", "default", "meaning"), [language])
    for name, kind in config.SECTIONS.items():
        yield from (f"## [{name}]", "", config.about(name), "")
        yield from _setting_table(kind)
    yield from ("## [players.NAME]", "", config.about("players"), "")
    yield from ("## [keys]", "", config.about("keys"), "")
    yield from (own_text("example"), "")
    yield from ("```toml", "[players.celluloid]", f"command = {to_toml(EXAMPLE_PLAYER)}", "")
    yield from ("[keys]", f"{json.dumps(EXAMPLE_KEY[0])} = {json.dumps(EXAMPLE_KEY[1])}")
    yield from ("```", "", f"## {own_text('environment')}", "")
    rows = ((code(name), _in_language(meaning)) for name, meaning in ENVIRONMENT.items())
    yield from table(("variable", "meaning"), rows)
    yield from _built_in_prompts()


def _built_in_prompts() -> Iterator[str]:
    """The files to begin with for `[prompts]`."""
    of_answers = i18n.in_language({"ko": built_in_prompt("ko"), "en": built_in_prompt("en")})
    yield from (f"## {own_text('built_in_prompts')}", "", own_text("built_in_prompts_lead"), "")
    for name, text in (("contexts", CONTEXT_PROMPT_TEXT), ("answers", of_answers)):
        yield from (f"### prompts.{name}", "", "```text", *text.splitlines(), "```", "")


def _setting_table(kind: type[Any]) -> Iterator[str]:
    rows = [
        (
            code(each.name),
            "" if each.metadata.get("required") else code(to_toml(getattr(kind(), each.name))),
            f"{config.about_field(each)}{_values(each.metadata)}",
        )
        for each in fields(kind)
    ]
    yield from table(("setting", "default", "meaning"), rows)


def _values(rules: Mapping[str, Any]) -> str:
    values = rules.get("one_of") or rules.get("among") or ()
    return f" ({', '.join(map(code, values))})" if values else ""


def keys() -> Iterator[str]:
    yield from (own_text("keys_lead"), "")
    from subtitle_rag.tui.keys import keymap
    from subtitle_rag.tui.keys.commands import COMMANDS
    from subtitle_rag.tui.text.key_help import key_meaning

    rows = (
        (code(id), " ".join(code(keymap.key_text(key)) for key in keymap.keys(id)), key_meaning(id)) for id in COMMANDS
    )
    yield from table(("id", "key", "meaning"), rows)


def models() -> Iterator[str]:
    yield from (own_text("models_lead"), "")
    yield from _offered("context_models", manifest.context_models())
    yield from _offered("encoders", (*manifest.encoders(), *manifest.ollama_encoders()))
    yield from _offered("rerankers", manifest.rerankers())


def _offered(title: str, offered: Iterable[manifest.OfferedModel]) -> Iterator[str]:
    rows = []
    for each in offered:
        note, default_from = i18n.in_language(each.note), getattr(each, "default_from_gb", None)
        if default_from:
            note += f" ({own_text('default_from').format(size=f'{default_from:g}')})"
        is_default = getattr(each, "default", default_from is not None)
        name = f"**{code(each.name)}**" if is_default else code(each.name)
        rows.append((name, f"{each.disk_gb:g} GB", f"{each.memory_gb:g} GB", each.licence, note))
    yield from (f"## {own_text(title)}", "")
    yield from table(("model", "disk", "memory", "licence", "meaning"), rows)


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "commands": commands,
    "configuration": configuration,
    "keys": keys,
    "models": models,
}
