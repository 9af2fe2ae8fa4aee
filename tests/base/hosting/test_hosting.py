"""A host of any kind and its clients.

What the index's host does besides is in tests/index/test_index_host.py.
"""

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Client as RawClient, Connection, Listener
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base import log_file
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.hosting import handshake, host_client, server
from subtitle_rag.base.hosting.entry import host_entry, identity, write_atomically
from subtitle_rag.base.hosting.host_client import Client
from subtitle_rag.base.hosting.server import LEAST_TICK_S, Server
from tests.base.hosting import newer_counter
from tests.base.hosting.counter import KIND, Counter
from tests.support.failures import failing
from tests.support.invented import alive, came_true, end_hosts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("COUNTER_LINGER", "0.2")
    yield tmp_path / "host"
    end_hosts([tmp_path / "host"])


def test_each_client_is_served_by_its_own_order(folder: Path) -> None:
    one, ten = Client(KIND, folder, step=1), Client(KIND, folder, step=10)
    assert [one.call("count"), ten.call("count"), one.call("count")] == [1, 11, 12]
    assert one.host_pid == ten.host_pid != os.getpid()
    one.close()
    ten.close()


def test_it_says_its_last_word_when_it_leaves(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    one.call("count")
    one.close()
    assert came_true(lambda: not alive(one.host_pid))
    assert (folder / "host.log").read_text() == "closed\n"
    assert host_entry(folder) is None


def test_a_client_that_never_called_starts_nothing(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    assert one._call_running("count") is None
    one.close()
    assert not folder.exists()


def test_a_host_that_runs_is_asked_without_starting_one(folder: Path) -> None:
    one, other = Client(KIND, folder, step=1), Client(KIND, folder, step=1)
    one.call("count")
    assert [other._call_running("count") for _ in range(3)] == [2, 3, 4]
    assert len(other._idle) == 1
    os.kill(one.host_pid, signal.SIGKILL)
    assert came_true(lambda: not alive(one.host_pid))
    assert other._call_running("count") is None
    one.close()
    other.close()


def test_no_connection_of_a_host_that_is_gone_hides_the_one_that_came_after_it(folder: Path) -> None:
    one, other = Client(KIND, folder, step=1), Client(KIND, folder, step=1)
    for connection in [other._connect(), other._connect()]:
        other._give_back(connection)
    os.kill(other.host_pid, signal.SIGKILL)
    assert came_true(lambda: not alive(other.host_pid))
    one.call("count")
    assert other._call_running("count") == 2
    assert other.host_pid == one.host_pid
    one.close()
    other.close()


def test_a_service_may_leave_while_clients_are_connected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTER_LINGER", "60")
    one = Client(KIND, folder, step=1)
    assert one.call("leave") == 1
    left = one.host_pid
    assert came_true(lambda: not alive(left))
    assert one.call("count") == 1  # of another host
    assert one.host_pid != left
    one.close()


def test_a_call_that_ends_every_host_is_given_up(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    with failing("index_unreachable", BusyError) as caught:
        one.call("die")
    assert caught.value.details == {"reason": "it ended during the call"}
    assert one.call("count") == 1
    one.close()


def test_failures_reach_the_client(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    with pytest.raises(ValueError, match="no such method"):
        one.call("close")
    with failing("unexpected") as caught:
        one.call("fail")
    assert "nothing there" in caught.value.details["reason"]
    assert "KeyError" in Path(caught.value.details["log"]).read_text()
    with failing("empty_query"):
        one.call("refuse")
    assert one.call("count") == 1
    one.close()


def refused(folder: Path, protocol: int) -> Any:
    """Greet the host as a caller of another version; return its answer."""
    entry = host_entry(folder)
    assert entry is not None
    with RawClient(entry["address"], authkey=bytes.fromhex(entry["key"])) as connection:
        connection.send(("hello", (protocol,), {}))
        return connection.recv()


def test_a_refused_caller_does_not_prolong_the_life_of_a_host(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    one.call("count")
    one.close()
    answers = []

    def has_left() -> bool:
        with suppress(OSError, EOFError, AssertionError):  # it has left meanwhile
            answers.append(refused(folder, 2))
        return not alive(one.host_pid)

    assert came_true(has_left)
    assert all(done is False for done, _refusal in answers)


def test_a_host_of_another_version_makes_room_though_its_clients_are_connected(folder: Path) -> None:
    one, newer = Client(KIND, folder, step=1), Client(newer_counter.KIND, folder, step=6)
    one.call("count")
    assert newer.call("count") == 6
    assert newer.host_pid != one.host_pid
    assert came_true(lambda: not alive(one.host_pid))
    one.close()
    newer.close()


def test_a_host_at_work_ends_its_work_before_it_makes_room(folder: Path, tmp_path: Path) -> None:
    one, newer = Client(KIND, folder, step=1), Client(newer_counter.KIND, folder, step=6)
    done, counts = tmp_path / "work.done", []
    working = threading.Thread(target=lambda: counts.append(one.call("work", str(done))))
    working.start()
    assert came_true(done.with_suffix(".begun").exists)
    asking = threading.Thread(target=lambda: counts.append(newer.call("count")))
    asking.start()
    asking.join(1)
    assert alive(one.host_pid), "it was ended at its work"
    done.touch()
    working.join()
    asking.join()
    assert sorted(counts) == [1, 6]
    one.close()
    newer.close()


def test_a_host_at_work_for_another_version_is_named_with_its_program(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_client, "START_S", 1.0)
    with log_file.logging_to(tmp_path / "log", "app"):
        one = Client(KIND, folder, step=1)
        one.call("count")
    done = tmp_path / "work.done"
    working = threading.Thread(target=one.call, args=("work", str(done)))
    working.start()
    assert came_true(done.with_suffix(".begun").exists)
    newer = Client(newer_counter.KIND, folder, step=6)
    with pytest.raises(BusyError) as caught:
        newer.call("count")
    assert f"the app (pid {os.getpid()})" in caught.value.details["reason"]
    done.touch()
    working.join()
    one.close()
    newer.close()


def test_a_host_does_not_leave_a_newer_client_for_an_older_one(folder: Path) -> None:
    newer, older = Client(newer_counter.KIND, folder, step=1), Client(KIND, folder, step=6)
    newer.call("count")
    with pytest.raises(BusyError) as caught:
        older.call("count")
    assert f"a command (pid {os.getpid()})" in caught.value.details["reason"]
    newer.close()
    assert came_true(lambda: _calls(older)), "nobody has the newer host open"
    older.close()


def _calls(client: Client) -> bool:
    with suppress(BusyError):
        return bool(client.call("count"))
    return False


def test_a_host_of_another_version_has_no_state_to_tell(folder: Path) -> None:
    one, newer = Client(KIND, folder, step=1), Client(newer_counter.KIND, folder, step=6)
    one.call("count")
    assert newer._call_running("count") is None
    one.close()
    newer.close()


def test_an_end_that_its_kind_explains(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {
        signal.SIGBUS: ("disk_full", {"path": str(folder), "signal": "SIGBUS"}),
        signal.SIGKILL: (
            "index_unreachable",
            {"reason": "the system ended it, as it does when memory runs out", "signal": "SIGKILL"},
        ),
    }
    for number, (code, details) in ends.items():
        monkeypatch.setenv("COUNTER_SIGNAL", str(int(number)))
        with pytest.raises(BusyError) as caught:
            Client(newer_counter.ENDED, folder, step=1).call("count")
        assert (caught.value.code, caught.value.details) == (code, details)
        with closing(Client(KIND, folder, step=1)) as one:
            with pytest.raises(BusyError) as caught:
                one.call("die", int(number))
            assert (caught.value.code, caught.value.details) == (code, details)


def test_an_error_of_the_system_in_the_folder_is_told_by_its_kind(folder: Path) -> None:
    with failing("library_readonly", BusyError) as caught:
        Client(newer_counter.FULL, folder, step=1).call("count")
    assert caught.value.details["reason"] == os.strerror(28)


def state(pid: int) -> str:
    """As ps tells it: a signal stops a process when one of its threads comes to it."""
    return subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()


def test_only_a_long_log_begins_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_client, "LOG_BYTES", 20)
    folder.mkdir()
    for before, after in (("short\n", "short\nclosed\n"), ("x" * 21, "closed\n")):
        (folder / "host.log").write_text(before)
        one = Client(KIND, folder, step=1)
        one.call("count")
        one.close()
        assert came_true(lambda pid=one.host_pid: not alive(pid))  # type: ignore[misc]
        assert (folder / "host.log").read_text() == after


def started_with(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a host's process would be started with."""
    found: dict[str, Any] = {}
    monkeypatch.setattr(subprocess, "Popen", lambda _command, **options: found.update(options))
    with Path(os.devnull).open("wb") as log:
        host_client._detached("tests.base.hosting.counter:KIND", Path("/"), "{}", log)
    return found


def test_on_windows_a_host_has_a_console_of_its_own_without_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = {"CREATE_NEW_PROCESS_GROUP": 0x200, "CREATE_NO_WINDOW": 0x8000000, "DETACHED_PROCESS": 8}
    for name, value in flags.items():
        monkeypatch.setattr(subprocess, name, value, raising=False)
    assert started_with(monkeypatch)["creationflags"] == 0
    monkeypatch.setattr(sys, "platform", "win32")
    assert started_with(monkeypatch)["creationflags"] == flags["CREATE_NO_WINDOW"] | flags["CREATE_NEW_PROCESS_GROUP"]


def test_a_host_writes_its_log_as_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp949")
    assert started_with(monkeypatch)["env"]["PYTHONIOENCODING"] == "utf-8"


@pytest.mark.parametrize(("text", "seconds"), [("", 20), ("2", 2), ("0", 0), ("-5", 20), ("nan", 20), ("20s", 20)])
def test_a_variable_that_is_no_number_of_seconds_counts_for_nothing(
    text: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTER_LINGER", text)
    assert replace(KIND, linger_s=20.0).linger() == seconds


def test_a_host_without_linger_time_rests_between_its_checks(folder: Path) -> None:
    waits: list[float | None] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return True

    stop = Stop()
    stop.set()
    folder.mkdir()
    with Listener() as listener:
        Server(KIND, folder, Counter(folder), 0.0, stop).run(listener, b"")
    assert waits == [LEAST_TICK_S]


def test_a_closed_client_makes_no_calls(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    one.close()
    with pytest.raises(RuntimeError):
        one.call("count")
    assert not folder.exists()


def test_a_folder_that_was_deleted_and_made_anew_has_another_host(folder: Path) -> None:
    one = Client(KIND, folder, step=1)
    one.call("count")
    (folder / "host.json").rename(folder.with_name("moved"))
    folder.rename(folder.with_name("deleted"))
    other = Client(KIND, folder, step=1)
    assert other.call("count") == 1
    one.close()
    assert came_true(lambda: not alive(one.host_pid))
    entry = host_entry(folder)
    assert entry is not None
    assert entry["pid"] == other.host_pid != one.host_pid
    other.close()


def test_whoever_connects_and_says_nothing_keeps_no_client_out(folder: Path) -> None:
    with closing(Client(KIND, folder, step=1)) as one:
        one.call("count")
        entry = host_entry(folder)
        assert entry
        with RawClient(entry["address"]), closing(Client(KIND, folder, step=1)) as other:
            assert other.call("count") == 2


def test_an_entry_of_this_process_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_client, "HUNG_S", 0.05)
    with Listener(str(tmp_path / "s")) as listener:
        entry = {"address": listener.address, "key": "00", "pid": os.getpid(), "folder": identity(tmp_path)}
        write_atomically(tmp_path / "host.json", entry)
        assert host_client._dial(tmp_path) is None


@pytest.mark.skipif(sys.platform == "win32", reason="SIGSTOP is POSIX's")
def test_a_host_that_hangs_is_ended_by_who_waits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Client(KIND, folder, step=1)) as first, closing(Client(KIND, folder, step=1)) as later:
        assert first.call("count") == 1
        hung = first.host_pid
        os.kill(hung, signal.SIGSTOP)
        assert came_true(lambda: state(hung).startswith("T"))
        monkeypatch.setattr(host_client, "HUNG_S", 0.5)
        assert later.call("count") == 1  # of another host
        assert later.host_pid != hung
        assert f"hung was ended; a new one takes over (pid {hung})" in capsys.readouterr().err
        assert came_true(lambda: not alive(hung))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGSTOP is POSIX's")
def test_a_call_without_reply_goes_on_with_another_host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Client(replace(KIND, reply_s=0.5), folder, step=1)) as one:
        one.call("count")
        hung = one.host_pid
        os.kill(hung, signal.SIGSTOP)
        assert came_true(lambda: state(hung).startswith("T"))
        monkeypatch.setattr(host_client, "HUNG_S", 0.5)
        monkeypatch.setattr(one, "_kind", replace(KIND, reply_s=10))
        monkeypatch.setattr(one._idle[0], "poll", lambda _seconds: False)
        assert one.call("count") == 1
        assert one.host_pid != hung


def test_a_host_that_works_for_long_is_not_ended(folder: Path, tmp_path: Path) -> None:
    done = tmp_path / "work.done"
    with closing(Client(replace(KIND, reply_s=0.3), folder, step=1)) as one:
        with failing("index_unreachable", BusyError):
            one.call("work", str(done))
        assert alive(one.host_pid)
        done.touch()
        assert one.call("count") > 1


@pytest.mark.skipif(sys.platform == "win32", reason="SIGILL is POSIX's")
def test_a_host_that_the_processor_ends_is_started_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTER_SIGNAL", str(int(signal.SIGILL)))
    kind = replace(newer_counter.ENDED, died=lambda _folder, _signal: AppError("model_unsupported"))
    one, starts = Client(kind, folder, step=1), list[str]()
    detached = host_client._detached

    def counted(path: str, *order: Any) -> Any:
        starts.append(path)
        return detached(path, *order)

    monkeypatch.setattr(host_client, "_detached", counted)
    for _call in range(2):
        with failing("model_unsupported"):
            one.call("count")
    assert len(starts) == 1


def test_half_a_message_holds_up_no_handshake() -> None:
    """The length of a message that does not come, to either side."""
    for as_host in (False, True):
        ours, theirs = socket.socketpair()
        with theirs, Connection(ours.detach()) as connection:
            theirs.send(b"\0\0")
            failures: list[BaseException] = []

            def meet(as_host: bool = as_host, connection: Any = connection, failures: Any = failures) -> None:
                try:
                    handshake.shake_hands(connection, b"key", as_host=as_host, limit_s=0.2)
                except TimeoutError as error:
                    failures.append(error)

            thread = threading.Thread(target=meet, daemon=True)
            thread.start()
            thread.join(5)
            assert failures


def test_a_host_that_accepts_nobody_holds_up_no_client(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as first:
        silent.bind(str(tmp_path / "s"))
        silent.listen(0)
        first.connect(str(tmp_path / "s"))  # nobody else is queued
        entry = {"address": str(tmp_path / "s"), "key": "00", "pid": os.getpid(), "folder": identity(tmp_path)}
        write_atomically(tmp_path / "host.json", entry)
        dialled: list[object] = []
        thread = threading.Thread(target=lambda: dialled.append(host_client._dial(tmp_path)), daemon=True)
        thread.start()
        thread.join(5)
        assert dialled == [None]


def test_a_host_whose_folder_is_removed_leaves_no_socket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()

    def removed(_folder: Path) -> list[int]:
        raise FileNotFoundError(errno.ENOENT, "removed")

    monkeypatch.setattr(server, "identity", removed)
    opened: list[Path] = []
    mkdtemp = tempfile.mkdtemp

    def noted(**options: Any) -> str:
        opened.append(Path(mkdtemp(**options)))
        return str(opened[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    assert server.host(KIND, folder, 0.2, threading.Event()) == errno.ENOENT
    assert [path.exists() for path in opened] == [False]


def test_a_start_that_fails_in_a_removed_folder_is_told(folder: Path) -> None:
    failure = Client(KIND, folder, step=1)._failure_of_start(1, 0)
    assert (failure.code, "status 1" in failure.message) == ("index_unreachable", True)
