"""Windows whose contexts are about to be written wait for them, so that they are encoded once."""

import pytest

from subtitle_rag.encoding import AT_WORK_S, PATIENCE_S, SOON_S, Waits
from subtitle_rag.events import VectorsMade, VectorsReport, VectorsWaiting
from subtitle_rag.library.vectors import DueWindow
from tests.encoding.desk import NOW, Counting, Desk


def due(video: str, count: int, *, asked: bool = False) -> list[DueWindow]:
    return [DueWindow(f"{video}/{number}", video, asked) for number in range(count)]


def contexts(video: str, count: int, *, every: int, last: int = 0) -> list[tuple[str, int]]:
    """The latest first; the last one so many seconds ago."""
    return [(video, NOW - last - every * number) for number in range(count)]


@pytest.mark.parametrize("written", [[], contexts("a", 9, every=1, last=AT_WORK_S + 1), [("a", NOW + 86_400)]])
def test_nothing_waits_where_nobody_writes(written: list[tuple[str, int]]) -> None:
    assert Waits().held(due("a", 3), written, NOW) == set()


def test_the_video_that_is_being_written_waits_as_long_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, old, own = Waits(), due("old", 1_000), due("new", 5_000)
    for later in (0, PATIENCE_S + 1, 3 * PATIENCE_S):
        written = [("old", at + later) for _video, at in contexts("old", 3, every=20)]
        held = waits.held([*own, *old], written, NOW + later)
        assert held >= {window.id for window in old}
    assert waits.held([*own, *old], written, NOW + later + AT_WORK_S + 1) == set()


def test_what_the_writer_reaches_soon_waits_and_the_rest_does_not() -> None:
    written = contexts("written", 12, every=10)  # the oldest one is 110 seconds old
    soon = int(12 / 110 * SOON_S)
    windows = due("a", 20) + due("b", 100)
    held = Waits().held(windows, written, NOW)
    assert held == {window.id for window in windows[:soon]}
    assert 20 < soon < 120


def test_a_window_that_has_been_asked_about_waits_for_nothing() -> None:
    written = contexts("a", 12, every=10)
    assert Waits().held(due("a", 3, asked=True), written, NOW) == set()


def test_a_writer_that_is_busy_elsewhere_is_not_waited_for_forever() -> None:
    waits, windows = Waits(), due("a", 3)
    for later in (0, PATIENCE_S // 2, PATIENCE_S):
        written = [("elsewhere", NOW + later)]
        assert len(waits.held(windows, written, NOW + later)) == 3
    assert waits.held(windows, [("elsewhere", NOW + PATIENCE_S + 1)], NOW + PATIENCE_S + 1) == set()


def test_a_window_whose_context_is_being_written_is_encoded_once(desk: Desk, encoder: Counting) -> None:
    ids = [window.id for window in desk.library.windows_of("invented000")]
    others = len(desk.windows()) - len(ids)
    desk.write_context(ids[0])
    events = desk.job(encoder).run()
    made = 0
    for event in events:
        if isinstance(event, VectorsMade):
            made += event.count
        elif isinstance(event, VectorsWaiting):
            desk.clock.now += 30
            if missing := [id for id in ids if not desk.library.contexts.of_windows([id])]:
                desk.write_context(missing[0])
        elif isinstance(event, VectorsReport):
            assert (event.left, event.waiting) == (0, 0)
    assert made == len(encoder.read) == len(ids) + others
    texts = [text for text in encoder.read if "국수를 삶는 장면입니다." in text.split("\n")]
    assert len(texts) == len(ids)


def test_a_writer_that_stops_is_waited_for_a_moment(desk: Desk, encoder: Counting) -> None:
    first = desk.library.windows_of("invented000")[0].id
    desk.write_context(first)
    waited = 0
    for event in desk.job(encoder).run():
        if isinstance(event, VectorsWaiting):
            desk.clock.now += 30
            waited += 1
    assert waited == AT_WORK_S // 30 + 1
    assert len(encoder.read) == len(desk.windows())


def test_a_run_without_patience_leaves_what_waits(desk: Desk, encoder: Counting) -> None:
    windows = desk.library.windows_of("invented000")
    desk.write_context(windows[0].id)
    events, report = desk.run(encoder, patient=False)
    assert not any(isinstance(event, VectorsWaiting) for event in events)
    assert report.left == report.waiting > 0
    assert report.made + report.left == len(desk.windows())
    desk.clock.now += AT_WORK_S + 1
    assert desk.run(encoder)[1].made == report.left


def test_contexts_that_come_later_are_encoded_then(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    encoder.fresh()
    own = desk.library.windows_of("invented000")
    desk.write_context(own[0].id)
    _events, report = desk.run(encoder, patient=False)
    assert (report.made, report.left, len(encoder.read)) == (1, 0, 1)
