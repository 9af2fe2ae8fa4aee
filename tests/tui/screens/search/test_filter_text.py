"""Filters in the text of a query, and what can be offered: text in, text out."""

import dataclasses
from collections.abc import Callable, Iterator
from datetime import date

import pytest
from hypothesis import assume, example, given, strategies as st

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import tidy
from subtitle_rag.library.names import VideoFacets
from subtitle_rag.library.resolve import match_channels, match_videos
from subtitle_rag.search.query import Query, parse_query, query_parts
from subtitle_rag.tui.screens.search.filter_options import LONGEST, MOST, FilterCatalogue, FilterOption, spelled
from subtitle_rag.tui.shared import query_filters
from subtitle_rag.tui.shared.query_filters import Chip
from tests.support.cases import cases

Called = Callable[[str, list[tuple[str, str]]], list[str]]
TODAY = date(2026, 11, 21)
PIECES = st.sampled_from(
    [
        *('"', "-", "--", " ", " ", "channel:", "채널:", "VIDEO:", "after:", "이전:", "kind:", "종류:쇼츠", "short"),
        *("2026-05-31", "20260131", "치킨", "소스", "찍어", "🔥", "*", "”", '"느긋한 식탁"', "channel:둘 "),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12) | TEXTS
CHIPS = st.one_of(
    st.builds(Chip, st.sampled_from(["channel", "video"]), NAMES.map(lambda name: name + "a")),
    st.builds(Chip, st.sampled_from(query_filters.DAYS), st.dates(date(1000, 1, 1)).map(date.isoformat)),
    st.builds(Chip, st.just("kind"), st.sampled_from(["video", "short", "stream"])),
)


@pytest.fixture(params=["ko", "en"], autouse=True)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    i18n.activate(request.param)
    yield request.param
    i18n.activate("en")


def clean(chip: Chip) -> Chip:
    """As it is read from a text."""
    return dataclasses.replace(chip, value=chip.value if chip.name == "kind" else query_filters.filter_value_text(chip))


def rest(text: str) -> list[tuple[str, bool, bool]]:
    """What a text looks for, apart from filters."""
    kept = [p for p in query_parts(tidy(text)) if not p.name and p.value]
    return [(p.value, p.minus, p.quoted) for p in kept]


def parsed(text: str) -> Query | None:
    try:
        return parse_query(f"{text} 가")
    except UsageError:
        return None


@given(TEXTS)
@pytest.mark.campaign(part="app")
def test_the_filters_are_those_that_are_searched_with(text: str) -> None:
    query, found = parsed(text), query_filters.query_chips(text)
    assume(query)
    assert query
    for name, values in (("channel", query.channels), ("video", query.videos), ("kind", query.kinds)):
        assert list(dict.fromkeys(Chip(name, value).key for value in values)) == [
            c.key for c in found if c.name == name
        ]
    days = {chip.name: chip.value for chip in found if chip.name in query_filters.DAYS}
    wanted = {"after": query.after, "before": query.before}
    assert days == {name: day.isoformat() for name, day in wanted.items() if day}


@given(TEXTS, CHIPS)
@example('치킨 "찍어', Chip("channel", "느긋한 식탁"))
@example('channel:"둘"-광고', Chip("channel", "하나"))
@example("치킨 채널:", Chip("channel", "하나"))
@example("-광고", Chip("kind", "short"))
@pytest.mark.campaign(part="app")
def test_a_filter_that_is_put_in_is_there_and_all_else_stays(text: str, chip: Chip) -> None:
    chip = clean(chip)
    before = query_filters.query_chips(text)
    after = query_filters.with_filter(text, chip)
    assert tidy(after) == after
    kept = [
        other.key for other in before if other.key != chip.key and not other.name == chip.name in query_filters.DAYS
    ]
    assert {other.key for other in query_filters.query_chips(after)} == {*kept, chip.key}
    assert rest(after) == rest(text)
    assert query_filters.with_filter(after, chip) == after


@given(TEXTS, CHIPS)
@pytest.mark.campaign(part="app")
def test_what_was_put_in_can_be_taken_away(text: str, chip: Chip) -> None:
    chip = clean(chip)
    taken = query_filters.without_filter(query_filters.with_filter(text, chip), chip)
    assert chip.key not in [other.key for other in query_filters.query_chips(taken)]
    assert rest(taken) == rest(text)


@given(TEXTS)
@example('channel:"느긋한 식탁"-광고 치킨')
@example('channel:"둘"--광고')
@example('channel:"둘"-channel:')
@example('kind:"short"channel:"둘"-channel:하나')
@pytest.mark.campaign(part="app")
def test_taking_one_filter_away_leaves_the_others_and_what_is_looked_for(text: str) -> None:
    for chip in query_filters.query_chips(text):
        left = query_filters.without_filter(text, chip)
        kept = [other for other in query_filters.query_chips(text) if other != chip]
        assert [other.key for other in query_filters.query_chips(left)] == [other.key for other in kept]
        assert rest(left) == rest(text)


@given(TEXTS)
@pytest.mark.campaign(part="app")
def test_without_any_filter_the_rest_stays(text: str) -> None:
    left = query_filters.without_filters(text)
    assert not any(part.name for part in query_parts(left))
    assert rest(left) == rest(text)


@cases(
    ("text", "chip", "korean", "english"),
    [
        ("치킨", Chip("channel", "느긋한식탁"), "채널:느긋한식탁 치킨", "channel:느긋한식탁 치킨"),
        ("치킨", Chip("channel", "느긋한 식탁"), '채널:"느긋한 식탁" 치킨', 'channel:"느긋한 식탁" 치킨'),
        ("", Chip("kind", "short"), "종류:쇼츠", "kind:short"),
        ("kind:video 치킨", Chip("kind", "stream"), "kind:video 종류:라이브 치킨", "kind:video kind:stream 치킨"),
        ("치킨 after:2026-01-01", Chip("after", "2026-05-01"), "이후:2026-05-01 치킨", "after:2026-05-01 치킨"),
        ('소스 "찍어', Chip("video", "a b"), '영상:"a b" 소스 "찍어', 'video:"a b" 소스 "찍어'),
        ("치킨 영상:", Chip("video", "캠핑"), "영상:캠핑 치킨", "video:캠핑 치킨"),
        ("치킨 KIND:shorts", Chip("kind", "short"), "치킨 KIND:shorts", "치킨 KIND:shorts"),
        ("치킨", Chip("video", '그 "집" 밥'), '영상:"그 집 밥" 치킨', 'video:"그 집 밥" 치킨'),
    ],
)
def test_a_filter_is_written_in_the_language_of_the_interface(
    language: str, text: str, chip: Chip, korean: str, english: str
) -> None:
    assert query_filters.with_filter(text, chip) == (korean if language == "ko" else english)


def test_labels_name_the_filter_and_hold_nothing_that_steers_a_terminal(language: str) -> None:
    chips = (Chip("kind", "stream"), Chip("channel", "느긋한\x1b[31m 식탁"))
    assert " · ".join(map(query_filters.filter_label, chips)) == (
        "종류 라이브 · 채널 느긋한[31m 식탁" if language == "ko" else "kind stream · channel 느긋한[31m 식탁"
    )


def test_of_two_days_the_last_counts_and_both_go() -> None:
    text = "after:2026-01-01 치킨 이후:2026-02-01"
    assert query_filters.query_chips(text) == (Chip("after", "2026-02-01"),)
    assert query_filters.without_filter(text, Chip("after", "2026-02-01")) == "치킨"


# What is offered


def one(
    id: str, title: str, channel: str = "느긋한 식탁", kind: str = "", *, windows: bool = True, at: str = "UC1"
) -> VideoFacets:
    return VideoFacets(id, title, at, channel, date(2026, 1, 2), kind, windows)


VIDEOS = [
    one("v1", "캠핑 브이로그", kind="video"),
    one("v2", "캠핑 브이로그 2", kind="short"),
    one("v3", "\"맛집\" 찾아 '삼만리'", "달리는 골목", at="UC2"),
    one("v4", "👨\u200d👩\u200d👧 가족", '그 "집" 밥', at="UC3"),
    one("v5", "♪♪♪", "그집 밥", at="UC4"),
    one("v6", "없는 것", "빈 채널", "stream", windows=False, at="UC5"),
]


def rows(typed: str, *chips: Chip) -> tuple[FilterOption, ...]:
    catalogue = FilterCatalogue(VIDEOS)
    return catalogue.options(typed, chips, catalogue.covered_ids(chips), TODAY).rows


def offered(typed: str, *chips: Chip) -> list[str]:
    return [offer.label for offer in rows(typed, *chips)]


def test_at_first_kinds_days_and_channels_are_offered(language: str) -> None:
    kinds = ["영상", "쇼츠"] if language == "ko" else ["video", "short"]
    said = offered("")
    assert said[:2] == kinds
    assert said[-4:] == ['그 "집" 밥', "그집 밥", "느긋한 식탁", "달리는 골목"]
    assert "빈 채널" not in said
    after = [offer.chip.value for offer in rows("") if offer.chip and offer.name == "after"]
    assert after == ["2026-11-21", "2026-11-15", "2026-10-23", "2025-11-22", "2026-01-01"]


def test_what_is_set_is_not_offered_again(language: str) -> None:
    said = offered("", Chip("kind", "short"), Chip("channel", "느긋"), Chip("after", "2026-11-21"))
    assert not {"쇼츠", "short", "느긋한 식탁"} & set(said)
    assert said[0] == ("영상" if language == "ko" else "video")
    assert not {"today", "오늘"} & set(said)
    assert offered("캠핑", Chip("video", "v1")) == ["캠핑 브이로그 2"]


@cases(
    ("typed", "said"),
    [
        ("캠핑브이", ["캠핑 브이로그", "캠핑 브이로그 2"]),
        ("ㅋㅍ", ["캠핑 브이로그", "캠핑 브이로그 2"]),
        ("맛집", ["\"맛집\" 찾아 '삼만리'"]),
        ("골목", ["달리는 골목"]),
        ("ㄷㄹㄴ", ["달리는 골목"]),
        ("없는 것", []),
        ("쇼츠", None),
        ("shorts", None),
        ("[bold]", []),
    ],
)
def test_what_is_typed_narrows_the_list(typed: str, said: list[str] | None, language: str) -> None:
    assert offered(typed) == (said if said is not None else ["쇼츠" if language == "ko" else "short"])


def test_what_begins_so_comes_first() -> None:
    assert offered("2") == ["캠핑 브이로그 2"]
    assert offered("집")[0] == '그 "집" 밥'
    assert offered("느")[0] == "느긋한 식탁"
    known = FilterCatalogue([one("a", "김치 캠핑"), one("b", "캠핑 김치")])
    assert [o.label for o in known.options("캠핑", (), frozenset(), TODAY).rows] == ["캠핑 김치", "김치 캠핑"]


@cases(
    ("typed", "days"),
    [
        ("2026", ["2026-01-01", "2026-12-31"]),
        ("2024-2", ["2024-02-01", "2024-02-29"]),
        ("2026-05-31", ["2026-05-31", "2026-05-31"]),
        ("2026-13", []),
        ("0000", []),
        ("2026-02-30", []),
    ],
)
def test_a_day_a_month_or_a_year_can_be_typed(typed: str, days: list[str]) -> None:
    offers = FilterCatalogue([]).options(typed, (), frozenset(), date(2020, 1, 1)).rows
    assert [offer.chip.value for offer in offers if offer.chip] == days
    assert [offer.name for offer in offers] == ["after", "before"][: len(days)]


@pytest.mark.campaign(part="app")
def test_long_lists_are_cut_and_their_length_is_told() -> None:
    many = FilterCatalogue([one(f"v{n}", f"제목 {n}", f"채널 {n % 300}", at=f"UC{n % 300}") for n in range(5_000)])
    found = many.options("제목", (), frozenset(), TODAY)
    assert (len(found.rows), found.channels, found.videos) == (MOST, 0, 5_000)
    found = many.options("", (), frozenset(), TODAY)
    assert (sum(row.name == "channel" for row in found.rows), found.channels) == (MOST, 300)


@pytest.mark.parametrize(
    ("id", "written"),
    [
        ("v1", "v1"),  # its title stands in another one
        ("v2", "캠핑 브이로그 2"),
        ("v3", "찾아 '삼만리'"),
        ("v4", "👧 가족"),  # what joins its parts is invisible
        ("v5", "v5"),
    ],
)
def test_a_chosen_video_is_the_only_one_that_is_found(id: str, written: str) -> None:
    title = next(one.title for one in VIDEOS if one.id == id)
    [offer] = [offer for offer in rows(title) if offer.id == id]
    chip = FilterCatalogue(VIDEOS).chip(offer)
    assert chip == Chip("video", written)
    [part] = [p for p in query_parts(query_filters.with_filter("치킨", chip)) if p.name]
    assert match_videos(part.value, [(v.id, v.title) for v in VIDEOS]) == [id]


@pytest.mark.parametrize(("id", "written"), [("UC1", "느긋한 식탁"), ("UC3", "UC3"), ("UC4", "그집 밥")])
def test_a_chosen_channel_is_the_only_one_that_is_found(id: str, written: str) -> None:
    [offer] = [offer for offer in rows("") if offer.id == id]
    assert FilterCatalogue(VIDEOS).chip(offer) == Chip("channel", written)


@pytest.mark.parametrize("called", [match_channels, match_videos])
@given(st.lists(NAMES, min_size=1, max_size=4))
@pytest.mark.campaign(part="app")
def test_whatever_names_are_they_can_be_told_apart(called: Called, names: list[str]) -> None:
    known = [(f"id{at}", name) for at, name in enumerate(names)]
    for id, name in known:
        chip = Chip("video", spelled(name, id, lambda written: called(written, known)))
        assert len(chip.value) <= LONGEST
        [part] = [part for part in query_parts(query_filters.with_filter("치킨", chip)) if part.name]
        assert called(part.value, known) == [id]


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("캠핑", "캠", "종류:쇼츠 캠", "종류:쇼츠 캠핑"),
        ("종류:쇼츠 캠핑", "종류:쇼츠 캠", "캠", "캠핑"),
        ("캠핑", "캠", "캠", "캠핑"),
        ("캠", "캠", "종류:쇼츠 캠", "종류:쇼츠 캠"),
    ],
)
def test_a_syllable_that_comes_late_stays_beside_new_filters(text: str, before: str, after: str, expected: str) -> None:
    i18n.activate("ko")
    assert query_filters.transfer_filters(text, before, after) == expected
