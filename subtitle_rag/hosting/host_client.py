"""The client's half: reaches or starts the host of a folder, and retries a call once if the host is gone."""

import json
import logging
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from subtitle_rag import log_file
from subtitle_rag.atomic_files import private_file, private_folder
from subtitle_rag.domain.errors import AppError, BusyError
from subtitle_rag.hosting.entry import SOCKET_PREFIX, HostKind, host_entry, opening_entry
from subtitle_rag.hosting.handshake import HANDSHAKE_S, shake_hands
from subtitle_rag.hosting.temp_folders import sweep_temp_folders
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection

logger = logging.getLogger(__name__)

START_S = 20.0
"""Longest wait for a host to start or exit."""
LOOK_S = 20.0
"""Longest wait for a reply before a look whether the host was stopped."""
EXIT_S = 2.0
"""Longest wait for the status of a host that has hung up."""
GRACE_S = 10.0
"""Time for a host to end itself after `HostKind.open_s`."""
QUIET_S = 0.5
"""Interval of looks at a host of another version that is at work."""
QUIET_TICKS = 1
"""Processor time of an idle host in that interval, at most."""
ILLEGAL_INSTRUCTION = (-4, 0xC000001D)
"""Exit statuses of a process without a processor for it: SIGILL, and on Windows STATUS_ILLEGAL_INSTRUCTION."""
LOG_BYTES = 100_000
"""Size above which the next host truncates `host.log`."""


