"""An audit hook that refuses and records every attempt to reach beyond the test run.

`tests/support/hermetic.py` installs it in pytest's process, `site/sitecustomize.py` in every Python that a test
starts. It is configured by environment variables, which both inherit, and imports nothing that a process has not
imported anyway: what a process imports is tested too.

An attempt raises `ForbiddenError`, an OSError, and is noted in a file in the folder `RECORDS`, for which pytest fails
the test.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RUN = "TEST_GUARD_RUN"
"""The folder of the test run; unset or empty: nothing is guarded."""
RECORDS = "TEST_GUARD_RECORDS"
"""The folder that the attempts of this process and its children are recorded in."""
POLICIES = "TEST_GUARD_POLICIES"
"""`policy=path` entries with `os.pathsep` between them; of those that hold a file, the longest path decides."""
PROGRAMS = "TEST_GUARD_PROGRAMS"
"""Names of programs outside of the run that may be started, with `os.pathsep` between them."""

FREE, CACHES, PYTHON, CLOSED = "free", "caches", "python", "closed"
"""Anything goes · reading, caches and programs · reading and caches · nothing. Elsewhere: reading."""
CACHE_NAMES = frozenset({"__pycache__", ".hypothesis", ".pytest_cache", "__snapshots__", "snapshot_report.html"})
CACHE_PREFIXES = (".coverage", "pytest-cache-files-")
NOBODY = (1, 9)
"""Ports that tests name where nobody is to answer; whoever listens there is not asked."""
SERVICES = (6333, 6334, 11434)
"""Ports of Qdrant and Ollama, which no program of a test may be reached on."""
SOUGHT = frozenset({"bun", "deno", "file", "ldconfig", "node", "qjs", "uname"})
"""Programs that yt-dlp (to run JavaScript) and Python's own `platform` and `ctypes` ask; none is on the run's PATH."""
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class ForbiddenError(PermissionError):
    """What the guard raises in the place of the attempt."""


class Guard:
    """The rules for one process. Of the paths and ports that it is asked about it keeps only the ports of the run."""

    def __init__(self) -> None:
        self.active = True
        self.run = self.records = ""
        self.began = 0.0
        self.policies: tuple[tuple[str, str], ...] = ()
        self.programs: frozenset[str] = frozenset()
        self._ports: set[int] = set()
        self._count = 0
        self._records_ports = False
        self.checks: dict[str, Callable[..., None]] = {
            "open": self._open,
            "os.listdir": self._read,
            "os.scandir": self._read,
            "os.mkdir": self._write_at,
            "os.rmdir": self._write_at,
            "os.remove": self._write_at,
            "os.truncate": self._write,
            "os.chmod": self._write,
            "os.chown": self._write,
            "os.utime": self._write,
            "os.rename": self._move,
            "os.link": self._move,
            "os.symlink": self._link,
            "sqlite3.connect": self._database,
            "subprocess.Popen": self._start,
            "os.exec": self._execute,
            "os.posix_spawn": self._execute,
            "os.spawn": lambda _mode, path, arguments, environment: self._execute(path, arguments, environment),
            "os.system": lambda command: self.refuse(f"run the shell command {command!r}"),
            "os.startfile": lambda path, *_rest: self.refuse(f"open {path!r} with the desktop"),
            "webbrowser.open": self._browse,
            "socket.__new__": self._socket,
            "socket.bind": self._bind,
            "socket.connect": self._connect,
            "socket.sendto": self._connect,
            "socket.sendmsg": self._connect,
            "socket.getaddrinfo": self._resolve,
            "socket.gethostbyname": self._resolve,
            "socket.gethostbyaddr": self._resolve,
        }

    def configure(self) -> None:
        """Read the environment variables."""
        self.run = os.environ[RUN]
        self.records = os.environ[RECORDS]
        self.began = os.stat(os.path.join(self.run, "bin")).st_mtime  # made first, and never changed
        entries = (entry.partition("=") for entry in os.environ[POLICIES].split(os.pathsep))
        self.policies = tuple(sorted(((path, policy) for policy, _, path in entries), key=lambda entry: -len(entry[0])))
        self.programs = frozenset(filter(None, os.environ.get(PROGRAMS, "").split(os.pathsep)))

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        check = self.checks.get(event)
        if check is not None and self.active:
            check(*arguments)

    def refuse(self, attempt: str) -> None:
        """Record the attempt and raise `ForbiddenError`."""
        self._count += 1
        command = " ".join(sys.orig_argv)
        text = f"tried to {attempt}\n  {_places()}\n  in process {os.getpid()}: {command[:300]}\n"
        name = os.path.join(self.records, f"{os.getpid()}-{self._count}")
        with open(f"{name}.part", "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.rename(f"{name}.part", name)
        raise ForbiddenError(errno.EPERM, f"no test may {attempt}")

    # files

    def _open(self, path: Any, _mode: str | None, flags: int) -> None:
        if flags & WRITING:
            self._write(path)
        else:
            self._read(path)

    def _read(self, path: Any) -> None:
        whole, policy = self._policy(path)
        if policy == CLOSED:
            self.refuse(f"read {whole}")

    def _write(self, path: Any, *_rest: Any) -> None:
        whole, policy = self._policy(path)
        if whole and policy != FREE and not (policy in (CACHES, PYTHON) and _is_cache(whole)):
            self.refuse(f"write {whole}")

    def _database(self, path: Any) -> None:
        """SQLite takes addresses too: `file:///home/me/library.db?mode=ro`."""
        address = os.fsdecode(path)
        if not address.startswith("file:"):
            self._write(path)
            return
        from urllib.parse import unquote, urlsplit

        parts = urlsplit(address)
        (self._read if "mode=ro" in parts.query else self._write)(unquote(parts.path))

    def _write_at(self, path: Any, *rest: Any) -> None:
        if rest[-1] == -1:  # else it is relative to an open folder, which was looked at when it was opened
            self._write(path)

    def _move(self, source: Any, target: Any, source_folder: int = -1, target_folder: int = -1) -> None:
        self._write_at(source, source_folder)
        self._write_at(target, target_folder)

    def _link(self, _source: Any, target: Any, folder: int = -1) -> None:
        self._write_at(target, folder)

    def _policy(self, path: Any) -> tuple[str, str]:
        """The whole path and what holds for it; empty for what is no path."""
        if isinstance(path, int) or path is None:
            return "", FREE
        whole = os.fsdecode(path)
        if whole in ("", ":memory:"):
            return "", FREE
        if not os.path.isabs(whole) or ".." in whole or "//" in whole:
            whole = os.path.abspath(whole).replace("//", "/")
        for folder, policy in self.policies:
            if whole.startswith(folder) and (len(whole) == len(folder) or whole[len(folder)] == os.sep):
                return whole, policy
        return whole, ""

    # programs

    def _start(self, executable: Any, arguments: Any, _cwd: Any, environment: Any) -> None:
        path = os.fsdecode(executable)
        if os.sep not in path:
            place = _which(path, (os.environ if environment is None else environment).get("PATH", ""))
            if place is None:
                if path not in SOUGHT:  # on another PATH it may be there
                    self.refuse(f"start the program {path}: {arguments!r}")
                return
            path = place
        self._execute(path, arguments, environment)

    def _execute(self, path: Any, arguments: Any, environment: Any = None) -> None:
        path = os.fsdecode(path)
        if os.sep in path and not os.path.exists(path):  # one of the places that are tried
            return
        if path in (sys.executable, sys._base_executable):  # type: ignore[attr-defined]
            own = os.environ if environment is None else environment
            if not own.get(RUN) or SITE not in own.get("PYTHONPATH", "").split(os.pathsep):
                self.refuse(f"start a Python without the guard: {arguments!r}")
            return
        name = os.path.basename(path)
        if name not in self.programs | SOUGHT and self._policy(path)[1] not in (FREE, CACHES):
            self.refuse(f"start the program {path}: {arguments!r}")

    def _browse(self, address: str) -> None:
        if not self.programs:
            self.refuse(f"open {address} in a browser")

    # the network

    def _socket(self, socket: Any, *_rest: Any) -> None:
        """Have bound ports noted from the first socket on; that a port was chosen is known after the binding only."""
        if self._records_ports:
            return
        self._records_ports = True
        kind = sys.modules["socket"].socket
        bind = kind.bind

        def noting_bind(socket: Any, address: Any) -> None:
            bind(socket, address)
            bound = socket.getsockname()
            if isinstance(bound, tuple):
                self._ports.add(bound[1])
                with open(os.path.join(self.run, "ports"), "a", encoding="ascii") as file:
                    file.write(f"{bound[1]}\n")

        kind.bind = noting_bind

    def _bind(self, _socket: Any, address: Any) -> None:
        if isinstance(address, tuple):
            if not _is_loopback(address[0]):
                self.refuse(f"listen on {address[0] or 'all interfaces'}, port {address[1]}")
        elif isinstance(address, str | bytes):
            self._write(address)

    def _connect(self, _socket: Any, address: Any) -> None:
        if address is None:  # a message on a connected socket
            return
        if isinstance(address, tuple):
            host, port = address[:2]
            if _is_loopback(host) and port in NOBODY:
                raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
            if (host, port) in SERVERS:
                return
            if not (_is_loopback(host) and (self._is_own(port) or (self.programs and port not in SERVICES))):
                self.refuse(f"connect to {host}, port {port}")
        elif not (isinstance(address, str | bytes) and self._is_young(os.fsdecode(address))):
            self.refuse(f"connect to {address!r}")

    def _is_own(self, port: int) -> bool:
        """Whether a process of the run has bound the port."""
        if port not in self._ports:
            try:
                with open(os.path.join(self.run, "ports"), encoding="ascii") as file:
                    self._ports.update(map(int, file.read().splitlines()))
            except FileNotFoundError:
                return False
        return port in self._ports

    def _is_young(self, path: str) -> bool:
        """Whether a socket's file was made during the run, or is not there."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return not path.startswith("\0")
        return not stat.S_ISSOCK(status.st_mode) or status.st_ctime >= self.began

    def _resolve(self, host: Any, *_rest: Any) -> None:
        name = os.fsdecode(host) if isinstance(host, str | bytes) else ""
        if name and not _is_loopback(name) and not _is_address(name):
            self.refuse(f"look up the host {name}")


