"""Commands of the program in separate processes, and kill -9 at a chosen moment."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.hosting.entry import host_entry

Process = subprocess.Popen[bytes]
needs_sigkill = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's")


def command_line(home: Path, *arguments: object, module: str = "subtitle_rag") -> list[str]:
    """Return a command line of the program with this home; `module` runs it."""
    return [sys.executable, "-m", module, "--home", str(home), *map(str, arguments)]


def start(
    home: Path, *arguments: object, variables: Mapping[str, str] | None = None, module: str = "subtitle_rag"
) -> Process:
    """Start a command and discard its output."""
    return subprocess.Popen(
        command_line(home, *arguments, module=module),
        env={**os.environ, **(variables or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_when(
    process: Process,
    is_reached: Callable[[], bool],
    delay: float = 0.0,
    also: Callable[[], object] = lambda: None,
) -> bool:
    """Kill a process `delay` seconds after a point is reached; return whether it was still running.

    `also` is called at the same moment, to remove what the process uses.
    """
    try:
        while process.poll() is None and not is_reached():
            time.sleep(0.002)
        time.sleep(delay)
        also()
        return process.poll() is None
    finally:
        process.kill()
        process.wait()


def kill_host(folder: Path | None) -> None:
    """Kill the process that hosts this folder, if any."""
    if folder and (entry := host_entry(folder)):
        os.kill(entry["pid"], signal.SIGKILL)


def windows_without_points(library: Path) -> int:
    """Return the number of windows that are not searchable yet."""
    query = "SELECT count(*) FROM window WHERE id NOT IN (SELECT window_id FROM indexed WHERE vector = 'bm25')"
    try:
        with closing(sqlite3.connect(f"file:{library}?mode=ro", uri=True)) as db:
            return int(db.execute(query).fetchone()[0])
    except sqlite3.OperationalError:  # the library does not exist yet
        return 0