class Client:
    """Calls the host of `folder`. Thread-safe: each thread has its own connection.

    `order` is the JSON-compatible argument of `HostKind.open_service` and `Service.greet`. `secrets` are for `greet`
    alone: an order is in the host's command line, which every user of the machine can read.
    """

    def __init__(self, kind: HostKind, folder: Path, *, secrets: Mapping[str, Any] | None = None, **order: Any) -> None:
        self._kind = kind
        self._folder = folder.absolute()
        self._order = order
        self._secrets = dict(secrets or {})
        self._lock = threading.Lock()
        self._closed = False
        self._idle: list[Connection] = []
        self._process: subprocess.Popen[bytes] | None = None
        """The last host that this client started."""
        self._is_unsupported = False
        """This computer's processor cannot run the host: no other one is started."""
        self.host_pid = 0
        """Process id of the host of the last connection."""

    def close(self) -> None:
        """Hang up; running calls of other threads still get their replies."""
        with self._lock:
            self._closed = True
        self._hang_up()

    def call(self, method: str, *args: Any, **options: Any) -> Any:
        """Return the service's answer; raises its exceptions, `HostKind.unreachable` and `HostKind.unsupported`."""
        if self._is_unsupported:
            raise _unsupported(self._kind)
        try:
            return self._call_twice(self._connect, method, *args, **options)
        except (EOFError, OSError) as error:
            lost = isinstance(error, EOFError | ConnectionError)
            status = self._end_status() if lost else None
            if status in ILLEGAL_INSTRUCTION:
                self._is_unsupported = True
                raise _unsupported(self._kind) from None
            name = _signal_name(status)
            reason = _out_of_memory() if name == "SIGKILL" else _("it ended during the call") if lost else str(error)
            failure = self._kind.unreachable(reason)
            if name:
                failure.details["signal"] = name
            raise failure from None

    def _load_ahead(self, load: Callable[[], object]) -> None:
        """Begin to load something in the background. A failure is logged; the first use raises it."""

        def run() -> None:
            try:
                load()
            except (AppError, RuntimeError):  # RuntimeError: this client was closed meanwhile
                logger.info("nothing was loaded ahead", exc_info=True)

        threading.Thread(target=run, name="load-ahead", daemon=True).start()

    def _call_running(self, method: str) -> Any:
        """Call without starting a host; None if none of this version runs."""
        try:
            return self._call_twice(lambda: self._greeted(self._order), method)
        except (EOFError, OSError, _OtherVersion):
            return None

    def _call_twice(self, connect: "Callable[[], Connection | None]", method: str, *args: Any, **options: Any) -> Any:
        """Call, and retry once if the host is gone, since another may run; None without a connection."""
        is_second = False
        while connection := self._pooled() or connect():
            try:
                done, value = self._ask(connection, (method, args, options))
            except BaseException as error:
                connection.close()  # its reply may still be on the way
                if is_second or not isinstance(error, EOFError | OSError):
                    raise
                logger.info("%s was lost during %s", self._kind.name, method, exc_info=True)
                self._hang_up()
                is_second = True
                continue
            self._give_back(connection)
            if done:
                return value
            raise value
        return None

    def _end_status(self) -> int | None:
        """Return the exit status of the last host, if this client started it; None if it is not known."""
        import subprocess

        try:
            return self._process.wait(EXIT_S) if self._process else None
        except subprocess.TimeoutExpired:
            return None

    def _pooled(self) -> "Connection | None":
        """Return an idle connection, if there is one."""
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

    def _connect(self, **overrides: Any) -> "Connection":
        """Connect to the host; start hosts until one answers or reports a failure. `overrides` change the order."""
        order = self._order | overrides
        began = time.monotonic()
        deadline = began + START_S
        processor_time = _ProcessorTime.of_host(self._folder)
        other: _OtherVersion | None = None
        with closing(_Starter(self._kind, self._folder, order)) as starter:
            while True:
                if time.monotonic() >= deadline:
                    if other or not (processor_time and processor_time.end_standing(self._folder)):
                        break
                    processor_time, deadline = None, time.monotonic() + START_S
                connection = None
                if other is None or other.is_over(self._folder):
                    try:
                        connection, other = self._greeted(order), None
                    except _OtherVersion as met:
                        other = met
                if connection:
                    took = (time.monotonic() - began) * 1000
                    level = logging.INFO if starter.started else logging.DEBUG
                    logger.log(level, "%s answers after %.0f ms, pid %d", self._kind.name, took, self.host_pid)
                    return connection
                if other is None:
                    self._process = starter.step() or self._process
                time.sleep(0.01)
        raise self._kind.unreachable(other.reason()) if other else self._not_started()

    def _not_started(self) -> BusyError:
        """Return the failure after `START_S`, with the pid of the host in the way."""
        opening, entry = opening_entry(self._folder), host_entry(self._folder)
        if opening is not None:
            reason = _("process {pid} has been opening it for {n} s").format(pid=opening[0], n=round(opening[1]))
            return self._kind.unreachable(reason)
        if entry is not None:
            reason = _("process {pid} gives no answer in {n} s").format(pid=entry.get("pid"), n=round(START_S))
            return self._kind.unreachable(reason)
        return self._silent(START_S)

    def _greeted(self, order: dict[str, Any]) -> "Connection | None":
        """Connect to the running host; None if none runs or it is exiting.

        Raises:
            _OtherVersion: one of another version is at work, or was too old to be asked to leave.
        """
        connection = _dial(self._folder)
        if connection is None:
            return None
        caller = {"program": log_file.process_name(), "pid": os.getpid()}
        greeting = order | self._secrets | {"caller": caller}
        try:
            done, value = self._ask(connection, ("hello", (self._kind.protocol,), greeting))
        except (ImportError, AttributeError):  # another version's failure is of a class that is not here
            logger.info("%s answers with an unknown class", self._kind.name, exc_info=True)
            connection.close()
            raise self._kind.unreachable(_OtherVersion(self._pid_of_host()).reason()) from None
        except (EOFError, OSError):
            logger.debug("no greeting from %s", self._kind.name, exc_info=True)
            connection.close()
            return None
        if done:
            self.host_pid = value
            return connection
        connection.close()
        if value is None:
            processor_time = _ProcessorTime.of_host(self._folder)
            raise _OtherVersion(self._pid_of_host(), processor_time)
        if not isinstance(value, dict):
            raise value
        if value["leaving"]:
            return None
        other = _OtherVersion(value["pid"], holders=value["holders"])
        raise other if value["older"] else self._kind.unreachable(other.reason())

    def _pid_of_host(self) -> int | None:
        pid = (host_entry(self._folder) or {}).get("pid")
        return pid if isinstance(pid, int) else None

    def _ask(self, connection: "Connection", request: Any) -> Any:
        connection.send(request)
        deadline = time.monotonic() + self._kind.reply_s
        while not connection.poll(min(LOOK_S, self._kind.reply_s)):
            if is_stopped(self.host_pid):
                _tell_ended(self.host_pid)
                _kill(self.host_pid)  # the call goes on with another host
            elif time.monotonic() >= deadline:
                raise self._silent(self._kind.reply_s)
        return connection.recv()

    def _silent(self, seconds: float) -> BusyError:
        return self._kind.unreachable(_("no answer in {n} s").format(n=round(seconds)))


