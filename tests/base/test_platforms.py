"""What is known of Windows and macOS without them: what the program asks of a system is taken away, or said otherwise.

`docs/dev/platforms.md` tells what none of this can show.
"""

import ast
import ctypes
import plistlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from subtitle_rag.base import i18n, platforms
from tests.support.sources import tree

PACKAGE = Path(platforms.__file__).parents[1]

MODULES = frozenset(
    {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
)
"""Of the standard library, where there is no POSIX."""
_NAMES = """
    AF_UNIX chown chroot ctermid fchmod fchown fork forkpty geteuid getgid getgroups getloadavg getpgid getpgrp
    getpriority getresuid getsid getuid initgroups kill killpg lchown lockf mkfifo mknod nice openpty posix_spawn
    preexec_fn pthread_kill pthread_sigmask sched_getaffinity sched_setaffinity setegid seteuid setgid setpgid
    setpriority setsid setuid statvfs sysconf tcgetpgrp ttyname tzset uname wait3 wait4 add_signal_handler alarm
    setitimer siginterrupt sigwait O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC
    SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU
    SIGUSR1 SIGUSR2 SIGWINCH
"""
NAMES = frozenset(_NAMES.split())
"""Names of os, signal, socket, subprocess and asyncio that Windows lacks. `kill` it has: there it ends the process that
signal 0 would ask after."""
GUARDED = {
    ("base/atomic_files.py", "fcntl"),
    ("base/atomic_files.py", "geteuid"),
    ("base/hosting/host_client.py", "AF_UNIX"),
    ("base/hosting/host_client.py", "kill"),
    ("base/hosting/temp_folders.py", "AF_UNIX"),
    ("base/hosting/temp_folders.py", "getuid"),
    ("models/manifest.py", "sysconf"),
    ("sharing/player/mpv.py", "AF_UNIX"),
    ("base/platforms.py", "nice"),
    ("base/platforms.py", "setpriority"),
    ("sharing/player/mpv.py", "getuid"),
    ("index/readable_copy.py", "getuid"),
    ("models/neural/neural_host.py", "sysconf"),
    ("tui/__init__.py", "termios"),
    ("tui/app.py", "SIGHUP"),
    ("tui/app.py", "add_signal_handler"),
    ("tui/textual_fixes.py", "termios"),
}
"""Where one is used, after a look at the platform; whoever adds a place has looked at what Windows does there."""

WITHOUT_POSIX = """
import builtins, importlib, os, pkgutil, signal, socket, sys, time
import filelock, platformdirs
import subtitle_rag
ours = [each.name for each in pkgutil.walk_packages(subtitle_rag.__path__, "subtitle_rag.")]
for name in ours:
    importlib.import_module(name)  # brings what they import of others, which have their own ways on Windows
for name in [name for name in sys.modules if name.partition(".")[0] == "subtitle_rag"]:
    del sys.modules[name]
modules, names = sys.argv[1].split(","), sys.argv[2].split(",")
for owner in (os, signal, socket, time):
    for name in names:
        if hasattr(owner, name) and name != "kill":
            delattr(owner, name)
usual = builtins.__import__
def without_posix(name, values=None, *rest):
    if ((values or {}).get("__name__") or "").startswith("subtitle_rag") and name in modules:
        raise ModuleNotFoundError(name)
    return usual(name, values, *rest)
builtins.__import__ = without_posix
sys.platform = "win32"
for name in ours:
    importlib.import_module(name)
from subtitle_rag.cli import main as cli
sys.exit(cli.run(["--language", "ko", "config"]) or cli.run(["--language", "ko", "search", "--help"]))
"""


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


# --- what is imported and named ---


def test_the_program_is_imported_and_answers_without_posix(isolated_home: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX, ",".join(MODULES), ",".join(NAMES)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == f"설정 파일이 없습니다: {isolated_home / 'config.toml'}\n"
    assert "장면" in ended.stdout


def posix_names(path: Path) -> Iterator[str]:
    """The names and modules of POSIX that a module uses."""
    for node in ast.walk(tree(path)):
        match node:
            case ast.Attribute(attr="kill", value=value) if ast.unparse(value) != "os":
                pass  # of a process that is known
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.alias(name=name) if name in NAMES:
                yield name
            case ast.Import(names=aliases):
                yield from (each.name for each in aliases if each.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=str(name), level=0) if name.partition(".")[0] in MODULES:
                yield name


@pytest.mark.xdist_group("sources")
def test_what_windows_lacks_is_used_where_somebody_has_looked() -> None:
    used = {
        (path.relative_to(PACKAGE).as_posix(), name) for path in PACKAGE.rglob("*.py") for name in posix_names(path)
    }
    assert used == GUARDED


def test_names_of_posix_are_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "import fcntl\nfrom termios import B0\nos.kill(1, 0)\none.kill()\nfrom os import fork\nrun(preexec_fn=f)"
    )
    assert sorted(posix_names(module)) == ["fcntl", "fork", "kill", "preexec_fn", "termios"]


# --- waiting ---


class SlowEvent(threading.Event):
    """Nobody waits for it in truth: a wait moves the clock on."""

    def __init__(self, *, set_at: float = 1e9) -> None:
        super().__init__()
        self.now = 0.0
        self.set_at = set_at
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits.append(timeout)
        self.now += timeout
        return self.now >= self.set_at


def test_a_long_wait_is_many_short_ones_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    event = SlowEvent()
    monkeypatch.setattr(platforms, "time", event)
    assert not platforms.wait_for(event, 3600)
    assert event.waits == [3600]
    monkeypatch.setattr(sys, "platform", "win32")
    event = SlowEvent()
    monkeypatch.setattr(platforms, "time", event)
    assert not platforms.wait_for(event, 10)
    assert max(event.waits) <= platforms.SLICE_S
    assert sum(event.waits) == pytest.approx(10)
    assert platforms.wait_for(SlowEvent(set_at=0), 10)
    assert not platforms.wait_for(event, 0)


# --- shells and consoles ---


@pytest.mark.parametrize(
    ("words", "windows_line", "other_line"),
    [
        (["a", "--home", "/x"], "a --home /x", "a --home /x"),
        (["느긋한 식탁"], '"느긋한 식탁"', "'느긋한 식탁'"),
        ([r"C:\R&D\python.exe", "-m"], r'"C:\R&D\python.exe" -m', r"'C:\R&D\python.exe' -m"),
        ([r"C:\Program Files\x.exe"], r'"C:\Program Files\x.exe"', r"'C:\Program Files\x.exe'"),
        (["it's"], '"it\'s"', "'it'\"'\"'s'"),
        (['say "a b"'], '"say \\"a b\\""', "'say \"a b\"'"),
    ],
)
def test_a_command_is_quoted_as_the_shell_there_reads_it(
    words: list[str], windows_line: str, other_line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert platforms.command_line(words) == other_line
    monkeypatch.setattr(sys, "platform", "win32")
    assert platforms.command_line(words) == windows_line


class Kernel:
    """The functions of kernel32 that are asked."""

    def __init__(self, mode: int | None, *, sets: bool = True, language: int = 0x409) -> None:
        self.mode = mode
        self.sets = sets
        self.language = language

    def GetStdHandle(self, number: int) -> int:  # noqa: N802
        assert number == -11
        return 7

    def GetConsoleMode(self, handle: int, mode: Any) -> int:  # noqa: N802
        assert handle == 7
        if self.mode is not None:
            mode._obj.value = self.mode
        return int(self.mode is not None)

    def SetConsoleMode(self, handle: int, mode: int) -> int:  # noqa: N802
        assert handle == 7
        if self.sets:
            self.mode = mode
        return int(self.sets)

    def GetUserDefaultUILanguage(self) -> int:  # noqa: N802
        return self.language


def kernel(monkeypatch: pytest.MonkeyPatch, stand_in: Kernel) -> Kernel:
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=stand_in), raising=False)
    return stand_in


