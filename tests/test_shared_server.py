"""Libraries that share a Qdrant server: what one removes stays for the others, and what is lost is put back."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.config import settings as config
from subtitle_rag.config.settings import QdrantSettings
from subtitle_rag.library.app_state import INDEX_HOLDING
from subtitle_rag.retrieval.index_server import COLLECTION, ServerIndex
from subtitle_rag.retrieval.morphemes import Analyzer
from subtitle_rag.retrieval.query import parse_query
from subtitle_rag.retrieval.server_terms import LAST_MEMBER, MEMBER_PREFIX
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers.library_opening import restore_windows
from subtitle_rag.tui.messages import WindowsRestored
from tests.retrieval.points import META, found, pid, point
from tests.stand_ins.qdrant import StandIn
from tests.support.served import QUERY, Machine, found_videos, ranking, videos

A, B, C = "aaaa", "bbbb", "cccc"


@pytest.fixture(autouse=True)
def one_analyzer(monkeypatch: pytest.MonkeyPatch, analyzer: Analyzer) -> None:
    monkeypatch.setattr(Runtime, "analyzer", analyzer)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def machines(tmp_path: Path, server: StandIn, capsys: pytest.CaptureFixture[str]) -> Iterator[list[Machine]]:
    made = [Machine(tmp_path / name, capsys) for name in ("one", "two")]
    for machine in made:
        machine.use(server.base)
    yield made
    for machine in made:
        machine.end()


def opened(server: StandIn, member: str) -> ServerIndex:
    return ServerIndex(QdrantSettings(url=server.base), META, member=member)


def members(server: StandIn, n: int) -> set[str]:
    (record,) = server.memory.retrieve(COLLECTION, [pid(n)])
    return {key.removeprefix(MEMBER_PREFIX) for key in record.payload or {} if key.startswith(MEMBER_PREFIX)}


def stored(server: StandIn) -> set[str]:
    if not server.memory.collection_exists(COLLECTION):
        return set()
    return {str(record.id) for record in server.memory.scroll(COLLECTION, limit=10_000)[0]}


def lose(server: StandIn, count: int) -> None:
    server.memory.delete(COLLECTION, list[Any](sorted(stored(server))[:count]))


def forget_members(server: StandIn) -> None:
    """Make the points those of an earlier version."""
    for id in stored(server):
        payload = server.memory.retrieve(COLLECTION, [id])[0].payload or {}
        keys = [key for key in payload if key.startswith(MEMBER_PREFIX) or key == LAST_MEMBER]
        server.memory.delete_payload(COLLECTION, keys, [id])


# two libraries


@pytest.mark.parametrize("first", [0, 1])
def test_a_video_goes_from_the_server_with_the_last_library_that_has_it(
    machines: list[Machine], server: StandIn, tmp_path: Path, first: int
) -> None:
    for number, machine in enumerate(machines):
        machine("index", videos(tmp_path / str(number), 0, 1 + number))
    leaving, staying = machines[first], machines[1 - first]
    before = ranking(staying("search", "국수를 먹었어요", "video:invented000", "--json"))
    assert leaving("remove", "invented000", "--yes").code == 0
    staying.end()
    after = staying("search", "국수를 먹었어요", "video:invented000", "--json")
    assert ranking(after) == before != []
    assert (after.document["status"], after.result["missing_windows"], after.err) == ("success", 0, "")
    listed = leaving("list", "--json").result["channels"]
    assert "invented000" not in {video["id"] for channel in listed for video in channel["videos"]}
    assert staying("remove", "invented000", "--yes").code == 0
    payloads = [record.payload or {} for record in server.memory.scroll(COLLECTION, limit=1_000)[0]]
    assert {payload["video"] for payload in payloads} == {"invented001", "invented002"}


def test_a_library_that_misses_windows_searches_on_and_puts_them_back(
    machines: list[Machine], server: StandIn, tmp_path: Path
) -> None:
    machine, other = machines
    captions = videos(tmp_path / "a", 0, 1)
    machine("index", captions)
    other("index", videos(tmp_path / "b", 2))
    with Runtime(config.load(machine.home)) as runtime:
        whole = [scene.id for scene in runtime.searcher.search(parse_query("국수를 먹었어요")).scenes]
        known = runtime.library.counts().searchable
    everything = stored(server)
    server.memory.delete(COLLECTION, list[Any]([id for id in whole if id in everything][:1]))
    lost = everything - stored(server)
    machine.end()
    partial = machine(*QUERY)
    assert (partial.code, partial.document["status"], partial.result["missing_windows"]) == (0, "partial", len(lost))
    assert [entry["code"] for entry in partial.document["errors"]] == ["windows_missing"]
    assert f"{len(lost)} of this library's {known} windows" in partial.err
    assert partial.result["scenes"]
    asked = machine("ask", QUERY[1], "--json")
    assert "windows_missing" in [entry["code"] for entry in asked.document["errors"]]
    again = machine("index", captions, "--json")
    assert (again.code, again.result["videos"]["unchanged"]) == (0, 2)
    assert stored(server) == everything
    assert machine(*QUERY).result["missing_windows"] == 0


def test_a_collection_that_was_deleted_comes_back_without_a_rebuild(
    machines: list[Machine], server: StandIn, tmp_path: Path
) -> None:
    machine, _other = machines
    captions = videos(tmp_path / "a", 0)
    machine("index", captions)
    before = ranking(machine(*QUERY))
    everything = stored(server)
    server.memory.delete_collection(COLLECTION)
    server._indexes = {}
    machine.end()
    assert machine(*QUERY).result["missing_windows"] == len(everything)
    assert machine("index", captions).code == 0
    assert stored(server) == everything
    assert ranking(machine(*QUERY)) == before


def test_the_app_puts_them_back_in_the_background(machines: list[Machine], server: StandIn, tmp_path: Path) -> None:
    machine, _other = machines
    machine("index", videos(tmp_path / "a", 0))
    everything = stored(server)
    lose(server, 2)
    machine.end()
    posted: list[object] = []
    with Runtime(config.load(machine.home)) as runtime:
        restore_windows(runtime, posted.append)
        assert stored(server) == everything
        restore_windows(runtime, posted.append)
    (message,) = posted
    assert isinstance(message, WindowsRestored)
    assert message.count >= 2


def test_points_of_an_earlier_version_are_held_after_the_next_run(
    machines: list[Machine], server: StandIn, tmp_path: Path
) -> None:
    machine, other = machines
    captions = videos(tmp_path / "a", 0, 1)
    for each in machines:
        each("index", captions)
    forget_members(server)
    for each in machines:
        with Runtime(config.load(each.home)) as runtime:
            runtime.library.database.put_setting(INDEX_HOLDING, "")
        each.end()
    assert machine(*QUERY).document["status"] == "success"  # nothing is missing
    assert machine("remove", "invented001", "--yes").code == 0  # as in earlier versions: for all
    assert found_videos(other(*QUERY)) == {"invented000"}
    assert machine("index", videos(tmp_path / "c", 0)).code == 0
    with Runtime(config.load(machine.home)) as runtime:
        assert runtime.library.database.get_setting(INDEX_HOLDING) == server.base
    assert other("index", captions, "--json").code == 0  # which puts its own back
    assert found_videos(other(*QUERY)) == {"invented000", "invented001"}
    assert machine("remove", "invented000", "--yes").code == 0
    assert found_videos(other(*QUERY)) == {"invented000", "invented001"}


# two writers at once


def meanwhile(server: StandIn, ending: str, work: Callable[[], object]) -> None:
    """Do this once before the server answers the next request of this kind; it is of another client."""
    todo = [work]

    def hook(_method: str, path: str) -> None:
        if path.endswith(ending) and todo:
            todo.pop()()

    server.failing = hook


@pytest.mark.parametrize("names", [(A, B), (B, A)])
def test_two_writers_of_the_same_points_both_hold_them(server: StandIn, names: tuple[str, str]) -> None:
    one, other = (opened(server, name) for name in names)
    points = [point(n, video="v") for n in range(1, 5)]
    meanwhile(server, "/points/batch", lambda: other.insert(points))
    one.insert(points)
    assert members(server, 1) == {A, B}
    one.delete_videos(["v"])
    assert (one.held(), other.held(), other.count()) == (0, 4, 4)
    other.delete_videos(["v"])
    assert other.count() == 0


@pytest.mark.parametrize("others", [(), (C,)])
def test_who_holds_a_video_while_it_is_removed_keeps_it(server: StandIn, others: tuple[str, ...]) -> None:
    points = [point(n, video="v") for n in range(1, 5)]
    for name in (*others, A):
        opened(server, name).insert(points)
    for name in others:
        opened(server, name).delete_videos(["v"])
    staying = opened(server, B)
    # behind the question who holds it, before the deletion
    meanwhile(server, "/points/batch", lambda: staying.insert(points))
    opened(server, A).delete_videos(["v"])
    assert members(server, 1) == {B}
    assert (staying.held(), staying.count()) == (4, 4)


def test_who_has_held_a_video_before_and_holds_it_again_meanwhile_keeps_it(server: StandIn) -> None:
    points = [point(n, video="v") for n in range(1, 5)]
    staying, leaving = opened(server, B), opened(server, A)
    leaving.insert(points)
    staying.insert(points)
    staying.delete_videos(["v"])  # the last library of the points is still B
    meanwhile(server, "/points/batch", lambda: staying.hold([pid(n) for n in range(1, 5)]))
    leaving.delete_videos(["v"])
    assert (staying.held(), staying.count()) == (4, 4)


def test_points_that_are_deleted_while_they_are_held_are_inserted(server: StandIn) -> None:
    """Between the two operations of the insertion, as a server with other clients may do them."""
    one, other = opened(server, A), opened(server, B)
    one.insert([point(1, video="v")])
    answers = iter([(404, {"status": {"error": "Not found: No point with id 1 found"}})])
    server.failing = lambda _method, path: next(answers, None) if path.endswith("/points/batch") else None
    other.insert([point(1, video="v")])
    assert members(server, 1) == {A, B}


def test_a_new_payload_takes_no_library_away(server: StandIn) -> None:
    one, other = opened(server, A), opened(server, B)
    one.insert([point(1, video="v", text="old")])
    meanwhile(server, "/points/batch", lambda: other.hold([pid(1)]))
    one.replace_payload({pid(1): {"video": "v", "text": "new", "url": None}})
    assert members(server, 1) == {A, B}
    assert one.get([pid(1)])[0].payload == {"video": "v", "text": "new", "url": None}


def test_threads_of_two_libraries_lose_nothing(server: StandIn) -> None:
    points = [point(n, video=f"v{n % 3}") for n in range(30)]
    indexes = [opened(server, name) for name in (A, B)]

    def work(index: ServerIndex) -> None:
        for _again in range(3):
            index.insert(points)
            index.delete_videos(["v1"])
        index.insert(points)

    threads = [threading.Thread(target=work, args=(index,)) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [index.held() for index in indexes] == [30, 30]


def test_libraries_without_a_key_of_their_own_delete_as_before(server: StandIn) -> None:
    nobody = opened(server, "")
    nobody.insert([point(1, video="v"), point(2, video="w")])
    assert nobody.held() == 0
    opened(server, A).delete_videos(["v"])
    assert found(nobody) == [2]


def test_keys_of_libraries_are_indexed_and_shown_to_nobody(server: StandIn) -> None:
    index = opened(server, A)
    index.insert([point(1, video="v")])
    fields = {body["field_name"]: body["field_schema"] for _m, path, body in server.asked if path.endswith("/index")}
    assert fields[MEMBER_PREFIX + A] == "bool"
    assert fields[LAST_MEMBER] == "keyword"
    assert index.points()[0].payload == {"video": "v"}
    assert opened(server, B).shared_payloads([pid(1)]) == {pid(1): {"video": "v"}}


def levels(server: StandIn, member: str) -> int:
    """Return how many sections and videos of the collection a library holds."""
    records, _next = server.memory.scroll(COLLECTION, limit=10_000)
    held = [record.payload or {} for record in records if f"{MEMBER_PREFIX}{member}" in (record.payload or {})]
    return sum("level" in payload for payload in held)


def test_sections_and_videos_count_for_nobody_and_stay_for_the_other(
    machines: list[Machine], server: StandIn, tmp_path: Path
) -> None:
    for machine in machines:
        machine.use(server.base, "[search]", "levels = true")
        assert machine("index", videos(tmp_path / machine.home.name / "captions", 0, 1)).code == 0
    one, two = machines
    before = ranking(two(*QUERY))
    (members_of_both,) = {
        tuple(sorted(key.removeprefix(MEMBER_PREFIX) for key in record.payload if key.startswith(MEMBER_PREFIX)))
        for record in server.memory.scroll(COLLECTION, limit=10_000)[0]
        if record.payload
    }
    assert [levels(server, member) > 0 for member in members_of_both] == [True, True]
    status = two("status", "--json").result
    assert status["stages"]["bm25"] == {"done": status["windows"], "due": 0}
    assert one("remove", "invented000", "--yes").code == 0
    assert ranking(two(*QUERY)) == before
    assert two("search", "국수를 먹었어요", "--retrievers", "bm25,levels").code == 0
