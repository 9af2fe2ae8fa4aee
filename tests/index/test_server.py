"""Libraries whose index is on a Qdrant server: one alone, two beside each other, and while the server is away."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.index import index_server
from subtitle_rag.index.server_terms import collection_name
from subtitle_rag.library.app_state import index_address, library_id
from subtitle_rag.runtime import Runtime
from tests.stand_ins.qdrant import StandIn, qdrant_server
from tests.support.invented import caption_folder
from tests.support.processes import command_line
from tests.support.served import QUERY, Machine, found_videos, ranking, videos

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def server() -> Iterator[StandIn]:
    with qdrant_server() as running:
        yield running


@pytest.fixture
def machine(tmp_path: Path, server: StandIn, capsys: pytest.CaptureFixture[str]) -> Iterator[Machine]:
    made = Machine(tmp_path / "one", capsys)
    made.use(server.base)
    yield made
    made.end()


@pytest.fixture
def other(tmp_path: Path, server: StandIn, capsys: pytest.CaptureFixture[str]) -> Iterator[Machine]:
    made = Machine(tmp_path / "two", capsys)
    made.use(server.base)
    yield made
    made.end()


def collection(machine: Machine) -> str:
    with opened(machine) as runtime:
        return collection_name(library_id(runtime.library))


def stored(machine: Machine, server: StandIn) -> int:
    return server.memory.count(collection(machine)).count


def opened(machine: Machine) -> Runtime:
    return Runtime(config.load(machine.home))


def test_a_library_is_indexed_and_searched_on_a_server(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    captions = videos(tmp_path / "captions", 0, 1, 2)
    assert machine("index", captions, "--json").result["videos"]["new"] == 3
    on_server = ranking(machine(*QUERY))
    assert on_server
    assert not machine.embedded.exists()  # neither an index nor a process of its own
    assert machine("index", captions, "--json").result["windows_indexed"] == 0
    with opened(machine) as runtime:
        assert index_address(runtime.library) == runtime.index.place
        assert runtime.index.place == f"{server.base}/collections/{collection(machine)}"
        assert stored(machine, server) == runtime.library.counts().searchable
    machine.use("")
    assert machine("rebuild").code == 0
    assert ranking(machine(*QUERY)) == on_server


def test_an_index_that_lies_elsewhere_is_told(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    machine("index", videos(tmp_path / "captions", 0))
    machine.use("")
    for arguments in (QUERY, ("index", tmp_path / "captions", "--json")):
        told = machine(*arguments)
        assert (told.code, told.failure) == (1, "index_elsewhere")
        assert server.base in told.err
        assert "subtitle-rag rebuild" in told.err
    machine.use(server.base)
    assert machine(*QUERY).code == 0


@pytest.mark.campaign(part="flows")
def test_two_libraries_on_one_server_see_nothing_of_each_other(
    machine: Machine, other: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "a", 0, 1))
    before = ranking(machine(*QUERY))
    other("index", videos(tmp_path / "b", 1, 2))
    assert ranking(machine(*QUERY)) == before
    assert found_videos(other(*QUERY)) == {"invented001", "invented002"}
    assert machine("remove", "invented001", "--yes").code == 0
    assert machine("rebuild").code == 0
    assert found_videos(machine(*QUERY)) == {"invented000"}
    assert found_videos(other(*QUERY)) == {"invented001", "invented002"}
    names = {each.name for each in server.memory.get_collections().collections}
    assert names == {collection(machine), collection(other)}


def test_a_rebuild_lets_go_of_what_a_removal_had_left(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    machine("index", videos(tmp_path / "a", 0, 1))
    server.failing = lambda _method, path: (500, b"") if path.endswith("/points/delete") else None
    assert machine("remove", "invented000", "--yes", "--json").failure == "qdrant_unreachable"
    server.failing = lambda _method, _path: None
    assert found_videos(machine(*QUERY)) == {"invented001"}
    assert machine("rebuild").code == 0
    with opened(machine) as runtime:
        assert stored(machine, server) == runtime.library.counts().searchable


@pytest.mark.campaign(part="flows")
def test_a_collection_of_an_earlier_analyzer_is_made_again_by_a_search(
    machine: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "a", 0))
    server.memory.update_collection(collection(machine), metadata={"analyzer": "kiwi 0.1"})
    machine.end()
    assert found_videos(machine(*QUERY)) == {"invented000"}
    assert (server.memory.get_collection(collection(machine)).config.metadata or {})["analyzer"] != "kiwi 0.1"


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize("lost", ["collection", "points"])
def test_what_a_server_has_lost_is_told_and_a_rebuild_mends_it(
    machine: Machine, server: StandIn, tmp_path: Path, lost: str
) -> None:
    machine("index", videos(tmp_path / "a", 0))
    before, name = ranking(machine(*QUERY)), collection(machine)
    if lost == "collection":
        server.memory.delete_collection(name)
    else:
        server.memory.delete(name, [point.id for point in server.memory.scroll(name, limit=1)[0]])
    for arguments in (QUERY, ("index", tmp_path / "a", "--json")):
        told = machine(*arguments)
        assert (told.code, told.failure) == (1, "index_damaged")
        assert "subtitle-rag rebuild" in told.err
    assert machine("rebuild").code == 0
    assert ranking(machine(*QUERY)) == before


# away


@pytest.mark.campaign(part="flows")
def test_without_the_server_nothing_is_lost_and_the_next_run_goes_on(
    machine: Machine, server: StandIn, tmp_path: Path
) -> None:
    captions = videos(tmp_path / "captions", 0, 1)
    server.stop()
    for arguments in (("index", captions), QUERY[:-1]):
        away = machine(*arguments, "--json")
        assert (away.code, away.failure) == (3, "qdrant_unreachable")
    server.start()
    writes = [0]

    def full(method: str, path: str) -> tuple[int, bytes] | None:
        writes[0] += method == "PUT" and path.endswith("/points")
        return (503, b"") if writes[0] else None

    server.failing = full
    assert machine("index", captions, "--json").failure == "qdrant_unreachable"
    server.failing = lambda _method, _path: None
    with opened(machine) as runtime:
        counts = runtime.library.counts()
        assert (counts.videos, counts.searchable) == (2, 0)  # the captions stay
    run = machine("index", captions, "--json").result
    assert (run["videos"]["unchanged"], run["windows_indexed"]) == (2, counts.windows)
    assert found_videos(machine(*QUERY)) == {"invented000", "invented001"}


def test_a_server_that_is_away_is_told_at_once_with_the_way_on(
    machine: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "captions", 0))
    before = ranking(machine(*QUERY))
    server.stop()
    for arguments in (QUERY, ("ask", QUERY[1], "--json")):
        away = machine(*arguments)
        assert (away.code, away.failure) == (3, "qdrant_unreachable")
        assert "cannot be used at the moment" in away.err
        assert "subtitle-rag rebuild" in away.err
    machine.use("")
    assert machine("rebuild").code == 0
    assert ranking(machine(*QUERY)) == before


def test_windows_of_a_batch_that_failed_are_not_noted_as_indexed(
    machine: Machine, server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_server, "WRITE_BATCH", 1)
    captions = videos(tmp_path / "captions", 0, 1, 2)
    written = [0]

    def third_is_refused(method: str, path: str) -> tuple[int, bytes] | None:
        written[0] += method == "PUT" and path.endswith("/points")
        return (507, b"no room") if written[0] == 3 else None

    server.failing = third_is_refused
    failed = machine("index", captions, "--json")
    assert (failed.code, failed.failure) == (3, "qdrant_unreachable")
    server.failing = lambda _method, _path: None
    with opened(machine) as runtime:
        assert runtime.library.counts().searchable == 0
        windows = runtime.library.counts().windows
    assert 0 < stored(machine, server) < windows
    assert machine("index", captions, "--json").result["windows_indexed"] == stored(machine, server) == windows


@pytest.mark.campaign(part="kills")
def test_an_indexer_killed_while_batches_are_under_way_loses_nothing(
    machine: Machine, server: StandIn, tmp_path: Path
) -> None:
    caption_folder(tmp_path / "captions", 5, minutes=70)
    command = command_line(machine.home, "index", tmp_path / "captions")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    written = [0]

    def killed(method: str, path: str) -> None:
        written[0] += method == "PUT" and path.endswith("/points")
        if written[0] == 6:  # of the second call: the first has the windows of four videos
            process.kill()

    server.failing = killed
    assert process.wait(120) < 0
    server.failing = lambda _method, _path: None
    with opened(machine) as runtime:
        noted = runtime.library.counts().searchable
        assert 0 < noted <= stored(machine, server)
    assert machine("index", tmp_path / "captions", "--json").code == 0
    with opened(machine) as runtime:
        counts = runtime.library.counts()
    assert counts.searchable == counts.windows == stored(machine, server) > noted


@pytest.mark.campaign(part="flows")
def test_doctor_tells_of_the_server(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    machine("index", videos(tmp_path / "captions", 0))

    def check(name: str) -> dict[str, str]:
        found = machine("doctor", "--offline", "--json").document["result"]["checks"]
        return next(entry for entry in found if entry["name"] == name)

    assert check("qdrant")["message"] == f"Qdrant 1.20.0 at {server.base}/collections/{collection(machine)}, 2 windows"
    assert check("index")["message"] == f"{stored(machine, server)} of {stored(machine, server)} windows are searchable"
    server.stop()
    assert (check("qdrant")["severity"], server.base in check("qdrant")["message"]) == ("error", True)
    machine.use("")
    assert check("qdrant")["severity"] == "ok"


def test_the_demo_stays_out_of_the_server(machine: Machine, server: StandIn) -> None:
    assert machine("demo", "--json").code == 0
    assert server.asked == []


def test_an_indexer_meets_a_server_that_goes_away(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    with opened(machine) as runtime:
        indexer = runtime.indexer
        server.stop()
        with pytest.raises(BusyError) as caught:
            list(indexer.index([videos(tmp_path / "captions", 0)]))
        assert caught.value.code == "qdrant_unreachable"
        server.start()
        assert sum(event.count for event in indexer.finish()) == runtime.library.counts().windows > 0


@pytest.mark.campaign(part="flows")
def test_without_a_server_its_client_is_not_even_imported(machine: Machine) -> None:
    machine.use("")
    code = """import sys
from subtitle_rag.cli import main as cli
assert cli.run(["--home", sys.argv[1], "search", "국수"]) == 0
sys.exit("qdrant_client" in sys.modules)"""
    ended = subprocess.run([sys.executable, "-c", code, machine.home], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
