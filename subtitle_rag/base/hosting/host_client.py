"""Client: connects to a folder's host or starts it, and repeats a call once if the host is gone."""

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from subtitle_rag.base import log_file
from subtitle_rag.base.atomic_files import private_file, private_folder
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.hosting.entry import HostKind, host_entry
from subtitle_rag.base.hosting.handshake import shake_hands
from subtitle_rag.base.hosting.temp_folders import sweep_temp_folders
from subtitle_rag.base.i18n import _

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection

logger = logging.getLogger(__name__)

START_S = 20.0
"""Longest wait for a host to start, or for one of another version to exit."""
HUNG_S = 60.0
"""Silence after which a new client kills the host; the engine can block the GIL for seconds."""
EXIT_S = 2.0
"""Longest wait for the exit status of a host that has hung up."""
LOG_BYTES = 100_000
"""Size above which the next host truncates `host.log`."""
_PROCESSES: "list[subprocess.Popen[bytes]]" = []
"""Hosts started by this process, except those known to have ended."""


class Client:
    """Calls the host of `folder`. Thread-safe: each thread has its own connection.

    `order` is sent with every call, only over the socket, since it may have secrets.
    """

    def __init__(self, kind: HostKind, folder: Path, **order: Any) -> None:
        self._kind = kind
        self._folder = folder.absolute()
        self._order = order
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._closed = False
        self._idle: list[Connection] = []
        self._process: subprocess.Popen[bytes] | None = None
        """The last host that this client started."""
        self._final_failure: AppError | None = None
        """A failure that every host would repeat; no other is started."""
        self.host_pid = 0
        """Process id of the last connection's host."""

    def close(self) -> None:
        """Hang up; running calls of other threads still get their replies."""
        with self._lock:
            self._closed = True
        self._hang_up()

    def call(self, method: str, *args: Any, **options: Any) -> Any:
        """Return the service's answer. Raises its exceptions, `HostKind.unreachable` and `HostKind.died`."""
        return self._call_twice(self._connect, method, *args, **options)

    def _load_ahead(self, load: Callable[[], object]) -> None:
        """Load something in a background thread. A failure is only logged: the first use raises it."""

        def run() -> None:
            try:
                load()
            except (AppError, RuntimeError):  # RuntimeError: the client was closed meanwhile
                logger.info("nothing was loaded ahead", exc_info=True)

        threading.Thread(target=run, name="load-ahead", daemon=True).start()

    def _call_running(self, method: str) -> Any:
        """Call a running host of this version; None if there is none."""
        try:
            return self._call_twice(lambda: self._greet()[0], method)
        except AppError:
            logger.debug("no %s answers", self._kind.name, exc_info=True)
            return None

    def _call_twice(self, connect: "Callable[[], Connection | None]", method: str, *args: Any, **options: Any) -> Any:
        """Call, and repeat the call once if the host is gone; None if `connect` returns None."""
        is_second = False
        while connection := self._pooled() or connect():
            try:
                done, value = self._ask(connection, (self._order, method, args, options))
            except (EOFError, OSError) as error:
                connection.close()
                self._hang_up()
                logger.info("%s was lost during %s", self._kind.name, method, exc_info=True)
                if is_second:
                    raise self._lost(error) from None
                is_second = True
                continue
            except BaseException:
                connection.close()  # its reply may still be on the way
                raise
            self._give_back(connection)
            if done:
                return value
            raise value
        return None

    def _lost(self, error: EOFError | OSError) -> AppError:
        """Return the error of a call that lost two hosts."""
        import subprocess

        if not isinstance(error, EOFError | ConnectionError):
            return self._kind.unreachable(str(error))
        try:
            status = self._process.wait(EXIT_S) if self._process else None
        except subprocess.TimeoutExpired:
            status = None
        return self._failure(status, _("it ended during the call"))

    def _failure(self, status: int | None, reason: str) -> AppError:
        """Return the error for a host that exited with this status."""
        name = _signal_name(status)
        failure = self._kind.died(self._folder, name) if name else None
        if failure is not None and not isinstance(failure, BusyError):
            self._final_failure = failure
        if failure is None:
            killed = _("the system ended it, as it does when memory runs out")
            failure = self._kind.unreachable(killed if name == "SIGKILL" else reason)
        if name:
            failure.details["signal"] = name
        return failure

    def _pooled(self) -> "Connection | None":
        """Return an idle connection, if any."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            return self._idle.pop() if self._idle else None

    def _hang_up(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _give_back(self, connection: "Connection") -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self) -> "Connection":
        """Connect to the host, starting hosts until one answers. Raises the error of one that fails at its start."""
        with self._starting:
            began = time.monotonic()
            started: subprocess.Popen[bytes] | None = None
            next_start, log_start = 0.0, 0
            while True:
                connection, obstacle = self._greet()
                now = time.monotonic()
                if connection:
                    level = logging.INFO if started else logging.DEBUG
                    took_ms = (now - began) * 1000
                    logger.log(level, "%s answers after %.0f ms, pid %d", self._kind.name, took_ms, self.host_pid)
                    return connection
                if now >= began + START_S:
                    raise self._kind.unreachable(obstacle or _("no answer in {n} s").format(n=round(START_S)))
                # status 0 means that another host has the folder: it is about to answer or to exit
                status = started.poll() if started else 0
                if status:
                    raise self._failure_of_start(status, log_start)
                if status == 0 and not obstacle and now >= next_start:
                    if self._final_failure:
                        raise self._final_failure
                    started, log_start = self._start()
                    self._process, next_start = started, now + 0.5
                time.sleep(0.1 if obstacle else 0.01)

    def _greet(self) -> "tuple[Connection | None, str]":
        """Connect to the running host; return the connection and an empty string.

        Without a connection, return None and, if an older version is still in use, the programs that use it.

        Raises `HostKind.unreachable` for a newer version in use.
        """
        connection = _dial(self._folder)
        if connection is None:
            return None, ""
        caller = {"program": log_file.process_name(), "pid": os.getpid()}
        try:
            done, value = self._ask(connection, ("hello", (self._kind.protocol,), {"caller": caller}))
        except (EOFError, OSError):
            logger.debug("no greeting from %s", self._kind.name, exc_info=True)
            connection.close()
            return None, ""
        if done:
            self.host_pid = value
            return connection, ""
        connection.close()
        if value["leaving"]:
            return None, ""
        obstacle = _holders(value)
        if not value["older"]:
            raise self._kind.unreachable(obstacle)
        return None, obstacle

    def _ask(self, connection: "Connection", request: Any) -> Any:
        connection.send(request)
        if not connection.poll(self._kind.reply_s):
            raise TimeoutError(_("no answer in {n} s").format(n=round(self._kind.reply_s)))
        return connection.recv()

    def _start(self) -> "tuple[subprocess.Popen[bytes], int]":
        """Start a host. Return its process and the position in `host.log` where its output begins."""
        sweep_temp_folders()
        try:
            private_folder(self._folder)
            path = self._folder / "host.log"
            private_file(path)
            log = path.open("ab")
        except OSError as error:
            raise self._kind.failure(self._folder, error) from error
        order = json.dumps({"folder": str(self._folder), "log": log_file.log_options()})
        with log:
            if log.tell() > LOG_BYTES:
                log.truncate(0)
                log.seek(0)
            start = log.tell()
            try:
                process = _detached(self._kind.path, self._folder, order, log)
            except OSError as error:
                raise self._kind.unreachable(str(error)) from error
            logger.info("starting %s, pid %d", self._kind.name, process.pid)
            _PROCESSES[:] = [*(each for each in _PROCESSES if each.poll() is None), process]
            return process, start

    def _failure_of_start(self, status: int, log_start: int) -> AppError:
        """Return the error for a host that exited before it answered."""
        try:
            output = (self._folder / "host.log").read_bytes()[log_start:]
        except OSError:  # the folder was removed
            output = b""
        lines = output.decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        if status > 1 and not last:  # a system error number
            return self._kind.failure(self._folder, OSError(status, os.strerror(status)))
        reason = _("it ended with status {status}: {last}").format(status=status, last=last[:200])
        logger.warning("%s ended with status %d while starting", self._kind.name, status)
        return self._failure(status, reason)


def _dial(folder: Path) -> "Connection | None":
    """Connect to the address in `host.json`; None if nothing answers. Kills a silent host."""
    from multiprocessing import AuthenticationError

    entry = host_entry(folder)
    if entry is None:
        return None
    opened = None
    try:
        opened = _connection(entry["address"])
        shake_hands(opened, bytes.fromhex(entry["key"]), as_host=False, limit_s=HUNG_S)
        return opened
    except (OSError, EOFError, AuthenticationError, ValueError) as error:  # killed, or being replaced
        if opened is not None:
            opened.close()
        logger.debug("the host that host.json names does not answer", exc_info=True)
        if isinstance(error, TimeoutError):
            _end_hung(entry.get("pid"))
        return None


def _connection(address: str) -> "Connection":
    """Connect, failing at once if nothing accepts. Raises OSError."""
    from multiprocessing import connection

    if sys.platform == "win32":
        return connection.Client(address)
    import socket

    with socket.socket(socket.AF_UNIX) as dialled:
        dialled.settimeout(HUNG_S)
        dialled.connect(address)
        dialled.setblocking(True)
        return connection.Connection(dialled.detach())


def _end_hung(pid: object) -> None:
    """Kill a silent host. It accepts connections, so it lives and the pid in `host.json` is correct."""
    import signal

    if not isinstance(pid, int) or pid in (0, os.getpid()):
        return
    sentence = _("A subtitle-rag process that hung was ended; a new one takes over (pid {pid}).")
    log_file.tell(logger, sentence.format(pid=pid))
    try:
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    except OSError:
        logger.warning("it could not be ended", exc_info=True)


def _signal_name(status: int | None) -> str:
    """Return the name of an exit status's signal; empty if there is none."""
    import signal

    if status == 0xC000001D:  # Windows' STATUS_ILLEGAL_INSTRUCTION
        return "SIGILL"
    try:
        return signal.Signals(-status).name if status else ""
    except ValueError:
        return ""


def _holders(refusal: Mapping[str, Any]) -> str:
    """Return the programs that use a host of another version."""
    programs = ", ".join(f"{_program(each.get('program'))} (pid {each.get('pid')})" for each in refusal["holders"])
    return _("another version of subtitle-rag has it open: {programs}").format(programs=programs)


def _program(name: object) -> str:
    """Return the name of a program as users know it."""
    match name:
        case "app":
            return _("the app")
        case "mcp":
            return _("an MCP server")
    return _("a command")


def _detached(kind: str, folder: Path, order: str, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start the host as a process that outlives this one and its terminal. Raises OSError."""
    import subprocess

    flags = 0
    if sys.platform == "win32":
        # a hidden console: without any, a virtual environment's interpreter starts a second one that opens a window
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)
    # -P keeps the current folder, with its arbitrary files, out of the host's import path
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", "subtitle_rag.base.hosting", kind, order],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},  # the log is read as UTF-8
        start_new_session=True,
        creationflags=flags,
    )
