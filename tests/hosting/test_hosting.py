"""A host of any kind and its clients.

What the index's host does besides is in tests/retrieval/index/test_index_host.py.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Client as RawClient, Connection, Listener
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag import log_file
from subtitle_rag.domain.errors import AppError, BusyError
from subtitle_rag.hosting import handshake, host_client
from subtitle_rag.hosting.entry import HostKind, host_entry, identity, opening_entry, write_atomically
from subtitle_rag.hosting.host_client import Client
from subtitle_rag.hosting.server import LEAST_TICK_S, Server
from tests.hosting import earlier_counter, newer_counter
from tests.hosting.counter import KIND, OLDER, STUCK
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
    refused = Client(KIND, folder, step=0)
    with failing("empty_query"):
        refused.call("count")
    assert one.call("count") == 1
    one.close()
    refused.close()


def refused(folder: Path, protocol: int) -> Any:
    """Greet the host as a caller of another version; return its answer."""
    entry = host_entry(folder)
    assert entry is not None
    with RawClient(entry["address"], authkey=bytes.fromhex(entry["key"])) as connection:
        connection.send(("hello", (protocol,), {"step": 1}))
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
    assert set(answers) <= {(False, None)}, "a caller of an earlier version knows no other answer"


@pytest.mark.parametrize("kind", [KIND, earlier_counter.KIND])
def test_a_host_of_another_version_makes_room_though_its_clients_are_connected(folder: Path, kind: HostKind) -> None:
    one, newer = Client(kind, folder, step=1), Client(newer_counter.KIND, folder, step=6)
    one.call("count")
    assert newer.call("count") == 6
    assert newer.host_pid != one.host_pid
    assert came_true(lambda: not alive(one.host_pid))
    one.close()
    newer.close()


@pytest.mark.parametrize("kind", [KIND, earlier_counter.KIND])
def test_a_host_at_work_ends_its_work_before_it_makes_room(folder: Path, kind: HostKind, tmp_path: Path) -> None:
    one, newer = Client(kind, folder, step=1), Client(newer_counter.KIND, folder, step=6)
    done, counts = tmp_path / "work.done", []
    working = threading.Thread(target=lambda: counts.append(one.call("work", str(done))))
    working.start()
    assert came_true(done.with_suffix(".begun").exists)
    asking = threading.Thread(target=lambda: counts.append(newer.call("count")))
    asking.start()
    asking.join(3 * host_client.QUIET_S)
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
    one, newer = Client(earlier_counter.KIND, folder, step=1), Client(newer_counter.KIND, folder, step=6)
    one.call("count")
    assert newer._call_running("count") is None
    one.close()
    newer.close()


def test_a_refusal_of_a_class_that_is_not_here_is_another_versions(folder: Path) -> None:
    one = Client(KIND, folder, step=OLDER)
    with pytest.raises(BusyError) as caught:
        one.call("count")
    entry = json.loads((folder / "host.json").read_text())
    assert f"process {entry['pid']} of another version" in caught.value.details["reason"]
    one.close()


def test_an_end_that_its_kind_explains(folder: Path) -> None:
    one = Client(KIND, folder, step=9)
    with pytest.raises(BusyError) as caught:
        one.call("count")
    assert (caught.value.code, caught.value.details) == ("disk_full", {"path": str(folder)})
    one.close()


def state(pid: int) -> str:
    """As ps tells it: a signal stops a process when one of its threads comes to it."""
    return subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()


def test_a_host_that_says_nothing_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_client, "is_stopped", lambda _pid: False)  # as where the system does not tell
    one = Client(replace(KIND, reply_s=0.2), folder, step=1)
    one.call("count")
    os.kill(one.host_pid, signal.SIGSTOP)
    assert came_true(lambda: state(one.host_pid).startswith("T"))
    with pytest.raises(BusyError) as caught:
        one.call("count")
    os.kill(one.host_pid, signal.SIGCONT)
    assert caught.value.code == "index_unreachable"
    one.close()


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
        host_client._detached("tests.hosting.counter", Path("/"), "{}", log)
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
        Server(KIND, folder, KIND.open_service(folder, step=1), 0.0, stop).run(listener, b"")
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


def test_a_host_that_says_nothing_to_whoever_connects_is_taken_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "HANDSHAKE_S", 0.05)
    with Listener(str(tmp_path / "s")) as listener:
        entry = {"address": listener.address, "key": "00", "pid": os.getpid(), "folder": identity(tmp_path)}
        write_atomically(tmp_path / "host.json", entry)
        assert host_client._dial(tmp_path) is None


# stuck


def test_a_host_that_does_not_come_to_an_end_of_opening_ends_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTER_OPEN", "0.5")
    stuck = Client(replace(KIND, open_s=0.5), folder, step=STUCK)
    with pytest.raises(BusyError) as caught:
        stuck.call("count")
    assert (caught.value.code, "did not open it in" in caught.value.details["reason"]) == ("index_unreachable", True)
    (folder / "opening.json").unlink(missing_ok=True)
    with closing(Client(KIND, folder, step=1)) as after:
        assert after.call("count") == 1
    assert not (folder / "opening.json").exists()


def test_a_host_that_is_opening_for_long_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_client, "START_S", 1.0)
    with pytest.raises(BusyError) as caught:
        Client(KIND, folder, step=STUCK).call("count")
    opening = opening_entry(folder)
    assert opening
    assert f"process {opening[0]} has been opening it" in caught.value.details["reason"]
    os.kill(opening[0], signal.SIGKILL)
    assert came_true(lambda: not alive(opening[0]))


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="Linux tells what a process is")
def test_a_stopped_host_is_ended_by_a_later_client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_client, "START_S", 1.0)
    with pytest.raises(BusyError):
        Client(KIND, folder, step=STUCK).call("count")
    opening = opening_entry(folder)
    assert opening
    os.kill(opening[0], signal.SIGSTOP)
    monkeypatch.setattr(host_client, "START_S", 20.0)
    monkeypatch.setattr(host_client, "GRACE_S", 0.0)
    with closing(Client(replace(KIND, open_s=0.1), folder, step=1)) as later:
        assert later.call("count") == 1
    assert not alive(opening[0])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux tells what a process does")
def test_a_host_that_is_open_and_stands_still_is_ended_by_who_waits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Client(KIND, folder, step=1)) as first, closing(Client(KIND, folder, step=1)) as later:
        assert first.call("count") == 1
        os.kill(first.host_pid, signal.SIGSTOP)
        assert came_true(lambda: state(first.host_pid).startswith("T"))
        monkeypatch.setattr(host_client, "START_S", 2.0)
        assert later.call("count") == 1  # of another host
        assert later.host_pid != first.host_pid
        assert f"hung was ended; a new one takes over (pid {first.host_pid})" in capsys.readouterr().err
        assert came_true(lambda: not alive(first.host_pid))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux tells what a process does")
def test_a_call_that_waits_for_a_stopped_host_goes_on_with_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Client(KIND, folder, step=1)) as one:
        one.call("count")
        stopped = one.host_pid
        os.kill(stopped, signal.SIGSTOP)
        assert came_true(lambda: state(stopped).startswith("T"))
        monkeypatch.setattr(host_client, "LOOK_S", 0.5)
        monkeypatch.setattr(host_client, "EXIT_S", 5.0)
        assert one.call("count") == 1
        assert one.host_pid != stopped


def test_a_host_that_works_for_long_is_not_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Client(KIND, folder, step=1)) as one:
        one.call("count")
        before = host_client._ProcessorTime(one.host_pid, -1)  # it has worked since
        assert not before.end_standing(folder)
        assert alive(one.host_pid)


def sleeping(folder: Path) -> "subprocess.Popen[bytes]":
    """A process in the place of a host that is opening its service."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    write_atomically(folder / "opening.json", {"pid": process.pid, "since": time.time()})
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="SIGILL is POSIX's")
def test_a_host_that_the_processor_cannot_open_is_told(folder: Path) -> None:
    with pytest.raises(AppError) as caught:
        Client(KIND, folder, step=4).call("count")
    assert (caught.value.code, caught.value.details) == (
        "index_unreachable",
        {"reason": "this processor lacks an instruction for it"},
    )
    own = replace(KIND, unsupported=lambda: AppError("model_unsupported"))
    with failing("model_unsupported"):
        Client(own, folder, step=4).call("count")


