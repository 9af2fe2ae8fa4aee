"""Windows of a video whose contexts are being written wait for them, so that they are encoded once."""

import time

import pytest

from subtitle_rag.base.domain.events import VectorsReport
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.index.encoding import AT_WORK_S, waiting
from tests.index.encoding.desk import NOW, Counting, Desk

pytestmark = pytest.mark.models


def waits(event: object) -> bool:
    return isinstance(event, Progress) and bool(event.activity)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> None:
    monkeypatch.setattr(time, "time", desk.clock)


@pytest.mark.usefixtures("clock")
def test_the_video_that_is_being_written_waits_as_long_as_it_is(desk: Desk, encoder: Counting) -> None:
    own = [window.id for window in desk.library.windows_of("invented000")]
    assert waiting(desk.library, encoder.id) == set()
    for window_id in own[:-1]:
        desk.clock.now += AT_WORK_S
        desk.write_context(window_id)
        asked = own[: own.index(window_id) + 1]
        assert waiting(desk.library, encoder.id) == set(own) - set(asked)
    desk.clock.now += AT_WORK_S + 1
    assert waiting(desk.library, encoder.id) == set()


@pytest.mark.usefixtures("clock")
def test_a_context_that_the_clock_has_yet_to_reach_keeps_nobody_waiting(desk: Desk, encoder: Counting) -> None:
    desk.write_context(desk.windows()[0], written_at=NOW + 86_400)
    assert waiting(desk.library, encoder.id) == set()


def test_a_window_whose_context_is_being_written_is_encoded_once(desk: Desk, encoder: Counting) -> None:
    ids = [window.id for window in desk.library.windows_of("invented000")]
    others = len(desk.windows()) - len(ids)
    desk.write_context(ids[0])
    events = desk.job(encoder).run()
    made = 0
    for event in events:
        if isinstance(event, Progress):
            made = event.done
        if waits(event):
            desk.clock.now += 30
            if missing := [id for id in ids if not desk.library.contexts.of_windows([id])]:
                desk.write_context(missing[0])
        if isinstance(event, VectorsReport):
            assert (event.left, event.waiting) == (0, 0)
    assert made == len(encoder.read) == len(ids) + others
    texts = [text for text in encoder.read if "국수를 삶는 장면입니다." in text.split("\n")]
    assert len(texts) == len(ids)


def test_a_writer_that_stops_is_waited_for_a_moment(desk: Desk, encoder: Counting) -> None:
    first = desk.library.windows_of("invented000")[0].id
    desk.write_context(first)
    waited = 0
    for event in desk.job(encoder).run():
        if waits(event):
            desk.clock.now += 30
            waited += 1
    assert waited == AT_WORK_S // 30 + 1
    assert len(encoder.read) == len(desk.windows())


def test_a_run_without_patience_leaves_what_waits(desk: Desk, encoder: Counting) -> None:
    windows = desk.library.windows_of("invented000")
    desk.write_context(windows[0].id)
    events, report = desk.run(encoder, patient=False)
    assert not any(waits(event) for event in events)
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
