"""The process that owns a library's embedded index; `index_client` starts it and talks to it.

qdrant-edge holds the GIL in every call and lets one process in at a time. So one host process per folder owns
the `EdgeIndex`; the app and every run of the command line are clients of it at the same time. It analyses their
queries too: Kiwi takes longer to load than a whole search may take, and 270 MB that they share here.

    folder/
      host.json    how to reach the host of this very folder: address, key, pid; readable by the owner alone
      host.lock    held by the host for its life: of two that start at once, the second one leaves
      host.log     what the host had to say on stderr

The first client starts it, detached, so that it outlives that client. It leaves when no client has been
connected for `SUBTITLE_RAG_HOST_LINGER` seconds (20), so that runs in a row share one. A client is a connection:
one that was killed counts no longer. A host that was killed is started again by whoever calls next; all calls
are idempotent, so the call is made once more.

A connection carries `(method, args, options)` one way and `(True, value)` or `(False, exception)` back. It begins with
`hello`, which compares protocol and meta record. Both ends prove by HMAC that they know the key, before
anything is unpickled.
"""

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.retrieval.index_rules import mismatch, record_of
from subtitle_rag.retrieval.morphemes import Analyzer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection, Listener

    from subtitle_rag.retrieval.index_edge import EdgeIndex

PROTOCOL = 2
"""Version of what goes over a connection; clients and a host of different versions do not talk."""
ANALYSES = frozenset({"load", "morphemes", "related"})
METHODS = frozenset(
    {"insert", "add_vector", "drop_vector", "vectors", "replace_vector", "delete_video", "search", "ids", "points"}
    | {"count", "clear"}
)
LINGER_S = 20.0
IDLE_S = 5.0
"""Seconds without a call after which the host optimizes."""
LOCK_S = 10.0
"""Longest wait for a host that has just come or is about to go."""
SOCKET_PREFIX = "subtitle-rag-"


