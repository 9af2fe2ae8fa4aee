"""Answers that are kept: what comes back is what was put in, and what is deleted is gone."""

import pytest

from subtitle_rag.base.domain.answer_values import Answer, Citation, Evidence, EvidenceSource, UnfoundedClaim
from subtitle_rag.library.store import Library
from tests.support.invented import video


def source(number: int) -> EvidenceSource:
    lines = ((0, f"{number}번 첫 줄"), (6_000, f"{number}번 둘째 줄"), (12_000, f"{number}번 셋째 줄"))
    text = " ".join(text for _at, text in lines)
    return EvidenceSource(number, f"scene-{number}", video(), 0, 18_000, 0, lines, text)


def answer(question: str, way: str = "search", *citations: Citation) -> Answer:
    evidence = Evidence(way, tuple(map(source, range(1, 4))))  # type: ignore[arg-type]
    return Answer(question, "답입니다 [2].", "model:q4", evidence, citations, unfounded=(UNFOUNDED,))


UNFOUNDED = UnfoundedClaim((0, 4), ("1억 2천만",))
CITED = Citation(2, "unsupported", (5, 8), (0, 9), ("5000", "두레반"), ("이틀",), 6_000)


def test_an_answer_comes_back_as_it_was(library: Library) -> None:
    id = library.answers.put(answer("물음?", "search", CITED), "ask1")
    kept = library.answers.get(id)
    assert kept is not None
    assert (kept.id, kept.question, kept.text, kept.model) == (id, "물음?", "답입니다 [2].", "model:q4")
    assert (kept.prompt, kept.way, kept.ending) == ("ask1", "search", "whole")
    assert (kept.citations, kept.unfounded) == ((CITED,), (UNFOUNDED,))
    assert [(each.number, each.at_ms, each.line) for each in kept.sources] == [
        (1, 0, "1번 첫 줄 1번 둘째 줄"),
        (2, 6_000, "2번 둘째 줄 2번 셋째 줄"),
        (3, 0, "3번 첫 줄 3번 둘째 줄"),
    ]
    assert kept.asked_at > 1_700_000_000


@pytest.mark.parametrize("way", ["transcript", "map"])
def test_of_a_whole_video_only_what_is_cited_is_kept(library: Library, way: str) -> None:
    kept = library.answers.get(library.answers.put(answer("물음?", way, CITED), "ask1"))
    assert kept is not None
    assert [each.number for each in kept.sources] == [2]


def test_the_newest_come_first_and_any_can_be_deleted(library: Library) -> None:
    ids = [library.answers.put(answer(f"{n}번?"), "ask1") for n in range(4)]
    assert [kept.id for kept in library.answers.latest()] == ids[::-1]
    assert [kept.id for kept in library.answers.latest(2)] == ids[:1:-1]
    assert library.answers.forget(ids[1]) == 1
    assert library.answers.forget(ids[1]) == 0
    assert library.answers.get(ids[1]) is None
    assert library.answers.forget() == 3
    assert library.answers.latest() == []


def test_what_is_kept_outlives_the_video_and_is_text_only(library: Library) -> None:
    hostile = answer("'); DROP TABLE answer; --")
    id = library.answers.put(hostile, "ask1")
    library.remove_videos(["video-00001"])
    kept = library.answers.get(id)
    assert kept is not None
    assert kept.question == "'); DROP TABLE answer; --"
