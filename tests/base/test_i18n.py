"""The Korean catalogue is whole and current, and nothing that a user reads goes around it."""

import ast
import gettext
import os
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir

from scripts import translations as translations_script
from subtitle_rag.base import i18n
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.particles import PARTICLE
from tests.support.cases import cases

pytestmark = pytest.mark.xdist_group("i18n")  # one worker makes the fixtures of this module

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "subtitle_rag"
SOURCES = sorted(PACKAGE.rglob("*.py"))

AS_IN_ENGLISH: frozenset[str] = frozenset()
"""Ids whose translation may be the same, or hold no Hangul."""
OTHER_WORDS = ("동영상", "비디오", "쿼리", "인덱스", "윈도우", "컨텍스트", "라이브러리", "캡션", "리트리버", "씬")
"""Words for what already has a name: 영상, 검색어, 검색 색인, 구간, 문맥, 보관함, 자막, 검색기, 장면."""
OLD_WORDS = (
    "닿지 못",
    "다시 해 보세요",
    "입력란",
    "입력칸",
    "견주",
    "견준",
    "잰다",
    "재서",
    "치웁니다",
    "치우기",
    "앞으로 이것으로",
    "돌고",
    "뒤에서 하는 일",
    "늘어놓",
    "무엇이 들었는지",
    "재순위",
    "장면의 그림",
    "벡터",
    "구독을 끝냈",
    "십시오",
    "주세요",
    "들여오",
    "낱말",
    "뜻 색인",
    "대목",
    "까닭",
    "꾸러미",
    "선택 사항입니다",
)
"""Wordings with a better one: 연결하지 못, 비교, 측정, 숨깁니다, 실행되고, 백그라운드 작업, 보여 줍니다, 재정렬,
미리보기 이미지, 의미 색인, 해제했습니다, 하세요, 가져오기,
키워드(단어), 챕터, 이유, 패키지, (선택)."""
OLD_ENGLISH = (r"\blook(s|ed|ing)? for\b", r"\bpictures? of (the |a )?(chosen )?scenes?\b", r"\bfor the time being\b")
"""Patterns of English wordings with a plainer one: check for, search for, preview images, for now."""
FIELDS_OF_ONE_END = {"size", "needed", "url"}
"""Fields that always end in the same sound: sizes (`4.6 GB`), and a place in a user's own setting."""
UNKNOWN_PARTICLE = re.compile(r"[가-힣]?\([가-힣]{1,2}\)[가-힣]?")
"""Two forms of a particle, in any order."""
READ_BY_USERS = ("*.md", "docs/**/*.md", "models/*.toml", "scripts/start", "scripts/setup")
NOT_READ = {"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"}
"""Documents for developers and of the past."""
HANGUL = re.compile("[가-힣]")


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The script; it reads the sources, 2 s of processor, once for the whole module."""
    found: dict[str, list[tuple[Any, ...]]] = {}

    def extract_once(folder: str, **how: Any) -> list[tuple[Any, ...]]:
        if folder not in found:
            found[folder] = list(extract_from_dir(folder, **how))
        return found[folder]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translations_script, "extract_from_dir", extract_once)
        yield translations_script


@pytest.fixture(scope="module")
def catalog(script: ModuleType) -> Catalog:
    found: Catalog = script.read()
    return found


@pytest.fixture(scope="module")
def said(script: ModuleType) -> set[str]:
    """The id of every sentence that the program or click can say; of plurals the singular."""
    return {script.forms(message.id)[0] for message in script.extracted() if message.id}


def entries(catalog: Catalog) -> list[Message]:
    return [message for message in catalog if message.id]


def translations(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string or ())


def ids(message: Message) -> list[str]:
    """The English sentence; of plurals the singular first."""
    return [message.id] if isinstance(message.id, str) else list(message.id)


def singular(message: Message) -> str:
    return ids(message)[0]


# --- the catalogue ---


def test_every_sentence_has_its_translation(script: ModuleType, catalog: Catalog, said: set[str]) -> None:
    assert script.missing(catalog) == []
    assert {singular(message) for message in entries(catalog)} == said, "run scripts/translations.py"
    assert not catalog.obsolete


def test_the_header_says_nothing_that_changes_by_itself(script: ModuleType, catalog: Catalog) -> None:
    text = script.PO.read_text(encoding="utf-8")
    header = text[: text.index("\n\n")]
    assert '"Project-Id-Version: subtitle_rag\\n"' in header
    assert '"Plural-Forms: nplurals=1; plural=0;\\n"' in header
    assert "@" not in header
    assert "Date" not in header
    assert not catalog.fuzzy
    assert not [message.id for message in catalog if message.fuzzy]


def test_a_second_run_changes_no_byte(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    po = tmp_path / "subtitle_rag.po"
    shutil.copy(script.PO, po)
    monkeypatch.setattr(script, "PO", po)
    script.main()
    first = po.read_bytes()
    script.main()
    assert po.read_bytes() == first
    assert capsys.readouterr().out == "", "sentences without translation"


def test_another_click_than_the_locks_costs_no_sentence(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    po = tmp_path / "subtitle_rag.po"
    shutil.copy(script.PO, po)
    monkeypatch.setattr(script, "PO", po)
    monkeypatch.setattr(script, "version", lambda package: "8.0.0")
    assert script.main() == 1
    assert "click 8.0.0 is not the" in capsys.readouterr().err
    assert po.read_bytes() == (PACKAGE / "locale" / "ko" / "LC_MESSAGES" / "subtitle_rag.po").read_bytes()


def test_a_new_sentence_is_missing_until_it_is_translated(script: ModuleType) -> None:
    fresh = script.KoreanCatalog()
    fresh.add("A sentence that nobody has translated.")
    fresh.add(("{n} thing", "{n} things"))
    fresh.add("Help", "도움말")
    assert script.missing(fresh) == ["A sentence that nobody has translated.", "{n} thing"]


def test_the_compiled_catalogue_is_the_written_one(script: ModuleType, catalog: Catalog) -> None:
    i18n.activate("ko")
    spoken = gettext.GNUTranslations(BytesIO(script.PO.with_suffix(".mo").read_bytes()))
    for message in entries(catalog):
        wanted = translations(message)
        if isinstance(message.id, str):
            assert spoken.gettext(message.id) == wanted[0]
        else:
            one, many = message.id
            assert [spoken.ngettext(one, many, n) for n in (0, 1, 2, 5)] == wanted * 4


def placeholders(text: str) -> set[str]:
    """What is filled into a sentence, in either way of writing it."""
    named = {f"{name}!{how}:{spec}" for _text, name, spec, how in string.Formatter().parse(text) if name is not None}
    return named | set(re.findall(r"%\(\w+\)[a-z]", text))


def test_placeholders_are_told_apart() -> None:
    assert placeholders("{n} of {all!r} at {rate:.0f}/s") == {"n!None:", "all!r:", "rate!None:.0f"}
    assert placeholders("%(prog)s, version %(version)s") == {"%(prog)s", "%(version)s"}
    assert placeholders("gold: [{{video, start, end}}], 95 % of all") == set()


def test_translations_hold_the_same_placeholders(catalog: Catalog) -> None:
    """Korean has one form for every number: it holds what the plural holds."""
    for message in entries(catalog):
        plural = ids(message)[-1]
        for translation in translations(message):
            assert placeholders(translation) == placeholders(plural), plural


def test_translations_are_korean(catalog: Catalog) -> None:
    for message in entries(catalog):
        if singular(message) in AS_IN_ENGLISH:
            continue
        for translation in translations(message):
            assert translation not in ids(message)
            assert HANGUL.search(translation), translation


def test_the_list_of_exceptions_is_current(said: set[str]) -> None:
    assert said >= AS_IN_ENGLISH


def test_translations_keep_signs_and_words(catalog: Catalog) -> None:
    for message in entries(catalog):
        sign = re.match(r"[!✓…·] ", singular(message))
        for translation in translations(message):
            assert translation.startswith(sign[0] if sign else ""), translation
            assert "!" not in re.sub(r"^! |![rs]}", "", translation), translation
            assert not [word for word in (*OTHER_WORDS, *OLD_WORDS) if word in translation], translation


def test_particles_behind_fields_are_chosen_by_what_fills_them(catalog: Catalog) -> None:
    """`{name}(과)와` would be shown as it stands, and `{key}를` fits only some keys."""
    behind = re.compile(r"\{(\w*)[^{}]*\}[’”'\"」』)\]]*")
    bare = re.compile(r"(?:은|는|이|가|을|를|과|와|로|으로)(?![가-힣(])")
    wrong = []
    for message in entries(catalog):
        for translation in translations(message):
            for field in behind.finditer(translation):
                rest = translation[field.end() :]
                is_bare = bare.match(rest) and field[1] not in FIELDS_OF_ONE_END and not field[0].endswith(")")
                if is_bare or (UNKNOWN_PARTICLE.match(rest) and not PARTICLE.match(rest)):
                    wrong.append(translation)
    assert wrong == []


def old_english(text: str) -> list[str]:
    return [pattern for pattern in OLD_ENGLISH if re.search(pattern, text, re.IGNORECASE)]


def test_english_sentences_have_one_word_for_each_thing(said: set[str]) -> None:
    assert [sentence for sentence in said if old_english(sentence)] == []


def test_documents_and_pages_use_the_words_of_the_catalogue() -> None:
    paths = {path for pattern in READ_BY_USERS for path in ROOT.glob(pattern) if path.name not in NOT_READ}
    assert len(paths) > 20
    old = []
    for path in sorted(path for path in paths if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="ignore")
        old += [f"{path.name}: {word}" for word in (*(word for word in OLD_WORDS if word in text), *old_english(text))]
    assert old == []


def test_filters_in_examples_are_known_to_the_query_syntax(catalog: Catalog) -> None:
    from subtitle_rag.search.query import parse_query

    examples = [text for message in entries(catalog) for text in translations(message)]
    filters = [word for text in examples for word in re.findall(r"(?<!\S)[가-힣]+:[^\s,.]+", text)]
    assert {name.partition(":")[0] for name in filters} == {"채널", "영상", "종류", "이후", "이전"}
    for example in filters:
        assert parse_query(f"치킨 {example}").text == "치킨"


# --- speaking ---


def test_errors_speak_the_language_in_force() -> None:
    error = AppError("empty_query")
    assert error.message == "The query holds nothing to search for."
    i18n.activate("ko")
    assert error.message == "검색어에 찾을 말이 없습니다."
    assert "치킨 소스" in error.hint
    assert i18n.n_("{n} video", "{n} videos", 1) == "영상 1편"
    assert i18n.n_("{n} video", "{n} videos", 1000, n="1,000") == "영상 1,000편"
    assert os.environ["LANGUAGE"] == "ko"  # for the processes that this one starts
    i18n.activate("en")
    assert error.message == "The query holds nothing to search for."
    assert i18n.n_("{n} video", "{n} videos", 2) == "2 videos"


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "KO"}, "ko"),
        ({"LANG": "en_US:ko"}, "en"),
        ({"LC_ALL": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LC_ALL": "C", "LANG": "ko_KR.UTF-8"}, "en"),
        ({"LC_MESSAGES": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LANGUAGE": "ko:en", "LC_ALL": "en_US.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LANGUAGE": "en", "LC_ALL": "ko_KR.UTF-8", "LANG": "ko_KR.UTF-8"}, "en"),
        ({"LANGUAGE": "", "LC_ALL": "", "LANG": "ko_KR.UTF-8"}, "ko"),
    ],
)
def test_the_language_of_the_system(
    environment: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert i18n.system_language() == language


def run_program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "subtitle_rag", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_help_is_korean() -> None:
    done = run_program("--language", "ko", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("사용법: subtitle-rag")
    for words in ("옵션:", "장면 찾고 재생하기:", "이 도움말을 보여 줍니다.", "장면을 찾습니다."):
        assert words in done.stdout
    assert "Usage" not in done.stdout


def test_an_unknown_option_is_refused_in_korean() -> None:
    done = run_program("--language", "ko", "--nonsense")
    assert done.returncode == 2
    assert done.stderr.startswith("! 없는 옵션입니다: '--nonsense'.")


# --- nothing goes around the catalogue ---

SHOWN = {
    "say": (0,),
    "data": (0,),
    "notify": (0,),
    "add_task": (0,),
    "Static": (0,),
    "Label": (0,),
    "Line": (0,),
    "SystemCommand": (0, 1),
    "Binding": (2,),
    "click.UsageError": (0,),
    "click.ClickException": (0,),
    "click.BadParameter": (0,),
    "output.confirm": (0,),
    "click.prompt": (0,),
}
"""Calls whose arguments at these places are read by a user."""
SHOWN_BY_NAME = {"help", "short_help", "epilog", "placeholder", "tooltip", "border_title", "border_subtitle"}
"""Keywords whose values are read by a user; `title` too, of `notify`."""
PRINTING = {"print", "click.echo", "click.secho"}
MAY_PRINT = {PACKAGE / "output.py"}
"""The only writer of stdout."""
GETTEXT = {"_": 1, "N_": 1, "n_": 2}


def offences(source: str, known: set[str], *, may_print: bool = False) -> Iterator[str]:
    """What in `source` a user would read in English whatever their language."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        short = name.rpartition(".")[2]
        if name in PRINTING and not may_print:
            yield f"{node.lineno}: {name}()"
        if name in GETTEXT:
            yield from _unextracted(node, GETTEXT[name], known)
            continue
        shown = [node.args[at] for at in SHOWN.get(name, SHOWN.get(short, ())) if at < len(node.args)]
        shown += [pair.value for pair in node.keywords if pair.arg in SHOWN_BY_NAME]
        shown += [pair.value for pair in node.keywords if pair.arg == "title" and short == "notify"]
        for value in shown:
            if any(character.isalpha() for character in literal(value)):
                yield f"{value.lineno}: {ast.unparse(value)}"


