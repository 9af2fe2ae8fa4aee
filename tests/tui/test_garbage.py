"""Garbage is looked for when an answer was drawn, and once more when nobody has searched for a while."""

import gc

import pytest

from subtitle_rag.tui import garbage
from subtitle_rag.tui.garbage import Garbage
from tests.tui.conftest import MakeApp, settle, typed, until


async def test_it_is_collected_after_an_answer_and_wholly_after_a_rest(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    monkeypatch.setattr(garbage, "REST_S", 0.05)
    monkeypatch.setattr(gc, "freeze", lambda: done.append("freeze"))
    monkeypatch.setattr(gc, "set_threshold", lambda *objects: done.append(objects[0]))
    monkeypatch.setattr(gc, "collect", lambda generation=2: done.append(generation))
    app = app_of()
    app.garbage = Garbage()
    app.garbage.begin()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert done == [garbage.UNTIL, "freeze"]
        await typed(pilot, "치킨")
        await until(pilot, lambda: 2 in done[2:])
        assert done[2:].count(1) >= 1
        assert done[2] == 1


def test_a_row_of_searches_has_no_whole_collection_in_a_frame() -> None:
    before = gc.get_threshold()
    generations: list[int] = []

    def watch(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            generations.append(info["generation"])

    scenes: list[object] = []
    collector = Garbage()
    collector.begin()
    collector.keep()
    gc.collect()
    gc.callbacks.append(watch)
    try:
        for _search in range(30):
            scenes.append([[] for _object in range(1_000)])
            gc.collect(1)
        drawn = [[number] for number in range(2 * garbage.UNTIL)]
    finally:
        gc.callbacks.remove(watch)
        gc.unfreeze()
        gc.set_threshold(*before)
    assert len(drawn) == 2 * garbage.UNTIL
    assert len(generations) > 30
    assert 2 not in generations
