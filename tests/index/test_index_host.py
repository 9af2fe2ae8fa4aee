"""The host process: started once, shared, outlived, killed. Real processes, killed by the pids that they told."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.hosting.entry import host_entry
from subtitle_rag.base.hosting.host_client import START_S
from subtitle_rag.base.vectors.points import Point, SparseVector
from subtitle_rag.index import index_rules
from subtitle_rag.index.index_client import HostedIndex
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.index_host import KIND
from tests.index.points import host_of, search
from tests.support.failures import failing
from tests.support.hosts_in_process import HOSTS
from tests.support.invented import alive, came_true

pytestmark = pytest.mark.hosts

META = {"bm25": 1}
ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="sockets, modes and SIGKILL are POSIX's")

CLIENT = """
import sys, uuid
from pathlib import Path
from subtitle_rag.base.vectors.points import Point, SparseVector
from subtitle_rag.index.index_client import HostedIndex
index = HostedIndex(Path(sys.argv[1]), {"bm25": 1})
index.insert([Point(str(uuid.uuid4()), {"bm25": SparseVector((1,), (1.0,))}, {})])
print(index.host_pid, flush=True)
sys.stdin.read()
index.close()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where an index will be; whatever host is left there at the end is killed and fails the test."""
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.1")
    yield tmp_path / "index"
    pid = host_pid(tmp_path / "index")
    if pid is not None and alive(pid) and not came_true(lambda: not alive(pid), 5):
        os.kill(pid, signal.SIGTERM)
        pytest.fail("the host stays")


def host_pid(folder: Path) -> int | None:
    try:
        return int(json.loads((folder / "host.json").read_text())["pid"])
    except (OSError, ValueError):
        return None


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert came_true(lambda: not alive(pid))


def point(n: int) -> Point:
    return Point(str(uuid.UUID(int=n)), {"bm25": SparseVector((n,), (1.0,))}, {"video": "a"})


def opened(folder: Path, meta: dict[str, int] = META) -> HostedIndex:
    return host_of(folder, meta)


def start_client(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(client: "subprocess.Popen[str]") -> int:
    assert client.stdout
    return int(client.stdout.readline())


def test_clients_share_one_host_and_it_leaves_after_the_last(folder: Path) -> None:
    first, second = opened(folder), opened(folder)
    pid = first.host_pid
    assert second.host_pid == pid == host_pid(folder) != os.getpid()
    first.insert([point(1)])
    assert second.count() == 1
    address = Path(json.loads((folder / "host.json").read_text())["address"])
    first.close()
    time.sleep(0.3)  # three times the linger time
    assert second.count() == 1
    assert alive(pid)
    second.close()
    assert came_true(lambda: not alive(pid))
    assert sorted(path.name for path in folder.iterdir()) == [
        "host.lock",
        "host.log",
        "lock",
        "meta.json",
        "shard",
    ]
    assert not address.parent.exists()
    assert (folder / "host.log").read_text() == ""


@pytest.mark.campaign(part="flows")
def test_processes_that_start_at_once_end_with_one_host(folder: Path) -> None:
    clients = [start_client(folder) for _ in range(3)]
    try:
        assert len({said(client) for client in clients}) == 1
        index = HostedIndex(folder, META)
        assert index.count() == 3
        index.close()
    finally:
        for client in clients:
            client.communicate("")
    assert [client.returncode for client in clients] == [0, 0, 0]


def test_a_host_that_nobody_calls_leaves(folder: Path) -> None:
    folder.mkdir()
    order = json.dumps({"folder": str(folder), "log": None})
    command = [sys.executable, "-m", "subtitle_rag.base.hosting", KIND.path, order]
    subprocess.run(command, check=True, timeout=10, cwd=ROOT)
    assert not (folder / "host.json").exists()


@pytest.mark.campaign(part="hosts")
def test_a_client_that_comes_while_the_host_leaves_is_served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.03")
    for n in range(1, 5):
        index = HostedIndex(folder, META)
        index.insert([point(n)])
        assert index.count() == n
        index.close()
        time.sleep(0.015 * n)


# killed


@pytest.mark.campaign(part="kills")
@posix
def test_a_killed_host_is_started_again_and_nothing_acknowledged_is_lost(folder: Path) -> None:
    index = opened(folder)
    acknowledged: list[int] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def write() -> None:
        n = 0
        try:
            while not done.is_set():
                n += 1
                index.insert([point(n)])
                acknowledged.append(n)
        except BaseException as error:  # told by the test's own thread
            failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    pids = set()
    for _ in range(2):
        reached = len(acknowledged) + 10
        assert came_true(lambda reached=reached: len(acknowledged) >= reached or bool(failures))  # type: ignore[misc]
        pids.add(index.host_pid)
        kill(index.host_pid)
    reached = len(acknowledged) + 10
    assert came_true(lambda: len(acknowledged) >= reached or bool(failures))
    done.set()
    writer.join()
    assert not failures
    assert index.host_pid not in pids
    assert index.ids("a") == {point(n).id for n in acknowledged}
    assert len(list(Path(json.loads((folder / "host.json").read_text())["address"]).parent.iterdir())) == 1
    index.close()


@pytest.mark.campaign(part="flows")
@posix
def test_a_killed_client_no_longer_counts(folder: Path) -> None:
    client = start_client(folder)
    pid = said(client)
    client.kill()
    client.communicate()
    assert came_true(lambda: not alive(pid))
    index = HostedIndex(folder, META)
    assert index.count() == 1
    index.close()


@pytest.mark.campaign(part="flows")
@posix
def test_the_entry_of_a_dead_host_is_replaced(folder: Path) -> None:
    index = opened(folder)
    pid = index.host_pid
    index.insert([point(1)])
    address = Path(json.loads((folder / "host.json").read_text())["address"])
    kill(pid)
    assert address.exists()
    other = opened(folder)
    assert other.host_pid != pid
    assert other.count() == index.count() == 1
    assert not address.parent.exists()
    index.close()
    other.close()


def test_an_entry_that_leads_nowhere_is_replaced(folder: Path) -> None:
    folder.mkdir()
    for entry in ("", "[]", "{}", '{"address": "/nowhere/s", "key": "00", "pid": 1}'):
        (folder / "host.json").write_text(entry)
        assert host_entry(folder) is None
    index = HostedIndex(folder, META)
    assert index.count() == 0
    assert host_pid(folder) == index.host_pid
    index.close()


@pytest.mark.campaign(part="flows")
def test_a_copied_folder_has_a_host_of_its_own(folder: Path, tmp_path: Path) -> None:
    index = HostedIndex(folder, META)
    index.insert([point(1)])
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "host.json").write_bytes((folder / "host.json").read_bytes())
    other = opened(copy)
    assert other.host_pid != index.host_pid
    assert (other.count(), index.count()) == (0, 1)
    opened(folder).close()
    other.close()
    index.close()
    assert came_true(lambda: host_pid(copy) is None)


@pytest.mark.campaign(part="flows")
@posix
def test_a_host_that_cannot_come_back_is_unreachable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(folder)
    kill(index.host_pid)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(BusyError) as caught:
            index.count()
    assert caught.value.code == "index_unreachable"
    assert "status 1" in caught.value.details["reason"]
    assert index.count() == 0  # and it comes back once it can
    index.close()


# failures of the start


def failure(folder: Path, meta: dict[str, int] = META) -> AppError:
    began = time.monotonic()
    with pytest.raises(AppError) as caught:
        opened(folder, meta)
    assert time.monotonic() - began < START_S, "told by the host, not by the end of patience"
    assert str(caught.value)
    return caught.value


def test_locked_by_another_program(folder: Path) -> None:
    held = EdgeIndex(folder, META)
    error = failure(folder)
    assert (type(error), error.code) == (BusyError, "locked")
    held.close()


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    folder.write_text("a file")
    assert failure(folder).code == "library_readonly"
    assert failure(folder / "index").code == "library_readonly"
    folder.unlink()


@posix
def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    folder.mkdir(mode=0o500)
    assert failure(folder).code == "library_readonly"


def test_a_running_host_has_other_rules(folder: Path) -> None:
    index = opened(folder)
    error = failure(folder, {"bm25": 2})
    assert error.code == "index_mismatch"
    assert error.details["found"] == "bm25=1"
    index.close()


def test_a_rebuild_under_other_rules_is_told_to_who_is_connected(folder: Path) -> None:
    old = HostedIndex(folder, META)
    old.insert([point(1)])
    new = HostedIndex(folder, {"bm25": 2})
    new.clear()
    assert new.host_pid == old.host_pid
    assert new.count() == 0
    with failing("index_mismatch"):
        old.insert([point(2)])
    new.insert([point(3)])
    assert new.count() == 1
    old.close()
    new.close()


@posix
def test_only_the_owner_gets_in(folder: Path) -> None:
    from multiprocessing import AuthenticationError
    from multiprocessing.connection import Client

    index = opened(folder)
    entry = json.loads((folder / "host.json").read_text())
    assert stat.S_IMODE((folder / "host.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(entry["address"]).parent.stat().st_mode) == 0o700
    with pytest.raises(AuthenticationError):
        Client(entry["address"], authkey=b"guessed")
    assert index.count() == 0
    index.close()


def test_only_the_interface_can_be_called(folder: Path) -> None:
    index = HostedIndex(folder, META)
    for method in ("close", "optimize", "_create", "__class__"):
        with pytest.raises(ValueError, match="no such method"):
            index.call(method)
    assert index.count() == 0
    index.close()


def test_modules_in_the_folder_are_not_the_hosts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(folder)
    index = HostedIndex(folder, META)
    assert index.count() == 0
    index.close()


@pytest.mark.campaign(part="hosts")
def test_what_is_written_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    whole = index_rules.check_payload

    def counted(point_id: str, payload: dict[str, object]) -> None:
        checked.append(point_id)
        whole(point_id, payload)

    monkeypatch.setattr(index_rules, "check_payload", counted)
    monkeypatch.setattr(HOSTS, "processes", False)
    points = [point(n) for n in range(300)]
    for kind in (HostedIndex, EdgeIndex):
        index = kind(tmp_path / kind.__name__, META)
        checked.clear()
        index.insert(points)
        assert checked == [one.id for one in points]
        index.replace_payload({one.id: {} for one in points})
        assert checked == [one.id for one in points] * 2
        index.close()


def test_the_optimizer_changes_no_answer(folder: Path) -> None:
    index = EdgeIndex(folder, META)
    index.insert([point(n) for n in range(1, 1_601)])
    index.delete_videos(["a"], keep=[point(n).id for n in range(1, 101)])
    query = SparseVector((7, 8), (1.0, 1.0))
    before = [hit.id for hit in search(index, "bm25", query, limit=5)]
    assert index.optimize()
    assert not index.optimize()
    assert [hit.id for hit in search(index, "bm25", query, limit=5)] == before == [point(7).id, point(8).id]
    assert index.count() == 100
    index.close()


def test_scores_after_a_removal_are_those_of_what_is_left(folder: Path, tmp_path: Path) -> None:
    points = [
        Point(point(n).id, {"bm25": SparseVector((7 if n % 3 else 8,), (1.0,))}, {"video": "a" if n % 4 else "b"})
        for n in range(1, 61)
    ]
    index = EdgeIndex(folder, META)
    index.insert(points)
    index.delete_videos(["a"])
    index.optimize()
    alone = EdgeIndex(tmp_path / "alone", META)
    alone.insert([each for each in points if each.payload["video"] == "b"])
    query = SparseVector((7, 8), (1.0, 1.0))
    hits, expected = ([(h.id, h.score) for h in search(each, "bm25", query, limit=40)] for each in (index, alone))
    assert hits == expected
    for each in (index, alone):
        each.close()


def test_a_full_disk_stops_writing_in_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = EdgeIndex(folder, META)
    index.insert([point(1)])
    with monkeypatch.context() as patch:
        patch.setattr("subtitle_rag.index.index_edge.SPARE_BYTES", 2**62)
        with failing("disk_short", BusyError):
            index.insert([point(2)])
        assert index.count() == 1
    index.insert([point(2)])
    assert index.count() == 2
    index.close()


def test_importing_the_client_loads_nothing_heavy() -> None:
    heavy = "{'qdrant_edge', 'multiprocessing', 'filelock', 'subprocess', 'socket'}"
    code = f"import sys, subtitle_rag.index.index_client; sys.exit(str({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"
