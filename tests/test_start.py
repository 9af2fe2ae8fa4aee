"""`scripts/start`, on an environment whose programs only tell how they are called."""

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.programs("bash", "cat", "cksum", "dirname", "tail", "tput", "tr", "sed", "sleep")


UNTIL_SHOWN = 'while [ -n "$SHOWN" ] && [ ! -e "$SHOWN" ]; do sleep 0.05; done'
"""An installation that goes on until the test has seen its progress, and made the file that `SHOWN` names."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the repository's scripts beside a made environment, in which installing fails."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, line in (
        ("subtitle-rag", 'echo "called: $*"'),
        ("python", f'[ "$1" = - ] && exit; echo "${{SAYS:-Collecting click==8.5.1}}"; {UNTIL_SHOWN}; [ -z "$FAIL" ]'),
    ):
        (programs / name).write_text(f"#!/usr/bin/env bash\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    return tmp_path


def started(copy: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    surroundings = {
        name: value for name, value in os.environ.items() if name not in ("LANGUAGE", "SUBTITLE_RAG_LANGUAGE")
    }
    command = [str(copy / "scripts" / "start"), *arguments]
    return subprocess.run(
        command,
        env=surroundings | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_without_a_terminal_it_prints_the_sample(copy: Path) -> None:
    assert started(copy, "--json").stdout == "called: demo --json\n"


def test_on_a_terminal_it_opens_the_users_library(copy: Path, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [str(copy / "scripts" / "start")],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "SHOWN": str(shown)},
    )
    os.close(inner)
    screen = ""
    try:
        while True:
            screen += os.read(outer, 4096).decode()
            if re.search(r"\ds  Collecting", screen):
                shown.touch()
    except OSError:  # a terminal that nobody writes to any more
        pass
    finally:
        os.close(outer)
    assert shown.exists()
    assert process.wait(30) == 0
    assert screen.endswith("called: \r\n")


@pytest.mark.parametrize(
    ("variables", "narration"),
    [
        ({"LC_ALL": "C", "LANG": "ko_KR.UTF-8"}, "Installing into .venv"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "ko_KR.UTF-8"}, ".venv에 설치합니다"),
        ({"LC_ALL": "C", "SUBTITLE_RAG_LANGUAGE": "ko"}, ".venv에 설치합니다"),
    ],
)
def test_it_speaks_the_users_language(copy: Path, variables: dict[str, str], narration: str) -> None:
    assert narration in started(copy, **variables).stderr


def test_the_installers_words_are_shown_where_it_fails(copy: Path) -> None:
    end = started(copy, FAIL="1")
    assert (end.returncode, "Collecting" in end.stderr, end.stdout) == (1, True, "")


@pytest.mark.parametrize(("language", "hint"), [("en", "run ./scripts/start again"), ("ko", "./scripts/start를 다시")])
@pytest.mark.parametrize(
    "says",
    [
        "Collecting kiwipiepy==0.24.1 (from -r .venv/requirements.txt (line 9))\nERROR: connection broken",
        "Collecting click==8.5.1\nWARNING: Retrying\n  ERROR: No matching distribution found for kiwipiepy==0.24.1",
    ],
    ids=["broken off", "no network"],
)
def test_a_package_that_does_not_come_is_named_with_what_to_do(copy: Path, says: str, language: str, hint: str) -> None:
    last = started(copy, FAIL="1", SAYS=says, SUBTITLE_RAG_LANGUAGE=language).stderr.splitlines()[-1]
    assert "kiwipiepy" in last
    assert "click" not in last
    assert hint in last


@pytest.mark.parametrize(("language", "wanted"), [("en", "needs Python 3.11 or newer"), ("ko", "Python 3.11 이상")])
def test_without_a_python_that_is_new_enough_it_says_which_is_wanted(copy: Path, language: str, wanted: str) -> None:
    programs = copy / "programs"
    programs.mkdir()
    for name in ("bash", "cat", "cksum", "dirname"):
        (programs / name).symlink_to(shutil.which(name) or name)
    (programs / "python3").write_text("#!/usr/bin/env bash\nexit 1\n")
    (programs / "python3").chmod(0o755)
    end = started(copy, PATH=str(programs), SUBTITLE_RAG_LANGUAGE=language)
    assert (end.returncode, end.stdout) == (1, "")
    assert wanted in end.stderr