@pytest.mark.usefixtures("windows")
def test_a_console_is_asked_to_draw_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = kernel(monkeypatch, Kernel(3))
    assert platforms.draws_escapes()
    assert asked.mode == 7
    kernel(monkeypatch, Kernel(7, sets=False))
    assert platforms.draws_escapes()
    kernel(monkeypatch, Kernel(3, sets=False))  # older than Windows 10
    assert not platforms.draws_escapes()
    kernel(monkeypatch, Kernel(None))
    assert not platforms.draws_escapes()


# --- languages ---


@pytest.fixture
def no_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_locale", "windows")
@pytest.mark.parametrize(("number", "language"), [(0x412, "ko"), (0x409, "en"), (0x411, "en"), (0xFFFF, "en")])
def test_windows_is_asked_for_its_language(number: int, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, Kernel(None, language=number))
    assert i18n.system_language() == language
    monkeypatch.setenv("LANG", "ko_KR.UTF-8" if language == "en" else "en_US.UTF-8")
    assert i18n.system_language() != language


@pytest.mark.usefixtures("no_locale")
@pytest.mark.parametrize(
    ("settings", "language"),
    [
        ({"AppleLanguages": ["ko-KR", "en-KR"]}, "ko"),
        ({"AppleLanguages": ["en-KR", "ko-KR"]}, "en"),
        ({"AppleLanguages": []}, "en"),
        ({}, "en"),
        (None, "en"),
    ],
)
def test_macos_is_asked_for_its_language(
    settings: dict[str, Any] | None, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    if settings is not None:
        preferences = tmp_path / "Library" / "Preferences"
        preferences.mkdir(parents=True)
        with (preferences / ".GlobalPreferences.plist").open("wb") as file:
            plistlib.dump(settings, file, fmt=plistlib.FMT_BINARY)
    assert i18n.system_language() == language


def test_a_signal_sets_an_event_whose_lock_is_held_by_whoever_begins_to_wait() -> None:
    event = threading.Event()
    handler = threading.Thread(target=platforms.set_from_signal, args=(event,), daemon=True)
    with event._cond:  # type: ignore[attr-defined]
        handler.start()
        handler.join(10)
        assert not handler.is_alive()
    assert event.wait(10)
