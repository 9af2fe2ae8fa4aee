"""Files are replaced as a whole and deleted. What the app stores is for its owner alone, whatever the umask and
whatever an older version has made."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base import atomic_files, log_file
from subtitle_rag.base.atomic_files import make_private, private_file, private_folder
from tests.support.processes import command_line

SAMPLE = Path(log_file.__file__).parents[1] / "sample"
QUIET = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def run(home: Path, *arguments: object) -> None:
    command = command_line(home, *arguments)
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "SUBTITLE_RAG_HOST_LINGER": "0"})


# --- for their owner alone ---


def test_nobody_else_reads_what_was_stored(tmp_path: Path, open_umask: None) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(QUIET)
    run(home, "index", *sorted(SAMPLE.glob("*sample-0001*")))
    stored = [path for name in ("data", "log") for path in (home / name, *(home / name).rglob("*"))]
    assert {"library.db", "host.log", "meta.json", "cli.log"} < {path.name for path in stored}
    assert [path for path in stored if rights(path) & 0o077] == []

    opened = [home / "data", home / "data" / "library.db", home / "log"]
    for path in opened:
        path.chmod(0o777)
    run(home, "status")
    assert [path for path in opened if rights(path) & 0o077] == []
    assert rights(home) == 0o777  # named by the user, and perhaps no folder of the app


def test_a_folder_and_a_file_are_made_for_their_owner(tmp_path: Path, open_umask: None) -> None:
    private_folder(tmp_path / "a" / "b")
    private_file(tmp_path / "a" / "b" / "c")
    assert rights(tmp_path / "a") == rights(tmp_path / "a" / "b") == 0o700
    assert rights(tmp_path / "a" / "b" / "c") == 0o600


def test_another_users_file_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    path.touch()
    path.chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    make_private(path)
    assert rights(path) == 0o644


def test_what_cannot_be_changed_is_logged_and_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    make_private(tmp_path / "none")
    assert "cannot be changed" in caplog.text


# --- files that are read ---


class Held:
    """A file that somebody has open for the first looks."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, *_arguments: object, **_options: object) -> None:
        self.left -= 1
        if self.left >= 0:
            raise PermissionError(13, "Permission denied")


@pytest.mark.usefixtures("windows")
def test_a_file_that_is_read_is_replaced_and_deleted_when_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    replacing, deleting = Held(3), Held(3)
    monkeypatch.setattr(Path, "replace", replacing)
    monkeypatch.setattr(Path, "unlink", deleting)
    atomic_files.replace_path(Path("new"), Path("old"))
    atomic_files.delete_file(Path("old"))
    assert replacing.left == deleting.left == -1


@pytest.mark.usefixtures("windows")
def test_a_file_that_stays_open_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_files, "FILE_TIMEOUT_S", 0.02)
    monkeypatch.setattr(Path, "replace", Held(1_000))
    with pytest.raises(PermissionError):
        atomic_files.replace_path(Path("new"), Path("old"))


def test_content_that_cannot_take_its_place_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    atomic_files.replace_content(file, b"old", 0o644)
    assert file.stat().st_mode & 0o777 == 0o644
    monkeypatch.setattr(Path, "replace", Held(1_000))
    with pytest.raises(PermissionError):
        atomic_files.replace_content(file, b"new")
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (b"old", [file])


def test_elsewhere_a_refusal_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(1_000)
    monkeypatch.setattr(Path, "replace", held)
    with pytest.raises(PermissionError):
        atomic_files.replace_path(Path("new"), Path("old"))
    assert held.left == 999


def test_a_new_file_is_written_for_its_owner_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    atomic_files.create_text(path, "one\n")
    with pytest.raises(FileExistsError):
        atomic_files.create_text(path, "two\n")
    assert path.read_text(encoding="utf-8") == "one\n"
    assert [each.name for each in tmp_path.iterdir()] == ["report.md"]
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


KILLED = """
import os, signal, sys
from pathlib import Path
from subtitle_rag.base import atomic_files
def kill(*_arguments): os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "fsync": os.fsync = kill
else: atomic_files.replace_path = kill
atomic_files.replace_content(Path(sys.argv[1]), b"never")
"""
HELD = """
import sys
from pathlib import Path
from subtitle_rag.base import atomic_files
replace = atomic_files.replace_path
def wait(*paths):
    print("written", flush=True)
    sys.stdin.readline()
    replace(*paths)
atomic_files.replace_path = wait
atomic_files.replace_content(Path(sys.argv[1]), b"slow")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_what_a_killed_write_left_goes_with_the_next_one(tmp_path: Path, at: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"old")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(file), at], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert file.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2
    atomic_files.replace_content(tmp_path / "other", b"new")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.toml", "other"]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced")
def test_a_write_that_goes_on_elsewhere_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    command = [sys.executable, "-c", HELD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as slow:
        assert slow.stdout
        assert slow.stdout.readline() == b"written\n"
        atomic_files.replace_content(tmp_path / "other", b"new")
        slow.communicate(b"\n")
    assert slow.returncode == 0
    assert file.read_bytes() == b"slow"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.toml", "other"]
