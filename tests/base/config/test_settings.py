import os
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.config_file import MAX_BYTES
from subtitle_rag.base.config.settings import (
    HOME_VARIABLE,
    HOSTS_VARIABLE,
    LANGUAGE_VARIABLE,
    OLLAMA_VARIABLE,
    Paths,
    PlayerSettings,
    SearchSettings,
    TuiSettings,
    YoutubeSettings,
)
from subtitle_rag.base.domain.errors import UsageError
from tests.support.cases import cases
from tests.support.commandline import ran


@pytest.fixture
def home(isolated_home: Path) -> Path:
    return isolated_home


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir()
    return home / "config.toml"


def refused(file: Path, text: str | bytes) -> str:
    """What is wrong with a `config.toml` that cannot be used; the message always names the file."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(UsageError) as caught:
        config.load()
    assert caught.value.code == "bad_config"
    reason = str(caught.value.details["reason"])
    assert str(file) in caught.value.message
    assert reason in caught.value.message
    return reason


def test_without_a_file_everything_has_its_default(home: Path) -> None:
    settings = config.load()
    assert settings.paths == Paths.under(home)
    assert (settings.search, settings.player, settings.tui) == (SearchSettings(), PlayerSettings(), TuiSettings())
    assert settings.youtube == YoutubeSettings()
    assert settings.players == {}
    assert not home.exists()


def test_a_whole_file_is_taken(file: Path) -> None:
    file.write_text(
        """language = "ko"
        search.limit = 5
        [player]
        default = "두 번째"
        lead_in = 0
        [tui]
        theme = "nord"
        [youtube]
        languages = ["en", "ko"]
        [players."두 번째"]
        command = ["play er", "{url}", "--at={seconds}"]
        """,
        encoding="utf-8",
    )
    settings = config.load()
    assert settings.language == "ko"
    assert settings.search.limit == 5
    assert settings.player == PlayerSettings("두 번째", 0)
    assert settings.tui == TuiSettings(theme="nord")
    assert settings.youtube == YoutubeSettings(languages=("en", "ko"))
    assert settings.players == {"두 번째": ("play er", "{url}", "--at={seconds}")}


@cases(
    ("text", "key", "near"),
    [
        ("serch.limit = 5", "serch", "search"),
        ("[search]\nlimt = 5", "search.limt", "search.limit"),
        ("[player]\nleadin = 5", "player.leadin", "player.lead_in"),
        ("[tui]\nTheme = 'nord'", "tui.Theme", "tui.theme"),
        ("[youtube]\npauses = 5", "youtube.pauses", "youtube.pause"),
        ("[youtube]\ncookie_files = 'x'", "youtube.cookie_files", "youtube.cookie_file"),
        ("youtub.rest = 5", "youtub", "youtube"),
        ("langauge = 'ko'", "langauge", "language"),
        ("[players.a]\ncomand = ['a']", "players.a.comand", "players.a.command"),
        ("[players.a]\ncommand = ['a']\ncommands = ['b']", "players.a.commands", "players.a.command"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_one(file: Path, text: str, key: str, near: str) -> None:
    reason = refused(file, text)
    assert reason.startswith(f"there is no setting {key}")
    assert f"did you mean {near}?" in reason


def test_a_key_unlike_any_other_gets_no_guess(file: Path) -> None:
    assert "did you mean" not in refused(file, "qqq = 1")


@cases(
    ("text", "reason"),
    [
        ("search.limit = '5'", "search.limit must be a whole number"),
        ("search.limit = true", "search.limit must be a whole number"),
        ("search.limit = 5.0", "search.limit must be a whole number"),
        ("search.limit = 0", "search.limit must be at least 1"),
        ("search.limit = -5", "search.limit must be at least 1"),
        ("player.lead_in = -1", "player.lead_in must be at least 0"),
        ("player.default = 1", "player.default must be text in quotation marks"),
        ("search.remember = 1", "search.remember must be true or false"),
        *(
            (f"youtube.{name} = {value}", f"youtube.{name} must be {what}")
            for name in ("pause", "rest")
            for value, what in (("-1", "at least 0"), ("1.5", "a whole number"), ("true", "a whole number"))
        ),
        *(
            (f"youtube.{name} = {value}", f"youtube.{name} must be text in quotation marks")
            for name in ("cookies_from_browser", "cookie_file", "proxy")
            for value in ("5", "false", "['firefox']")
        ),
        *(
            (f"youtube.tabs = {value}", "youtube.tabs must be a list of strings")
            for value in ("'shorts'", "[]", "['videos', 1]", "{}", "3")
        ),
        ("youtube = 'firefox'", "youtube must be a table"),
        ("search = 5", "search must be a table"),
        ("[[search]]\nlimit = 5", "search must be a table"),
        ("players = 'mpv'", "players must be a table"),
        ("players.mpv = 'mpv'", "players.mpv.command must be a list of strings"),
        ("players.mpv = {}", "players.mpv.command must be a list of strings"),
        ("players.mpv.command = []", "players.mpv.command must be a list of strings"),
        ("players.mpv.command = 'mpv {url}'", "players.mpv.command must be a list of strings"),
        ("players.mpv.command = ['mpv', 1]", "players.mpv.command must be a list of strings"),
        ("language = 'fr'", "language is fr, but only ko, en are known"),
        ("language = 3", "language is 3, but only ko, en are known"),
        ("language = ['ko']", "language is ['ko'], but only ko, en are known"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_key(file: Path, text: str, reason: str) -> None:
    assert refused(file, text) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"\xff\xfe", "it is not UTF-8 text"),
        ("언어 = 'ko'".encode("cp949"), "it is not UTF-8 text"),
        (b"limit 5", "not in the form of TOML: Expected"),
        (b"[search", "not in the form of TOML: Expected"),
        (b"a = 1\na = 2", "not in the form of TOML: Cannot overwrite"),
    ],
)
def test_a_file_that_is_no_toml_says_what_is_wrong_before_the_parsers_reason(
    file: Path, text: bytes, reason: str
) -> None:
    assert refused(file, text).startswith(reason)


def test_a_folder_in_the_place_of_the_file_is_told(file: Path) -> None:
    file.mkdir()
    with pytest.raises(UsageError, match=r"cannot be read: .*directory") as caught:
        config.load()
    assert caught.value.details["path"] == str(file)


def test_a_flag_wins_over_the_environment_over_the_file_over_the_locale(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config.load().language == "en"
    monkeypatch.setenv("LANGUAGE", "ko_KR")
    assert config.load().language == "ko"
    file.write_text("language = 'en'")
    assert config.load().language == "en"
    monkeypatch.setenv(LANGUAGE_VARIABLE, "ko")
    assert config.load().language == "ko"
    assert config.load(language="en").language == "en"
    monkeypatch.setenv(LANGUAGE_VARIABLE, "")
    assert config.load().language == "en"


def test_hosts_of_the_environment_win_over_the_file_and_may_be_none_at_all(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("llm.hosts = ['http://127.0.0.1:1']")
    monkeypatch.delenv(HOSTS_VARIABLE)
    assert config.load().llm.hosts == ("http://127.0.0.1:1",)
    monkeypatch.setenv(HOSTS_VARIABLE, "http://127.0.0.1:2, http://127.0.0.1:3,")
    assert config.load().llm.hosts == ("http://127.0.0.1:2", "http://127.0.0.1:3")
    monkeypatch.setenv(HOSTS_VARIABLE, "")
    assert config.load().llm.hosts == ()


def test_the_variable_of_ollama_names_its_host_where_nothing_else_does(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(HOSTS_VARIABLE)
    monkeypatch.setenv(OLLAMA_VARIABLE, "0.0.0.0:12345")
    loaded = config.read()
    assert (loaded.settings.llm.hosts, loaded.overrides["llm.hosts"]) == (("0.0.0.0:12345",), OLLAMA_VARIABLE)
    file.write_text("llm.hosts = ['http://127.0.0.1:1']")
    assert config.load().llm.hosts == ("http://127.0.0.1:1",)
    monkeypatch.setenv(HOSTS_VARIABLE, "http://127.0.0.1:2")
    assert config.load().llm.hosts == ("http://127.0.0.1:2",)


def test_the_usual_host_is_told_to_be_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOSTS_VARIABLE)
    monkeypatch.delenv(OLLAMA_VARIABLE, raising=False)
    settings = config.LlmSettings()
    assert config.host_origin(settings.hosts[0], settings) == "the default"
    assert config.host_origin("http://127.0.0.1:9", settings) == ""


def test_a_bad_language_is_blamed_on_where_it_was_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("language = 'ko'")
    monkeypatch.setenv(LANGUAGE_VARIABLE, "fr")
    with pytest.raises(UsageError) as caught:
        config.load()
    assert caught.value.details["path"] == LANGUAGE_VARIABLE
    with pytest.raises(UsageError) as caught:
        config.load(language="de")
    assert caught.value.details["path"] == "--language"


def test_the_home_flag_wins_over_the_environment(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "다른 곳"
    assert config.load().paths == Paths.under(home)
    assert config.load(other).paths == Paths.under(other)
    assert config.load(str(other)).paths.library == other / "data" / "library.db"


def test_a_home_is_made_absolute_and_its_tilde_filled_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert Paths.find("~/x") == Paths.find("x") == Paths.under(tmp_path / "x")


def test_a_home_of_somebody_unknown_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        Paths.find("~nobody-of-this-name/x")
    assert (caught.value.code, caught.value.details["path"]) == ("bad_config", "--home")
    monkeypatch.setenv(HOME_VARIABLE, "~nobody-of-this-name")
    told = ran(capsys, "list", "--json")
    assert (told.code, told.failure) == (2, "bad_config")
    assert HOME_VARIABLE in told.err


def test_without_a_home_the_platform_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME_VARIABLE)
    paths = Paths.find()
    assert paths.config.name == "config.toml"
    assert all("subtitle-rag" in str(path) for path in (paths.config, paths.data, paths.cache, paths.log))


def test_a_byte_order_mark_in_front_is_no_mistake(file: Path) -> None:
    """Editors of Windows write one."""
    file.write_bytes("\ufeffsearch.limit = 7\n".encode())
    assert config.load().search.limit == 7


@cases(
    ("text", "line", "key"),
    [
        ("\na = 1\nlist = " + "[" * 5_000 + "]" * 5_000, 3, "list"),
        ("\nq = " + "{a=" * 1_000, 2, "q"),
        ("[search]\nlimit = " + "9" * 5_000, 2, "limit"),
        ("[search]\nlimit = " + "9" * 90, 2, "search.limit"),
        ("[youtube]\npause = nan", 2, "youtube.pause"),
        ("[youtube]\npause = inf", 2, "youtube.pause"),
        ("\n" + ".".join("a" * 3_000) + " = 1", 2, "a.a.a"),
        ("[" + ".".join("a" * 3_000) + "]", 1, "too deep"),
    ],
)
def test_what_no_reader_can_bear_is_refused_by_file_key_and_line(file: Path, text: str, line: int, key: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        config.load()
    assert f"{file}:{line}" in caught.value.message
    assert key in caught.value.message


def test_a_config_that_never_ends_is_refused(file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(UsageError) as caught:
        config.load()
    assert str(file) in caught.value.message
    file.unlink()
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(UsageError) as caught:
        config.load()
    assert "1.0 MB" in caught.value.message
