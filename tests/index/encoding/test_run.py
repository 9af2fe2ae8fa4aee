"""Making vectors: what it comes to, in which order, and what is due again."""

import math
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.domain.events import VectorsReport
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.base.vectors.points import DenseVector, SparseVector
from subtitle_rag.index.encoding import SMALLEST, EncodingRun
from subtitle_rag.index.index_document import IndexDocument
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.vector_store import VectorCounts
from subtitle_rag.models.neural.protocols import Encoded
from tests.index.encoding.desk import Counting, Desk
from tests.support.failures import failing
from tests.support.invented import caption_folder
from tests.support.models_here import Here


def test_every_window_gets_the_vectors_of_its_passage(desk: Desk, encoder: Counting) -> None:
    events, report = desk.run(encoder)
    ids = desk.windows()
    assert len(ids) > 2 * SMALLEST
    counts = [(event.done, event.total) for event in events if isinstance(event, Progress)]
    assert (counts[0], counts[-1]) == ((0, len(ids)), (len(ids), len(ids)))
    assert counts == sorted(counts)
    assert desk.library.vectors.active() == encoder.id
    assert report == VectorsReport(encoder.id, made=len(ids))
    assert desk.library.vectors.counts(encoder.id) == VectorCounts(len(ids), len(ids))
    dense, sparse = vector_names(encoder.id)
    held = desk.holding(encoder)
    assert held.keys() == set(ids)
    for state in desk.library.videos():
        windows = desk.library.windows_of(state.video.id)
        material = IndexDocument(state.video, windows, {})
        for window, expected in zip(windows, encoder.passages([material.passage(w.id) for w in windows]), strict=True):
            own = held[window.id]
            assert cosine(own[dense], expected.dense) > 0.999
            assert set(terms(own[sparse])) == set(terms(expected.sparse)) != set()


def windows_read(desk: Desk, encoder: Counting) -> list[str]:
    """The windows whose passages an encoder has read, in its order."""
    passages = {
        IndexDocument(state.video, windows, {}).passage(window.id): window.id
        for state in desk.library.videos()
        for windows in [desk.library.windows_of(state.video.id)]
        for window in windows
    }
    return [passages[text] for text in encoder.read if text in passages]


def cosine(one: object, other: DenseVector) -> float:
    assert isinstance(one, DenseVector)
    length = math.sqrt(sum(a * a for a in one.values) * sum(b * b for b in other.values))
    return sum(a * b for a, b in zip(one.values, other.values, strict=True)) / length


def terms(vector: object) -> tuple[int, ...]:
    assert isinstance(vector, SparseVector)
    return vector.indices


