"""A negated word is one form in every wording, beside the word in captions and in its place in a query."""

import pytest

from subtitle_rag.base.domain.values import NEGATED
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.korean.typed_text import TypedText
from tests.support.cases import cases


def typed(analyzer: Analyzer, text: str) -> TypedText:
    return TypedText.of(text, next(analyzer.morphemes([text])))


@cases(
    ("wordings", "form"),
    [
        (
            "안 써요|안쓰는|쓰지 않는|쓰진 않아요|쓰지는 않고|못 쓰는|쓰지 못하는|쓰지 못해요|쓰지 마세요|쓰지 말고",
            "쓰",
        ),
        ("쓸 수 없는|쓸 수가 없어요|쓰면 안 되는|쓰시면 안 돼요|써 보지 않고", "쓰"),
        ("안 매운|안매운|맵지 않은|맵지도 않고|매운 거 말고|매운 게 아니라", "맵"),
        ("안 좋아하는|좋아하지 않는", "좋"),
        ("설탕 없이|설탕없는|설탕이 하나도 없어요|설탕 말고|설탕이 아니라", "설탕"),
        ("촬영 금지|촬영 불가|촬영하지 마세요|촬영을 안 해요|촬영 안 하는|촬영을 하지 않는|촬영 못하는", "촬영"),
        ("재미없는|재미가 별로 없어요", "재미"),
        ("안 따뜻해요|따뜻하지 않아요", "따뜻"),
        ("안 되는|되지 않아요", "되"),
    ],
)
def test_every_wording_of_a_negated_word_has_its_form(analyzer: Analyzer, wordings: str, form: str) -> None:
    for wording in wordings.split("|"):
        assert f"{NEGATED}{form}" in next(analyzer.morphemes([wording])).forms, wording
        assert typed(analyzer, wording).forms == (f"{NEGATED}{form}",), wording


@pytest.mark.parametrize(
    "text",
    [
        "쓸 수밖에 없는",
        "방 안에서 써요",
        "못을 박아요",
        "소금을 잘못 넣어서",
        "자국이 없어지는",
        "김밥을 말다가",
        "안전 관리",
        "없으면",
    ],
)
def test_nothing_is_negated_in_other_words(analyzer: Analyzer, text: str) -> None:
    assert not any(form.startswith(NEGATED) for form in next(analyzer.morphemes([text])).forms)


def test_captions_have_the_word_beside_its_negation(analyzer: Analyzer) -> None:
    text = "저는 안 매운 걸 먹어요"
    found = next(analyzer.morphemes([text]))
    assert {"맵", "¬맵"} < set(found.forms)
    at = found.forms.index("¬맵")
    assert text[found.starts[at] : found.ends[at]] == "안 매운"


def test_a_negated_word_of_a_query_is_one_word(analyzer: Analyzer) -> None:
    query = typed(analyzer, "안 매운 치킨, 설탕 없는 소스")
    assert query.text == "안매운 치킨, 설탕없는 소스"
    assert query.content_words == ("안매운", "치킨", "설탕없는", "소스")
    assert query.words_by_form == {"¬맵": "안매운", "치킨": "치킨", "¬설탕": "설탕없는", "소스": "소스"}
