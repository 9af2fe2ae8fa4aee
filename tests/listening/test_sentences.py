import pytest
from hypothesis import given, strategies as st

from subtitle_rag.listening.sentences import LONGEST_MS, MOST_CHARACTERS, HeardWord, cues_of_words


def words(text: str, *, each_ms: int = 400, begin_ms: int = 0) -> list[HeardWord]:
    return [
        HeardWord(begin_ms + at * each_ms, begin_ms + (at + 1) * each_ms, word) for at, word in enumerate(text.split())
    ]


def test_a_sentence_is_a_cue() -> None:
    cues = cues_of_words(words("오늘은 국밥을 먹습니다. 정말 맛있어요!"))
    assert [(cue.start_ms, cue.end_ms, cue.text) for cue in cues] == [
        (0, 1200, "오늘은 국밥을 먹습니다."),
        (1200, 2000, "정말 맛있어요!"),
    ]
    assert cues[0].word_starts == (0, 400, 800)


def test_a_pause_ends_a_cue() -> None:
    cues = cues_of_words([*words("어 그러니까"), *words("네 맞아요", begin_ms=3000)])
    assert [cue.text for cue in cues] == ["어 그러니까", "네 맞아요"]


def test_speech_without_sentences_is_cut_all_the_same() -> None:
    cues = cues_of_words(words("그래서 우리가 " * 60))
    assert max(len(cue.text) for cue in cues) <= MOST_CHARACTERS
    assert max(cue.end_ms - cue.start_ms for cue in cues) <= LONGEST_MS


def test_languages_without_spaces_get_none() -> None:
    glued = [HeardWord(0, 100, "今日"), HeardWord(100, 200, "は", True), HeardWord(200, 300, "東京", True)]
    (cue,) = cues_of_words(glued)
    assert cue.text == "今日は東京"
    assert cue.word_starts == (0,)


@given(
    st.lists(
        st.builds(
            HeardWord,
            st.integers(0, 90_000),
            st.integers(0, 90_000),
            st.sampled_from(["네", "아니요.", "국밥을,", "그래서"]),
            st.booleans(),
        ),
        max_size=40,
    )
)
def test_times_only_go_on_whatever_the_alignment_says(heard: list[HeardWord]) -> None:
    cues = cues_of_words(heard)
    assert "".join("".join(cue.text.split()) for cue in cues) == "".join(word.text for word in heard)
    for cue in cues:
        assert cue.start_ms < cue.end_ms
        assert list(cue.word_starts) == sorted(cue.word_starts)
        assert len(cue.word_starts) == len(cue.text.split())
        assert all(cue.start_ms <= start <= cue.end_ms for start in cue.word_starts)
    for one, other in zip(cues, cues[1:], strict=False):
        assert one.start_ms <= other.start_ms


def test_no_words_are_no_cues() -> None:
    assert cues_of_words([]) == ()


@pytest.mark.parametrize("end", [0, 50])
def test_a_cue_lasts_long_enough_to_be_shown(end: int) -> None:
    (cue,) = cues_of_words([HeardWord(0, end, "네")])
    assert cue.end_ms >= 200
