"""Titles as the encoder reads them."""

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.index.index_document import content_title


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("봄은 짧고, 여름은", "봄은 짧고, 여름은"),
        ("나의 입춘데님 [ZjtMzMBQoXY].ko.vtt", "나의 입춘데님"),
        ("나의 입춘데님 [ZjtMzMBQoXY]", "나의 입춘데님"),
        ("국수 삶기.ko-KR.srt", "국수 삶기"),
        ("국수 삶기.mp4", "국수 삶기"),
        ("C# 입문 #1", "C# 입문 1"),
        ("Wi-Fi", "Wi-Fi"),
        ("day1__파이썬의 변수 - 조인석", "day1 파이썬의 변수 - 조인석"),
        ("how-to-cook_noodles.en.vtt", "how to cook noodles"),
        ("꽃게찜 | 느긋한 식탁", "꽃게찜"),
        ("[느긋한식탁] 꽃게찜 - 엄마의 비법", "꽃게찜 - 엄마의 비법"),
        ("꽃게찜 【4K】 (ENG SUB) [자막]", "꽃게찜"),
        ("꽃게찜 #shorts #해산물 #꽃게", "꽃게찜 해산물 꽃게"),
        ("🦀 꽃게찜 🍚✨", "꽃게찜"),
        ("Python 3.11 (part 2)", "Python 3.11 (part 2)"),
        ("2023 연말정산 3부", "2023 연말정산 3부"),
        ("봄", "봄"),
        ("GT86", "GT86"),
        ("12:30 - 24/7", ""),
        ("042", ""),
        ("제3회", ""),
        ("IMG_2034.ko.srt", ""),
        ("VID-20231024-153000", ""),
        ("C0012.mp4", ""),
        ("KakaoTalk_20231024_1530", ""),
        ("동영상 (3)", ""),
        ("dQw4w9WgXcQ", ""),
        ("0f8fad5bd9cb469fa16570867728950e", ""),
        ("[Review] Subaru and subway | Sub", "[Review] Subaru and subway"),
        ("느긋한 식탁", "느긋한 식탁"),
        ("[CDlfiP3L3H4].ko.vtt", ""),
        ("", ""),
    ],
)
def test_what_says_nothing_of_the_content_is_left_out(title: str, expected: str) -> None:
    assert content_title(title, "느긋한 식탁") == expected


def test_a_bracketed_word_as_long_as_an_id_stays() -> None:
    assert content_title("꽃게 (traditional) 요리") == "꽃게 (traditional) 요리"
    assert content_title("꽃게 (이야기) [abcdefghijk]") == "꽃게 (이야기) [abcdefghijk]"


@given(st.text(max_size=80), st.text(max_size=10))
def test_a_clean_title_stays_as_it_is_and_on_one_line(title: str, channel: str) -> None:
    clean = content_title(title, channel)
    assert "\n" not in clean
    assert clean == clean.strip()
    assert len(clean) <= 3 * len(title)