class _Host:
    """Serves an `EdgeIndex` to connections, each in a thread of its own."""

    def __init__(self, folder: Path, index: "EdgeIndex", linger_s: float) -> None:
        self._folder = folder
        self._index = index
        self._analyzer = Analyzer()
        self._linger_s = linger_s
        self._calls = threading.Lock()
        self._state = threading.Lock()
        self._clients = 0
        self._last = time.monotonic()
        self.stop = threading.Event()

    def run(self, listener: "Listener") -> None:
        """Returns when the last client has been gone for the linger time, or `stop` was set. From then on no call
        is answered: who still waits finds the connection ended and turns to the next host."""
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        while not self.stop.wait(min(0.5, self._linger_s / 4)):
            quiet_s = time.monotonic() - self._last
            leaving = self._clients == 0 and quiet_s >= self._linger_s
            if leaving or quiet_s >= IDLE_S:
                self._optimize()
            # a client may have come while that took seconds
            if leaving and self._clients == 0:
                break
        self._calls.acquire()

    def _optimize(self) -> None:
        with self._calls:
            try:
                if self._index.optimize():
                    _return_memory()
            except AppError as error:
                print(f"optimize: {error}", file=sys.stderr, flush=True)  # noqa: T201 - the host's log

    def _accept(self, listener: "Listener") -> None:
        from multiprocessing import AuthenticationError

        while not self.stop.is_set():
            try:
                connection = listener.accept()
            except (AuthenticationError, EOFError, OSError):
                # a client that went away or has an old key; the pause is for a system without free descriptors
                time.sleep(0.01)
                continue
            self._count(1)
            threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _count(self, change: int) -> None:
        with self._state:
            self._clients += change
            self._last = time.monotonic()

    def _attend(self, connection: "Connection") -> None:
        record: dict[str, Any] = {}
        try:
            with connection:
                while True:
                    method, args, options = connection.recv()
                    if method == "hello":
                        record = record_of(args[1])
                    if method in ANALYSES:
                        reply = self._analysed(method, args, options)
                    else:
                        with self._calls:
                            reply = self._reply(record, method, args, options)
                    self._last = time.monotonic()
                    connection.send(reply)
        except (EOFError, OSError):  # the client hung up or was killed
            return
        finally:
            self._count(-1)

    def _reply(
        self, record: dict[str, Any], method: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[bool, Any]:
        try:
            if method == "hello":
                return True, self._hello(*args)
            if method not in METHODS:
                raise ValueError(f"no such method: {method!r}")
            if record != self._index.record:  # somebody has put the index under another record since
                raise mismatch(self._folder, self._index.record, record)
            value = getattr(self._index, method)(*args, **options)
            if method == "search":  # tuples are pickled four times as fast as frozen dataclasses
                value = [(hit.id, hit.score, hit.payload) for hit in value]
            return True, value
        except (AppError, ValueError) as error:
            return False, error.with_traceback(None)
        except Exception as error:  # the client learns of it, and this host serves on
            return False, self._unexpected(error)

    def _analysed(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[bool, Any]:
        """The analyzer is safe between threads, so that its calls wait for no call of the index."""
        try:
            value = getattr(self._analyzer, method)(*args, **options)
            if method == "load":
                return True, None
            return True, value if method == "related" else list(value)
        except Exception as error:  # as above
            return False, self._unexpected(error)

    def _unexpected(self, error: Exception) -> AppError:
        import traceback

        traceback.print_exception(error)
        log = str(self._folder / "host.log")
        return AppError("unexpected", reason=f"{type(error).__name__}: {error}", log=log)

    def _hello(self, protocol: int, meta: dict[str, Any], fresh: bool) -> int:
        if protocol != PROTOCOL:
            raise BusyError("index_unreachable", reason=f"another version of it runs (pid {os.getpid()})")
        if fresh:
            self._index.clear(meta)
        elif record_of(meta) != self._index.record:
            raise mismatch(self._folder, self._index.record, record_of(meta))
        return os.getpid()


def _return_memory() -> None:
    """Have the C library give back what an optimize took and freed: 300 MB at 20,000 windows of 390 terms."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl needs it not
        if trim is not None:
            trim(0)


def _identity(folder: Path) -> list[int]:
    """Tells a folder from its copies, which hold a copy of `host.json`, but not from its other names."""
    status = folder.stat()
    return [status.st_dev, status.st_ino]


def host_entry(folder: Path) -> dict[str, Any] | None:
    """What `host.json` says, with text under `address` and `key`; None where it names no host of this folder."""
    try:
        entry = json.loads((folder / "host.json").read_text(encoding="utf-8"))
        if entry["folder"] == _identity(folder):
            return {**entry, "address": str(entry["address"]), "key": str(entry["key"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def _listen(folder: Path) -> "tuple[Listener, Path | None]":
    """A listener that `host.json` names, and the folder of its socket (None for a pipe of Windows)."""
    import secrets
    import shutil
    from multiprocessing.connection import Listener

    from subtitle_rag.retrieval.edge_terms import write_atomically

    before = host_entry(folder)
    if before and (left := Path(before["address"]).parent).name.startswith(SOCKET_PREFIX):
        shutil.rmtree(left, ignore_errors=True)  # its host was killed: this one holds the lock
    place = None
    if sys.platform != "win32":
        # sun_path holds 104 bytes on macOS and 108 on Linux
        short = len(os.fsencode(tempfile.gettempdir())) < 80
        place = Path(tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=None if short else "/tmp"))  # noqa: S108 - mkdtemp
    key = secrets.token_bytes(32)
    listener = Listener(str(place / "s") if place else None, backlog=16, authkey=key)
    entry = {
        "address": listener.address,
        "key": key.hex(),
        "pid": os.getpid(),
        "folder": _identity(folder),
    }
    write_atomically(folder / "host.json", entry)
    return listener, place


def _serve(folder: Path, index: "EdgeIndex") -> None:
    import shutil
    import signal

    host = _Host(folder, index, float(os.environ.get("SUBTITLE_RAG_HOST_LINGER") or LINGER_S))
    signal.signal(signal.SIGTERM, lambda *_: host.stop.set())
    listener, place = _listen(folder)
    try:
        host.run(listener)
    finally:
        (folder / "host.json").unlink(missing_ok=True)
        listener.close()
        if place:
            shutil.rmtree(place, ignore_errors=True)
        index.close()


def main(argument: str) -> int:
    """Run the host that `argument` (JSON: folder, meta, fresh, report) asks for; the process's exit status.

    0 also where another host has the folder. A failure to open goes to the file `report`.
    """
    import faulthandler

    from filelock import FileLock, Timeout

    from subtitle_rag.retrieval.edge_terms import as_app_error, write_atomically
    from subtitle_rag.retrieval.index_edge import EdgeIndex

    faulthandler.enable()
    deadline = time.monotonic() + LOCK_S
    order = json.loads(argument)
    folder = Path(order["folder"])
    lock = FileLock(folder / "host.lock", timeout=0)
    try:
        while True:
            try:
                lock.acquire()
                break
            except Timeout:
                # held by a host that serves, or by one that has just come or is about to go
                if (folder / "host.json").exists() or time.monotonic() > deadline:
                    return 0
                time.sleep(0.02)
        _serve(folder, EdgeIndex(folder, order["meta"], fresh=order["fresh"]))
    except (AppError, OSError) as error:
        failure = error if isinstance(error, AppError) else as_app_error(folder, error)
        report = {"busy": isinstance(failure, BusyError), "code": failure.code, "details": failure.details}
        write_atomically(Path(order["report"]), report)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
