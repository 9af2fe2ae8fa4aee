"""The surroundings of the test run: nobody's own, and without a way out."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from tests.support import hermetic

CONFTEST = """
from tests.support import hermetic

def pytest_configure(config):
    config.pluginmanager.register(hermetic.Plugin())
"""
TESTS = """
import socket, threading
from contextlib import suppress
import pytest

def reach(host, port):
    with suppress(OSError):  # as a program may
        socket.create_connection((host, port))

SERVERS = [("127.0.0.1", 11434), ("::1", 6333), ("192.0.2.1", 443), ("host.example", 80)]

@pytest.mark.parametrize(("host", "port"), SERVERS)
def test_reaching(host, port):
    reach(host, port)

def test_thread():
    thread = threading.Thread(target=reach, args=("host.example", 80))
    thread.start()
    thread.join()

@pytest.mark.xfail(reason="a reason")
def test_expected_to_fail():
    reach("host.example", 80)
    assert False

@pytest.mark.ollama
def test_allowed_live():
    reach("127.0.0.1", 11434)

def test_allowed_stand_in():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
"""


def test_an_attempt_fails_the_test_even_if_the_program_suppresses_the_error(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_attempts.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = ollama\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert "6 failed, 2 passed" in ran.stdout, ran.stdout[-3000:]
    for attempt in ("127.0.0.1, port 11434", "::1, port 6333", "192.0.2.1, port 443"):
        assert f"tried to connect to {attempt}" in ran.stdout
    assert ran.stdout.count("tried to look up host.example") >= 3


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
            assert Path(value).is_relative_to(hermetic.RUN), name
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_CONNECTION", "BROWSER", "http_proxy"):
        assert name not in early_child


def test_the_time_zone_and_the_size_of_the_terminal_are_everybody_s() -> None:
    assert time.localtime(0).tm_hour == 0
    assert (os.environ["COLUMNS"], os.environ["LINES"]) == ("80", "24")


def test_a_program_of_the_user_is_not_on_the_path() -> None:
    assert os.environ["PATH"] == str(hermetic.RUN / "bin")
    assert {path.name for path in (hermetic.RUN / "bin").iterdir()} <= set(hermetic.TOOLS)