def _named_servers() -> frozenset[tuple[str, int]]:
    """Return the addresses of the real servers that whoever runs the tests names."""
    urls = [urlsplit(os.environ.get(name, "")) for name in ("SUBTITLE_RAG_TEST_OLLAMA", "SUBTITLE_RAG_TEST_QDRANT")]
    return frozenset((url.hostname, url.port or 6333) for url in urls if url.hostname)


SERVERS = _named_servers()


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _is_address(name: str) -> bool:
    return ":" in name or name.replace(".", "").isdigit()


def _is_cache(path: str) -> bool:
    parts = path.split("/")
    return not CACHE_NAMES.isdisjoint(parts) or any(part.startswith(CACHE_PREFIXES) for part in parts)


def _which(name: str, path: str) -> str | None:
    places = (os.path.join(folder, name) for folder in path.split(os.pathsep))
    return next((place for place in places if os.access(place, os.X_OK)), None)


def _places() -> str:
    """Where the call stack passes through the project, innermost first."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    places: list[str] = []
    frame = sys._getframe(1)
    while frame.f_back is not None and len(places) < 6:
        file = frame.f_code.co_filename
        if file.startswith(root) and file != __file__ and "site-packages" not in file:
            places.append(f"{file[len(root) + 1 :]}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(places) or "from outside the project's code"


_guard: Guard | None = None


def install() -> Guard:
    """The process's guard; an audit hook cannot be taken out again, so there is one."""
    global _guard
    if _guard is None:
        _guard = Guard()
        _guard.configure()
        sys.addaudithook(_guard.hook)
    return _guard
