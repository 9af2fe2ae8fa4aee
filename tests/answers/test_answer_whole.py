"""Questions about one video: its transcript, or the map of its contexts, in the place of the best scenes."""

import pytest

from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.contexts import planning
from subtitle_rag.contexts.context_prompt import BUCKETS
from tests.answers.desk import KIMCHI, QUESTION, SAUCE, SEARCH, Desk, fill, put_long, system, told
from tests.answers.model import quoting, scenes
from tests.contexts.desk import talk
from tests.stand_ins.ollama import Model
from tests.support.failures import failing
from tests.support.searchable import video


def test_a_short_video_is_read_whole_and_only_once(desk: Desk) -> None:
    fill(desk)
    with desk.answerer() as answerer:
        one = told(answerer.conversation(), QUESTION, videos=("video-00000",))
        other = told(answerer.conversation(), "소금 얼마나 넣었어?", videos=("video-00000",))
    assert (one.answer.evidence.kind, other.answer.evidence.kind) == ("transcript", "transcript")
    windows = desk.place.library.windows_of("video-00000")
    assert [source.scene for source in one.answer.evidence.sources] == [window.id for window in windows]
    first, second = desk.chats()
    assert first.messages[0] == second.messages[0]
    assert first.num_ctx == second.num_ctx
    assert not second.reloaded
    assert second.evaluated < 80 < second.cached
    assert "여덟 바가지" in other.answer.text


def test_a_library_of_one_video_needs_no_name_for_it(desk: Desk) -> None:
    fill(desk, 1)
    assert desk.ask(QUESTION).answer.evidence.kind == "transcript"
    assert desk.ask(QUESTION, options=AnswerOptions(limit=3)).answer.evidence.kind == "search"
    assert desk.ask('"배추" 몇 포기').answer.evidence.kind == "search"
    assert desk.ask(QUESTION, options=SEARCH).answer.evidence.kind == "search"


def test_a_video_that_does_not_fit_is_searched(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096, behaviour=quoting))
    desk.put(video("video-00000"), [KIMCHI, *talk(40)])
    found = desk.ask(QUESTION, model="small:q4").answer
    assert (found.evidence.kind, found.ending) == ("search", "whole")
    assert desk.ask(QUESTION).answer.evidence.kind == "transcript"


@pytest.mark.parametrize("question", ["이 영상 요약해줘", "어디 어디 갔어?"])
def test_a_question_about_a_whole_video_reads_its_map(desk: Desk, question: str) -> None:
    fill(desk)
    desk.put_contexts("video-00000", [f"{n}번째 장면에서 시장 골목 {n}호집에 갑니다." for n in range(1, 4)])
    found = desk.ask(question, videos=("video-00000",)).answer
    windows = desk.place.library.windows_of("video-00000")
    assert found.evidence.kind == "map"
    assert [source.scene for source in found.evidence.sources] == [window.id for window in windows]
    given = scenes(system(desk))
    assert list(given) == list(range(1, len(windows) + 1))
    assert "3호집" in given[3]
    assert desk.ask("배추 몇 포기?", videos=("video-00000",)).answer.evidence.kind == "transcript"


def test_without_contexts_a_whole_video_is_its_transcript_or_its_windows_beginnings(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096, behaviour=quoting))
    desk.put(video("video-00000"), [KIMCHI, *talk(40)])
    assert desk.ask("요약해줘").answer.evidence.kind == "transcript"
    found = desk.ask("요약해줘", model="small:q4").answer
    assert (found.evidence.kind, found.evidence.shortened, found.ending) == ("map", True, "whole")
    assert len(scenes(system(desk))) == 41


def test_a_whole_video_that_is_not_evident_is_asked_for(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096, behaviour=quoting))
    put_long(desk, range(6))
    found = desk.ask("시장 영상 요약해줘", model="small:q4").answer
    assert (found.evidence.kind, found.evidence.nameless) == ("search", True)
    assert not desk.ask("소스", model="small:q4").answer.evidence.nameless
    named = desk.ask("video-00001 요약해줘", model="small:q4", videos=("video-00001",)).answer
    assert {source.video.id for source in named.evidence.sources} == {"video-00001"}
    assert not named.evidence.nameless


def test_an_unknown_video_is_no_video(desk: Desk) -> None:
    fill(desk)
    with failing("unknown", UsageError):
        desk.ask(QUESTION, videos=("없는 영상",))


