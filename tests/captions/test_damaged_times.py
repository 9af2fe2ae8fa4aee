"""Lines of two times: read where they are clear, else counted; times that somebody says stay text."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.events import FileNotice
from subtitle_rag.captions.clock_lines import read_clocks
from subtitle_rag.captions.parse import parse_captions, unread_times
from tests.support.cases import cases
from tests.support.place import Place
from tests.support.reading import put, spans


def around(line: str, number: str = "2\n") -> str:
    return (
        "1\n00:00:01,000 --> 00:00:02,000\n앞말 사과\n\n"
        f"{number}{line}\n가운데 바나나\n\n3\n00:00:15,000 --> 00:00:16,000\n뒷말 포도\n"
    )


@cases(
    "line",
    [
        "00:00:O3,500 --> 00:00:04,000",
        "0O:00:03,5OO --> 00:00:04,000",
        "00:00:03,500 --> 00:00:O4,000",
        "00:00:03,500 ―> 00:00:04,000",
        "00:00:03,500 ――> 00:00:04,000",
        "00:00:03,500 ~ 00:00:04,000",
        "00:00:03,500 >>> 00:00:04,000",
        "00:00:03,500 => 00:00:04,000",
        "00:00:03,500 - -> 00:00:04,000",
        "00:00:03.500 - 00:00:04.000",
        "00:00:03,500-00:00:04,000",
        "00:00:03,500 00:00:04,000",
        "00:00:03,500\t00:00:04,000",
        "00:00:03;500 --> 00:00:04;000",
        "00;00;03;500 --> 00;00;04;000",
        "00.00.03.500 --> 00.00.04.000",
        "00:00:03'500 --> 00:00:04'000",
        "00-00-03,500 --> 00-00-04,000",
        "0h00m03s500 --> 0h00m04s000",
        "００：００：０３，５００ ―＞ ００：００：０４，０００",
        "\u202a00:00:03,500\u202c → 00:00:04,000",
        "0:0:3,5 --> 0:0:4,0",
        "00:03,500 ~ 00:04,000",
        "2. 00:00:03,500 --> 00:00:04,000",
        "00:00:03,500 00:00:04,000 X1:1 X2:2",
        "00:00:03,500 -->\n00:00:04,000",
        "00:00:03,500\n--> 00:00:04,000",
        "시작 00:00:03,500 --> 시작 00:00:04,000",
        "Start: 00:00:03,500 --> End: 00:00:04,000",
        "시작 00:00:03,500 --> 00:00:04,000",
        "00:00:03,500 -->",
        "00:00:03,500",
    ],
)
@pytest.mark.parametrize("format", ["srt", "vtt"])
def test_clear_times_are_read_and_never_said(line: str, format: str) -> None:
    found = spans(("WEBVTT\n\n" if format == "vtt" else "") + around(line), format)
    ends = {"00:00:03,500 -->": 15_000, "00:00:03,500": 15_000}
    assert found == [
        (1000, 2000, "앞말 사과"),
        (3500, ends.get(line, 4000), "가운데 바나나"),
        (15_000, 16_000, "뒷말 포도"),
    ]
    assert unread_times(around(line), format) == 0


@cases(
    "line",
    [
        "00:00:?3,500 --> 00:00:??,000",
        "xx:00:0x,500 --> 00:00:14,000",
        "--> 00:00:14,000",
        "00:00 -> ",
        "NaN:NaN:NaN,NaN --> 00:00:14,000",
        "00:00:99:99:03 --> 00:00:14,000",
    ],
)
def test_the_text_of_unclear_times_is_put_between_the_others_and_counted(line: str) -> None:
    found = spans(around(line), "srt")
    assert [(start, text) for start, _end, text in found] == [
        (1000, "앞말 사과"),
        (2000, "가운데 바나나"),
        (15_000, "뒷말 포도"),
    ]
    assert unread_times(around(line), "srt") == 1


def test_damaged_times_are_told_of_the_file(place: Place, tmp_path: Path) -> None:
    put(tmp_path, "강의.srt", text=around("00:0?:??,500 --> 00:00:14,000"))
    notices = [event for event in place.run(tmp_path) if isinstance(event, FileNotice)]
    details = {"path": str(tmp_path / "강의.srt"), "n": 1}
    assert notices == [FileNotice("damaged_times", details)]


@cases(
    "said",
    [
        "3:15에 만나요",
        "3:15",
        "12:34:56",
        "10:30 ~ 11:00",
        "오전 10:30 ~ 11:00 회의",
        "10:30 → 11:00 으로 변경",
        "3:15 -> 다음",
        "10:30, 11:00 두 번",
        "A --> B 로 갑니다",
        "--> 이쪽입니다",
        "3:2로 이겼고 4:1로 졌어요",
        "16:9 4:3",
        "2024.11.29 ~ 2024.12.01",
        "24.11.29 ~ 24.12.01",
        "010-1234-5678 010-8765-4321",
        "192.168.0.1 192.168.0.2",
        "1.2.3.4 -> 5.6.7.8",
        "0:00:00부터 0:00:10까지 보세요",
        "창세기 1:1-2:3",
        "1:1 2:2",
        "00:00:01,000",
    ],
)
@pytest.mark.parametrize("before", ["", "앞말\n"])
def test_times_that_are_said_stay_text(said: str, before: str) -> None:
    text = f"1\n00:00:01,000 --> 00:00:02,000\n{before}{said}\n\n2\n00:00:05,000 --> 00:00:06,000\n뒷말\n"
    assert spans(text, "srt") == [
        (1000, 2000, " ".join(f"{before}{said}".split())),
        (5000, 6000, "뒷말"),
    ]
    assert unread_times(text, "srt") == 0


@cases(
    ("text", "expected"),
    [
        (around("00:00:03,500 --> 00:00:04,000", "2\n\n"), ["앞말 사과", "가운데 바나나", "뒷말 포도"]),
        (around("00:00:03,500 --> 00:00:04,000", "2\n2\n"), ["앞말 사과", "가운데 바나나", "뒷말 포도"]),
        (around("00:00:03,500 --> 00:00:04,000", "2.\n"), ["앞말 사과", "가운데 바나나", "뒷말 포도"]),
        (around("00:00:03,500 --> 00:00:04,000") + "\n4\n", ["앞말 사과", "가운데 바나나", "뒷말 포도"]),
        (around("00:00:03,500 --> 00:00:04,000") + "\n4\n\n5\n", ["앞말 사과", "가운데 바나나", "뒷말 포도"]),
        (around("00:00:03,500 --> 00:00:04,000") + "\n2024\n", ["앞말 사과", "가운데 바나나", "뒷말 포도 2024"]),
        ("1\n00:00:01,000 --> 00:00:02,000\n3\n\n2\n00:00:03,000 --> 00:00:04,000\n2\n\n", ["3", "2"]),
    ],
)
def test_the_numbers_of_cues_are_never_said(text: str, expected: list[str]) -> None:
    assert [said for _start, _end, said in spans(text, "srt")] == expected


def test_a_number_without_times_begins_a_cue_whose_times_are_told() -> None:
    text = around("", "2")
    assert [(start, said) for start, _end, said in spans(text, "srt")] == [
        (1000, "앞말 사과"),
        (2000, "가운데 바나나"),
        (15_000, "뒷말 포도"),
    ]
    assert unread_times(text, "srt") == 1


def test_figures_of_frames_are_counted_at_the_least_rate_that_has_them() -> None:
    text = "00:00:01:12 - 00:00:02:00\n하나\n\n00:00:03:24 - 00:00:04:00\n둘\n"
    assert spans(text, "txt") == [(1480, 2000, "하나"), (3960, 4000, "둘")]


def test_a_file_named_srt_that_is_a_transcript_is_read() -> None:
    assert spans("00:01 하나\n00:05 둘\n", "srt") == [(1000, 5000, "하나"), (5000, 35_000, "둘")]


def test_events_at_unclear_times_are_counted() -> None:
    lines = ["0:00:0l.00,0:00:02.00,,,0,0,0,,하나", "x,0:00:04.00,,,0,0,0,,둘", "x,y,,,0,0,0,,셋", "x,y,,,0,0,0,,"]
    text = "[Events]\n" + "".join(f"Dialogue: 0,{line}\n" for line in lines)
    assert spans(text, "ass") == [(1000, 2000, "하나"), (4000, 4000, "둘")]
    assert unread_times(text, "ass") == 1


@pytest.mark.parametrize("line", ["0" * 5000, "00:00:03,500 " * 500, "- " * 5000 + ">", ":" * 5000])
def test_a_long_line_is_no_line_of_times(line: str) -> None:
    assert read_clocks(line, is_first=True, frame_ms=lambda: 40) is None
    assert parse_captions(around(line).encode(), "srt")


@cases(("first", "second"), [("–>", "–>"), ("-->", "–>"), ("—>", "-->")])
def test_webvtt_with_other_arrows_keeps_every_line(first: str, second: str) -> None:
    text = f"WEBVTT\n\n00:01.000 {first} 00:04.000\n국수를 삶아요\n\n00:05.000 {second} 00:08.000\n물이 끓네요\n"
    found = parse_captions(text.encode(), "vtt")
    assert [(cue.start_ms, cue.text) for cue in found] == [(1000, "국수를 삶아요"), (5000, "물이 끓네요")]
