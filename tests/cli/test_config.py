"""`config`, and what a wrong config is told with."""

import re
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base import i18n
from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.origins import without_user
from subtitle_rag.base.config.settings import HOSTS_VARIABLE, LANGUAGE_VARIABLE
from subtitle_rag.base.config.template import config_template
from tests.support.cases import cases
from tests.support.commandline import Run

WRONG = """langauge = "ko"
[search]
limit = 0
remember = 'yes'

[youtbe]
rest = 1

[player]
leadin = 3
default = "mpv"

[players.mine]
comand = ["x"]

[keys]
"app.libary" = "f10"
"app.help" = "ctrl+m"
"""


@pytest.fixture
def file(isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(HOSTS_VARIABLE)
    isolated_home.mkdir()
    return isolated_home / "config.toml"


def shown(run: Run, *arguments: object) -> dict[str, dict[str, Any]]:
    settings = run(*arguments, "--json").result["settings"]
    assert all(list(each) == ["key", "value", "source", "place", "line"] for each in settings)
    return {each.pop("key"): each for each in settings}


# --- config ---


def test_each_setting_says_who_has_set_it(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('language = "ko"\n[search]\nlimit = 7\n[players."두 번째"]\ncommand = ["x", "{url}"]\n')
    monkeypatch.setenv(HOSTS_VARIABLE, "http://a:1, http://b:2")
    told = shown(run, "--language", "en", "config")
    assert told["language"] == {"value": "en", "source": "flag", "place": "--language", "line": None}
    assert told["search.limit"] == {"value": 7, "source": "file", "place": str(file), "line": 3}
    assert told["search.remember"] == {"value": True, "source": "default", "place": None, "line": None}
    hosts = {"value": ["http://a:1", "http://b:2"], "source": "environment", "place": HOSTS_VARIABLE, "line": None}
    assert told["llm.hosts"] == hosts
    assert told["players.두 번째.command"]["line"] == 5
    assert told["paths.config"]["place"] == "SUBTITLE_RAG_HOME"
    assert shown(run, "--home", file.parent, "config")["paths.data"]["place"] == "--home"
    monkeypatch.setenv(LANGUAGE_VARIABLE, "en")
    assert shown(run, "config")["language"]["place"] == LANGUAGE_VARIABLE
    monkeypatch.delenv(LANGUAGE_VARIABLE)
    assert shown(run, "config")["language"]["line"] == 1


def test_all_settings_are_a_table(run: Run, file: Path) -> None:
    file.write_text("search.limit = 7\n")
    i18n.activate("en")
    told = run("config")
    rows = [line.split(maxsplit=2) for line in told.out.splitlines()]
    assert ["search.limit", "7", "config file, line 1"] in rows
    assert ["player.lead_in", "2", "default"] in rows
    assert told.err == f"The config file: {file}\n"


def test_show_has_every_setting(run: Run) -> None:
    known = {f"{name}.{key}" for name, kind in config.SECTIONS.items() for key in kind.__dataclass_fields__}
    assert {"language", *known} <= set(shown(run, "config"))


def test_no_password_is_shown(run: Run, file: Path) -> None:
    file.write_text(
        "[youtube]\nproxy = 'http://ich:ge/h@eim@proxy:1'\n"
        "[llm]\nhosts = ['http://ich:geheim@host:1']\n[qdrant]\nurl = 'https://ich:geheim@host/?api_key=geheim'\n"
        "[players.a]\ncommand = ['p', '--password', 'geheim', '--token=geheim', 'http://i:geheim@x/']\n"
    )
    for told in (run("config"), run("config", "--json")):
        assert told.code == 0
        assert "geheim" not in told.out + told.err
        assert "ge/h" not in told.out
        assert "@proxy:1" in told.out


@cases(
    ("address", "told"),
    [
        ("ich:geheim@host:8080", "[redacted]@host:8080"),
        ("socks5://127.0.0.1:9050", "socks5://127.0.0.1:9050"),
        ("http://a:b@c@host", "http://[redacted]@host"),
        ("", ""),
    ],
)
def test_an_address_loses_its_user(address: str, told: str) -> None:
    assert without_user(address) == told


def test_a_wrong_file_is_shown_as_far_as_it_is_right(run: Run, file: Path) -> None:
    file.write_text("[search]\nlimit = 0\nremember = false\n")
    told = run("config", "--json")
    assert (told.code, told.document["status"]) == (2, "error")
    settings = {each["key"]: each for each in told.document["result"]["settings"]}
    assert (settings["search.limit"]["value"], settings["search.limit"]["source"]) == (20, "default")
    assert settings["search.remember"]["value"] is False


# --- mistakes ---


def test_all_mistakes_are_told_by_line_and_key(run: Run, file: Path) -> None:
    file.write_text(WRONG)
    told = run("config", "--json")
    assert (told.code, told.document["command"]) == (2, "config")
    assert {entry["code"] for entry in told.document["errors"]} == {"bad_config"}
    mistakes = told.document["result"]["mistakes"]
    assert [(each["line"], each["key"], each["nearest"]) for each in mistakes] == [
        (1, "langauge", "language"),
        (3, "search.limit", None),
        (4, "search.remember", None),
        (6, "youtbe", "youtube"),
        (10, "player.leadin", "player.lead_in"),
        (13, "players.mine.command", None),
        (14, "players.mine.comand", "players.mine.command"),
        (17, "keys.app.libary", "keys.app.library"),
        (18, "keys.app.help", None),
    ]
    assert (mistakes[0]["file"], mistakes[0]["message"]) == (str(file), "there is no setting langauge")
    assert f"{file}:17" in run("config").err


@cases(
    ("text", "line"),
    [
        (b"a = 1\nlimit 5", 2),
        (b"a = 1\n\nb = '\xff'", 3),
        (b"[search", 1),
        (b"language = 'fr'", 1),
        (b"[keys]\n'app.library' = 'F10'\n'app.help' = 'F10'", 2),
    ],
)
def test_a_mistake_of_any_kind_has_a_line(run: Run, file: Path, text: bytes, line: int) -> None:
    file.write_bytes(text)
    (mistake,) = run("config", "--json").document["result"]["mistakes"]
    assert mistake["line"] == line


@pytest.mark.parametrize("key", ["contexts", "answers"])
def test_a_mistake_in_the_only_own_prompt_is_told(run: Run, file: Path, key: str) -> None:
    (file.parent / "own.txt").write_text("{nothing}", encoding="utf-8")
    file.write_text(f'[prompts]\n{key} = "own.txt"\n', encoding="utf-8")
    told = run("config", "--json")
    assert told.code == 2
    (mistake,) = (each for each in told.document["result"]["mistakes"] if each["line"])
    assert (mistake["file"], mistake["line"]) == (str(file.parent / "own.txt"), 1)
    assert mistake["message"].startswith("there is no place {nothing}")


def test_without_mistakes_it_ends_with_0(run: Run, file: Path) -> None:
    assert run("config").err == f"There is no config file: {file}\n"
    file.write_text("[search]\nlimit = 3\n")
    told = run("config", "--json")
    assert (told.code, told.result["file"], told.result["mistakes"]) == (0, str(file), [])


def test_commands_name_the_line_of_the_first(run: Run, file: Path) -> None:
    file.write_text("\n\n[search]\nlimit = 0\n")
    refused = run("list", "--json")
    assert (refused.code, refused.failure) == (2, "bad_config")
    assert f"The setting in {file}:4 is wrong: search.limit must be at least 1." in refused.err


# --- config edit ---


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that adds a line to the file that it is given."""
    program = tmp_path / "editor.py"
    program.write_text("import sys\nopen(sys.argv[1], 'a').write(open(__file__ + '.txt').read())\n")
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" "{program}"')
    added = tmp_path / "editor.py.txt"
    added.write_text("")
    return added


@pytest.mark.usefixtures("editor")
@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_file_that_edit_makes_is_valid_and_changes_nothing(run: Run, file: Path, language: str) -> None:
    before = config.load(language=language)
    file.parent.rmdir()
    assert run("--language", language, "config", "edit").code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir() if each.name != "log"] == ["config.toml"]
    assert config.load(language=language) == before
    assert ("장면" in file.read_text(encoding="utf-8")) == (language == "ko")


def test_what_is_commented_out_are_the_defaults(file: Path) -> None:
    text = config_template("en")
    assert [line for line in text.splitlines() if not line.startswith(("#", "[")) and line] == []
    before = config.load(language="en")
    for example in ("celluloid", "app.library"):
        text = re.sub(rf"# .*{example}.*\n", "", text)
    file.write_text(re.sub(r"^# ([a-z_]+ = )", r"\1", text, flags=re.MULTILINE).replace("\ncommand =", "\n#"))
    settings = config.read().settings
    assert config.read().mistakes == ()
    assert replace(settings, overrides=before.overrides) == before
    assert file.read_text().count(" = ") >= sum(len(kind.__dataclass_fields__) for kind in config.SECTIONS.values())


def test_the_examples_of_the_file_are_right(run: Run, file: Path) -> None:
    text = config_template("en").replace("# [", "[").replace("# command", "command").replace('# "app', '"app')
    file.write_text(text)
    assert run("config", "--json").result["mistakes"] == []
    settings = config.load()
    assert (set(settings.players), settings.keys) == ({"celluloid"}, {"app.library": "F10,Ctrl+B"})


@pytest.mark.usefixtures("editor")
def test_without_links_in_the_file_system_the_file_is_made_too(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: Path, _target: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert run("config", "edit").code == 0
    assert file.exists()


def test_edit_makes_a_file_opens_it_and_judges_it(run: Run, file: Path, editor: Path) -> None:
    editor.write_text("\n[extra]\nx = 1\n")
    told = run("config", "edit")
    assert told.code == 2
    assert "there is no setting extra" in told.out
    assert file.read_text(encoding="utf-8").startswith("# ")


def test_edit_opens_a_broken_file_too(run: Run, file: Path, editor: Path) -> None:
    file.write_text("[search]\n")
    editor.write_text("limit = 3\n")
    assert run("config", "edit").err == f"✓ {file} is as it should be.\n"
    file.write_text("[search")
    assert "[search" in file.read_text()
    assert run("config", "edit").code == 2


@cases("command", ["/nowhere/editor", "false", "'unclosed"])
def test_an_editor_that_fails_is_told(run: Run, file: Path, command: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VISUAL", command)
        told = run("config", "edit")
    assert told.code == 1
    assert told.err.startswith("! The editor did not work")
