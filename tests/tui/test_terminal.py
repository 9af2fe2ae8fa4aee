"""The app as a process on a real terminal: bytes that are no text, and the signals that end it."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ALTERNATE, MAIN = b"\x1b[?1049h", b"\x1b[?1049l"
QUIET = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'
PATIENCE_S = 20
INTERRUPT_ON_IMPORT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == "subtitle_rag.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from subtitle_rag.__main__ import main
main()
"""


class Terminal:
    """An app on a pseudo-terminal of 100 × 30 cells."""

    def __init__(self, home: Path) -> None:
        (home / "config.toml").write_text(QUIET)
        self._end, tty = pty.openpty()
        termios.tcsetwinsize(tty, (30, 100))
        self.mode = termios.tcgetattr(tty)
        self._tty = tty
        command = [sys.executable, "-m", "subtitle_rag", "--home", str(home), "--language", "en"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self.process = subprocess.Popen(
            command, stdin=tty, stdout=tty, stderr=tty, start_new_session=True, env=environment
        )
        self.output = b""

    def send(self, data: bytes) -> None:
        os.write(self._end, data)

    def wait_for(self, data: bytes) -> None:
        """Read until `data` was written."""
        end = time.monotonic() + PATIENCE_S
        while data not in self.output:
            assert time.monotonic() < end, f"{data!r} never came; the last was {self.output[-300:]!r}"
            if select.select([self._end], [], [], 0.1)[0]:
                self.output += os.read(self._end, 2**16)

    def mode_is_restored(self) -> bool:
        return termios.tcgetattr(self._tty) == self.mode

    def hang_up(self) -> None:
        os.close(self._tty)
        os.close(self._end)
        self._end = self._tty = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self._end >= 0:
            self.hang_up()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    shown = Terminal(tmp_path)
    try:
        shown.wait_for(ALTERNATE)
        shown.wait_for(b"YouTube")
        yield shown
    finally:
        shown.close()


@pytest.mark.campaign(part="app")
def test_a_byte_that_is_no_text_ends_nothing_and_a_signal_restores_the_terminal(terminal: Terminal) -> None:
    terminal.send(b"\xff")
    terminal.send("치킨".encode())
    terminal.wait_for("치킨".encode())
    assert not terminal.mode_is_restored()
    terminal.process.send_signal(signal.SIGTERM)
    terminal.wait_for(MAIN)
    assert terminal.process.wait(PATIENCE_S) == 128 + signal.SIGTERM
    assert terminal.mode_is_restored()


@pytest.mark.campaign(part="app")
def test_the_app_ends_when_its_terminal_is_gone(terminal: Terminal) -> None:
    terminal.hang_up()
    terminal.process.send_signal(signal.SIGHUP)  # the kernel's, to the session of a terminal that closes
    assert terminal.process.wait(PATIENCE_S) == 128 + signal.SIGHUP


def test_ctrl_c_while_modules_load_prints_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPT_ON_IMPORT], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")
