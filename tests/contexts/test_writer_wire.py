"""What goes over the wire for a video's contexts, as the stand-in of Ollama has it: prefixes, sizes, settings."""

import threading
from typing import TYPE_CHECKING, cast

import pytest

from subtitle_rag.base.domain.events import ContextEvent, ContextsDue, OverviewWritten
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.hosts import REMINDER
from subtitle_rag.contexts.prompt_layout import estimate
from subtitle_rag.library.context_store import WindowSelection
from tests.contexts.desk import NAME, Desk, beginnings, talk, windows_asked
from tests.stand_ins.ollama import Model, shared_prefix

if TYPE_CHECKING:
    from collections.abc import Generator

BUDGET = 1.5
"""Prompt tokens evaluated per window, of those of window and instruction."""


@pytest.mark.parametrize("hybrid", [False, True])
def test_the_windows_of_a_video_are_asked_in_order_behind_the_same_bytes_and_read_alone(
    desk: Desk, hybrid: bool
) -> None:
    model = Model("counted:q4", hybrid=hybrid)
    desk.ollama.add(model)
    own = desk.put("a", talk(20))
    desk.write(model="counted:q4")
    assert windows_asked(desk.chats()) == [window.text for window in own]
    (system,) = {asked.messages[0]["content"] for asked in desk.chats()}
    assert all(window.text in system for window in own)
    assert hybrid or shared_prefix(desk.chats()) >= 0.8
    for asked in desk.chats()[1:]:
        assert asked.evaluated <= BUDGET * model.count(asked.messages[1]["content"])


def test_all_that_follows_the_prefix_stays_short(desk: Desk) -> None:
    desk.put("a", talk(6, words=40))  # far more is said in a minute than people can say
    desk.ollama.answer(*["..."] * 12)  # so that reminders come too
    desk.write()
    tails = [asked.messages[1]["content"] for asked in desk.chats()]
    assert len(tails) == 12
    assert all(estimate(tail) < context_prompt.TAIL_TOKENS for tail in tails)


def test_every_request_carries_the_recipe(desk: Desk) -> None:
    desk.put("a", talk(2))
    desk.write()
    for asked in desk.chats():
        sent = {key: value for key, value in asked.sent.items() if key != "messages"}
        assert sent == {
            "model": NAME,
            "stream": True,
            "think": False,
            "truncate": False,
            "keep_alive": "30m",
            "format": context_prompt.SCHEMA,
            "options": {"num_ctx": 8192, "num_predict": 256, "temperature": 0, "seed": 7},
        }
        assert [message["role"] for message in asked.messages] == ["system", "user"]


def test_after_an_empty_answer_another_seed_and_a_reminder_follow_the_same_prefix(desk: Desk) -> None:
    desk.put("a", talk(2))
    desk.ollama.answer("")
    desk.write()
    first, second, third = desk.chats()
    assert [asked.options["seed"] for asked in (first, second, third)] == [7, 1_234, 7]
    assert second.messages[0] == first.messages[0]
    assert second.messages[1]["content"] == first.messages[1]["content"] + "\n" + REMINDER
    assert REMINDER not in third.messages[1]["content"]
    assert second.cached > 0.8 * (second.cached + second.evaluated)


@pytest.mark.campaign(part="flows")
def test_the_context_grows_and_never_shrinks_within_a_run(desk: Desk) -> None:
    desk.put("short1", talk(2, seed=1), published="2026-05-03")
    desk.put("long", talk(28, seed=2, words=14), published="2026-05-02")
    desk.put("short2", talk(2, seed=3), published="2026-05-01")
    desk.write()
    sizes = [asked.options["num_ctx"] for asked in desk.chats()]
    assert sizes == [8192] * 2 + [16384] * 28 + [16384] * 2
    assert sum(asked.reloaded for asked in desk.chats()) == 2


@pytest.mark.campaign(part="flows")
def test_the_vocabulary_that_was_measured_sizes_the_next_video(desk: Desk) -> None:
    desk.ollama.add(Model("frugal:q4", tokens_per_character=0.3))
    desk.put("first", talk(2, seed=1), published="2026-05-02")
    desk.put("second", talk(32, seed=2, words=14), published="2026-05-01")
    desk.write(model="frugal:q4")
    assert {asked.options["num_ctx"] for asked in desk.chats()} == {8192}
    digest = desk.contexts("first")[0].digest
    measured = desk.place.library.contexts.tokens_per_character(digest)
    assert measured is not None
    assert 0.3 < measured < 0.4


def test_the_channels_glossary_stands_in_the_shared_part(desk: Desk) -> None:
    desk.put("a", talk(2))
    desk.place.library.contexts.put_glossary("느린 부엌", ["청귤 국수", "두레반 삼촌"])
    desk.write()
    assert all("고유명사: 청귤 국수, 두레반 삼촌" in asked.messages[0]["content"] for asked in desk.chats())