def _dial(folder: Path) -> "Connection | None":
    """Connect to the address in `host.json`; None if nothing answers there."""
    from multiprocessing import AuthenticationError

    entry = host_entry(folder)
    if entry is None:
        return None
    opened = None
    try:
        opened = _connection(entry["address"])
        shake_hands(opened, bytes.fromhex(entry["key"]), as_host=False)
        return opened
    except (OSError, EOFError, AuthenticationError, ValueError, RuntimeError):  # the last one: no more threads
        if opened is not None:
            opened.close()
        logger.debug("the host that host.json names does not answer", exc_info=True)
        return None  # killed, or being replaced


def _connection(address: str) -> "Connection":
    """Connect, without waiting where nobody accepts; raises OSError."""
    from multiprocessing import connection

    if sys.platform == "win32":
        return connection.Client(address)
    import socket

    with socket.socket(socket.AF_UNIX) as dialled:
        dialled.settimeout(HANDSHAKE_S)
        dialled.connect(address)
        dialled.setblocking(True)
        return connection.Connection(dialled.detach())


def _signal_name(status: int | None) -> str:
    """Return the signal behind an exit status; "" if there is none."""
    import signal

    try:
        return signal.Signals(-status).name if status else ""
    except ValueError:
        return ""


def _unsupported(kind: HostKind) -> AppError:
    """Return the failure of a host that the processor has ended for want of an instruction."""
    return kind.unsupported() if kind.unsupported else kind.unreachable(_("this processor lacks an instruction for it"))


def _out_of_memory() -> str:
    return _("the system ended it, as it does when memory runs out")


@dataclass(frozen=True, slots=True)
class _ProcessorTime:
    """Processor time that the host in `host.json` had used when a client began to wait for it."""

    pid: int
    ticks: int

    @classmethod
    def of_host(cls, folder: Path) -> "_ProcessorTime | None":
        entry = host_entry(folder)
        pid = entry.get("pid") if entry else None
        ticks = _ticks(pid) if isinstance(pid, int) and is_host(pid) else None
        return cls(pid, ticks) if pid and ticks is not None else None

    def end_standing(self, folder: Path) -> bool:
        """End this host if it is still the folder's and has used no processor time since; return whether it is gone.

        A process that was stopped, waits for a disk that hangs, or is swapped out answers nobody and keeps the folder.
        """
        entry = host_entry(folder)
        if entry is None or entry.get("pid") != self.pid or not is_host(self.pid) or _ticks(self.pid) != self.ticks:
            return False
        _tell_ended(self.pid)
        _kill(self.pid)
        deadline = time.monotonic() + EXIT_S
        while is_host(self.pid):
            if time.monotonic() > deadline:
                return False  # the kernel holds it, as for a disk that hangs
            time.sleep(0.01)
        return True


