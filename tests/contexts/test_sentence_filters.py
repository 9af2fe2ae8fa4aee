import pytest

from subtitle_rag.contexts.sentence_filters import find_foreign_script, is_spoken, without_foreign_script
from tests.support.cases import cases


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("서울에서 국수를 먹습니다.", "", []),
        ("该公司位于 서울입니다.", "", ["该公司位于"]),
        ("とても 맛있는 ラーメン 집", "", ["とても", "ラーメン"]),
        ("名物 요리를 소개합니다.", "오늘은 名物 요리", []),
        ("辛라면과 名物 국수", "辛라면", ["名物"]),
        ("Diorと ②번 ㎏ … 「맛」", "", ["と"]),
    ],
)
def test_script_that_the_captions_do_not_have(text: str, known: str, expected: list[str]) -> None:
    assert find_foreign_script(text, known) == expected


def test_only_the_sentences_with_such_script_are_left_out() -> None:
    assert without_foreign_script("국수를 먹습니다. 该公司位于首尔。 다음 가게로 갑니다.", "") == (
        "국수를 먹습니다. 다음 가게로 갑니다."
    )
    assert without_foreign_script("該公司", "") == ""
    assert without_foreign_script("名物입니다.", "名物") == "名物입니다."


@cases(
    "sentence",
    [
        "저는 배를 뒤집어 봐 배를 둘고 물었어요 암수 구별은 어떻게 해요?",
        "곰을 쫓는 데도 꽤 오래 걸렸거든요.",
        "맵단짠은 식어도 먹을 만하더라고요",
        "국물이 진짜 시원하네요!",
        "할머니는 원래 이렇게 하신대요.",
        "그래서 양말을 물고 도망갔어",
        "이게 오늘의 요리인데요",
        "저는 밤 11시에 비가 그쳤습니다.",
    ],
)
def test_what_people_say_to_each_other_tells_nothing_of_a_scene(sentence: str) -> None:
    assert is_spoken(sentence)


@cases(
    "sentence",
    [
        "다온이 할머니와 꽃게를 손질해요.",
        "현우가 다온에게 우비를 건네요.",
        "손님이 벽에 기대요.",
        "친구가 읍내에서 수빈을 만나요.",
        "할머니가 ‘누가 텐트를 긁나요?’라고 묻는다.",
        "다온이 왜 달리는지 묻는 질문에 답한다.",
    ],
)
def test_a_polite_sentence_that_tells_of_a_scene_is_not_spoken(sentence: str) -> None:
    assert not is_spoken(sentence)