def test_a_second_run_encodes_nothing(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    encoder.fresh()
    events, report = desk.run(encoder)
    assert events == [Progress("vectors", text=encoder.id.partition("@")[0])]
    assert report == VectorsReport(encoder.id)
    assert encoder.read == []


def test_the_newest_videos_go_first(empty: Desk, encoder: Counting, tmp_path: Path) -> None:
    days = {0: date(2026, 1, 5), 1: None, 2: date(2026, 3, 5), 3: date(2025, 1, 5)}
    folder = caption_folder(tmp_path / "dated", 4, minutes=5)
    for file in folder.glob("*.vtt"):
        if day := days[int(file.name.split()[1])]:
            info = f'{{"title": "영상", "upload_date": "{day:%Y%m%d}"}}'
            file.with_name(file.name.removesuffix(".ko.vtt") + ".info.json").write_text(info)
    empty.place.run(folder)
    empty.run(encoder)
    ids = windows_read(empty, encoder)
    places = empty.library.places(ids)
    assert list(dict.fromkeys(places[id][0] for id in ids)) == [f"invented00{n}" for n in (2, 0, 3, 1)]
    assert all(places[a] < places[b] for a, b in pairwise(ids) if places[a][0] == places[b][0])


def test_only_what_was_chosen_is_made(desk: Desk, encoder: Counting) -> None:
    _events, report = desk.run(encoder, chosen=WindowSelection(videos=("invented001",), limit=2))
    assert (report.made, report.left, len(encoder.read)) == (2, desk.library.window_count("invented001") - 2, 2)
    _events, report = desk.run(encoder, chosen=WindowSelection(videos=("invented001",)))
    assert report.left == 0
    assert desk.library.vectors.counts(encoder.id).made == desk.library.window_count("invented001")
    assert {desk.library.places([id])[id][0] for id in desk.holding(encoder)} == {"invented001"}


def test_what_is_to_be_redone_is_searched_until_then(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    count = desk.library.window_count("invented001")
    events = desk.job(encoder).run(WindowSelection(videos=("invented001",), redo=True))
    assert next(events) == Progress("vectors", 0, count, encoder.id.partition("@")[0])
    assert len(desk.holding(encoder)) == len(desk.windows())
    encoder.fresh()
    *_rest, report = events
    assert isinstance(report, VectorsReport)
    assert report.made == len(encoder.read) == count


def test_a_context_that_arrives_is_encoded_and_an_equal_one_is_not(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    before = desk.holding(encoder)
    encoder.fresh()
    first, second = desk.windows()[:2]
    desk.write_context(first, "식혜를 담그는 장면입니다.")
    _events, report = desk.run(encoder)
    assert report.made == 1
    assert "식혜를 담그는 장면입니다." in encoder.read[0].split("\n")
    after = desk.holding(encoder)
    assert [id for id in before if after[id] != before[id]] == [first]
    desk.write_context(first, "식혜를 담그는 장면입니다.", tokens=9)
    desk.write_context(second, "", tries=2)
    assert desk.run(encoder)[1].made == 0
    desk.write_context(first, "식혜를 마시는 장면입니다.")  # under the same key
    assert desk.run(encoder)[1].made == 1


def test_changed_captions_are_encoded_anew(desk: Desk, encoder: Counting, captions: Path) -> None:
    desk.run(encoder)
    encoder.fresh()
    file = next(captions.glob("*invented000*"))
    file.write_text("WEBVTT\n\n00:07.000 --> 00:30.000\n코끼리 아저씨를 만났어요\n", encoding="utf-8")
    desk.place.run(captions)
    _events, report = desk.run(encoder)
    assert report.made == 1
    assert encoder.read[0].endswith("코끼리 아저씨를 만났어요")
    assert desk.holding(encoder).keys() == set(desk.windows())


def test_a_window_that_leaves_while_it_is_encoded_is_passed_over(desk: Desk, encoder: Counting) -> None:
    events = desk.job(encoder).run()
    next(event for event in events if isinstance(event, Progress) and event.done)
    gone = {desk.library.places([id])[id][0] for id in windows_read(desk, encoder)}
    desk.place.indexer.remove(gone)
    *_rest, report = events
    assert isinstance(report, VectorsReport)
    assert (report.left, report.blocked) == (0, None)
    assert desk.holding(encoder).keys() == set(desk.windows())
    assert desk.place.sound()


def meddled(folder: Path, what: Iterator[None]) -> Counting:
    """An encoder during whose batches, one after the other, this happens."""

    class Meddling(Counting):
        def passages(self, texts: Sequence[str]) -> list[Encoded]:
            next(what, None)
            return super().passages(texts)

    return Meddling.of(folder)


def test_what_changes_while_it_is_encoded_is_due_again(desk: Desk, encoder_folder: Path) -> None:
    first = desk.library.windows_of("invented000")[0].id

    def changes() -> Iterator[None]:
        desk.write_context(first, "식혜를 담그는 장면입니다.")
        yield
        desk.write_context(first, "식혜를 마시는 장면입니다.")
        yield

    encoder = meddled(encoder_folder, changes())
    _events, report = desk.run(encoder)
    assert report.left == 0
    last = [text for text in encoder.read if "장면입니다" in text][-1]
    assert "식혜를 마시는 장면입니다." in last
    (own,) = desk.library.vectors.stored([first])[first]
    assert own.source.endswith(desk.library.contexts.of_windows([first])[first].key)


def test_windows_that_come_back_the_same_while_they_are_encoded_are_encoded_again(
    desk: Desk, encoder_folder: Path, captions: Path
) -> None:
    def changes() -> Iterator[None]:
        # other metadata, the same windows: their points are deleted and inserted anew
        for file in captions.glob("*.vtt"):
            file.with_name(file.name.removesuffix(".ko.vtt") + ".info.json").write_text('{"title": "다른 제목"}')
        desk.place.run(captions)
        yield

    encoder = meddled(encoder_folder, changes())
    _events, report = desk.run(encoder)
    assert report.left == 0
    assert desk.holding(encoder).keys() == set(desk.windows())
    assert all(own.keys() == set(vector_names(encoder.id)) for own in desk.holding(encoder).values())


def test_an_index_that_is_emptied_meanwhile_is_given_room_again(desk: Desk, encoder_folder: Path) -> None:
    def changes() -> Iterator[None]:
        yield
        list(desk.place.indexer.rebuild())
        yield

    encoder = meddled(encoder_folder, changes())
    _events, report = desk.run(encoder)
    assert report.left == 0
    assert desk.holding(encoder).keys() == set(desk.windows())
    assert desk.place.sound()


def test_an_encoder_that_fails_ends_the_run_and_the_next_one_goes_on(desk: Desk, encoder: Counting) -> None:
    events = desk.job(encoder).run()
    made = next(event for event in events if isinstance(event, Progress) and event.done)
    encoder.failure = AppError("model_memory", name="tiny")
    *_rest, report = events
    assert isinstance(report, VectorsReport)
    assert report.blocked is encoder.failure
    assert (report.made, report.left) == (made.done, len(desk.windows()) - made.done)
    encoder.fresh()
    assert desk.run(encoder)[1].made == len(encoder.read) == report.left


def test_a_run_that_is_stopped_ends_after_its_batch(desk: Desk, encoder: Counting) -> None:
    events = desk.job(encoder).run()
    made = next(event for event in events if isinstance(event, Progress) and event.done)
    desk.stop.set()
    (report,) = events
    assert isinstance(report, VectorsReport)
    assert (report.made, len(encoder.read)) == (made.done, made.done)
    assert report.left == len(desk.windows()) - made.done


def test_one_run_at_a_time(desk: Desk, encoder: Counting) -> None:
    events = desk.job(encoder).run()
    next(events)
    with failing("busy", BusyError):
        next(desk.job(encoder).run())
    assert desk.place.results("국수")  # nobody else waits
    list(desk.place.indexer.finish())
    assert len(list(events)) > 1
    assert desk.run(encoder)[1].left == 0


def test_a_library_without_windows_has_nothing_due(empty: Desk, encoder: Counting) -> None:
    assert empty.run(encoder)[1] == VectorsReport(encoder.id)
    assert empty.library.vectors.active() == encoder.id


def test_windows_that_are_not_in_the_index_wait_until_they_are(desk: Desk, encoder: Counting) -> None:
    desk.library.forget_index()
    _events, report = desk.run(encoder)
    assert (report.made, encoder.read) == (0, [])
    list(desk.place.indexer.finish())
    assert desk.run(encoder)[1].made == len(desk.windows())


def test_what_a_screen_shows_goes_first(desk: Desk, encoder: Counting) -> None:
    windows = desk.windows()
    shown = [windows[-1], "not-there", windows[-3]]
    run = EncodingRun(
        desk.library, desk.index, encoder, Here([encoder]), desk.stop, pause=0.0, windows_on_screen=lambda: shown
    )
    list(run.run())
    made = windows_read(desk, encoder)
    assert made[:2] == [windows[-1], windows[-3]]
    assert sorted(made) == sorted(windows)
