"""Questions about one video: its transcript, or the map of its contexts, in the place of the best scenes."""

import pytest

from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.errors import UsageError
from tests.answers.desk import KIMCHI, QUESTION, SAUCE, Desk, fill, system, told
from tests.answers.model import quoting, scenes
from tests.contexts.desk import talk
from tests.searchable import video
from tests.stand_ins.ollama import Model


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
    assert second.evaluated < 40 < second.cached
    assert "여덟 바가지" in other.answer.text


def test_a_library_of_one_video_needs_no_name_for_it(desk: Desk) -> None:
    fill(desk, 1)
    assert desk.ask(QUESTION).answer.evidence.kind == "transcript"
    assert desk.ask(QUESTION, options=AnswerOptions(limit=3)).answer.evidence.kind == "search"
    assert desk.ask('"배추" 몇 포기').answer.evidence.kind == "search"
    desk.put(video("video-00001"), [SAUCE])
    assert desk.ask(QUESTION).answer.evidence.kind == "search"


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
    fill(desk)
    found = desk.ask("시장 영상 요약해줘").answer
    assert (found.evidence.kind, found.evidence.nameless) == ("search", True)
    assert not desk.ask(QUESTION).answer.evidence.nameless
    named = desk.ask("영상 1 요약해줘").answer
    assert {source.video.id for source in named.evidence.sources} == {"video-00001"}
    assert not named.evidence.nameless


def test_an_unknown_video_is_no_video(desk: Desk) -> None:
    fill(desk)
    with pytest.raises(UsageError) as caught:
        desk.ask(QUESTION, videos=("없는 영상",))
    assert caught.value.code == "unknown_video"
