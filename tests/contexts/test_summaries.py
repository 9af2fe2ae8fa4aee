"""Summaries of videos: what is asked behind the windows, what is kept of the answers, and what is not asked again."""

import json
from contextlib import closing

import pytest

from subtitle_rag.base.domain.events import ContextsDue, SummaryWritten
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.answer_check import SUMMARY_REPETITION_REMINDER, UNRELATED_REMINDER
from subtitle_rag.contexts.hosts import summary_recipe
from subtitle_rag.contexts.prompt_layout import VERSION, estimate
from subtitle_rag.contexts.sentence_filters import SCRIPT_REMINDER
from subtitle_rag.library.context_store import Recipe, WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.library.summary_store import VideoSummary
from tests.contexts.desk import NAME, Desk, meanwhile, talk, windows_asked
from tests.stand_ins.ollama import Asked, Model, Turn, shared_prefix
from tests.support.searchable import video

SUMMARY = "느린 부엌의 주인이 국수를 삶습니다. 손님들이 차례로 국수를 먹습니다."
OTHER = "느린 부엌의 주인이 기차를 그립니다. 그림에는 국수도 있습니다."
INVENTED = "'두레반칼국수'라는 가게에서 국수를 5000그릇 팝니다."


def summaries_asked(desk: Desk) -> list[Asked]:
    return [asked for asked in desk.chats() if "<구간>" not in asked.messages[-1]["content"]]


def told(desk: Desk) -> list[str]:
    return [event.text for event in desk.events if isinstance(event, SummaryWritten)]


def of(desk: Desk, *ids: str) -> dict[str, str]:
    return desk.place.library.summaries.of(ids)


@pytest.mark.campaign(part="flows")
def test_a_summary_is_asked_for_behind_the_windows_and_their_prefix(desk: Desk) -> None:
    desk.put("a", talk(20))
    desk.put("b", talk(20, seed=2))
    report = desk.write(summaries=True)
    assert (report.written, report.summaries, report.empty_summaries) == (40, 2, 0)
    assert desk.events[0] == ContextsDue(videos=2, windows=40, summaries=2)
    chats = desk.chats()
    assert ["<구간>" in asked.messages[-1]["content"] for asked in chats] == [*[True] * 20, False] * 2
    for windows, (summary,) in ((chats[:20], chats[20:21]), (chats[21:41], chats[41:])):
        assert {asked.messages[0]["content"] for asked in windows} == {summary.messages[0]["content"]}
        assert summary.options["num_ctx"] == windows[-1].options["num_ctx"]
        assert shared_prefix([windows[-1], summary]) >= 0.4  # of two requests the first is read whole
        assert summary.evaluated <= Model(NAME).count(summary.messages[1]["content"]) * 1.5
    assert told(desk) == list(of(desk, "a", "b").values())


def test_a_summary_and_its_reminder_fit_behind_every_prompt(desk: Desk) -> None:
    desk.put("a", talk(2))
    desk.ollama.answer("국수를 삶는 장면입니다.", "국수를 건지는 장면입니다.", INVENTED, SUMMARY)
    desk.write(summaries=True)
    tails = [asked.messages[1]["content"] for asked in summaries_asked(desk)]
    assert len(tails) == 2
    room = context_prompt.TAIL_TOKENS + context_prompt.NUM_PREDICT - context_prompt.SUMMARY_PREDICT
    assert max(map(estimate, tails)) + 24 < min(room, context_prompt.TAIL_TOKENS)
    asked = summaries_asked(desk)[0]
    assert asked.options["num_predict"] == context_prompt.SUMMARY_PREDICT
    assert list(asked.sent["format"]["properties"]) == ["summary"]


@pytest.mark.campaign(part="flows")
def test_a_long_video_is_summarised_behind_its_last_block(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(30, words=6))
    report = desk.write(model="small:q4", summaries=True)
    assert (report.written, report.summaries) == (30, 1)
    *_others, last, summary = desk.chats()
    assert "<구간>" not in summary.messages[1]["content"]
    assert summary.messages[0] == last.messages[0]
    assert "<개요>" in summary.messages[0]["content"]


def test_where_the_contexts_are_whole_only_the_summaries_are_asked_for(desk: Desk) -> None:
    desk.put("a", talk(3))
    desk.put("b", talk(2, seed=2))
    desk.write()
    assert of(desk, "a", "b") == {}
    desk.ollama.clear()
    report = desk.write(summaries=True)
    assert desk.events[0] == ContextsDue(videos=2, windows=0, summaries=2)
    assert (report.written, report.summaries, len(desk.chats())) == (0, 2, 2)
    desk.ollama.clear()
    desk.write(summaries=True)
    assert (desk.events[0], desk.chats()) == (ContextsDue(0, 0), [])


