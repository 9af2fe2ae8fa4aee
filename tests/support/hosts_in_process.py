"""Hosts as threads of the test's process: the real server, socket and service, without a separate process.

A host process takes 0.3 s of processor time to start, and 0.7 s more to load Kiwi, so a test that only needs its
answers uses a thread instead. Processes started by a test reach this host as usual, through `host.json`. Tests of the
processes themselves have the marker `hosts`.
"""

import os
import socket
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from subtitle_rag.base.hosting import host_client, server
from subtitle_rag.base.hosting.entry import HostKind, host_entry, identity
from subtitle_rag.index import index_host
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.models.neural import neural_host

FOREVER_S = 1e6
END_S = 60.0
"""Maximum seconds for a host to end, since its engine may be busy."""

KINDS: dict[str, HostKind] = {kind.path: kind for kind in (index_host.KIND, index_host.SERVER_KIND, neural_host.KIND)}


class ThreadHost:
    """A host in a thread; to `host_client` it looks like a process."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.folder = folder
        self.identity = identity(folder)
        self.pid = os.getpid()
        self._stop = threading.Event()
        self._status: int | None = None
        arguments = (KINDS[kind], folder, FOREVER_S, self._stop)
        self._thread = threading.Thread(target=self._run, args=arguments, name=f"host of {folder}", daemon=True)
        self._thread.start()

    def _run(self, *arguments: Any) -> None:
        self._status = 1
        self._status = server.host(*arguments)

    def poll(self) -> int | None:
        return None if self._thread.is_alive() else self._status

    def wait(self, timeout: float | None = None) -> int | None:
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise subprocess.TimeoutExpired("host", timeout or 0)
        return self._status

    def end(self) -> None:
        """End it, like SIGTERM ends a process."""
        self._stop.set()
        entry = host_entry(self.folder) if self.folder.exists() else None
        if entry and entry["pid"] == os.getpid():
            with suppress(OSError), socket.socket(socket.AF_UNIX) as knock:
                knock.connect(entry["address"])  # its listener checks `stop` at every connection
        self._thread.join(END_S)
        assert not self._thread.is_alive(), f"the host of {self.folder} stays"


class Hosts:
    """Starts hosts as threads (`install`), or as processes while `processes` is set."""

    def __init__(self) -> None:
        self.processes = False
        self._threads: list[ThreadHost] = []
        self._detached = host_client._detached

    def install(self) -> None:
        host_client._detached = self._start

    def _start(self, kind: str, folder: Path, order: str, log: IO[bytes]) -> Any:
        if self.processes or kind not in KINDS:
            return self._detached(kind, folder, order, log)
        host = ThreadHost(kind, folder)
        self._threads.append(host)
        return host

    def end(self, folder: Path) -> bool:
        """End the thread that hosts this folder, which may have been renamed; return whether there was one."""
        if not folder.exists():
            return False
        mine = [host for host in self._threads if host.identity == identity(folder)]
        for host in mine:
            host.end()
            self._threads.remove(host)
        return bool(mine)

    def end_under(self, folder: Path) -> None:
        """End the threads that host folders in this one."""
        for host in list(self._threads):
            if host.folder.is_relative_to(folder):
                host.end()
                self._threads.remove(host)


HOSTS = Hosts()


def share_kiwi() -> None:
    """Let all analyzers of this process share one Kiwi (0.7 s, 270 MB)."""
    load, loading = Analyzer.load, threading.Lock()
    loaded: list[Any] = []

    def shared(analyzer: Analyzer) -> Any:
        with loading:
            if not loaded:
                loaded.append(load(analyzer))
        analyzer._kiwi = loaded[0]
        return loaded[0]

    Analyzer.load = shared  # type: ignore[assignment, method-assign]
