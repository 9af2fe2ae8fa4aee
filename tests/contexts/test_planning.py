"""Contexts of long videos: captions are shown whole where the model's context and the memory allow it."""

from collections.abc import Callable
from typing import Any

import pytest

from subtitle_rag.base.domain.events import ContextsDue, OverviewWritten
from subtitle_rag.contexts import planning
from subtitle_rag.contexts.context_prompt import BUCKETS
from subtitle_rag.library.context_store import WindowSelection
from tests.contexts.desk import Desk, talk
from tests.stand_ins.ollama import Model, shared_prefix
from tests.stand_ins.ollama_models import BEHAVIOURS, OUT_OF_MEMORY, Turn

GB = 10**9
FEW = WindowSelection(limit=3)


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda size: monkeypatch.setattr(planning, "free_memory", lambda: size)


def long_talk(desk: Desk, **changes: Any) -> None:
    desk.ollama.add(Model("large:q4", context_length=262_144, **changes))
    desk.put("long", talk(70, words=12))


def overviews(desk: Desk) -> int:
    return sum(isinstance(event, OverviewWritten) for event in desk.events)


def sections_due(desk: Desk) -> int:
    assert isinstance(desk.events[0], ContextsDue)
    return desk.events[0].sections


@pytest.mark.campaign(part="flows")
def test_a_long_video_is_shown_whole_where_it_fits(desk: Desk, free: Callable[[int], None]) -> None:
    free(60 * GB)
    long_talk(desk)
    desk.write(FEW, model="large:q4")
    assert (overviews(desk), sections_due(desk)) == (0, 0)
    assert {context.scope for context in desk.contexts()} == {"full"}
    (num_ctx,) = {asked.options["num_ctx"] for asked in desk.chats()}
    assert BUCKETS[-1] < num_ctx <= 262_144
    assert all("169번째 이야기" in asked.messages[0]["content"] for asked in desk.chats())
    assert shared_prefix(desk.chats()) >= 0.98


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize(("context_length", "size"), [(262_144, 6 * GB), (32_768, 60 * GB)])
def test_it_is_divided_without_the_memory_or_above_half_of_the_context(
    desk: Desk, free: Callable[[int], None], context_length: int, size: int
) -> None:
    free(size)
    long_talk(desk)
    desk.ollama.add(Model("large:q4", context_length=context_length))
    desk.write(FEW, model="large:q4")
    assert overviews(desk) == sections_due(desk) > 0
    assert {context.scope for context in desk.contexts()} == {"block"}
    assert {asked.options["num_ctx"] for asked in desk.chats()} <= {*BUCKETS}


def test_a_server_without_the_memory_gets_it_divided(desk: Desk, free: Callable[[int], None]) -> None:
    def small(sent: Any) -> Any:
        if sent["options"]["num_ctx"] > BUCKETS[-1]:
            return Turn(status=500, refusal=OUT_OF_MEMORY)
        return BEHAVIOURS["normal"](sent)

    free(60 * GB)
    long_talk(desk, behaviour=small)
    report = desk.write(FEW, model="large:q4")
    assert (report.written, report.blocked) == (3, None)
    assert {context.scope for context in desk.contexts()} == {"block"}
    assert sum(asked.options["num_ctx"] > BUCKETS[-1] for asked in desk.chats()) == 1
