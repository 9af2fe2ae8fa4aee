import unicodedata
from dataclasses import dataclass
from datetime import date

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import (
    Chapter,
    Heat,
    Video,
    byte_size,
    clock,
    differs_in_language,
    moment,
    nfc,
    parse_clock,
    pick_json,
    place_json,
    sizes,
    to_json,
    watch_url,
)
from tests.support.cases import cases


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("12:41", 761_000),
        ("1:02:33", 3_753_000),
        ("761", 761_000),
        ("761.5", 761_500),
        ("12m41s", 761_000),
        ("1h", 3_600_000),
        ("1h2m3.25s", 3_723_250),
        (" 0:00 ", 0),
        ("100:00:00", 360_000_000),
    ],
)
def test_a_time_is_read_as_people_write_it(text: str, ms: int) -> None:
    assert parse_clock(text) == ms


@cases(
    "text",
    [
        *(
            "",
            " ",
            ":",
            "12:",
            ":41",
            "-5",
            "-1:00",
            "1:2:3:4",
            "12m41",
            "s",
            "h",
            "5 m",
            "12.5:00",
            "99:99",
            "1:60:00",
            "1e3",
            "nan",
            "12：41",
        ),
        "9" * 400,
        "9" * 5000 + ":00",
        "9" * 400 + "h",
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its text is what was typed
        parse_clock(text)
    assert caught.value.args == (text.strip(),)


@given(st.text(alphabet="0123456789:.hms -", max_size=12))
def test_reading_a_time_gives_one_or_a_value_error(text: str) -> None:
    try:
        ms = parse_clock(text)
    except ValueError:
        return
    assert ms >= 0


@given(st.integers(0, 100 * 3600 * 1000))
def test_a_clock_is_read_back_to_its_second(ms: int) -> None:
    assert parse_clock(clock(ms)) == ms // 1000 * 1000


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(-5, "0:00"), (0, "0:00"), (59_999, "0:59"), (60_000, "1:00"), (3_599_999, "59:59"), (3_600_000, "1:00:00")],
)
def test_a_clock_rounds_down_and_is_never_negative(ms: int, shown: str) -> None:
    assert clock(ms) == shown


def test_a_link_opens_at_the_second_that_holds_the_time() -> None:
    assert watch_url("abcdefghijk", 256_999) == "https://youtu.be/abcdefghijk?t=256"
    assert watch_url("abcdefghijk", -1) == "https://youtu.be/abcdefghijk?t=0"


@given(st.text())
def test_nfc_joins_what_a_file_system_took_apart(text: str) -> None:
    assert nfc(unicodedata.normalize("NFD", text)) == nfc(text)
    assert unicodedata.is_normalized("NFC", nfc(text))


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0.0 MB"),
        (6_000_000, "6.0 MB"),
        (17_400_000, "17 MB"),
        (812_000_000, "812 MB"),
        (999_900_000, "1.0 GB"),
        (69_239_000_000, "69.2 GB"),
        (512_000_000_000, "512 GB"),
        (2_000_000_000_000, "2.0 TB"),
    ],
)
def test_a_size_is_told_in_the_largest_unit_that_fits(count: int, text: str) -> None:
    assert byte_size(count) == text


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (0, 69_239_000_000, "0.0/69.2 GB"),
        (812_000_000, 2_300_000_000, "0.8/2.3 GB"),
        (500_000, 6_000_000, "0.5/6.0 MB"),
        (0, 0, "0.0/0.0 MB"),
    ],
)
def test_sizes_have_the_unit_of_the_whole(done: int, total: int, text: str) -> None:
    assert sizes(done, total) == text


@cases(
    ("question", "answer", "differs"),
    [
        ("정상까지 올라갔어?", "They climbed to the top.", True),
        ("정상까지 올라갔어?", "他们登上了山顶。", True),
        ("Did they reach the top?", "정상까지는 못 올라갔습니다.", True),
        ("정상까지 올라갔어?", "정상까지는 못 올라갔습니다.", False),
        ("타입 검사는 뭘로 해?", "mypy", False),
        ("뭘 써?", "Django, Celery, Redis를 씁니다.", False),
        ("mypy", "mypy로 타입을 검사합니다.", False),
        ("정상까지 올라갔어?", "", False),
        ("정상까지 올라갔어?", "[1] 2019", False),
    ],
)
def test_an_answer_in_another_language_is_told_by_its_letters(question: str, answer: str, differs: bool) -> None:
    assert differs_in_language(question, answer) is differs


VIDEO = Video("dQw4w9WgXcQ", "국수", "UC", "부엌", "https://youtu.be/dQw4w9WgXcQ", date(2026, 5, 31), 61_500)


@dataclass(frozen=True, slots=True)
class Told:
    video: Video
    at_ms: int | None
    ms: int
    is_new: bool
    note: str
    marked_at: int
    parts: tuple[Heat, ...] = ()


TOLD = Told(VIDEO, None, 2_500, True, "", 1_780_000_000, (Heat(0, 1_000, 0.5),))


def test_a_value_as_json_has_seconds_moments_and_null_for_what_is_empty() -> None:
    assert to_json(TOLD) == {
        "video": {
            "id": VIDEO.id,
            "title": "국수",
            "channel": "부엌",
            "url": VIDEO.url,
            "published": "2026-05-31",
        },
        "at": None,
        "ms": 2_500,
        "new": True,
        "note": None,
        "marked_at": "2026-05-28T20:26:40Z",
        "parts": [{"start": 0.0, "end": 1.0, "value": 0.5}],
    }
    assert to_json({"shares": (0, 1)}) == {"shares": [0, 1]}


def test_keys_are_picked_and_renamed() -> None:
    picked = pick_json(TOLD, "new", seconds="ms", marked="marked_at")
    assert picked == {"new": True, "seconds": 2.5, "marked": "2026-05-28T20:26:40Z"}
    assert pick_json(VIDEO, "duration", "kind", "chapters") == {"duration": 61.5, "kind": None, "chapters": []}
    assert to_json(Chapter(1_000, "하나")) == {"start": 1.0, "title": "하나"}
    assert moment(None) is None


def test_a_place_has_the_links_to_its_beginning_and_its_best_line() -> None:
    place = place_json(VIDEO, 1_000, 9_000, 4_000)
    assert (place["start"], place["end"], place["url"]) == (1.0, 9.0, watch_url(VIDEO.id, 1_000))
    assert place["jump"] == {"at": 4.0, "url": watch_url(VIDEO.id, 4_000)}