def test_a_run_that_ended_between_the_tries_goes_on_with_the_second(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.write()
    desk.ollama.clear()
    recipe = summary_recipe(Recipe(Model(NAME).digest, VERSION))
    first = VideoSummary("a", "", NAME, recipe.digest, recipe.prompt, 1, False, 900, 40, 1_000, 1_800_000_000)
    desk.place.library.summaries.put(first)
    desk.ollama.answer("...")
    report = desk.write(summaries=True)
    assert [asked.options["seed"] for asked in desk.chats()] == [1_234]
    assert (report.summaries, report.empty_summaries) == (0, 1)


def test_captions_that_change_under_a_summary_are_begun_anew(desk: Desk) -> None:
    desk.put("a", talk(1, seed=1))
    desk.write()
    desk.ollama.clear()
    hold = desk.ollama.hold()

    def change() -> None:
        hold.arrived.wait(20)
        desk.put_captions(video("a", "a 국수 이야기"), talk(1, seed=2))
        desk.place.library.close()
        hold.release()

    with meanwhile(change):
        report = desk.write(summaries=True)
    assert (report.written, report.summaries) == (1, 1)
    assert ["<구간>" in asked.messages[-1]["content"] for asked in desk.chats()] == [False, True, False]
    (window,) = desk.place.library.windows_of("a")
    assert windows_asked(desk.chats())[1:2] in ([], [window.text])
    assert window.text in desk.chats()[-1].messages[0]["content"]


def test_what_a_summary_must_not_be_is_asked_for_once_more_with_its_fault(desk: Desk) -> None:
    for number, faulty in enumerate(("'名物' 요리를 소개합니다.", INVENTED, "네, 요약해 드리겠습니다!")):
        id = f"v{number}"
        desk.put(id, talk(1, seed=number))
        desk.ollama.answer(
            f"국수를 {'가나다'[number]} 삶는 장면입니다.", faulty, f"{SUMMARY} {'가나다'[number]} 시장입니다."
        )
        desk.write(summaries=True)
        assert of(desk, id)[id].startswith(SUMMARY)
    seconds = [asked.messages[1]["content"] for asked in summaries_asked(desk)[1::2]]
    assert [SCRIPT_REMINDER in text for text in seconds] == [True, False, False]
    assert ["두레반칼국수" in text for text in seconds] == [False, True, False]
    assert [asked.options["seed"] for asked in summaries_asked(desk)] == [7, 1_234] * 3


def test_a_summary_of_common_words_that_the_video_does_not_say_is_asked_for_again(desk: Desk) -> None:
    desk.put("a", talk(1))
    common = "진행자가 사람들과 함께 도마를 사며 즐거운 시간을 보냅니다. 날씨가 좋아 모두 기분이 좋습니다."
    desk.ollama.answer("국수를 삶는 장면입니다.", common, SUMMARY)
    desk.write(summaries=True)
    assert of(desk, "a") == {"a": SUMMARY}
    assert UNRELATED_REMINDER in summaries_asked(desk)[1].messages[1]["content"]


def test_the_summary_of_another_video_is_none(desk: Desk) -> None:
    desk.put("a", talk(1), published="2026-01-02")
    desk.put("b", talk(1, seed=2), published="2026-01-01")
    desk.write()
    desk.ollama.clear()
    desk.ollama.answer(SUMMARY, SUMMARY, OTHER)
    desk.write(summaries=True)
    assert of(desk, "a", "b") == {"a": SUMMARY, "b": OTHER}
    assert SUMMARY_REPETITION_REMINDER in desk.chats()[2].messages[1]["content"]


def test_a_video_whose_summary_fails_twice_has_none_and_is_not_asked_again(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.write()
    desk.ollama.clear()
    desk.ollama.answer(INVENTED, Turn("국수를 삶고 " * 40))
    report = desk.write(summaries=True)
    assert (report.summaries, report.empty_summaries, of(desk, "a")) == (0, 1, {})
    assert told(desk) == [""]
    desk.ollama.clear()
    desk.write(summaries=True)
    assert desk.chats() == []


def test_a_summary_has_four_sentences_at_most_and_no_markup(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.write()
    sentences = [f"{place} 국수를 먹습니다." for place in ("기차에서", "버스에서", "시장에서", "골목에서", "마당에서")]
    desk.ollama.answer(json.dumps({"summary": f"**요약:** {' '.join(sentences)}"}, ensure_ascii=False))
    desk.write(summaries=True)
    assert of(desk, "a") == {"a": " ".join(sentences[:4])}


def test_another_model_and_redo_replace_summaries_which_count_until_then(desk: Desk) -> None:
    desk.ollama.add(Model("better:q4"))
    desk.put("a", talk(1))
    desk.ollama.answer("국수를 삶는 장면입니다.", SUMMARY)
    desk.write(summaries=True)
    desk.ollama.answer("국수를 건지는 장면입니다.", OTHER)
    desk.write(model="better:q4", summaries=True)
    assert of(desk, "a") == {"a": OTHER}
    desk.ollama.answer("국수를 헹구는 장면입니다.", "...", "...")
    desk.write(WindowSelection(redo=True), model="better:q4", summaries=True)
    assert of(desk, "a") == {"a": OTHER}
    desk.ollama.answer("국수를 먹는 장면입니다.", SUMMARY)
    desk.write(WindowSelection(redo=True), model="better:q4", summaries=True)
    assert of(desk, "a") == {"a": SUMMARY}


def test_a_limited_run_ends_with_its_windows(desk: Desk) -> None:
    desk.put("a", talk(2))
    report = desk.write(WindowSelection(limit=2), summaries=True)
    assert (report.written, report.summaries) == (2, 0)
    assert desk.write(WindowSelection(limit=2), summaries=True).summaries == 1


def test_a_server_that_fails_leaves_the_summary_due(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.write()
    desk.ollama.refuse("chat", 500, "the runner died", times=3)
    report = desk.write(summaries=True)
    assert (report.summaries, report.failed, report.blocked) == (0, 1, None)
    assert desk.write(summaries=True).summaries == 1


def test_a_summary_is_stored_before_the_next_video_is_asked_about(desk: Desk) -> None:
    desk.put("a", talk(1), published="2026-01-02")
    desk.put("b", talk(1, seed=2), published="2026-01-01")
    stored: list[int] = []

    def counted(sent: object) -> str:
        with closing(Library(desk.place.library.path)) as other:
            stored.append(other.summaries.counts().written)
        return f"국수를 {'가나'[len(stored) - 1]} 삶는 장면입니다."

    desk.ollama.answer(counted, SUMMARY, counted, OTHER)
    desk.write(summaries=True)
    assert stored == [0, 1]
