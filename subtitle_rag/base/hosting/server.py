"""Host: listens, serves each client in its own thread, and exits after the last one."""

import json
import logging
import os
import pkgutil
import shutil
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base import log_file
from subtitle_rag.base.atomic_files import delete_file
from subtitle_rag.base.domain.errors import SCARCE, AppError, scarcity_error
from subtitle_rag.base.hosting.entry import (
    SOCKET_PREFIX,
    HostKind,
    Service,
    host_entry,
    identity,
    is_newer,
    write_atomically,
)
from subtitle_rag.base.hosting.handshake import shake_hands
from subtitle_rag.base.platforms import set_from_signal

if TYPE_CHECKING:
    from multiprocessing.connection import Connection, Listener

logger = logging.getLogger(__name__)

HANDSHAKE_S = 10.0
"""Longest wait for a client's handshake, which takes about a millisecond."""
LOCK_S = 10.0
"""Longest wait for the lock while another host starts or exits."""
TICK_S = 0.5
"""Maximum interval of the checks for idle time."""
LEAST_TICK_S = 0.01
"""Minimum interval of these checks, so that a host without linger time does not keep a core busy."""
FIRST_S = 2.0
"""Minimum life of a host, so that the client that started it can connect."""


class Server:
    """Serves a `Service` to connections."""

    def __init__(self, kind: HostKind, folder: Path, service: Service, linger_s: float, stop: threading.Event) -> None:
        self._kind = kind
        self._folder = folder
        self._service = service
        self._linger_s = linger_s
        self._state = threading.Lock()
        self._clients: dict[int, dict[str, Any]] = {}
        """Connected programs by number of the connection."""
        self._connections = count()
        self._had_client = False
        self._calls = 0
        self._last = time.monotonic()
        self._stop = stop

    def run(self, listener: "Listener", key: bytes) -> None:
        """Serve until the linger time is over, the service must exit, or `stop` is set.

        Clients with a call in progress lose their connection and use the next host.
        """
        threading.Thread(target=self._accept, args=(listener, key), daemon=True).start()
        while not self._stop.wait(min(TICK_S, max(LEAST_TICK_S, self._linger_s / 4))):
            quiet_s = 0.0 if self._calls else time.monotonic() - self._last
            linger_s = self._linger_s if self._had_client else max(self._linger_s, FIRST_S)
            leaving = not self._clients and quiet_s >= linger_s
            if self._service.rest(quiet_s, leaving=leaving):
                break
            # a client may have connected during `rest`, which can take seconds
            if leaving and not self._clients:
                break

    def _accept(self, listener: "Listener", key: bytes) -> None:
        while not self._stop.is_set():
            try:
                connection = listener.accept()
            except OSError:
                logger.debug("a connection was not accepted", exc_info=True)
                time.sleep(0.01)  # wait for free file descriptors
                continue
            try:
                threading.Thread(target=self._attend, args=(connection, key), daemon=True).start()
            except RuntimeError:  # the system has no more threads; the client tries again
                logger.warning("a connection was not accepted", exc_info=True)
                connection.close()
                time.sleep(0.01)

    def _count(self, calls: int) -> None:
        with self._state:
            self._calls += calls
            self._last = time.monotonic()

    def _dismiss(self, number: int) -> None:
        """Forget a client that hung up. A refused one does not prolong the host's life."""
        with self._state:
            if self._clients.pop(number, None) is not None:
                self._last = time.monotonic()

    def _attend(self, connection: "Connection", key: bytes) -> None:
        """Serve one client. The handshake is in this thread too, to delay no other client."""
        from multiprocessing import AuthenticationError

        number = next(self._connections)
        with connection:
            try:
                shake_hands(connection, key, as_host=True, limit_s=HANDSHAKE_S)
                if not self._admit(number, connection):
                    return
                while True:
                    request = connection.recv()
                    self._count(calls=1)
                    try:
                        reply = self._reply(*request)
                    finally:
                        self._count(calls=-1)
                    connection.send(reply)
            except (AuthenticationError, EOFError, OSError):  # the client hung up, was killed, or does not have the key
                logger.debug("a client has gone", exc_info=True)
            finally:
                self._dismiss(number)

    def _admit(self, number: int, connection: "Connection") -> bool:
        """Answer `hello`, and return whether the caller may make calls."""
        _hello, (protocol, *_others), options = connection.recv()
        caller = options.get("caller") or {}
        if protocol != self._kind.protocol:
            connection.send((False, self._refusal(protocol, caller)))
            return False
        with self._state:
            self._clients[number] = caller
            self._had_client = True
            self._last = time.monotonic()
        connection.send((True, os.getpid()))
        return True

    def _refusal(self, protocol: Any, caller: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a caller of another version, in a form that all versions understand.

        A host without clients then exits. One with idle clients exits if the caller is newer.
        """
        with self._state:
            is_older = is_newer(protocol, self._kind.protocol)
            is_leaving = not self._calls and (is_older or not self._clients)
            if is_leaving:
                logger.info("leaves for another version: %s", caller)
                self._stop.set()
            holders = list(self._clients.values())
        return {"leaving": is_leaving, "older": is_older, "pid": os.getpid(), "holders": holders}

    def _reply(self, order: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[bool, Any]:
        try:
            if method not in self._service.methods:
                raise ValueError(f"no such method: {method!r}")
            return True, self._service.call(order, method, args, options)
        except (AppError, ValueError) as error:
            logger.debug("%s failed", method, exc_info=True)
            return False, error.with_traceback(None)
        except Exception as error:  # reported to the client; the host goes on
            if isinstance(error, OSError) and error.errno in SCARCE:
                logger.warning("the system sets a limit", exc_info=True)
                return False, scarcity_error(self._folder, error.strerror)
            logger.error("%s failed", method, exc_info=True)
            path = log_file.log_path()
            if path is None:
                import traceback

                traceback.print_exception(error)
            log = str(path or self._folder / "host.log")
            return False, AppError("unexpected", reason=f"{type(error).__name__}: {error}", log=log)


def serve(path: str, argument: str) -> int:
    """Run a host of the kind at `path` in this process, with the order `argument` (JSON); return its exit status.

    SIGTERM makes it exit cleanly.
    """
    import faulthandler
    import signal

    faulthandler.enable()
    os.umask(0o077)  # the index is private to its owner
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: set_from_signal(stop))
    kind: HostKind = pkgutil.resolve_name(path)
    kind.prepare_process()
    order = json.loads(argument)
    with log_file.join_log(order["log"], kind.name):
        return host(kind, Path(order["folder"]), kind.linger(), stop)


def host(kind: HostKind, folder: Path, linger_s: float, stop: threading.Event) -> int:
    """Run a host until it is idle or `stop` is set, and return its exit status.

    The status is 0 even if another host has the folder, or the system's error number if the folder is unusable.
    """
    from filelock import FileLock, Timeout

    deadline = time.monotonic() + LOCK_S
    lock = FileLock(folder / "host.lock", timeout=0)
    try:
        while True:
            try:
                lock.acquire()
                break
            except Timeout:
                # the lock's owner is serving, starting or exiting
                if (folder / "host.json").exists() or time.monotonic() > deadline:
                    logger.info("another host has the folder")
                    return 0
                time.sleep(0.02)
        logger.info("host begins, lingers for %g s", linger_s)
        service: Service = pkgutil.resolve_name(kind.service)(folder)
        _run(folder, service, Server(kind, folder, service, linger_s, stop))
        logger.info("host ends")
    except OSError as error:
        logger.warning("host failed", exc_info=True)
        return error.errno or 1
    finally:
        lock.release()
    return 0


def _run(folder: Path, service: Service, server: Server) -> None:
    listener, socket_folder, key = _listen(folder)
    try:
        server.run(listener, key)
    finally:
        entry = host_entry(folder)
        if entry and entry["address"] == str(listener.address):  # else the folder was recreated
            delete_file(folder / "host.json")
        listener.close()
        if socket_folder:
            shutil.rmtree(socket_folder, ignore_errors=True)
        service.close()


def _listen(folder: Path) -> "tuple[Listener, Path | None, bytes]":
    """Listen, write `host.json`, and return the socket's folder (None for a Windows pipe) and the key."""
    import secrets
    from multiprocessing.connection import Listener

    before = host_entry(folder)
    if before and (stale := Path(before["address"]).parent).name.startswith(SOCKET_PREFIX):
        shutil.rmtree(stale, ignore_errors=True)  # its host was killed: this one has the lock
    socket_folder = None
    if sys.platform != "win32":
        # sun_path holds 104 bytes on macOS and 108 on Linux
        short = len(os.fsencode(tempfile.gettempdir())) < 80
        socket_folder = Path(
            tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=None if short else "/tmp")  # noqa: S108 - mkdtemp
        )
    key = secrets.token_bytes(32)
    listener = Listener(str(socket_folder / "s") if socket_folder else None, backlog=16)
    try:
        entry = {"address": listener.address, "key": key.hex(), "pid": os.getpid(), "folder": identity(folder)}
        write_atomically(folder / "host.json", entry)
    except OSError:  # such as a folder that was removed
        listener.close()
        if socket_folder:
            shutil.rmtree(socket_folder, ignore_errors=True)
        raise
    return listener, socket_folder, key
