"""Click's completion: the scripts, and what shells are answered."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.values import Video
from subtitle_rag.cli import main as cli
from subtitle_rag.library.names import video_names
from subtitle_rag.library.store import Library
from tests.support.cases import cases

Complete = Callable[..., list[str]]


@pytest.fixture
def home(isolated_home: Path) -> Path:
    """A home whose library knows two channels and two videos."""
    paths = config.Paths.under(isolated_home)
    library = Library(paths.library)
    for id, title, channel in (("vid00000001", "꽃게 찜", "느긋한 식탁"), ("vid00000002", "it's $5", "바다: 밥")):
        library.put_failure(Video(id, title, f"UC{id}", channel), "no_cues", {"path": "x"})
    library.database.close()
    paths.config.write_text('[players."내 것"]\ncommand = ["x"]\n[llm]\nmodel = "own:1b"\n')
    return isolated_home


@pytest.fixture
def complete(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Complete:
    """What zsh is offered behind these words; the last is the one that is being typed."""

    def values(*words: str) -> list[str]:
        monkeypatch.setenv("_SUBTITLE_RAG_COMPLETE", "zsh_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["subtitle-rag", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([])
        told = capsys.readouterr()
        assert told.err == ""
        assert ended.value.code in (0, 1)
        return [line.replace(r"\:", ":") for line in told.out.splitlines()[1::3]]

    return values


@pytest.fixture(autouse=True)
def logging_again() -> Iterator[None]:
    yield
    import logging

    logging.disable(logging.NOTSET)


@cases("shell", ["zsh", "fish"])
def test_a_script_is_data(shell: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SUBTITLE_RAG_COMPLETE", f"{shell}_source")
    with pytest.raises(SystemExit) as ended:
        cli.main([])
    told = capsys.readouterr()
    assert (ended.value.code, told.err) == (0, "")
    assert f"_SUBTITLE_RAG_COMPLETE={shell}_complete" in told.out


def test_names_of_the_library_and_the_settings_are_offered(home: Path, complete: Complete) -> None:
    assert complete("se") == ["search", "self"]
    assert complete("contexts", "gl") == ["glossary"]
    assert complete("search", "--channel", "''") == ["느긋한 식탁", "바다: 밥"]
    assert complete("list", "--channel", "바") == ["바다: 밥"]
    assert complete("contexts", "glossary", "느") == ["느긋한 식탁"]
    assert complete("ask", "--video", "vid") == ["vid00000002", "vid00000001"]
    assert complete("show", "꽃") == ["꽃게 찜"]
    assert complete("open", "x", "--player", "''") == ["browser", "mpv", "iina", "vlc", "내 것"]
    assert complete("contexts", "write", "--model", "own") == ["own:1b"]
    assert "BAAI/bge-m3" in complete("models", "get", "BA")


def test_the_home_that_is_typed_is_the_one_that_is_read(home: Path, tmp_path: Path, complete: Complete) -> None:
    other = tmp_path / "other"
    assert complete("--home", str(other), "show", "v") == []
    assert complete("--home", str(home), "show", "v") == ["vid00000002", "vid00000001"]


def test_what_cannot_be_read_completes_nothing_and_nothing_is_made(
    isolated_home: Path, complete: Complete, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["show", "v"], ["list", "--channel", "x"], ["open", "a", "--player", "q"]):
        assert complete(*words) == []
    assert not isolated_home.exists()
    paths = config.Paths.under(isolated_home)
    paths.data.mkdir(parents=True)
    paths.library.write_bytes(b"no library" * 1000)
    paths.config.write_bytes(b"[search\xff")
    assert complete("show", "v") == []
    assert complete("li") == ["listen", "list"]
    assert sorted(path.name for path in isolated_home.rglob("*")) == ["config.toml", "data", "library.db"]


def test_reading_a_library_leaves_no_file_behind(home: Path, complete: Complete) -> None:
    before = sorted(home.rglob("*"))
    assert video_names(home / "data" / "library.db")
    assert complete("show", "v")
    assert sorted(home.rglob("*")) == before


def test_a_library_in_use_is_read_as_it_is(home: Path, complete: Complete) -> None:
    library = Library(home / "data" / "library.db")
    library.put_failure(Video("vid00000003", "새 영상", "UC3", "새"), "no_cues", {"path": "x"})
    assert complete("show", "vid00000003") == ["vid00000003"]
    library.database.close()


def test_names_that_a_terminal_would_obey_are_not_offered(home: Path, complete: Complete) -> None:
    library = Library(home / "data" / "library.db")
    library.put_failure(Video("vid00000003", "새 영상", "UC3", "나쁜\x1b[2J\n이름"), "no_cues", {"path": "x"})
    library.database.close()
    assert complete("list", "--channel", "나") == []


REAL = """
eval "$(_SUBTITLE_RAG_COMPLETE=bash_source subtitle-rag)"
offered() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _subtitle_rag_completion subtitle-rag
    printf '%s|' "${COMPREPLY[@]}"
    echo
}
offered subtitle-rag sea
offered subtitle-rag search 국수 --channel 느
"""


@pytest.mark.campaign(part="flows")
@pytest.mark.programs("bash")
def test_a_real_bash_completes_a_verb_and_a_channel(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "subtitle-rag"
    command.write_text(f"#!{sys.executable}\nfrom subtitle_rag.cli.main import main\nmain()\n")
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "--norc", "-c", REAL], env=environment, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    assert ended.stdout.splitlines() == ["search|", "느긋한 식탁|"]
    assert ended.stderr == ""
