"""The embedded index for everybody: a client of the host process (`index_host`), which it starts when needed."""

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from subtitle_rag.domain import Morphemes
from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.index import Filter, Hit, Index, Point, Vector
from subtitle_rag.retrieval.index_host import PROTOCOL, SOCKET_PREFIX, host_entry
from subtitle_rag.retrieval.index_rules import check_id, check_name, check_points, check_vector

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection

START_S = 20.0
"""Longest wait for a host to start or, when it is just leaving, to be gone."""
REPLY_S = 120.0
"""Longest wait for a reply; a call takes this long only behind an `optimize` of millions of points."""
LOG_BYTES = 100_000
"""Size from which `host.log` begins anew at the next start of a host."""
SIGBUS = 7
"""Its number on Linux; macOS calls it 10 and has other ways to say that the disk is full."""
CHUNK = 250
"""Points a request carries: about 50 ms of the host, so that searches of others get in between."""


def open_index(folder: Path, meta: dict[str, Any], *, hosted: bool = True, fresh: bool = False) -> Index:
    """The embedded index in `folder`, through its host process or (`hosted=False`) in this one."""
    if hosted:
        return HostedIndex(folder, meta, fresh=fresh)
    from subtitle_rag.retrieval.index_edge import EdgeIndex

    return EdgeIndex(folder, meta, fresh=fresh)


