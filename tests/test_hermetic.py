"""The surroundings of the test run, and the guard: each kind of attempt fails the test that makes it, by name.

The attempts are tests of a pytest of their own, with what is forbidden to it in this test's folder. All of them
suppress the error, as the program may: it is the record that fails them.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from tests.guard import audit
from tests.support import hermetic

pytestmark = pytest.mark.xdist_group("hermetic")  # one worker makes the fixtures of this module

CONFTEST = """
from tests.support import hermetic
import socket
from contextlib import suppress
import pytest

def pytest_configure(config):
    config.pluginmanager.register(hermetic.Plugin())

@pytest.fixture(scope="module")
def early():
    with suppress(OSError):
        socket.getaddrinfo("early.example", 80)

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    with suppress(OSError):
        socket.getaddrinfo("late.example", 80)
"""

HEAD = """
import multiprocessing, os, socket, sqlite3, subprocess, sys, threading, webbrowser
from contextlib import suppress
from pathlib import Path
import pytest

HOME, ROOT, BUS, PORT = {home!r}, {root!r}, {bus!r}, {port!r}
"""

ATTEMPTS = {
    "service": ('socket.create_connection(("127.0.0.1", PORT))', "connect to 127.0.0.1, port "),
    "ollama": ('socket.create_connection(("localhost", 11434))', "port 11434"),
    "qdrant": ('socket.create_connection(("::1", 6333))', "connect to ::1, port 6333"),
    "network": ('socket.create_connection(("192.0.2.1", 443))', "connect to 192.0.2.1, port 443"),
    "datagram": ('socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))', "connect to 192.0.2.1"),
    "name": ('socket.getaddrinfo("host.example", 80)', "look up the host host.example"),
    "visitors": ('socket.socket().bind(("0.0.0.0", 0))', "listen on 0.0.0.0"),
    "session_bus": ("socket.socket(socket.AF_UNIX).connect(BUS)", "bus"),
    "clipboard": ('subprocess.run(["xclip"])', "start the program xclip"),
    "program": ('subprocess.run([os.path.realpath("/bin/sh"), "-c", ""])', "start the program /"),
    "spawned": ('os.posix_spawn(os.path.realpath("/bin/sh"), ["sh", "-c", ""], {})', "start the program /"),
    "executed": ('os.execv(os.path.realpath("/bin/sh"), ["sh", "-c", ""])', "start the program /"),
    "shell": ('os.system("true")', "run the shell command"),
    "browser": ('webbrowser.get("true %s").open("https://host.example")', "in a browser"),
    "bare_python": ('subprocess.run([sys.executable, "-c", ""], env={})', "start a Python without the guard"),
    "config_read": ('open(HOME + "/.config/subtitle-rag/config.toml")', "read "),
    "config_listed": ('os.listdir(HOME + "/.config")', "read "),
    "cache_written": ('open(HOME + "/.cache/x", "w")', "write "),
    "folder_made": ('os.mkdir(HOME + "/.subtitle-rag")', "write "),
    "database": ('sqlite3.connect(HOME + "/library.db")', "write "),
    "database_by_address": ('sqlite3.connect(f"file://{HOME}/library.db", uri=True)', "write /"),
    "moved": ('os.rename(os.environ["HOME"], HOME + "/moved")', "write "),
    "repository": ('open(ROOT + "/left.txt", "w")', "write "),
    "system": ('open("/etc/left.txt", "w")', "write /etc/left.txt"),
    "terminal": ('open("/dev/tty")', "read /dev/tty"),
}
SPAWNED = 'socket.getaddrinfo("spawned.example", 80)'
CHILDREN = ("service", "name", "clipboard", "config_read", "repository")
"""Those that are made in other processes too, which have the same hook."""

OTHERS = """
def reach():
    with suppress(OSError):
        socket.getaddrinfo("spawned.example", 80)

def test_multiprocessing():
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=socket.getaddrinfo, args=("spawned.example", 80))
    process.start()
    process.join()

