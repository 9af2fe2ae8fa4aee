"""The client's half: reaches the host of a folder, starts it when needed, repeats a call that its end cut short."""

import json
import logging
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from subtitle_rag import log_file
from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.hosting.entry import SOCKET_PREFIX, HostKind, host_entry
from subtitle_rag.hosting.handshake import greet_host
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection

logger = logging.getLogger(__name__)

START_S = 20.0
"""Longest wait for a host to start or, when it is just leaving, to be gone."""
LOG_BYTES = 100_000
"""Size from which `host.log` begins anew at the next start of a host."""


class Client:
    """Calls the host of `folder`; safe from any number of threads, each of which has a connection to itself.

    `order` is what the host's service is opened and greeted with, as JSON can say it.
    """

    def __init__(self, kind: HostKind, folder: Path, **order: Any) -> None:
        self._kind = kind
        self._folder = folder.absolute()
        self._order = order
        self._lock = threading.Lock()
        self._closed = False
        self._idle: list[Connection] = []
        self.host_pid = 0
        """Process id of the host that answered last."""

    def close(self) -> None:
        """Hang up; calls of other threads that are under way still get their replies."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _call(self, method: str, *args: Any, **options: Any) -> Any:
        """What the host's service answers; raises what it raised, or what `HostKind.unreachable` makes."""
        failure: BaseException | None = None
        for attempt in range(2):
            connection = self._pooled(anew=attempt > 0) or self._connect()
            try:
                return self._exchange(connection, (method, args, options))
            except (EOFError, OSError) as error:  # the host is gone
                logger.info("%s was lost during %s", self._kind.name, method, exc_info=True)
                failure = error
        lost = isinstance(failure, EOFError | ConnectionError)
        raise self._kind.unreachable(_("it ended during the call") if lost else str(failure))

    def _call_running(self, method: str) -> Any:
        """As `_call`, but None where no host runs."""
        for attempt in range(2):
            connection = self._pooled(anew=attempt > 0) or self._greeted(self._order)
            if connection is None:
                return None
            try:
                return self._exchange(connection, (method, (), {}))
            except (EOFError, OSError):  # the host is gone, and another may have come
                logger.info("%s was lost during %s", self._kind.name, method, exc_info=True)
        return None

    def _exchange(self, connection: "Connection", request: Any) -> Any:
        """What the reply holds; raises EOFError or OSError where the host is gone."""
        try:
            done, value = self._ask(connection, request)
        except BaseException:
            connection.close()  # its reply may still be on the way
            raise
        self._give_back(connection)
        if done:
            return value
        raise value

    def _pooled(self, *, anew: bool) -> "Connection | None":
        """A connection that no thread uses; `anew` hangs up all of them first."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            if anew:
                while self._idle:
                    self._idle.pop().close()
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: "Connection") -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self, **instead: Any) -> "Connection":
        """A greeted connection; starts hosts until one answers or says why it cannot. `instead` changes the order."""
        order = self._order | instead
        began = time.monotonic()
        deadline = began + START_S
        with _Starter(self._kind, self._folder, order) as starter:
            while time.monotonic() < deadline:
                connection = self._greeted(order)
                if connection:
                    took = (time.monotonic() - began) * 1000
                    logger.log(
                        logging.INFO if starter.started else logging.DEBUG,
                        "%s answers after %.0f ms, pid %d",
                        self._kind.name,
                        took,
                        self.host_pid,
                    )
                    return connection
                starter.step()
                time.sleep(0.01)
        raise self._silent(START_S)

    def _greeted(self, order: dict[str, Any]) -> "Connection | None":
        """A connection to the host that runs; None where none does, or it is just leaving."""
        connection = _dial(self._folder)
        if connection is None:
            return None
        try:
            done, value = self._ask(connection, ("hello", (self._kind.protocol,), order))
        except (EOFError, OSError):
            logger.debug("no greeting from %s", self._kind.name, exc_info=True)
            connection.close()
            return None
        if done:
            self.host_pid = value
            return connection
        connection.close()
        raise value

    def _ask(self, connection: "Connection", request: Any) -> Any:
        connection.send(request)
        if not connection.poll(self._kind.reply_s):
            raise self._silent(self._kind.reply_s)
        return connection.recv()

    def _silent(self, seconds: float) -> BusyError:
        return self._kind.unreachable(_("no answer in {n} s").format(n=round(seconds)))


def _dial(folder: Path) -> "Connection | None":
    """A connection to the host that `host.json` names; None where nobody answers there."""
    from multiprocessing import AuthenticationError, connection

    entry = host_entry(folder)
    if entry is None:
        return None
    opened = None
    try:
        opened = connection.Client(entry["address"])
        greet_host(opened, bytes.fromhex(entry["key"]))
        return opened
    except (OSError, EOFError, AuthenticationError, ValueError):
        if opened is not None:
            opened.close()
        logger.debug("the host that host.json names does not answer", exc_info=True)
        return None  # one that was killed, or that is just being replaced


class _Starter:
    """Starts host processes for one client that waits, and raises what hinders them."""

    def __init__(self, kind: HostKind, folder: Path, order: dict[str, Any]) -> None:
        self._kind = kind
        self._folder = folder
        self._order = {**order, "folder": str(folder), "log": log_file.log_options()}
        self.started = False
        """Whether a process was started."""
        self._process: subprocess.Popen[bytes] | None = None
        self._next = 0.0
        self._reports: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> "_Starter":
        return self

    def __exit__(self, *_: object) -> None:
        if self._reports:
            self._reports.cleanup()

    def step(self) -> None:
        """Start a host unless one is starting; raises AppError with which the last one ended."""
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return
            if status != 0:
                failure = self._failure(status)
                logger.warning("%s ended with status %d while starting", self._kind.name, status, exc_info=failure)
                raise failure
        # an untroubled end means that another host has the folder: it is about to answer, or to leave
        if time.monotonic() >= self._next:
            self._start()
            self._next = time.monotonic() + 0.5

    def _failure(self, status: int) -> AppError:
        try:
            report = json.loads(Path(self._order["report"]).read_text(encoding="utf-8"))
        except FileNotFoundError:
            log = (self._folder / "host.log").read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line for line in reversed(log) if line.strip()), "")
            if -status in self._kind.signals:
                return BusyError(self._kind.signals[-status], path=str(self._folder))
            reason = _("it ended with status {status}: {last}").format(status=status, last=last[:200])
            return self._kind.unreachable(reason)
        kind = BusyError if report["busy"] else AppError
        return kind(report["code"], **report["details"])

    def _start(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            log = (self._folder / "host.log").open("ab")
            if self._reports is None:
                self._reports = tempfile.TemporaryDirectory(prefix=SOCKET_PREFIX)
                self._order["report"] = str(Path(self._reports.name) / "error.json")
        except OSError as error:
            raise self._kind.failure(self._folder, error) from error
        with log:
            if log.tell() > LOG_BYTES:
                log.truncate(0)
            try:
                self._process = _detached(self._kind.module, self._folder, json.dumps(self._order), log)
            except OSError as error:
                raise self._kind.unreachable(str(error)) from error
        self.started = True
        logger.info("starting %s, pid %d", self._kind.name, self._process.pid)
        # reaps it whenever it ends, so that a long-lived client keeps no zombie
        threading.Thread(target=self._process.wait, name="host-reaper", daemon=True).start()


def _detached(module: str, folder: Path, order: str, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    """The host as a process that outlives this one and gets no signals from its terminal; raises OSError."""
    import subprocess

    flags = 0
    if sys.platform == "win32":
        # a console without a window, and not none: the interpreter of a virtual environment starts another one there,
        # which would open a window of its own
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)
    # -P keeps the current folder, which may hold anything, out of the host's import path
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", module, order],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},  # as its log is read
        start_new_session=True,
        creationflags=flags,
    )