class HostedIndex:
    """`Index` through the host process of `folder`; safe from any number of threads.

    The constructor starts the host where none runs (0.3 s). A call takes the engine's time and 0.2 ms, but it
    waits while the host optimizes (seconds, only after `index_host.IDLE_S` without a call) or starts again (0.3 s):
    call from a worker thread. `fresh` empties the index, whatever state it is in, and puts it under `meta`.
    """

    def __init__(self, folder: Path, meta: dict[str, Any], *, fresh: bool = False) -> None:
        self._folder = folder.absolute()
        self._meta = meta
        self._lock = threading.Lock()
        self._closed = False
        self._idle: list[Connection] = []
        self.host_pid = 0
        """Process id of the host that answered last."""
        self._idle.append(self._connect(fresh=fresh))

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`; 20,000 points take some 5 s."""
        check_points(points)
        for start in range(0, len(points), CHUNK):
            self._call("insert", list(points[start : start + CHUNK]))

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        check_name(name, dimensions)
        self._call("add_vector", name, dimensions)

    def drop_vector(self, name: str) -> None:
        self._call("drop_vector", name)

    def vectors(self) -> dict[str, int | None]:
        found: dict[str, int | None] = self._call("vectors")
        return found

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        for point_id, vector in vectors.items():
            check_id(point_id)
            check_vector(name, vector)
        items = list(vectors.items())
        for start in range(0, len(items), CHUNK):
            self._call("replace_vector", name, dict(items[start : start + CHUNK]))

    def delete_video(self, video_id: str, *, keep: Collection[str] = ()) -> None:
        self._call("delete_video", video_id, keep=frozenset(keep))

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        found = self._call("search", name, query, limit=limit, where=where, payload=payload)
        return [Hit(*hit) for hit in found]

    def ids(self, video_id: str) -> set[str]:
        found: set[str] = self._call("ids", video_id)
        return found

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        found: list[Point] = self._call("points", after, limit=limit)
        return found

    def count(self) -> int:
        return int(self._call("count"))

    def clear(self) -> None:
        self._call("clear")

    def load(self) -> None:
        """Have the host load its analyzer, if it has not yet (0.7 s)."""
        self._call("load")

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`, by the host's analyzer: for queries, which are short and must start at once."""
        yield from self._call("morphemes", list(texts))

    def related(self, forms: Sequence[str], *, limit: int = 8) -> dict[str, dict[str, float]]:
        """As `Analyzer.related`, by the host's analyzer."""
        found: dict[str, dict[str, float]] = self._call("related", list(forms), limit=limit)
        return found

    def close(self) -> None:
        """Hang up; calls of other threads that are under way still get their replies."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _call(self, method: str, *args: Any, **options: Any) -> Any:
        failure: BaseException | None = None
        for attempt in range(2):
            connection = self._take(anew=attempt > 0)
            try:
                done, value = _ask(connection, (method, args, options))
            except (EOFError, OSError) as error:  # the host is gone
                connection.close()
                failure = error
                continue
            except BaseException:
                connection.close()  # its reply may still be on the way
                raise
            self._give_back(connection)
            if done:
                return value
            raise value
        raise BusyError("index_unreachable", reason=str(failure) or type(failure).__name__)

    def _take(self, *, anew: bool) -> "Connection":
        with self._lock:
            if self._closed:
                raise RuntimeError("the index is closed")
            if anew:
                while self._idle:
                    self._idle.pop().close()
            elif self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: "Connection") -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self, *, fresh: bool = False) -> "Connection":
        """A greeted connection; starts hosts until one answers or says why it cannot."""
        deadline = time.monotonic() + START_S
        with _Starter(self._folder, self._meta, fresh=fresh) as starter:
            while time.monotonic() < deadline:
                connection = _dial(self._folder)
                if connection is None:
                    starter.step()
                    time.sleep(0.01)
                    continue
                try:
                    done, value = _ask(connection, ("hello", (PROTOCOL, self._meta, fresh), {}))
                except (EOFError, OSError):  # it was just leaving
                    connection.close()
                    continue
                if done:
                    self.host_pid = value
                    return connection
                connection.close()
                raise value
        raise _silent(START_S)


def _silent(seconds: float) -> BusyError:
    return BusyError("index_unreachable", reason=_("no answer in {n} s").format(n=round(seconds)))


def _ask(connection: "Connection", request: Any) -> Any:
    connection.send(request)
    if not connection.poll(REPLY_S):
        raise _silent(REPLY_S)
    return connection.recv()


def _dial(folder: Path) -> "Connection | None":
    """A connection to the host that `host.json` names; None where nobody answers there."""
    from multiprocessing import AuthenticationError
    from multiprocessing.connection import Client

    entry = host_entry(folder)
    if entry is None:
        return None
    try:
        return Client(entry["address"], authkey=bytes.fromhex(entry["key"]))
    except (OSError, EOFError, AuthenticationError, ValueError):
        return None  # one that was killed, or that is just being replaced


class _Starter:
    """Starts host processes for one client that waits, and raises what hinders them."""

    def __init__(self, folder: Path, meta: dict[str, Any], *, fresh: bool) -> None:
        self._folder = folder
        self._order: dict[str, Any] = {"folder": str(folder), "meta": meta, "fresh": fresh}
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
                raise self._failure(status)
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
            if status == -SIGBUS:  # the engine writes into mapped files, which on a full disk ends like this
                return BusyError("disk_full", path=str(self._folder))
            reason = _("it ended with status {status}: {last}").format(status=status, last=last[:200])
            return BusyError("index_unreachable", reason=reason)
        kind = BusyError if report["busy"] else AppError
        return kind(report["code"], **report["details"])

    def _start(self) -> None:
        from subtitle_rag.retrieval.edge_terms import as_app_error

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            log = (self._folder / "host.log").open("ab")
            if self._reports is None:
                self._reports = tempfile.TemporaryDirectory(prefix=SOCKET_PREFIX)
                self._order["report"] = str(Path(self._reports.name) / "error.json")
        except OSError as error:
            raise as_app_error(self._folder, error) from error
        with log:
            if log.tell() > LOG_BYTES:
                log.truncate(0)
            try:
                self._process = _detached(self._folder, json.dumps(self._order), log)
            except OSError as error:
                raise BusyError("index_unreachable", reason=str(error)) from error
        # reaps it whenever it ends, so that a long-lived client keeps no zombie
        threading.Thread(target=self._process.wait, name="index-host-reaper", daemon=True).start()


def _detached(folder: Path, order: str, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    """The host as a process that outlives this one and gets no signals from its terminal; raises OSError."""
    import subprocess

    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)
    # -P keeps the current folder, which may hold anything, out of the host's import path
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", "subtitle_rag.retrieval.index_host", order],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
        creationflags=flags,
    )