def test_host(tmp_path):
    from subtitle_rag.base.hosting.host_client import _detached
    with open(tmp_path / "host.log", "wb") as log:
        assert _detached("attempting", tmp_path, "{}", log).wait() == 0

def test_thread():
    thread = threading.Thread(target=reach)
    thread.start()
    thread.join()

def test_fork():
    if not (pid := os.fork()):
        with suppress(OSError):
            reach()
        os._exit(0)
    os.waitpid(pid, 0)

@pytest.mark.xfail(reason="a reason")
def test_expected_to_fail():
    reach()
    assert False

def test_skipped():
    reach()
    pytest.skip("a reason")

def test_early(early):
    pass

@pytest.mark.ollama
def test_allowed_live():
    with suppress(OSError):
        socket.getaddrinfo("localhost.", 11434)

@pytest.mark.programs("sh")
def test_allowed_program():
    subprocess.run([hermetic.program("sh"), "-c", ""], check=True)

def test_allowed_stand_ins(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        code = f"import socket; socket.create_connection(('localhost', {port})).close()"
        subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 9))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    listener.listen()
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(str(tmp_path / "socket"))
    caller.close()
    code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(tmp_path / 'socket')!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    listener.close()
    program = tmp_path / "xclip"
    program.write_text("#!/bin/sh\\n")
    program.chmod(0o755)
    subprocess.run([program], check=True)
    subprocess.run(["xclip"], env={"PATH": str(tmp_path)}, check=True)
    sqlite3.connect(tmp_path / "library.db").close()
    sqlite3.connect((tmp_path / "library.db").as_uri() + "?mode=ro", uri=True).close()
    (Path.home() / "file").write_text("")
