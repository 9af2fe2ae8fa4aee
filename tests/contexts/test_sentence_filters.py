import pytest

from subtitle_rag.contexts.sentence_filters import find_foreign_script, without_foreign_script


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
