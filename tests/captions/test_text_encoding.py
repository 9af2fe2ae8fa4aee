"""Encodings: short Korean, English with curly quotes, and what is neither."""

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import nfc
from subtitle_rag.captions.text_encoding import decode
from tests.support.cases import cases

TIMES = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
KOREAN = TIMES.format("국수를 삶아요. 물이 끓네요")
ENGLISH = "A long line of plain English with nothing in it. " * 40


@cases(
    ("text", "encoding"),
    [
        *((KOREAN, name) for name in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "cp949")),
        *((KOREAN, f"utf-16-{order}") for order in ("le", "be")),
        (TIMES.format("네"), "cp949"),
        (TIMES.format("ㅋㅋㅋ 네"), "cp949"),
        (TIMES.format("쨰깍쨰깍 똠방각하 뷁 펲시"), "cp949"),
        (TIMES.format(ENGLISH + "안녕하세요"), "cp949"),
        (TIMES.format("I don’t know, it’s “fine”…"), "cp1252"),
        (TIMES.format("The café’s naïve résumé"), "cp1252"),
        (TIMES.format("Où est-elle allée ? Ça va être très difficile à faire."), "cp1252"),
        (TIMES.format(ENGLISH + "I don’t"), "cp1252"),
    ],
)
def test_a_text_is_read_in_its_own_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), path="a").text == text


def test_a_file_put_together_from_two_encodings_keeps_both() -> None:
    lines = [TIMES.format("국수를 삶아요").encode("cp949"), TIMES.format("자막 제작 모임").encode()]
    for parts in (lines, lines[::-1]):
        assert {"국수를 삶아요", "자막 제작 모임"} <= set(decode(b"".join(parts), path="a").text.split("\n"))


def test_a_text_that_was_encoded_twice_is_read() -> None:
    assert decode(KOREAN.encode().decode("latin-1").encode(), path="a").text == KOREAN
    assert decode("Où est-elle ? Ã la mer".encode(), path="a").text == "Où est-elle ? Ã la mer"


def test_decomposed_syllables_are_composed() -> None:
    assert decode(KOREAN.replace("국수", "국수").encode(), path="a").text == nfc(KOREAN)


@cases(
    ("text", "encoding"),
    [
        ("Сегодня мы пойдём в музей", "cp1251"),
        ("Сегодня мы пойдём в музей", "koi8-r"),
        ("こんにちは、今日はラーメンを食べました", "cp932"),
        ("大家好，今天我們去吃飯吧", "big5"),
        ("국수를 삶아요. 물이 끓네요", "johab"),
    ],
)
def test_a_text_in_another_encoding_is_refused(text: str, encoding: str) -> None:
    with pytest.raises(CaptionError) as caught:
        decode((TIMES.format(text) * 9).encode(encoding), path="a")
    assert caught.value.code == "unknown_encoding"


def test_a_byte_that_is_left_out_is_told() -> None:
    assert decode(KOREAN.encode("cp949"), path="a").is_sure
    for text, encoding in ((KOREAN, "cp949"), (KOREAN, "utf-8"), (ENGLISH, "cp1252")):
        raw = text.encode(encoding)
        decoded = decode(raw + b"\x81\xff\n" + raw, path="a")
        assert (decoded.text.count(text), decoded.is_sure) == (2, False)