# --- several videos ---


def test_ten_questions_to_a_short_library_share_its_captions(desk: Desk) -> None:
    fill(desk)
    questions = [f"{QUESTION} {number}번째로 묻습니다" for number in range(10)]
    found = [desk.ask(question).answer.evidence for question in questions]
    assert {evidence.kind for evidence in found} == {"library"}
    videos = sorted({source.video.id for source in found[0].sources})
    windows = [window for id in videos for window in desk.place.library.windows_of(id)]
    assert [source.scene for source in found[0].sources] == [window.id for window in windows]
    assert list(scenes(system(desk))) == list(range(1, len(windows) + 1))
    chats = desk.chats()
    assert len({chat.messages[0]["content"] for chat in chats}) == len({chat.num_ctx for chat in chats}) == 1
    assert not any(chat.reloaded for chat in chats[1:])
    assert max(chat.evaluated for chat in chats[1:]) < 100 < min(chat.cached for chat in chats[1:])


@pytest.mark.campaign(part="flows")
def test_a_citation_of_a_whole_library_has_the_video_and_its_second(desk: Desk) -> None:
    fill(desk)
    answer = desk.ask("청귤 간장 소스 찍어 먹어요?").answer
    (citation,) = answer.citations
    source = next(each for each in answer.evidence.sources if each.number == citation.number)
    assert (source.video.id, citation.status) == ("video-00001", "supported")
    assert citation.at_ms is not None


def test_filters_choose_the_videos_that_are_read_whole(desk: Desk) -> None:
    desk.put(video("a", "시장 구경", "시장", "2026-01-05"), [KIMCHI])
    desk.put(video("b", "나물 구경", "시장", "2026-03-05"), [SAUCE])
    desk.put(video("c", "나물 무침", "부엌", "2026-05-05"), [SAUCE])
    for words, expected in (
        ("channel:시장", {"a", "b"}),
        ("channel:시장 after:2026-02-01", {"b"}),
        ("before:2026-01-31", {"a"}),
        ("video:나물", {"b", "c"}),
    ):
        evidence = desk.ask(f"{words} 뭐 먹었어?").answer.evidence
        assert {source.video.id for source in evidence.sources} == expected
        assert evidence.kind == ("library" if len(expected) > 1 else "transcript")


def test_captions_beyond_half_of_the_models_context_are_searched_or_refused(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096, behaviour=quoting))
    put_long(desk, range(6))
    assert desk.ask("소스", model="small:q4").answer.evidence.kind == "search"
    assert desk.chats()
    asked = len(desk.chats())
    with failing("whole_too_long", UsageError) as failure:
        desk.ask("소스", model="small:q4", options=AnswerOptions(whole=True))
    assert failure.value.details["most"] == 2_048 < failure.value.details["tokens"]
    assert len(desk.chats()) == asked


@pytest.mark.parametrize("question", ['"배추" 몇 포기', "배추 -소금"])
def test_words_that_choose_scenes_do_not_go_with_all_captions(desk: Desk, question: str) -> None:
    fill(desk)
    assert desk.ask(question).answer.evidence.kind == "search"
    with failing("whole_of_words", UsageError):
        desk.ask(question, options=AnswerOptions(whole=True))


@pytest.mark.campaign(part="flows")
def test_a_large_model_reads_a_long_library_when_it_is_asked_to(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.ollama.add(Model("large:q4", context_length=262_144, behaviour=quoting))
    put_long(desk, range(24))
    monkeypatch.setattr(planning, "free_memory", lambda: 40 * 10**9)
    assert desk.ask("소스", model="large:q4").answer.evidence.kind == "search"
    evidence = desk.ask("소스", model="large:q4", options=AnswerOptions(whole=True)).answer.evidence
    assert evidence.kind == "library"
    assert evidence.tokens > BUCKETS[-1]
    chat = desk.chats()[-1]
    assert BUCKETS[-1] < chat.num_ctx <= 262_144
    assert evidence.cache_bytes == chat.num_ctx * 57_344
    monkeypatch.setattr(planning, "free_memory", lambda: 5 * 10**9)
    desk.ollama.unload()
    with pytest.raises(UsageError, match="are about"):
        desk.ask("소스", model="large:q4", options=AnswerOptions(whole=True))