class _OtherVersion(Exception):  # noqa: N818 - a fact about the folder
    """A host of another version which has not left at once.

    One that names its clients is at work for them, and is asked again. One that does not cannot be asked: it ends by
    SIGTERM, like after its last client, once it uses no processor time. Each greeting would prolong its life, so it
    gets no other.
    """

    def __init__(
        self,
        pid: int | None,
        processor_time: _ProcessorTime | None = None,
        holders: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(pid)
        self._pid = pid
        self._processor_time = processor_time
        self._holders = holders
        self._next_look = time.monotonic() + QUIET_S
        self._is_asked = False

    def is_over(self, folder: Path) -> bool:
        """Whether to greet the folder's host: this one has gone, or may have become idle."""
        if (host_entry(folder) or {}).get("pid") != self._pid:
            return True
        if time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + QUIET_S
        if self._holders is not None:
            return True
        if self._pid is not None and not self._is_asked:
            self._end_idle(folder, self._pid)
        return False

    def _end_idle(self, folder: Path, pid: int) -> None:
        before, self._processor_time = self._processor_time, _ProcessorTime.of_host(folder)
        if before and self._processor_time and self._processor_time.ticks - before.ticks > QUIET_TICKS:
            return
        if (before is None or self._processor_time is None) and Path("/proc/self").exists():
            return  # not a host that this user may look at
        logger.info("a host of another version is idle, pid %d: it is asked to end", pid)
        self._is_asked = True
        _signal(pid, "SIGTERM")

    def reason(self) -> str:
        if not self._holders:
            return _("process {pid} of another version of subtitle-rag is at work").format(pid=self._pid)
        programs = ", ".join(f"{_program(each.get('program'))} (pid {each.get('pid')})" for each in self._holders)
        return _("another version of subtitle-rag has it open: {programs}").format(programs=programs)


def _program(name: object) -> str:
    """Return what a user calls the program of this process name."""
    match name:
        case "app":
            return _("the app")
        case "mcp":
            return _("an MCP server")
    return _("a command")


def _ticks(pid: int) -> int | None:
    """Return the processor time of a process in ticks (proc(5), utime and stime); None where the system tells none."""
    fields = _stat(pid)
    return int(fields[11]) + int(fields[12]) if fields else None


def is_stopped(pid: int) -> bool:
    """Whether a host was stopped, as by a signal or a debugger. Linux alone tells."""
    fields = _stat(pid)
    return bool(fields) and fields[0] in ("T", "t") and is_host(pid)


def _stat(pid: int) -> list[str]:
    """Return the fields that follow a process's name, from its state on; none where the system tells none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _tell_ended(pid: int) -> None:
    sentence = _("A subtitle-rag process that hung was ended; a new one takes over (pid {pid}).")
    log_file.tell(logger, sentence.format(pid=pid))


def _kill(pid: int) -> None:
    _signal(pid, "SIGKILL")


def _signal(pid: int, name: str) -> None:
    import signal

    try:
        os.kill(pid, getattr(signal, name))
    except OSError:
        logger.warning("it could not be ended", exc_info=True)


def _end_stuck(kind: HostKind, folder: Path) -> None:
    """End a host that has outlived its time for opening and cannot end itself, as one that was stopped."""
    opening = opening_entry(folder)
    if opening is not None and opening[1] > kind.open_s + GRACE_S and is_host(opening[0]):
        _tell_ended(opening[0])
        _kill(opening[0])


def is_host(pid: int) -> bool:
    """Return whether this process is known to be a host; its pid may have become another's. Linux alone tells."""
    try:
        return b"subtitle_rag.hosting" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


class _Starter:
    """Starts host processes for one waiting client, and raises their failures."""

    def __init__(self, kind: HostKind, folder: Path, order: dict[str, Any]) -> None:
        self._kind = kind
        self._folder = folder
        self._order = {**order, "folder": str(folder), "log": log_file.log_options()}
        self.started = False
        self._process: subprocess.Popen[bytes] | None = None
        self._next_start = 0.0
        self._log_start = 0
        self._reports: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        if self._reports:
            self._reports.cleanup()

    def step(self) -> "subprocess.Popen[bytes] | None":
        """Start a host unless one is starting, and return it; raises the failure of the last one."""
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return self._process
            if status != 0:
                failure = self._failure(status)
                logger.warning("%s ended with status %d while starting", self._kind.name, status, exc_info=failure)
                raise failure
        # status 0 means that another host has the folder: it is about to answer or to exit
        if time.monotonic() >= self._next_start:
            self._start()
            self._next_start = time.monotonic() + 0.5
        return self._process

    def _failure(self, status: int) -> AppError:
        try:
            report = json.loads(Path(self._order["report"]).read_text(encoding="utf-8"))
        except FileNotFoundError:
            text = (self._folder / "host.log").read_bytes()[self._log_start :].decode(errors="replace")
            log = text.split("\n")
            last = next((line for line in reversed(log) if line.strip()), "")
            if -status in self._kind.signals:
                return BusyError(self._kind.signals[-status], path=str(self._folder))
            if any(line.startswith("Timeout (") for line in log):  # as faulthandler writes it
                pid, limit = self._process.pid if self._process else 0, round(self._kind.open_s)
                reason = _("process {pid} did not open it in {n} s and was ended").format(pid=pid, n=limit)
                return self._kind.unreachable(reason)
            if status in ILLEGAL_INSTRUCTION:
                return _unsupported(self._kind)
            if status == -9:
                return self._kind.unreachable(_out_of_memory())
            reason = _("it ended with status {status}: {last}").format(status=status, last=last[:200])
            return self._kind.unreachable(reason)
        kind = BusyError if report["busy"] else AppError
        return kind(report["code"], **report["details"])

    def _start(self) -> None:
        _end_stuck(self._kind, self._folder)
        try:
            private_folder(self._folder)
            path = self._folder / "host.log"
            private_file(path)
            log = path.open("ab")
            if self._reports is None:
                sweep_temp_folders()
                self._reports = tempfile.TemporaryDirectory(prefix=SOCKET_PREFIX)
                self._order["report"] = str(Path(self._reports.name) / "error.json")
        except OSError as error:
            raise self._kind.failure(self._folder, error) from error
        with log:
            if log.tell() > LOG_BYTES:
                log.truncate(0)
                log.seek(0)
            self._log_start = log.tell()
            try:
                self._process = _detached(self._kind.module, self._folder, json.dumps(self._order), log)
            except OSError as error:
                raise self._kind.unreachable(str(error)) from error
        self.started = True
        logger.info("starting %s, pid %d", self._kind.name, self._process.pid)
        reaping = (self._process, self._kind, self._folder)
        try:
            threading.Thread(target=_reap, args=reaping, name="host-reaper", daemon=True).start()
        except RuntimeError:  # no more threads: the system reaps it after this client
            logger.warning("the host is not watched", exc_info=True)


def _reap(process: "subprocess.Popen[bytes]", kind: HostKind, folder: Path) -> None:
    """Wait for the end of a host, so that a long-lived client keeps no zombie, and end one stuck while it opens."""

    def end_stuck() -> None:
        opening = opening_entry(folder)
        if opening is not None and opening[0] == process.pid:
            _tell_ended(process.pid)
            process.kill()

    # a wait with a limit would look 20 times a second whether the host has ended
    watch = threading.Timer(kind.open_s + GRACE_S, end_stuck)
    watch.daemon = True
    with suppress(RuntimeError):  # no more threads: the next client ends it
        watch.start()
    process.wait()
    watch.cancel()


def _detached(module: str, folder: Path, order: str, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start the host as a process that outlives this one and its terminal; raises OSError."""
    import subprocess

    flags = 0
    if sys.platform == "win32":
        # a hidden console rather than none: the interpreter of a virtual environment starts a second one, which would
        # open a window
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)
    # -P keeps the current folder, with its arbitrary files, out of the host's import path
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", "subtitle_rag.hosting", module, order],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},  # as its log is read
        start_new_session=True,
        creationflags=flags,
    )
