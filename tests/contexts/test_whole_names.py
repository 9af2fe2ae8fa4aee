"""Names in full: what is cut in the middle by its analysis, and what stands alone."""

import pytest

from subtitle_rag.contexts.whole_names import whole_name


@pytest.mark.parametrize(
    ("name", "titles", "texts", "whole"),
    [
        ("나그", [], ["나그랑 티셔츠", "이 나그랑 색", "나그랑 니트"], "나그랑"),  # 랑 is no particle here
        ("엔터", [], ["엔터프라이즈 제품", "엔터프라이즈급 장비", "엔터를 눌러요"], "엔터프라이즈"),
        ("스웨", [], ["그래스웨터", "그래스웨터가"], "그래스웨터"),
        ("민석", ["학생 발표 - 이준표, 장민석"], ["민석이 만든 것"], "장민석"),
        ("보테가 베네타", [], ["보테가베네타를 봐요", "보테가 베네타 가방"], "보테가 베네타"),
        ("르메르", [], ["르메르는 좋아요", "르메르랑 블레스", "르메르 바지", "르메르랑 나이키"], "르메르"),
        ("크롤링", [], ["크롤링하는 법", "크롤링하는 코드", "크롤링해서"], "크롤링"),
        ("베를린", [], ["베를린에서는", "베를린입니다", "베를린으로"], "베를린"),
        ("데님", ["입춘데님"], ["데님 바지", "데님을 입어요", "생지데님"], "데님"),
        ("판다스", [], [], "판다스"),
    ],
)
def test_a_name_is_the_longer_word_that_it_is_mostly_a_part_of(
    name: str, titles: list[str], texts: list[str], whole: str
) -> None:
    assert whole_name(name, titles, texts) == whole