def test_a_host_that_is_stuck_while_it_opens_is_ended_by_the_client_that_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_client, "GRACE_S", 0.0)
    process = sleeping(tmp_path)
    host_client._reap(process, replace(KIND, open_s=0.1), tmp_path)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.skipif(not Path("/proc/thread-self").exists(), reason="Linux tells how often a thread was woken")
def test_the_client_that_started_a_host_sleeps_until_that_ends(tmp_path: Path) -> None:
    process, woken = sleeping(tmp_path), []

    def wait() -> None:
        host_client._reap(process, KIND, tmp_path)
        status = Path("/proc/thread-self/status").read_text(encoding="utf-8")
        woken.append(int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0]))

    reaper = threading.Thread(target=wait)
    reaper.start()
    reaper.join(1.0)  # a look at 20 times a second would be seen
    process.kill()
    reaper.join(20)
    assert woken
    assert woken[0] < 10


def test_a_stranger_s_pid_is_left_alone() -> None:
    assert not host_client.is_host(os.getpid())
    assert not host_client.is_host(2**22 + 1)


def test_half_a_message_holds_up_no_handshake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length of a message that does not come, to either side."""
    monkeypatch.setattr(handshake, "HANDSHAKE_S", 0.2)
    for as_host in (False, True):
        ours, theirs = socket.socketpair()
        with theirs, Connection(ours.detach()) as connection:
            theirs.send(b"\0\0")
            failures: list[BaseException] = []

            def meet(as_host: bool = as_host, connection: Any = connection, failures: Any = failures) -> None:
                try:
                    handshake.shake_hands(connection, b"key", as_host=as_host)
                except (EOFError, OSError) as error:
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
