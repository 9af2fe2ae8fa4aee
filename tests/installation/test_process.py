"""The process of an installer: what it says, how it fails, and that nothing of it stays after a stop."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from subtitle_rag.domain import AppError
from subtitle_rag.installation import process
from subtitle_rag.installation.install_command import InstallCommand
from subtitle_rag.installation.process import output_lines
from tests.installation.environments import program

PROMPT_S = 10.0
"""Far less than what is stopped would sleep."""
CHILD = """
import os, signal, subprocess, sys, time
{ignore}
code = "{ignore}\\nimport time; print('child', flush=True); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-S", "-c", code]{silent})
print("pids", os.getpid(), child.pid, flush=True)
{end}
"""


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_over(pid: int) -> bool:
    """The process has ended; who should take note of its end may be late."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text() if sys.platform == "linux" else ""
        os.kill(pid, 0)
    except (ProcessLookupError, FileNotFoundError):
        return True
    return ") Z " in status


def lines(folder: Path, code: str, stop: threading.Event | None = None) -> Generator[str, None, None]:
    """What an installer of this code says."""
    command = InstallCommand((str(program(folder, "installer", code)),), {"OWN": "given"})
    return output_lines(command, stop or threading.Event(), {})


def test_lines_come_from_both_streams_as_they_are_written(tmp_path: Path) -> None:
    go = tmp_path / "go"
    code = f"""
import os, sys, time
print("first", flush=True)
while not os.path.exists({str(go)!r}): time.sleep(0.01)
sys.stderr.write("second \\n")
sys.stderr.flush()
sys.stdout.buffer.write("ÿ third".encode())
"""
    said = lines(tmp_path, code)
    assert next(said) == "first"
    go.touch()
    assert [*said] == ["second", "ÿ third"]


def test_an_installer_is_led_to_no_other_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leading = (*process._DROPPED_VARIABLES, "KEPT")
    for name in leading:
        monkeypatch.setenv(name, "/elsewhere")
    code = f"import os\nfor name in {leading!r}: print(name, name in os.environ)\nprint(os.environ['OWN'])"
    monkeypatch.delenv("PYTHONHOME")
    said = list(lines(tmp_path, code))
    assert [line for line in said if line.endswith("True")] == ["KEPT True"]
    assert said[-1] == "given"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "Collecting a\nERROR: Could not find a version that satisfies the requirement a (from versions: none)\n"
            "ERROR: No matching distribution found for a",
            "Could not find a version that satisfies the requirement a (from versions: none)",
        ),
        (
            "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection "
            "broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f2d59410110>: "
            "Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/a/\n"
            "ERROR: Could not find a version that satisfies the requirement a (from versions: none)\n",
            "Failed to establish a new connection: [Errno -2] Name or service not known",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ConnectTimeoutError(<pip._vendor.urllib3."
            "connection.HTTPSConnection object at 0x7f>, 'Connection to index.test timed out. (connect timeout=15)')': "
            "/simple/a/\nERROR: Could not find a version that satisfies the requirement a (from versions: none)\n",
            "Connection to index.test timed out. (connect timeout=15)",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError(\"HTTPSConnectionPool("
            "host='index.test', port=443): Read timed out. (read timeout=15)\")': /simple/a/\n"
            "ERROR: Could not find a version that satisfies the requirement a (from versions: none)\n",
            "HTTPSConnectionPool(host='index.test', port=443): Read timed out. (read timeout=15)",
        ),
        (
            "WARNING: Retrying (Retry(total=4)) after connection broken by 'ProtocolError('broken')': /simple/a/\n"
            "ERROR: Could not find a version that satisfies the requirement a>9 (from versions: 1, 2)\n",
            "Could not find a version that satisfies the requirement a>9 (from versions: 1, 2)",
        ),
        (
            "error: No solution found when resolving dependencies\n  cause: Because a==1 depends on b>2, we can "
            "conclude that a==1 cannot be used.\n         And because",
            "No solution found when resolving dependencies: Because a==1 depends on b>2, we can conclude that a==1 "
            "cannot be used",
        ),
        (
            "  × No solution found when resolving dependencies:\n  ╰─▶ Because only b<2 is available",
            "No solution found when resolving dependencies: Because only b<2 is available",
        ),
        ("Looking\n/e/bin/python: No module named pip\n\n", "/e/bin/python: No module named pip"),
        ("", "exit 3"),
        ("ERROR: " + "x" * 2_000, "x" * process.REASON_CHARACTERS),
    ],
    ids=[
        "pip",
        "no network",
        "no answer",
        "slow answer",
        "another version",
        "uv",
        "old uv",
        "no pip",
        "silent",
        "long",
    ],
)
def test_a_failure_is_told_in_the_installers_words(tmp_path: Path, said: str, reason: str) -> None:
    code = f"import sys\nsys.stdout.reconfigure(encoding='utf-8')\nprint({said!r})\nsys.exit(3)"
    with pytest.raises(AppError) as failed:
        list(lines(tmp_path, code))
    assert (failed.value.code, failed.value.details["reason"]) == ("packages_failed", reason)


def test_an_installer_that_cannot_be_started_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="No such file or directory"):
        list(output_lines(InstallCommand((str(tmp_path / "none"),)), threading.Event(), {}))


@pytest.mark.parametrize(
    ("ignore", "end"),
    [
        ("", "time.sleep(60)"),
        ("", "os._exit(0)"),
        ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)", "time.sleep(60)"),
        (
            "import signal; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)]",
            "time.sleep(60)",
        ),
    ],
    ids=["sleeping", "gone before its child", "deaf to an interruption", "deaf"],
)
def test_a_stop_ends_the_installer_and_what_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignore: str, end: str
) -> None:
    monkeypatch.setattr(process, "END_S", 0.2)
    stop = threading.Event()
    said = lines(tmp_path, CHILD.format(ignore=ignore, end=end, silent=""), stop)
    first = sorted((next(said), next(said)))  # either may be first
    began = time.monotonic()
    stop.set()
    with pytest.raises(AppError) as stopped:
        list(said)
    assert stopped.value.code == "interrupted"
    assert time.monotonic() - began < PROMPT_S
    assert first[0] == "child"
    until(lambda: all(is_over(int(pid)) for pid in first[1].split()[1:]))


def test_who_reads_no_further_leaves_nothing_behind(tmp_path: Path) -> None:
    said = lines(tmp_path, CHILD.format(ignore="", end="time.sleep(60)", silent=""))
    pids = next([int(word) for word in line.split()[1:]] for line in said if line.startswith("pids"))
    assert len(pids) == 2
    assert not any(map(is_over, pids)), "they run as long as their lines are read"
    said.close()
    until(lambda: all(map(is_over, pids)))
    assert list(map(is_over, pids)) == [True, True]


def test_what_an_installer_leaves_running_after_its_success_stays(tmp_path: Path) -> None:
    """A keyring's agent, which pip may have started to ask for a password."""
    silent = ", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    code = CHILD.format(ignore="", end="", silent=silent)
    said = list(lines(tmp_path, code))
    pid = int(said[-1].split()[-1])
    assert not is_over(pid)
    os.kill(pid, signal.SIGKILL)


def test_a_stop_before_the_first_line_ends_it_too(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(AppError) as stopped:
        list(lines(tmp_path, "import time; time.sleep(60)", stop))
    assert stopped.value.code == "interrupted"


def test_its_group_is_its_own(tmp_path: Path) -> None:
    """Ctrl+C in a terminal goes to all of a group: the program ends the installer itself, when it can."""
    (group,) = lines(tmp_path, "import os; print(os.getpgrp())")
    assert int(group) != os.getpgrp()