"""


def generated(home: Path, bus: Path, port: int) -> str:
    """A file of tests, each of which makes one attempt."""
    head = HEAD.format(home=str(home), root=str(hermetic.ROOT), bus=str(bus), port=port)
    tests = [head, "from tests.support import hermetic"]
    for name, (code, _words) in ATTEMPTS.items():
        tests.append(f"def test_{name}():\n    with suppress(OSError):\n        {code}\n")
    for name in CHILDREN:
        code = f"{head}\nwith suppress(OSError):\n    {ATTEMPTS[name][0]}\n"
        tests.append(f"def test_child_{name}():\n    subprocess.run([sys.executable, '-c', {code!r}], check=True)\n")
    return "\n\n".join([*tests, OTHERS])


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple["subprocess.CompletedProcess[str]", int]]:
    """The pytest of the attempts, and how many connections a service had that does not belong to it."""
    folder = tmp_path_factory.mktemp("attempts")
    settings = Path(os.environ["HOME"], ".config", "subtitle-rag", "config.toml")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("rubbish", encoding="utf-8")
    bus = Path(os.environ["HOME"], "bus")
    ignored = ("PYTEST_XDIST", "PYTEST_CURRENT")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ignored)}
    with socket.socket(socket.AF_UNIX) as listening, socket.create_server(("127.0.0.1", 0)) as service:
        listening.bind(str(bus))
        listening.listen()
        service.setblocking(False)
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        tests = generated(Path(os.environ["HOME"]), bus, service.getsockname()[1])
        (folder / "test_attempts.py").write_text(tests, encoding="utf-8")
        attempting = "import contextlib, socket\nwith contextlib.suppress(OSError):\n    " + SPAWNED
        (folder / "attempting.py").write_text(attempting, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = ollama\n", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)]
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
        connections = 0
        while True:
            try:
                service.accept()[0].close()
            except BlockingIOError:
                break
            connections += 1
    yield ran, connections
    settings.unlink()
    bus.unlink()


def section(output: str, name: str) -> str:
    """What pytest printed about the test."""
    found = re.search(rf"^_+ test_{name} _+$(.*?)(?=^_+ test_|^=+ )", output, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_fails_the_test_by_name(ended: tuple["subprocess.CompletedProcess[str]", int], name: str) -> None:
    output = ended[0].stdout
    assert re.search(rf"^FAILED .*::test_{name}\b", output, re.MULTILINE), output[-3000:]
    assert f"test_{name} reached beyond the test run" in section(output, name)
    assert ATTEMPTS[name][1] in section(output, name)


@pytest.mark.parametrize("name", CHILDREN)
def test_an_attempt_of_a_child_fails_the_test(ended: tuple["subprocess.CompletedProcess[str]", int], name: str) -> None:
    output = ended[0].stdout
    assert re.search(rf"^FAILED .*::test_child_{name}\b", output, re.MULTILINE), output[-3000:]
    assert ATTEMPTS[name][1] in section(output, f"child_{name}")


@pytest.mark.parametrize("name", ["multiprocessing", "host", "thread", "fork", "expected_to_fail", "skipped"])
def test_no_way_around(ended: tuple["subprocess.CompletedProcess[str]", int], name: str) -> None:
    assert re.search(rf"^FAILED .*::test_{name}\b", ended[0].stdout, re.MULTILINE), ended[0].stdout[-3000:]
    assert "look up the host spawned.example" in section(ended[0].stdout, name)


def test_fixtures_and_the_end_of_the_run_are_guarded_too(
    ended: tuple["subprocess.CompletedProcess[str]", int],
) -> None:
    ran, _connections = ended
    assert re.search(r"^ERROR .*::test_early\b", ran.stdout, re.MULTILINE)
    assert "early.example" in ran.stdout
    assert "Outside of the tests" in ran.stderr
    assert "late.example" in ran.stderr


def test_what_belongs_to_the_run_is_allowed(ended: tuple["subprocess.CompletedProcess[str]", int]) -> None:
    passed = re.findall(r"^PASSED .*::test_(\w+)", ended[0].stdout, re.MULTILINE)
    assert sorted(passed) == ["allowed_live", "allowed_program", "allowed_stand_ins"], ended[0].stdout[-3000:]


def test_nothing_was_reached(ended: tuple["subprocess.CompletedProcess[str]", int]) -> None:
    ran, connections = ended
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED
    assert connections == 0
    assert not (hermetic.ROOT / "left.txt").exists()
    assert not Path(os.environ["HOME"], ".cache", "x").exists()


def test_the_folder_of_a_system_s_python_frees_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which("env", path="/usr/bin:/bin")
    assert program
    monkeypatch.setattr(sys, "base_prefix", str(Path(program).parents[1]))
    monkeypatch.setenv(audit.POLICIES, hermetic._policies())
    guard, refused = audit.Guard(), list[str]()
    guard.configure()
    monkeypatch.setattr(guard, "refuse", refused.append)
    guard._execute(program, [program])
    assert refused == [f"start the program {program}: {[program]}"]


@pytest.fixture(scope="module")
def early_child() -> dict[str, str]:
    """The environment of a process that starts before any test has a home of its own."""
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    return dict(json.loads(ran.stdout))


def test_a_process_of_a_fixture_finds_no_ollama_and_nothing_of_the_user_s(early_child: dict[str, str]) -> None:
    assert early_child[config.HOSTS_VARIABLE] == ""
    assert config.load(home=Path(early_child[config.HOME_VARIABLE])).llm.hosts == ()
    for name, value in early_child.items():
        if name == "HOME" or (name.startswith("XDG_")):
            assert Path(value).is_relative_to(early_child[audit.RUN]), name
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_CONNECTION", "BROWSER", "http_proxy"):
        assert name not in early_child


def test_the_time_zone_and_the_size_of_the_terminal_are_everybody_s() -> None:
    assert time.localtime(0).tm_hour == 0
    assert (os.environ["COLUMNS"], os.environ["LINES"]) == ("80", "24")


def test_a_program_of_the_user_is_not_on_the_path() -> None:
    assert os.environ["PATH"] == str(hermetic.RUN / "bin")
    assert {path.name for path in (hermetic.RUN / "bin").iterdir()} <= set(hermetic.TOOLS)
