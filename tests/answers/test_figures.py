"""How often captions say the words of a question: one line of the evidence, and what answers make of it."""

from subtitle_rag.answers.citations import check_citations
from subtitle_rag.base.domain.answer_values import WordCount
from subtitle_rag.korean.morphemes import Analyzer
from tests.answers.desk import SEARCH, Desk, fill, source
from tests.support.searchable import video

COUNTS = (WordCount("소스", 8, 42),)


def asked(desk: Desk) -> str:
    return str(desk.chats()[-1].messages[-1]["content"])


def test_the_model_reads_in_how_many_places_each_word_is_said(desk: Desk) -> None:
    fill(desk)
    answer = desk.ask("소스가 몇 번 나와?", options=SEARCH).answer
    first = answer.counts[0]
    assert (first.word, first.videos, first.places) == ("소스", 1, 1)
    assert "\n질문의 말이 자막에 나오는 곳: “소스” 영상 1편 1곳" in asked(desk)
    desk.put(video("e", title="Sauce"), [["The sauce is the best"]])
    desk.ask("which sauce?", options=SEARCH)
    assert asked(desk).endswith("\nPlaces in the captions that say a word of the question: “sauce” 1 place in 1 video")


def test_the_filters_of_a_question_narrow_its_counts(desk: Desk) -> None:
    fill(desk)
    there, elsewhere = (desk.ask("소스 맛있어?", videos=(f"video-0000{n}",)).answer.counts for n in (1, 0))
    assert (there[0].places, elsewhere[0].places) == (1, 0)


def test_captions_that_are_read_whole_have_the_line_too(desk: Desk) -> None:
    fill(desk, 2)
    answer = desk.ask("소스 이야기").answer
    assert answer.evidence.kind == "library"
    assert "\n질문의 말이 자막에 나오는 곳: “소스” 영상 1편 1곳" in asked(desk)


def test_an_answer_may_tell_the_count_with_a_citation_or_without(analyzer: Analyzer) -> None:
    sources = [source(1, "간장 소스는 달아요")]
    for answer in ("소스는 영상 8편 42곳에서 나옵니다.", "소스는 42곳에서 나옵니다 [1].", "소스: 8 videos, 42 places"):
        check = check_citations(answer, sources, analyzer, COUNTS)
        assert check.unfounded == ()
        assert [each.status for each in check.citations] == ["supported"] * answer.count("[1]")


def test_another_number_is_no_count(analyzer: Analyzer) -> None:
    sources = [source(1, "간장 소스는 달아요")]
    assert check_citations("소스는 43곳에서 나옵니다.", sources, analyzer, COUNTS).unfounded
    assert check_citations("고추장은 42곳에서 나옵니다.", sources, analyzer, COUNTS).unfounded
    (citation,) = check_citations("소스는 43곳에서 나옵니다 [1].", sources, analyzer, COUNTS).citations
    assert citation.status == "unsupported"
