"""Texts that were saved in the wrong encoding: put right and told, or refused where letters are lost."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.events import FileNotice, VideoFailed
from subtitle_rag.captions.files import CaptionGroup, discover
from subtitle_rag.captions.text_encoding import decode
from tests.support.cases import cases
from tests.support.place import Place
from tests.support.reading import put

TIMES = "1\n00:00:01,000 --> 00:00:03,000\n{}\n\n2\n00:00:04,000 --> 00:00:06,000\n{}\n"
KOREAN = TIMES.format("안녕하세요 여러분 오늘은 떡볶이를 먹어 보겠습니다", "그래서 어제 시장에서 고등어를 샀는데요")


def mistaken(text: str, encoding: str) -> str:
    """A Korean text in CP949 that somebody has opened in another encoding."""
    raw = text.encode("cp949")
    if encoding != "cp1252":
        return raw.decode(encoding)
    return "".join(bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in raw)


@cases(
    ("text", "encoding"),
    [
        *((KOREAN, encoding) for encoding in ("latin-1", "cp1252")),
        (TIMES.format("네", "아니요"), "latin-1"),
        (TIMES.format("ㅋㅋㅋㅋ 진짜요?", "아이고…"), "latin-1"),
        (TIMES.format("Hello my friend 안녕", "I love 떡볶이 so much"), "latin-1"),
        (TIMES.format("“안녕” 하고 말했죠", "그는 ‘왜요?’라고"), "cp1252"),
    ],
)
def test_korean_that_was_read_in_another_encoding_is_put_right(text: str, encoding: str) -> None:
    for saved in ("utf-8", "utf-8-sig", "utf-16"):
        decoded = decode(mistaken(text, encoding).encode(saved), path="a")
        assert (decoded.text, decoded.is_repaired) == (text, True)


def test_lines_that_are_right_stay(place: Place, tmp_path: Path) -> None:
    text = f"자막 제작 모임\n\n{mistaken(KOREAN, 'latin-1')}\n3\n00:00:07,000 --> 00:00:08,000\ncafé\n"
    assert decode(text.encode(), path="a").text == text.replace(mistaken(KOREAN, "latin-1"), KOREAN)
    put(tmp_path, "강의.srt", text=text)
    notices = [event for event in place.run(tmp_path) if isinstance(event, FileNotice)]
    assert notices == [FileNotice("repaired_text", {"path": str(tmp_path / "강의.srt")})]


LOST = KOREAN.encode("cp949").decode("utf-8", errors="replace")


@cases(
    "text",
    [
        LOST,
        f"자막 제작 모임\n\n{LOST}",
        LOST.encode().decode("cp949", errors="ignore"),
        TIMES.format("占쏙옙占쏙옙占쏙옙", "占쌉니댐옙"),
        KOREAN.encode("ascii", errors="replace").decode(),
        KOREAN.encode("ascii", errors="replace").decode().replace(",000\n", ",000 align:start position:0%\n"),
        KOREAN.encode().decode("cp949", errors="replace"),
    ],
)
def test_a_text_whose_letters_are_lost_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(CaptionError) as caught:
        decode(text.encode(), path="a.srt")
    assert caught.value.code == "garbled"
    assert caught.value.details["path"] == "a.srt"
    assert caught.value.details["reason"] in caught.value.message


@cases(
    "text",
    [
        KOREAN,
        TIMES.format("Où est-elle allée ? Ça va être très difficile", "Noël à l’île"),
        TIMES.format("¿Qué? ¡Sí! Señor", "niño año"),
        TIMES.format("não são ações às três", "avós órfãs"),
        TIMES.format("Größe über Äpfel", "Straße"),
        TIMES.format("Það er gott að þú komst", "Já, ég þakka þér"),
        TIMES.format("Çok güzel, öğretmenim şu", "İyi günler ığdır"),
        TIMES.format("Xin chào các bạn, hôm nay chúng ta đi ăn phở", "cảm ơn"),
        TIMES.format("Сегодня мы пойдём в музей", "Да"),
        TIMES.format("大家好，今天我们去吃饭吧 占卜很准", "再见谢谢"),
        TIMES.format("こんにちは、今日はラーメンを食べました", "占い"),
        TIMES.format("大韓民國 憲法 第一條를 읽어 보겠습니다", "孔子曰 學而時習之"),
        TIMES.format("뷁 펲시 쨰깍쨰깍", "똠방각하"),
        TIMES.format("뭐라고??????", "진짜????"),
        TIMES.format("What? Who? Why? ???", "No?"),
        TIMES.format("♪~ ♬ ★", "①②③ ※"),
        TIMES.format("ÀÉ", "É Ç À"),
    ],
)
def test_what_people_say_is_as_it_was(text: str) -> None:
    decoded = decode(text.encode(), path="a")
    assert (decoded.text, decoded.is_repaired, decoded.is_sure) == (text, False, True)


def test_one_lost_letter_is_told_and_refuses_no_file() -> None:
    text = KOREAN + "\n3\n00:00:07,000 --> 00:00:08,000\n그\ufffd래요\n"
    decoded = decode(text.encode(), path="a")
    assert (decoded.text, decoded.is_sure) == (text, False)


def test_a_garbled_transcript_in_a_folder_is_told(place: Place, tmp_path: Path) -> None:
    put(tmp_path, "강의.txt", text="0:00\n占쏙옙占쏙옙占쏙옙\n0:05\n占쌉니댐옙\n")
    assert isinstance(next(discover([tmp_path])), CaptionGroup)
    (failure,) = [event for event in place.run(tmp_path) if isinstance(event, VideoFailed)]
    assert failure.code == "garbled"


def test_boxes_instead_of_letters_are_refused() -> None:
    with pytest.raises(CaptionError, match="garbled"):
        decode(TIMES.format("□□□□□ □□□ □□□□ □□□", "□□□□ □□□ □□□□□□").encode())
    assert "□ 준비물" in decode(TIMES.format("□ 준비물: 고등어와 무", "□ 순서: 씻고 자르고 끓입니다").encode()).text


def test_letters_encoded_three_times_are_put_right() -> None:
    raw = KOREAN.encode()
    for _again in range(2):
        raw = raw.decode("latin-1").encode()
    decoded = decode(raw)
    assert (decoded.text, decoded.is_repaired) == (KOREAN, True)