@pytest.mark.campaign(part="flows")
def test_a_long_video_is_situated_by_an_overview_that_is_asked_once(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    own = desk.put("long", talk(30, words=6))
    desk.write(model="small:q4")
    overviews = [asked for asked in desk.chats() if "<구간>" not in asked.messages[1]["content"]]
    assert 2 <= len(overviews) <= 8
    assert desk.chats()[: len(overviews)] == overviews
    assert beginnings(windows_asked(desk.chats())) == beginnings(window.text for window in own)
    about = desk.chats()[len(overviews) :]
    assert all("<개요>" in asked.messages[0]["content"] for asked in about)
    assert {asked.options["num_ctx"] for asked in desk.chats()} == {4_096}
    assert {context.scope for context in desk.contexts()} == {"block"}
    assert shared_prefix(about) >= 0.8
    desk.ollama.clear()
    desk.place.library.contexts.redo()
    desk.write(WindowSelection(limit=1), model="small:q4")
    assert len(desk.chats()) == 1


@pytest.mark.parametrize(
    "messy",
    [
        "이 부분에서는 두레반그룹 회장 Wozniak 씨가 9,999억 원을 벌었다고 말합니다.",
        "죄송하지만 자막이 주어지지 않아 요약할 수 없습니다.",
        "这一段介绍了韩国首尔的一家餐厅。",
        "안녕하세요, 저는 한국어 영상의 한 부분입니다.",
        "회의에서 직원들이 예산과 일정을 논의합니다. 다음 주에는 시장 조사 보고서를 내기로 합니다.",
        "",
    ],
)
def test_a_section_that_invents_or_refuses_is_asked_for_again_and_stays_out_of_the_overview(
    desk: Desk, messy: str
) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(30, words=6))
    desk.ollama.answer(messy, messy)
    report = desk.write(WindowSelection(limit=1), model="small:q4")
    assert (report.written, report.empty_overviews) == (1, 1)
    first, second = desk.chats()[:2]
    assert first.messages == second.messages
    assert first.options["seed"] != second.options["seed"]
    sections = desk.place.library.contexts.overview_sections("long")
    assert sorted(sections.values())[0] == ""
    assert all(sorted(sections.values())[1:])
    assert not messy or messy[:20] not in desk.chats()[-1].messages[0]["content"]


@pytest.mark.campaign(part="flows")
def test_an_overview_with_a_part_missing_is_asked_for_again(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(16, words=30))
    desk.ollama.refuse("chat", times=3)  # one section goes without
    assert desk.write(WindowSelection(limit=1), model="small:q4").written == 1
    asked = len(desk.chats()) - 3 - 1
    desk.ollama.clear()
    assert desk.write(WindowSelection(limit=1), model="small:q4").written == 1
    assert (asked, len(desk.chats())) == (5, 1 + 1)


def test_each_section_of_an_overview_is_an_event_and_stored_by_itself(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(30, words=6))
    stop = threading.Event()
    desk.ollama.hold(times=2).release()
    third = desk.ollama.hold()
    with desk.writer(model="small:q4", stop=stop) as writer:
        run = cast("Generator[ContextEvent]", writer.run(WindowSelection(limit=2)))
        answers = (event for event in run if not isinstance(event, Progress))
        due = next(answers)
        assert isinstance(due, ContextsDue)
        assert due.sections >= 3
        first, second = next(answers), next(answers)
        assert isinstance(first, OverviewWritten)
        assert isinstance(second, OverviewWritten)
        assert (first.section, second.section, first.sections) == (1, 2, due.sections)
        assert third.arrived.wait(10)
        run.close()
    stored = len(desk.place.library.contexts.overview_sections("long"))
    assert stored == 2
    desk.ollama.clear()
    report = desk.write(WindowSelection(limit=2), model="small:q4")
    assert isinstance(desk.events[0], ContextsDue)
    assert desk.events[0].sections == due.sections - stored
    sections = [event.section for event in desk.events if isinstance(event, OverviewWritten)]
    assert sections == list(range(stored + 1, due.sections + 1))
    assert len(desk.chats()) == len(sections) + report.written
    assert report.prompt_tokens >= sum(
        event.prompt_tokens for event in desk.events if isinstance(event, OverviewWritten)
    )


def test_sections_of_earlier_captions_are_summarised_again_and_the_others_are_not(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    minutes = [*talk(30, words=6)]
    desk.put("long", minutes)
    desk.write(WindowSelection(limit=1), model="small:q4")
    before = desk.place.library.contexts.overview_sections("long")
    minutes[-1] = ["전혀 다른 끝인사입니다"] * len(minutes[-1])
    desk.put("long", minutes)
    desk.ollama.clear()
    desk.write(WindowSelection(limit=1), model="small:q4")
    after = desk.place.library.contexts.overview_sections("long")
    assert len(desk.chats()) == 1 + 1
    assert len(before.keys() - after.keys()) == 1
    assert len(after) == len(before)
