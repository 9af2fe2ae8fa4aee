"""Encodings by evidence: short Korean, English with curly quotes, and what reads like nothing."""

import pytest

from subtitle_rag.captions.text_encoding import decode
from subtitle_rag.domain.errors import CaptionError
from subtitle_rag.domain.values import nfc
from tests.support.cases import cases

TIMES = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
KOREAN = TIMES.format("국수를 삶아요. 물이 끓네요")
ENGLISH = "A long line of plain English with nothing in it. " * 40


@cases(
    ("text", "encoding"),
    [
        *((KOREAN, name) for name in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-7", "cp949", "johab")),
        *((KOREAN, f"utf-{width}-{order}") for width in (16, 32) for order in ("le", "be")),
        (TIMES.format("네"), "cp949"),
        (TIMES.format("ㅋㅋㅋ 네"), "cp949"),
        (TIMES.format("쨰깍쨰깍 똠방각하 뷁 펲시"), "cp949"),
        (TIMES.format(ENGLISH + "안녕하세요"), "cp949"),
        (TIMES.format("I don’t know, it’s “fine”…"), "cp1252"),
        (TIMES.format("The café’s naïve résumé"), "cp1252"),
        (TIMES.format("Où est-elle allée ? Ça va être très difficile à faire."), "cp1252"),
        (TIMES.format(ENGLISH + "I don’t"), "cp1252"),
        (TIMES.format("こんにちは、今日はラーメンを食べました"), "cp932"),
        (TIMES.format("こんにちは、今日はラーメンを食べました"), "euc_jp"),
        (TIMES.format("大家好，今天我们去吃饭吧"), "gbk"),
        (TIMES.format("大家好，今天我們去吃飯吧"), "big5"),
    ],
)
def test_a_text_is_read_in_its_own_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), path="a").text == text


@cases(
    ("text", "encoding", "language"),
    [
        (TIMES.format("Сегодня мы пойдём в музей"), "cp1251", "ru"),
        ("<?xml version='1.0' encoding='windows-1251'?>" + TIMES.format("Сегодня мы пойдём в музей"), "cp1251", ""),
        (TIMES.format("Zażółć gęślą jaźń, proszę"), "cp1250", "pl"),
        (TIMES.format("再见谢谢大家"), "gbk", "zh-Hans"),
    ],
)
def test_the_declared_language_is_evidence(text: str, encoding: str, language: str) -> None:
    assert decode(text.encode(encoding), path="a", language=language).text == text


def test_a_file_put_together_from_two_encodings_keeps_both() -> None:
    lines = [TIMES.format("국수를 삶아요").encode("cp949"), TIMES.format("자막 제작 모임").encode()]
    for parts in (lines, lines[::-1]):
        assert {"국수를 삶아요", "자막 제작 모임"} <= set(decode(b"".join(parts), path="a").text.split("\n"))


def test_a_text_that_was_encoded_twice_is_read() -> None:
    assert decode(KOREAN.encode().decode("latin-1").encode(), path="a").text == KOREAN
    assert decode("Où est-elle ? Ã la mer".encode(), path="a").text == "Où est-elle ? Ã la mer"


def test_rare_syllables_made_up_of_letters_are_read() -> None:
    made_up = TIMES.format("똠방각하가 쨰깍").encode("euc_kr")
    assert decode(made_up, path="a").text == TIMES.format("똠방각하가 쨰깍")


def test_decomposed_syllables_are_composed() -> None:
    assert decode(KOREAN.replace("국수", "국수").encode(), path="a").text == nfc(KOREAN)


@pytest.mark.parametrize("raw", [bytes(range(128, 256)) * 4, "Сегодня мы пойдём в музей".encode("koi8-r")])
def test_what_reads_like_no_language_is_refused(raw: bytes) -> None:
    with pytest.raises(CaptionError) as caught:
        decode(TIMES.format("").encode() + raw, path="a")
    assert caught.value.code == "unknown_encoding"


def test_weak_evidence_is_told() -> None:
    assert decode(KOREAN.encode("cp949"), path="a").is_sure
    assert not decode(TIMES.format("뷁 펲시").encode("cp949"), path="a", language="ko").is_sure


def test_one_stray_byte_never_refuses_a_file() -> None:
    raw = ENGLISH.encode() + b"\x81\x8d" + ENGLISH.encode()
    assert not decode(raw, path="a").is_sure
