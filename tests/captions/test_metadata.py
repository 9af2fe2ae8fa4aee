"""What yt-dlp says of a video as values of the domain, whatever a field holds."""

import math
import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import Chapter, Details, Heat
from subtitle_rag.captions import metadata
from subtitle_rag.captions.metadata import MAX_DESCRIPTION, MAX_ENTRIES, MAX_NAME
from tests.support.cases import cases

ODD: list[object] = [
    None,
    True,
    False,
    "",
    "x",
    b"x",
    -1,
    10**400,
    -math.inf,
    math.inf,
    math.nan,
    [],
    {},
    [[]],
    object(),
]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)


def of(**fields: object) -> dict[str, Any]:
    return fields


@cases(
    ("value", "expected"),
    [
        ("20260531", date(2026, 5, 31)),
        ("20240229", date(2024, 2, 29)),
        ("20250229", None),
        ("20261301", None),
        ("00000101", None),
        ("2026-05-31", None),
        ("202605310", None),
        (" 20260531", None),
        ("20260531\n", None),
        ("２０２６０５３１", None),
        (20260531, None),
        *((value, None) for value in ODD),
    ],
)
def test_a_day_is_eight_digits_of_the_calendar(value: object, expected: date | None) -> None:
    assert metadata.day(value) == expected


@cases(
    ("value", "expected"),
    [
        (0, 0),
        (0.0, 0),
        (12.3456, 12_346),
        (3_600, 3_600_000),
        (366 * 86_400, 366 * 86_400_000),
        (366 * 86_400 + 1, None),
        (-0.001, None),
        ("12", None),
        *((value, None) for value in ODD),
    ],
)
def test_seconds_are_a_number_between_nothing_and_a_year(value: object, expected: int | None) -> None:
    assert metadata.ms(value) == expected


@cases(
    ("value", "expected"),
    [
        ("  느린\n 부엌\t", "느린 부엌"),
        ("\x1b[31m붉은\x1b[0m", "[31m붉은[0m"),
        ("\u202e거꾸로\u200b", "거꾸로"),
        ("\u1112\u1161\u11ab", "한"),
        ("가" * 10_000, "가" * MAX_NAME),
        ("가" * (MAX_NAME - 1) + " 나", "가" * (MAX_NAME - 1)),
        *((value, "") for value in ODD if not isinstance(value, str)),
    ],
)
def test_a_name_is_one_line_that_is_fit_to_show(value: object, expected: str) -> None:
    assert metadata.text(of(title=value), "title") == expected
    assert metadata.channel_name(of(channel=value, uploader="올린이")) == (expected or "올린이")


@pytest.mark.parametrize("value", ["UCabcdefghijklmnopqrstuv", "@slow.kitchen", "a-b_c"])
def test_a_channels_id_is_taken_as_it_is(value: str) -> None:
    assert metadata.channel_id(of(channel_id=value)) == value


@cases("value", ["한글", "a/b", "a b", "UCabc\n", "x" * 101, *(value for value in ODD if value != "x")])
def test_what_is_no_id_names_no_channel(value: object) -> None:
    assert metadata.channel_id(of(channel_id=value)) is None


@cases(
    ("value", "expected"),
    [("video", "video"), ("short", "short"), ("livestream", "stream"), *((value, "video") for value in ODD)],
)
def test_a_video_is_of_one_of_three_kinds(value: object, expected: str) -> None:
    assert metadata.kind(of(media_type=value)) == expected
    assert metadata.kind({}) == "video"


def test_chapters_come_in_the_order_of_time() -> None:
    given_ = [
        {"start_time": 61.5, "end_time": 90, "title": " 양념\n만들기 "},
        {"start_time": 0.0, "end_time": 61.5, "title": "처음"},
    ]
    assert metadata.chapters(given_) == (Chapter(0, "처음"), Chapter(61_500, "양념 만들기"))


def test_chapters_without_a_time_or_a_title_are_left_out() -> None:
    damaged = [{"start_time": value, "title": "장"} for value in ODD]
    damaged += [{"start_time": 5, "title": value} for value in ODD if value != "x"]
    assert metadata.chapters([*damaged, *ODD, {"start_time": 5, "title": "남는 장"}]) == (Chapter(5_000, "남는 장"),)
    for value in ODD:
        assert metadata.chapters(value) == ()


def test_a_flood_of_entries_is_cut() -> None:
    flood = [{"start_time": n, "end_time": n + 1, "title": f"{n}장", "value": 0.5} for n in range(MAX_ENTRIES + 500)]
    assert len(metadata.chapters(flood)) == MAX_ENTRIES
    assert len(metadata.details(of(heatmap=flood)).heatmap) == MAX_ENTRIES


def test_without_anything_there_are_no_details() -> None:
    assert metadata.details({}) == Details()


