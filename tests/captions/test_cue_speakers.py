"""Who speaks: voices of WebVTT, and names in front of the text."""

import json

from tests.support.cases import cases
from tests.support.reading import HEAD, ONE, TWO, cues


def speech(*lines: str) -> list[tuple[str, str]]:
    text = "".join(f"{n}\n00:00:{n:02d},000 --> 00:00:{n:02d},900\n{line}\n\n" for n, line in enumerate(lines, 1))
    return [(cue.speaker, cue.text) for cue in cues(text, "srt")]


def test_a_voice_is_the_speaker_of_its_text() -> None:
    text = f"{HEAD}{ONE}<v 순이>국수를 삶아요</v>\n\n{TWO}<v.loud 철수 김>물이\n끓네요\n"
    assert [(cue.speaker, cue.text) for cue in cues(text)] == [("순이", "국수를 삶아요"), ("철수 김", "물이 끓네요")]


def test_two_voices_in_one_cue_are_two_cues() -> None:
    text = f"{HEAD}{ONE}<v 순이>국수요? <v 철수>네\n- 좋아요\n"
    assert [(cue.start_ms, cue.speaker, cue.text) for cue in cues(text)] == [
        (1000, "순이", "국수요?"),
        (1000, "철수", "네 - 좋아요"),
    ]


@cases(
    "lines",
    [
        ("홍길동: 안녕하세요", "김영희: 네, 반갑습니다"),
        ("참석자 1: 시작할까요", "참석자 2： 네", "참석자 1: 그러면", "잠시만요"),
        ("Hong Gil-dong (LG): 하나", "김영희: 둘", "Hong Gil-dong (LG): 셋", "김영희: 넷"),
    ],
)
def test_names_in_front_of_the_text_are_speakers(lines: tuple[str, ...]) -> None:
    found = speech(*lines)
    assert [speaker for speaker, _text in found if speaker] == [
        line.replace("：", ":").partition(":")[0] for line in lines if ":" in line or "：" in line
    ]
    assert not any(":" in text for _speaker, text in found)


def test_names_in_json3_are_speakers_too() -> None:
    lines = ("순이: 국수를 삶아요", "철수: 물이 끓네요")
    events = [{"tStartMs": at * 4_000, "dDurationMs": 3_000, "segs": [{"utf8": line}]} for at, line in enumerate(lines)]
    found = cues(json.dumps({"events": events}), "json3")
    assert [(cue.speaker, cue.text) for cue in found] == [("순이", "국수를 삶아요"), ("철수", "물이 끓네요")]


@cases(
    "lines",
    [
        ("참고: 이것은 국수예요", "물이 끓네요", "면을 넣고", "기다려요"),
        ("10:30에 만나요", "주소는 https://example.org 예요", "2:1로 이겼어요"),
        ("재료: 국수", "양념: 고추장", "고명: 오이", "시간: 십 분", "불: 센 불"),
    ],
)
def test_other_colons_stay_in_the_text(lines: tuple[str, ...]) -> None:
    assert speech(*lines) == [("", line) for line in lines]
