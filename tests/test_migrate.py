"""`migrate`: there and back, after any end, into what is there already, and what it finds when something went wrong."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from qdrant_client import models

from subtitle_rag import migrating, output
from subtitle_rag.config import settings as config
from subtitle_rag.library.app_state import EMBEDDED, index_address, library_id, put_index_address
from subtitle_rag.migrating import Copied, Migrated, Migration, heaviest, same, same_order
from subtitle_rag.retrieval.index.index_edge import EdgeIndex
from subtitle_rag.retrieval.index.index_server import ServerIndex, SharedCollection
from subtitle_rag.retrieval.index.interface import Index
from subtitle_rag.retrieval.index.server_terms import collection_name
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.values import DenseVector, Hit, MultiVector, Point, SparseVector, Vector
from subtitle_rag.runtime import Runtime
from tests.retrieval.points import COLLECTION, dense, server_index, sparse
from tests.stand_ins.qdrant import StandIn, qdrant_server
from tests.support.failures import failing
from tests.support.place import Place
from tests.support.served import QUERY, Machine, ranking, videos

META = {"analyzer": ANALYZER}
STRANGE = Point("00000000-0000-5000-8000-000000000001", {"bm25": SparseVector((1,), (1.0,))}, {"video": "theirs"})
DENSE, SPARSE, PIECES = (f"{kind}-0badcafe" for kind in ("dense", "sparse", "pieces"))


@pytest.fixture
def server() -> Iterator[StandIn]:
    with qdrant_server() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, analyzer: Analyzer) -> Iterator[Place]:
    """A library whose index has all kinds of vectors."""
    with closing(Place.at(tmp_path / "place", analyzer)) as opened:
        opened.run(videos(tmp_path / "captions", 0, 1, 2))
        ids = [id for id in all_ids(opened) if id[-1] in "01234567"]
        opened.index.add_vector(DENSE, 3)
        opened.index.add_vector(SPARSE)
        opened.index.replace_vector(DENSE, {id: dense(1.0, n, 0.3 * n) for n, id in enumerate(ids)})
        opened.index.replace_vector(SPARSE, {id: sparse({n: 0.1, 7: 1 / (n + 1)}) for n, id in enumerate(ids, 8)})
        opened.index.add_vector(PIECES, 16)
        pieces = {id: MultiVector.of([[1.0 + at * n for at in range(16)], [0.5] * 16]) for n, id in enumerate(ids)}
        opened.index.replace_vector(PIECES, pieces)
        yield opened


def all_ids(place: Place) -> list[str]:
    return [w.id for state in place.library.videos() for w in place.library.windows_of(state.video.id)]


def on(server: StandIn) -> Index:
    return server_index(config.QdrantSettings(url=server.base), META)


def moved(place: Place, source: Index, target: Index) -> Migrated:
    *copied, last = Migration(place.library, source, target).run()
    assert isinstance(last, Migrated)
    (end,) = [event for event in copied[-1:] if isinstance(event, Copied)]
    assert end.done == end.total == last.windows
    return last


def content(index: Index) -> dict[str, Point]:
    return {point.id: point for point in index.points(limit=10_000)}


def alike(one: Index, other: Index) -> bool:
    first, second = content(one), content(other)
    return first.keys() == second.keys() and all(
        point.payload == second[id].payload
        and point.vectors.keys() == second[id].vectors.keys()
        and all(same(vector, second[id].vectors[name], name) for name, vector in point.vectors.items())
        for id, point in first.items()
    )


@pytest.mark.campaign(part="flows")
def test_there_and_back_all_is_as_it_was(place: Place, server: StandIn, tmp_path: Path) -> None:
    there = on(server)
    done = moved(place, place.index, there)
    assert (done.windows, done.points) == (len(all_ids(place)), min(migrating.SAMPLE, len(all_ids(place))))
    assert migrating.QUERIES <= done.queries <= 5 * migrating.QUERIES
    assert there.vectors() == {"bm25": None, DENSE: 3, SPARSE: None, PIECES: 16}
    assert alike(place.index, there)
    assert index_address(place.library) == there.place
    with closing(EdgeIndex(tmp_path / "back", META)) as back:
        moved(place, there, back)
        assert alike(place.index, back)
        assert index_address(place.library) == EMBEDDED


@pytest.mark.campaign(part="flows")
def test_a_run_that_was_ended_goes_on(place: Place, server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "BATCH", 3)
    there = on(server)
    with closing(Migration(place.library, place.index, there).run()) as run:
        assert next(run) == Copied(3, len(all_ids(place)))
    assert there.count() == 3
    assert index_address(place.library) == EMBEDDED
    server.asked.clear()
    moved(place, place.index, there)
    inserted = sum(len(body["points"]) for method, path, body in server.asked if method == "PUT" and "/points" in path)
    assert inserted == len(all_ids(place)) - 3
    assert alike(place.index, there)


@pytest.mark.campaign(part="flows")
def test_what_is_outdated_there_is_made_the_same(place: Place, server: StandIn) -> None:
    there = on(server)
    moved(place, place.index, there)
    first, second, *_rest = (id for id in all_ids(place) if DENSE in content(place.index)[id].vectors)
    place.index.replace_vector(DENSE, {first: dense(0.0, 0.0, 1.0)})
    place.index.replace_vector("bm25", {second: sparse({5: 1.0})})
    place.index.replace_payload({second: {**content(place.index)[second].payload, "context": "새 문맥"}})
    assert not alike(place.index, there)
    moved(place, place.index, there)
    theirs = content(there)
    assert same(theirs[first].vectors[DENSE], dense(0.0, 0.0, 1.0))
    assert theirs[second].payload["context"] == "새 문맥"
    assert theirs[second].vectors["bm25"] == sparse({5: 1.0})


@pytest.mark.campaign(part="flows")
def test_what_an_earlier_use_has_left_there_goes(place: Place, server: StandIn, tmp_path: Path) -> None:
    there = on(server)
    there.insert([STRANGE])
    moved(place, place.index, there)
    assert content(there).keys() == set(all_ids(place))
    with closing(EdgeIndex(tmp_path / "back", META)) as back:
        back.insert([STRANGE])
        moved(place, there, back)
        assert content(back).keys() == set(all_ids(place))


def shared_collection(server: StandIn, source: Index) -> ServerIndex:
    """Make the collection in which libraries once shared their points, with those of two libraries."""
    shared = ServerIndex(config.QdrantSettings(url=server.base), META, SharedCollection.NAME, create=True)
    for name, size in source.vectors().items():
        if name != "bm25":
            shared.add_vector(name, size)
    keys = {"library_0badcafe": True, "library_another": True, "last_library": "another"}
    points = [*source.points(limit=10_000), STRANGE]
    shared.insert([replace(point, payload=point.payload | keys) for point in points])
    return shared


@pytest.mark.campaign(part="flows")
def test_a_shared_collection_is_taken_apart(place: Place, server: StandIn) -> None:
    shared = shared_collection(server, place.index)
    before = {str(id) for id in content(shared)}
    source = SharedCollection(config.QdrantSettings(url=server.base), META)
    there = on(server)
    done = moved(place, source, there)
    assert done.windows == len(all_ids(place))
    assert alike(place.index, there)
    assert not any(key.startswith(("library_", "last_library")) for p in content(there).values() for key in p.payload)
    assert {str(id) for id in content(shared)} == before  # it may be in use by other libraries


def spoil(server: StandIn, kind: str, id: str) -> None:
    if kind == "payload":
        server.memory.set_payload(COLLECTION, {"text": "other"}, points=[id])
    elif kind == "gone":
        server.memory.delete(COLLECTION, [id])
    else:
        vector = [0.0, 1.0, 0.0] if kind == "dense" else models.SparseVector(indices=[1], values=[2.0])
        name = DENSE if kind == "dense" else "bm25"
        server.memory.update_vectors(COLLECTION, [models.PointVectors(id=id, vector={name: vector})])


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize("kind", ["payload", "dense", "bm25", "gone"])
def test_what_is_not_the_same_in_the_end_is_told(
    place: Place, server: StandIn, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(migrating, "SAMPLE", 1_000)
    there = on(server)
    one = next(id for id, point in content(place.index).items() if DENSE in point.vectors)
    run = Migration(place.library, place.index, there).run()
    for event in run:
        assert isinstance(event, Copied)
        if event.done == event.total:
            break
    spoil(server, kind, one)
    with failing("index_differs"):
        next(run)
    assert index_address(place.library) == EMBEDDED
    moved(place, place.index, there)  # the same command mends it


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize(("lock", "code"), [("library.lock", "library_busy"), ("vectors.lock", "vectors_busy")])
def test_a_library_at_work_is_left_alone(
    place: Place, server: StandIn, monkeypatch: pytest.MonkeyPatch, lock: str, code: str
) -> None:
    monkeypatch.setattr(migrating, "LOCK_TIMEOUT_S", 0.05)
    there = on(server)
    with FileLock(place.folder / lock), failing(code):
        next(Migration(place.library, place.index, there).run())
    assert moved(place, place.index, there).windows == len(all_ids(place))


@pytest.mark.campaign(part="flows")
def test_who_still_has_the_earlier_index_open_writes_nothing_there(
    place: Place, server: StandIn, tmp_path: Path
) -> None:
    moved(place, place.index, on(server))
    held = place.index.count()
    with failing("index_elsewhere"):
        place.run(videos(tmp_path / "more", 3))
    assert place.index.count() == held
    list(place.indexer.rebuild())  # which brings it back
    assert index_address(place.library) == EMBEDDED
    assert place.report(videos(tmp_path / "more", 3)).new == 1


VECTORS: list[tuple[Vector, Vector | None, bool]] = [
    (dense(3.0, 4.0), dense(0.6, 0.8), True),
    (dense(3.0, 4.0), dense(0.6001, 0.7999), True),
    (dense(3.0, 4.0), dense(0.61, 0.79), False),
    (dense(3.0, 4.0), dense(0.6, 0.8, 0.0), False),
    (sparse({1: 1.0, 2: 0.3333}), sparse({2: 0.3335, 1: 1.0}), True),
    (sparse({1: 1.0}), sparse({2: 1.0}), False),
    (sparse({1: 1.0}), sparse({1: 1.01}), False),
    (sparse({}), sparse({}), True),
    (MultiVector.of([[3.0, 4.0], [0.0, 0.0]]), MultiVector.of([[0.6, 0.8], [0.0, 0.0]]), True),
    (MultiVector.of([[3.0, 4.0], [1.0, 0.0]]), MultiVector.of([[0.6, 0.8], [0.0, 1.0]]), False),
    (MultiVector.of([[1.0, 0.0]]), MultiVector.of([[1.0, 0.0], [1.0, 0.0]]), False),
    (MultiVector.of([[1.0, 0.0]]), dense(1.0, 0.0), False),
    (sparse({1: 1.0}), dense(1.0), False),
    (sparse({1: 1.0}), None, False),
]


@pytest.mark.parametrize(("one", "other", "expected"), VECTORS)
def test_vectors_are_the_same_but_for_half_precision(one: Vector, other: Vector | None, expected: bool) -> None:
    assert same(one, other) is expected


def hits(**scores: float) -> list[Hit]:
    return [Hit(id, score) for id, score in scores.items()]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (hits(a=2.0, b=1.0), hits(a=4.0, b=2.0), True),
        (hits(a=2.0, b=1.0), hits(b=2.0, a=1.0), False),
        (hits(a=2.0, b=1.0, c=1.0), hits(a=2.0, c=1.0, b=1.0), True),
        (hits(a=2.0, b=1.0), hits(a=2.0, z=1.0), True),
        (hits(a=2.0, b=1.0, c=0.5), hits(a=2.0, z=1.0, c=0.5), False),
        (hits(a=2.0), hits(), False),
        (hits(), hits(), True),
    ],
)
def test_lists_are_the_same_but_for_ties(one: list[Hit], other: list[Hit], expected: bool) -> None:
    assert same_order(one, other) is expected


def test_the_heaviest_term() -> None:
    assert heaviest(sparse({3: 0.5, 9: 2.0, 4: 1.0})) == sparse({9: 1.0})
    assert heaviest(sparse({})) == sparse({})
    assert isinstance(dense(1.0), DenseVector)


# the command


@pytest.fixture
def machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, analyzer: Analyzer
) -> Iterator[Machine]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    monkeypatch.setattr(Runtime, "analyzer", analyzer)
    made = Machine(tmp_path / "home", capsys)
    made.use("")
    made("index", videos(tmp_path / "captions", 0, 1))
    yield made
    made.end()


def own_collection(machine: Machine) -> str:
    with Runtime(config.load(machine.home)) as runtime:
        return collection_name(library_id(runtime.library))


@pytest.mark.campaign(part="flows")
def test_a_library_in_a_shared_collection_is_told_the_way_and_moves(machine: Machine, server: StandIn) -> None:
    before = ranking(machine(*QUERY))
    with Runtime(config.load(machine.home)) as runtime:
        shared_collection(server, runtime.index).close()
        put_index_address(runtime.library, server.base)
    machine.use(server.base)
    told = machine(*QUERY)
    assert (told.code, told.failure) == (1, "index_shared")
    assert f"subtitle-rag migrate --to {server.base}" in told.err
    there = machine("migrate", "--to", server.base, "--json").result
    assert (there["from"], there["to"]) == (server.base, server.base)
    assert ranking(machine(*QUERY)) == before
    assert server.memory.count(own_collection(machine)).count == there["windows"]
    assert machine("migrate", "--to", server.base, "--json").code == 0  # the run before may have been killed


def test_the_command_moves_the_index_and_says_what_to_write(machine: Machine, server: StandIn) -> None:
    before = ranking(machine(*QUERY))
    there = machine("migrate", "--to", server.base + "/", "--json").result
    windows = server.memory.count(own_collection(machine)).count
    assert (there["from"], there["to"], there["windows"]) == ("embedded", server.base, windows)
    assert there["compared"]["points"] == windows
    assert there["config"] == f'[qdrant]\nurl = "{server.base}"'
    assert machine(*QUERY).failure == "index_elsewhere"
    machine.use(server.base)
    assert ranking(machine(*QUERY)) == before
    back = machine("migrate", "--to", "embedded")
    assert back.out == '[qdrant]\nurl = ""\n'
    assert f"{windows} windows are in the index embedded" in back.err
    assert "config.toml" in back.err
    again = machine("migrate", "--to", "embedded")  # as if the first run had been killed after its last commit
    assert (again.code, again.out, again.err) == (0, back.out, back.err)
    machine.use("")
    assert ranking(machine(*QUERY)) == before


@pytest.mark.campaign(part="flows")
def test_the_command_writes_the_config_and_search_works_at_once(machine: Machine, server: StandIn) -> None:
    before = ranking(machine(*QUERY))
    path = machine.home / "config.toml"
    head, tail = "# mine\n[search]\nlimit = 9 # few\n\n[qdrant] # the index\n", "timeout = 30\n[player]\n# end\n"
    path.write_text(head + 'url = ""  # here\n' + tail, encoding="utf-8")
    there = machine("migrate", "--to", server.base, "--write-config")
    assert (there.code, there.out) == (0, "")
    assert str(path) in there.err
    assert path.read_text(encoding="utf-8") == head + f'url = "{server.base}"  # here\n' + tail
    assert ranking(machine(*QUERY)) == before
    back = machine("migrate", "--to", "embedded", "--write-config", "--json")
    assert back.result["written"] is True
    assert path.read_text(encoding="utf-8") == head + 'url = ""  # here\n' + tail
    assert ranking(machine(*QUERY)) == before


def test_a_program_that_is_open_meanwhile_is_told(machine: Machine, server: StandIn) -> None:
    with Runtime(config.load(machine.home)) as open_since:
        assert open_since.moved_index() is None
        assert machine("migrate", "--to", server.base, "--write-config").code == 0
        moved = open_since.moved_index()
        assert moved is not None
        assert (moved.code, moved.details["place"]) == ("index_moved", server.base)
    with Runtime(config.load(machine.home)) as opened_anew:
        assert opened_anew.moved_index() is None


@pytest.mark.parametrize("answer", [True, False])
def test_a_terminal_is_asked_whether_to_write_the_config(
    machine: Machine, server: StandIn, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    questions: list[str] = []
    monkeypatch.setattr(output, "on_terminal", lambda: True)

    def confirm(question: str) -> bool:
        questions.append(question)
        return answer

    monkeypatch.setattr(output, "confirm", confirm)
    there = machine("migrate", "--to", server.base)
    assert len(questions) == 1
    assert there.out == ("" if answer else f'[qdrant]\nurl = "{server.base}"\n')
    assert (server.base in (machine.home / "config.toml").read_text()) is answer


def test_a_config_of_another_form_is_left_to_its_author(machine: Machine, server: StandIn) -> None:
    path = machine.home / "config.toml"
    path.write_text('qdrant = { url = "" }\n', encoding="utf-8")
    there = machine("migrate", "--to", server.base, "--write-config")
    assert there.out == f'[qdrant]\nurl = "{server.base}"\n'
    assert path.read_text(encoding="utf-8") == 'qdrant = { url = "" }\n'


def test_what_cannot_be_is_said(machine: Machine, server: StandIn) -> None:
    same_place = machine("migrate", "--to", "embedded", "--json")
    assert (same_place.code, same_place.failure) == (2, "same_index")
    no_address = machine("migrate", "--to", "somewhere", "--json")
    assert (no_address.code, no_address.failure) == (2, "qdrant_url")
    server.stop()
    down = machine("migrate", "--to", server.base, "--json")
    assert (down.code, down.failure) == (3, "qdrant_unreachable")
    assert machine("migrate").code == 2
    assert machine(*QUERY).code == 0


@pytest.mark.campaign(part="flows")
def test_an_embedded_index_of_other_rules_is_no_hindrance(machine: Machine, server: StandIn) -> None:
    before = ranking(machine(*QUERY))
    assert machine("migrate", "--to", server.base).code == 0
    machine.end()
    (machine.embedded / "meta.json").write_text('{"analyzer": "kiwi 0.1", "schema": 1}')
    machine.use(server.base)
    assert machine("migrate", "--to", "embedded").code == 0
    machine.use("")
    assert ranking(machine(*QUERY)) == before
