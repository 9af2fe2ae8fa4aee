"""Channels with a model of their own: who writes what, in which order, and what a change leaves alone."""

import pytest

from subtitle_rag.domain import AppError, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.library.context_store import WindowSelection
from tests.contexts.desk import NAME, Desk, talk
from tests.stand_ins.ollama import Model

OWN = "better:q4"
KITCHEN, CAMP = "느린 부엌", "바닷가 캠핑"


@pytest.fixture
def talks(desk: Desk) -> Desk:
    """Three channels' talks, of two windows each: the newest and the oldest are the kitchen's."""
    desk.ollama.add(Model(OWN))
    desk.put("new", talk(2, seed=1), published="2026-03-01", channel=KITCHEN)
    desk.put("camp", talk(2, seed=2), published="2026-02-01", channel=CAMP)
    desk.put("old", talk(2, seed=3), published="2026-01-01", channel=KITCHEN)
    return desk


def channel(desk: Desk, name: str) -> str:
    return next(id for id, own in desk.place.library.channels() if own == name)


def choose(desk: Desk, name: str, model: str) -> None:
    desk.place.library.contexts.put_model(channel(desk, name), model)


def write(desk: Desk, chosen: WindowSelection | None = None, *, model: str = NAME) -> ContextReport:
    """A run that obeys the channels' models."""
    return desk.write(chosen, model=model, by_channel=True)


def models(desk: Desk, *ids: str) -> set[str]:
    return {context.model for context in desk.contexts(*ids)}


def asked(desk: Desk) -> list[str]:
    """The models that were asked, one after the other."""
    return [request.sent["model"] for request in desk.chats()]


def test_a_channel_is_written_by_its_own_model_and_the_others_by_the_usual_one(talks: Desk) -> None:
    choose(talks, KITCHEN, OWN)
    report = write(talks)
    assert talks.events[0] == ContextsDue(videos=3, windows=6)
    assert (report.written, report.blocked) == (6, None)
    assert (models(talks, "new", "old"), models(talks, "camp")) == ({OWN}, {NAME})
    assert write(talks).written == 0


def test_a_server_changes_models_once(talks: Desk) -> None:
    choose(talks, CAMP, OWN)
    write(talks)
    assert asked(talks) == [NAME] * 4 + [OWN] * 2
    order = [event.video for event in talks.events if isinstance(event, ContextWritten)]
    assert list(dict.fromkeys(order)) == ["new", "old", "camp"]


def test_a_model_that_is_named_writes_all(talks: Desk) -> None:
    choose(talks, KITCHEN, OWN)
    assert talks.write().written == 6
    assert models(talks) == {NAME}


def test_another_model_of_a_channel_leaves_what_is_written_until_it_is_to_be_redone(talks: Desk) -> None:
    write(talks, WindowSelection(limit=5))
    choose(talks, KITCHEN, OWN)
    assert write(talks).written == 1
    assert [context.model for context in talks.contexts("new", "old")] == [NAME] * 3 + [OWN]
    before = [context.text for context in talks.contexts("camp")]
    report = write(talks, WindowSelection(channels=(channel(talks, KITCHEN),), redo=True))
    assert (report.written, models(talks, "new", "old"), models(talks, "camp")) == (4, {OWN}, {NAME})
    assert [context.text for context in talks.contexts("camp")] == before


def test_the_usual_model_chosen_again_leaves_it_too(talks: Desk) -> None:
    choose(talks, KITCHEN, OWN)
    write(talks, WindowSelection(limit=5))
    choose(talks, KITCHEN, "")
    assert write(talks).written == 1
    assert [context.model for context in talks.contexts("new", "old")] == [OWN] * 3 + [NAME]


def test_a_try_of_another_model_that_failed_does_not_count(talks: Desk) -> None:
    talks.ollama.answer(*[""] * 8)
    report = write(talks, WindowSelection(channels=(channel(talks, KITCHEN),)))
    assert (report.written, report.empty) == (0, 4)
    choose(talks, KITCHEN, OWN)
    assert write(talks, WindowSelection(channels=(channel(talks, KITCHEN),))).written == 4


def test_a_model_that_is_missing_keeps_no_other_from_writing(talks: Desk) -> None:
    choose(talks, KITCHEN, "absent:q4")
    report = write(talks)
    assert (report.written, models(talks)) == (2, {NAME})
    assert isinstance(report.blocked, AppError)
    assert (report.blocked.code, report.blocked.details["model"]) == ("llm_model_missing", "absent:q4")


def test_a_missing_model_marks_nothing_as_to_be_redone(talks: Desk) -> None:
    write(talks)
    choose(talks, KITCHEN, "absent:q4")
    write(talks, WindowSelection(redo=True))
    assert not any(context.stale for context in talks.contexts())


def test_the_usual_model_is_not_needed_where_every_channel_has_its_own(talks: Desk) -> None:
    choose(talks, KITCHEN, OWN)
    choose(talks, CAMP, OWN)
    report = write(talks, model="absent:q4")
    assert (report.written, report.blocked, models(talks)) == (6, None, {OWN})


def test_a_videos_model_is_that_of_its_channel(talks: Desk) -> None:
    choose(talks, CAMP, OWN)
    write(talks, WindowSelection(videos=("camp",)), model="absent:q4")
    assert models(talks, "camp") == {OWN}


def test_a_limit_counts_over_all_models(talks: Desk) -> None:
    choose(talks, CAMP, OWN)
    report = write(talks, WindowSelection(limit=5))
    assert (talks.events[0], report.written) == (ContextsDue(videos=3, windows=5), 5)
    assert asked(talks) == [NAME] * 4 + [OWN]


def test_a_stop_ends_all_models(talks: Desk) -> None:
    choose(talks, CAMP, OWN)
    with talks.writer(by_channel=True) as writer:
        writer.answered = lambda _context: writer.stop.set()  # in the host's thread, so that no answer outruns it
        list(writer.run())
    assert OWN not in asked(talks)
    assert len(talks.contexts()) == 1


def test_it_is_known_who_has_written_what(talks: Desk) -> None:
    contexts = talks.place.library.contexts
    assert contexts.by_model() == {}
    choose(talks, CAMP, OWN)
    write(talks)
    assert contexts.by_model() == {channel(talks, KITCHEN): {NAME: 4}, channel(talks, CAMP): {OWN: 2}}
    assert contexts.models() == {channel(talks, CAMP): OWN}
    choose(talks, CAMP, "")
    choose(talks, KITCHEN, "")  # it never had another
    assert contexts.models() == {channel(talks, CAMP): ""}