def _unextracted(node: ast.Call, count: int, known: set[str]) -> Iterator[str]:
    """Ids that are put together while the program runs, or that the extraction does not see (within f-strings)."""
    for argument in node.args[:count]:
        if isinstance(argument, ast.JoinedStr | ast.BinOp):
            yield f"{argument.lineno}: {ast.unparse(argument)} is no constant"
    if isinstance(node.args[0], ast.Constant) and node.args[0].value not in known:
        yield f"{node.lineno}: {node.args[0].value!r} is not extracted"


def called(node: ast.Call) -> str:
    """`name` or `module.name` of what is called."""
    match node.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
        case ast.Attribute(attr=name):
            return f".{name}"
    return ""


def literal(node: ast.expr) -> str:
    """The text that stands in the source itself: nothing for values, calls and the fields of f-strings."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(literal(part) for part in parts)
        case ast.BinOp(left=left, right=right):
            return literal(left) + literal(right)
        case ast.IfExp(body=body, orelse=other):
            return literal(body) + literal(other)
    return ""


@cases("path", SOURCES)
def test_what_a_user_reads_goes_through_the_catalogue(path: Path, said: set[str]) -> None:
    source = path.read_text(encoding="utf-8")
    assert list(offences(source, said, may_print=path in MAY_PRINT)) == []


@cases(
    "source",
    [
        'print("hello")',
        "click.echo(line)",
        'click.option("--limit", help="At most so many.")',
        'click.command("list", help=f"Show {what}.")',
        'output.say("Nothing found.")',
        'output.data(f"{n} videos")',
        'output.say("Done: " + title)',
        'output.say("Nothing." if empty else _("Done."))',
        'self.notify("Link copied")',
        'self.app.notify(said, title="Failed")',
        'raise click.UsageError("--yes is needed.")',
        'yield Static("Nothing to search yet", id="title")',
        'Label("찾기")',
        'Line("folder or file", id="path")',
        'Input(placeholder="What was said?")',
        'Binding("f1", "help", "Help")',
        'SystemCommand(_("Quit"), "Leave the app", leave)',
        '_(f"{n} videos")',
        '_("No " + what)',
        '_("A sentence that nobody knows.")',
        "output.data(f\"{name} ({n_('{n} thing', '{n} things', n)})\")",
    ],
)
def test_a_sentence_around_the_catalogue_is_found(source: str) -> None:
    assert len(list(offences(source, {"Done.", "Quit"}))) == 1


@pytest.mark.parametrize(
    "source",
    [
        'click.option("--limit", help=N_("Help"))',
        'output.say(_("Help"))',
        'output.data(f"{clock(start):>8}  {text}")',
        'output.data("")',
        'output.say_error(output.error_entry(UsageError("no_link", video=title)))',
        'self.notify(clean(error.hint), title=clean(error.message), severity="warning")',
        'yield Static("❯", id="prompt")',
        'Binding("f1", "help", N_("Help"), id="app.help")',
        "_(command.help)",
    ],
)
def test_what_goes_through_it_is_let_pass(source: str) -> None:
    assert list(offences(source, {"Help"})) == []
