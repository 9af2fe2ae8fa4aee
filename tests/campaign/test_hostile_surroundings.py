"""The surroundings that no test may notice: what a command touches there is recorded."""

import socket
import sys
from pathlib import Path

import pytest

from tests.campaign.hostile_surroundings import main, run

TOUCHING = """
import os, pathlib, socket, subprocess, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as caller:
    caller.sendall(b"GET /api/tags HTTP/1.1\\r\\n")
    caller.recv(1)
subprocess.run(["xclip", "-selection", "clipboard"])
pathlib.Path(os.environ["XDG_CONFIG_HOME"], "subtitle-rag", "config.toml").write_text("")
pathlib.Path.home().joinpath("left").write_text("")
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_what_is_touched_is_recorded() -> None:
    port = free_port()
    status, record = run([sys.executable, "-c", TOUCHING, str(port)], [port])
    assert status == 0
    caller, started, *changed = record
    assert caller.startswith(f"port {port}: [b'GET /api/tags HTTP/1.1']")
    if sys.platform == "linux":
        assert f" in {Path.cwd()}: {sys.executable} -c" in caller
    assert started.endswith("/bin/xclip -selection clipboard")
    assert changed == ["changed: home/left", "changed: xdg/config/subtitle-rag/config.toml"]


def test_what_touches_nothing_is_not_and_its_status_is_told() -> None:
    assert run([sys.executable, "-c", "raise SystemExit(3)"], [free_port()]) == (3, [])


def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port} is taken"):
            run([sys.executable, "-c", ""], [port])
    assert main([]) == 2
    assert "tests/campaign/hostile_surroundings.py" in capsys.readouterr().err