@cases("field", ["description", "thumbnail", "thumbnails", "formats", "heatmap"])
@cases("value", [value for value in ODD if value != "x"])
def test_a_field_that_holds_anything_else_is_as_good_as_none(field: str, value: object) -> None:
    assert metadata.details({field: value}) == Details()


def description(value: str) -> str:
    return metadata.details(of(description=value)).description


def test_a_description_keeps_its_lines() -> None:
    assert (
        description("첫 줄\n\n  둘째   줄\r\n#국수 https://example.kr \n\n")
        == "첫 줄\n\n둘째 줄\n#국수 https://example.kr"
    )


def test_a_description_carries_no_commands_to_the_terminal() -> None:
    assert description("\x1b[31m붉은\x1b[0m \x1b]8;;http://x\x07글\x07\u202e") == "[31m붉은[0m ]8;;http://x글"
    assert description("하나\x0b둘\x85셋\u2028넷\u2029다섯\x00\ud800") == "하나\n둘\n셋\n넷\n다섯"


def test_a_long_description_is_cut() -> None:
    assert description("가" * 20_000) == "가" * MAX_DESCRIPTION
    assert len(description("\n".join(["나"] * 20_000))) <= MAX_DESCRIPTION


@given(st.text() | st.text("가a \n\r\x1b\u202e\x85\x07", max_size=200))
def test_every_description_is_fit_to_show(value: str) -> None:
    shown = description(value)
    assert len(shown) <= MAX_DESCRIPTION
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert shown == shown.strip()
    assert description(shown) == shown


def picture(width: object, name: str) -> dict[str, object]:
    return {"url": f"https://i.ytimg.com/vi/a/{name}.jpg", "width": width, "height": 9}


def test_the_widest_picture_that_is_sure_to_exist_is_the_thumbnail() -> None:
    guessed = {"url": "https://i.ytimg.com/vi/a/maxresdefault.jpg", "preference": 0}
    given_ = [picture(168, "small"), picture(720, "hq720"), picture(336, "middle"), guessed, picture("9999", "text")]
    assert metadata.details(of(thumbnails=given_)).thumbnail == "https://i.ytimg.com/vi/a/hq720.jpg"


def test_where_none_is_sure_the_one_that_yt_dlp_chose_is_taken() -> None:
    own = "https://i.ytimg.com/vi/a/maxresdefault.jpg"
    for thumbnails in (
        [],
        [{"url": "https://i.ytimg.com/b.jpg"}],
        [{"url": "http://x/b.jpg", "width": 9}],
        None,
        [None],
    ):
        assert metadata.details(of(thumbnails=thumbnails, thumbnail=own)).thumbnail == own


@pytest.mark.parametrize(
    "address",
    [
        "http://i.ytimg.com/a",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https://a b",
        "https://a\n",
        "https://가",
    ],
)
def test_an_address_that_is_not_fit_to_be_asked_for_is_none(address: str) -> None:
    assert metadata.details(of(thumbnail=address)).thumbnail is None
    assert metadata.details(of(thumbnails=[{"url": address, "width": 5}])).thumbnail is None
    assert metadata.details(of(thumbnail="https://a/" + "x" * 2_000)).thumbnail is None


def test_a_heatmap_is_taken_piece_by_piece() -> None:
    pieces: list[object] = [
        {"start_time": 0.0, "end_time": 3.51, "value": 1.0},
        {"start_time": 3.51, "end_time": 7.02, "value": 0.123456},
        *({"start_time": 0, "end_time": 1, "value": value} for value in ODD if not isinstance(value, bool)),
        *({"start_time": value, "end_time": 1, "value": 0.5} for value in ODD),
        *({"start_time": 0, "end_time": value, "value": 0.5} for value in ODD),
        {"start_time": 0, "end_time": 1, "value": 1.01},
        *ODD,
    ]
    assert metadata.details(of(heatmap=pieces)).heatmap == (Heat(0, 3_510, 1.0), Heat(3_510, 7_020, 0.1235))


FIELDS = ["description", "thumbnail", "thumbnails", "formats", "heatmap", "chapters", "title", "channel", "channel_id"]
INFOS = st.dictionaries(st.sampled_from([*FIELDS, "duration", "upload_date", "media_type"]), ANYTHING)


@given(INFOS)
def test_whatever_a_video_says_of_itself_becomes_values(info: dict[str, Any]) -> None:
    details = metadata.details(info)
    assert details.thumbnail is None or details.thumbnail.startswith("https://")
    assert all(0 <= heat.value <= 1 for heat in details.heatmap)
    starts = [chapter.start_ms for chapter in metadata.chapters(info.get("chapters"))]
    assert starts == sorted(starts)
    assert len(metadata.text(info, "title")) <= MAX_NAME
    metadata.channel_id(info)
    metadata.channel_name(info)
    assert metadata.kind(info) in ("video", "short", "stream")
    assert metadata.day(info.get("upload_date")) is None or isinstance(info["upload_date"], str)
    assert (metadata.ms(info.get("duration")) or 0) >= 0
