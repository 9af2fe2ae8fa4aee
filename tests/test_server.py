"""Libraries whose index is on a Qdrant server: one alone, two together, and while the server is away."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.config import settings as config
from subtitle_rag.domain import BusyError
from subtitle_rag.library.app_state import index_address
from subtitle_rag.library.context_store import Context
from subtitle_rag.retrieval import index_server
from subtitle_rag.retrieval.index_server import COLLECTION
from subtitle_rag.retrieval.morphemes import Analyzer
from subtitle_rag.runtime import Runtime
from tests.stand_ins.qdrant import StandIn, qdrant_server
from tests.support.invented import caption_folder
from tests.support.served import QUERY, Machine, found_videos, ranking, scenes, videos


@pytest.fixture(autouse=True)
def one_analyzer(monkeypatch: pytest.MonkeyPatch, analyzer: Analyzer) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    monkeypatch.setattr(Runtime, "analyzer", analyzer)


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


def held(server: StandIn) -> int:
    return server.memory.count(COLLECTION).count


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
        assert index_address(runtime.library) == runtime.index.place == server.base
        assert held(server) == runtime.library.counts().searchable
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
        assert "migrate --to embedded" in told.err
    machine.use(server.base)
    assert machine(*QUERY).code == 0


def test_another_machine_s_scenes_are_shown_from_what_the_server_holds(
    machine: Machine, other: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "a", 0, 2))
    before = held(server)
    other("index", videos(tmp_path / "b", 1, 2))
    windows = sum(video["windows"] for ch in other("list", "--json").result["channels"] for video in ch["videos"])
    assert held(server) < before + windows  # they have a video in common
    found = machine(*QUERY)
    assert found_videos(found) == {"invented000", "invented001", "invented002"}
    mirrored = {scene["scene"]: scene for scene in scenes(other(*QUERY))}
    for scene in scenes(found):
        twin = mirrored[scene["scene"]]
        assert {k: scene[k] for k in ("text", "start", "end", "url", "jump", "highlights")} == {
            k: twin[k] for k in ("text", "start", "end", "url", "jump", "highlights")
        }
    (theirs, *_rest) = [scene for scene in scenes(found) if scene["video"]["id"] == "invented001"]
    links = [one("open", theirs["scene"], "--print").out for one in (machine, other)]
    assert links[0] == links[1].strip() + "\n" != "\n"
    assert any(scene["highlights"] for scene in scenes(found) if scene["video"]["id"] == "invented001")
    assert found_videos(machine("search", "국수를 먹었어요", "video:invented000", "--json")) == {"invented000"}


def test_a_word_that_is_left_out_is_left_out_of_others_scenes(machine: Machine, other: Machine, tmp_path: Path) -> None:
    machine("index", videos(tmp_path / "a", 0))
    other("index", videos(tmp_path / "b", 1))
    before = {scene["video"]["id"]: scene["text"] for scene in scenes(machine(*QUERY))}
    ours = before["invented000"].replace(" ", "")
    word = next(word for word in before["invented001"].split() if word not in ours)
    kept = machine("search", f"국수를 먹었어요 -{word}", "--limit", "50", "--json")
    assert found_videos(kept) >= {"invented000"}
    assert not [scene for scene in scenes(kept) if word in scene["text"]]


def test_a_rebuild_and_a_removal_spare_the_others(
    machine: Machine, other: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "a", 0, 1))
    other("index", videos(tmp_path / "b", 2))
    all_of_them = held(server)
    assert machine("rebuild").code == 0
    assert held(server) == all_of_them
    assert machine("remove", "invented000", "--yes").code == 0
    assert found_videos(machine(*QUERY)) == {"invented001", "invented002"}
    assert found_videos(other(*QUERY)) == {"invented001", "invented002"}


def test_a_rebuild_lets_go_of_what_a_removal_had_left(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    machine("index", videos(tmp_path / "a", 0, 1))
    server.failing = lambda _method, path: (500, b"") if path.endswith("/points/batch") else None
    assert machine("remove", "invented000", "--yes", "--json").failure == "qdrant_unreachable"
    server.failing = lambda _method, _path: None
    assert found_videos(machine(*QUERY)) == {"invented001"}
    assert machine("rebuild").code == 0
    with opened(machine) as runtime:
        assert held(server) == runtime.library.counts().searchable


def test_a_server_of_other_rules_is_made_anew_only_where_nobody_shares_it(
    machine: Machine, other: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "a", 0))
    other("index", videos(tmp_path / "b", 1))
    server.memory.update_collection(COLLECTION, metadata={"analyzer": "kiwi 0.1"})
    machine.end()  # a host that is at work notices it after a while
    assert machine(*QUERY).failure == "index_mismatch"
    refused = machine("rebuild", "--json")
    assert (refused.code, refused.failure) == (1, "qdrant_others")
    other_windows = held(server)
    server.memory.delete(COLLECTION, [point.id for point in server.memory.scroll(COLLECTION, limit=other_windows)[0]])
    assert machine("rebuild").code == 0
    assert found_videos(machine(*QUERY)) == {"invented000"}


# away


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
        writes[0] += method == "POST" and path.endswith("/points/batch")
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


def test_while_the_index_in_the_folder_answers_for_the_server_the_user_is_told(
    machine: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine.use("")
    machine("index", videos(tmp_path / "captions", 0))
    assert machine("migrate", "--to", server.base).code == 0
    machine.use(server.base)
    assert machine(*QUERY[:-1]).err == ""
    server.stop()
    away = machine(*QUERY[:-1])
    assert away.code == 0
    assert "cannot be used at the moment" in away.err
    assert "searches use the earlier index in the library's folder" in away.err


def test_windows_of_a_batch_that_failed_are_not_noted_as_indexed(
    machine: Machine, server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_server, "WRITE_BATCH", 1)
    captions = videos(tmp_path / "captions", 0, 1, 2)
    written = [0]

    def third_is_refused(method: str, path: str) -> tuple[int, bytes] | None:
        written[0] += method == "POST" and path.endswith("/points/batch")
        return (507, b"no room") if written[0] == 3 else None

    server.failing = third_is_refused
    failed = machine("index", captions, "--json")
    assert (failed.code, failed.failure) == (3, "qdrant_unreachable")
    server.failing = lambda _method, _path: None
    with opened(machine) as runtime:
        assert runtime.library.counts().searchable == 0
        windows = runtime.library.counts().windows
    assert 0 < held(server) < windows
    assert machine("index", captions, "--json").result["windows_indexed"] == held(server) == windows


@pytest.mark.campaign(part="kills")
def test_an_indexer_killed_while_batches_are_under_way_loses_nothing(
    machine: Machine, server: StandIn, tmp_path: Path
) -> None:
    caption_folder(tmp_path / "captions", 5, minutes=70)
    command = [sys.executable, "-m", "subtitle_rag", "--home", str(machine.home), "index", str(tmp_path / "captions")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    written = [0]

    def killed(method: str, path: str) -> None:
        written[0] += method == "POST" and path.endswith("/points/batch")
        if written[0] == 6:  # of the second call: the first has the windows of four videos
            process.kill()

    server.failing = killed
    assert process.wait(120) < 0
    server.failing = lambda _method, _path: None
    with opened(machine) as runtime:
        noted = runtime.library.counts().searchable
        assert 0 < noted <= held(server)
    assert machine("index", tmp_path / "captions", "--json").code == 0
    with opened(machine) as runtime:
        counts = runtime.library.counts()
    assert counts.searchable == counts.windows == held(server) > noted


def test_the_embedded_index_answers_while_the_server_is_away(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    machine.use("")
    machine("index", videos(tmp_path / "captions", 0, 1))
    before = ranking(machine(*QUERY))
    assert machine("migrate", "--to", server.base).code == 0
    machine.use(server.base)
    assert machine("remove", "invented001", "--yes").code == 0
    server.stop()
    away = machine(*QUERY)
    assert (away.code, away.document["status"]) == (0, "partial")
    assert [entry["code"] for entry in away.document["errors"]] == ["qdrant_unreachable"]
    assert found_videos(away) == {"invented000"}  # what was removed does not come back
    asked = machine("ask", QUERY[1], "--json")
    assert (asked.code, asked.document["status"], asked.document["result"]["ending"]) == (0, "partial", "no_model")
    assert [entry["code"] for entry in asked.document["errors"]] == ["qdrant_unreachable"]
    assert machine("index", tmp_path / "captions", "--json").failure == "qdrant_unreachable"
    server.start()
    again = machine(*QUERY)
    assert again.document["status"] == "success"
    assert 0 < len(ranking(again)) < len(before)


def test_doctor_tells_of_the_server(machine: Machine, server: StandIn, tmp_path: Path) -> None:
    machine("index", videos(tmp_path / "captions", 0))

    def check(name: str) -> dict[str, str]:
        found = machine("doctor", "--offline", "--json").document["result"]["checks"]
        return next(entry for entry in found if entry["name"] == name)

    assert check("qdrant")["message"] == f"Qdrant 1.20.0 at {server.base}, {held(server)} windows"
    assert check("index")["message"] == f"{held(server)} of {held(server)} windows are searchable"
    server.stop()
    assert (check("qdrant")["severity"], server.base in check("qdrant")["message"]) == ("error", True)
    machine.use("")
    assert check("qdrant")["severity"] == "ok"


def test_a_context_that_comes_later_reaches_the_others(
    machine: Machine, other: Machine, server: StandIn, tmp_path: Path
) -> None:
    machine("index", videos(tmp_path / "a", 0))
    other("index", videos(tmp_path / "b", 1))
    with opened(machine) as runtime:
        (first, *_rest) = runtime.library.windows_of("invented000")
        written = Context(
            "key", first.id, first.video_id, "m", "d", "p", "full", 1, "코뿔소 이야기", "", (), 1, 1, 1, 1, 1, False, 1
        )
        assert runtime.library.contexts.put(written)
        runtime.indexer.add_contexts({first.video_id: [first.id]})
        stored = runtime.index.get([first.id])[0].payload
    (shown,) = scenes(other("search", "코뿔소", "--limit", "1", "--json"))
    assert (shown["scene"], shown["context"]) == (first.id, "코뿔소 이야기")
    assert stored["text"] == first.text


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


def test_without_a_server_its_client_is_not_even_imported(machine: Machine) -> None:
    machine.use("")
    code = """import sys
from subtitle_rag import cli
assert cli.run(["--home", sys.argv[1], "search", "국수"]) == 0
sys.exit("qdrant_client" in sys.modules)"""
    ended = subprocess.run([sys.executable, "-c", code, machine.home], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
