import dataclasses
import unicodedata
from datetime import date

import pytest
from hypothesis import example, given, strategies as st

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import MAX_TYPED, tidy
from subtitle_rag.search.query import MAX_LENGTH, QUOTES, Query, parse_query, query_parts
from tests.support.cases import cases
from tests.support.failures import failing

TYPED = st.text(st.sampled_from('가나치킨 ab1"“”「-:.,*()\\🔥\u200d\t\n\0') | st.characters(codec="utf-8"), max_size=60)
PIECES = st.sampled_from(
    [
        '"',
        "-",
        "--",
        " ",
        "channel:",
        "채널:",
        "VIDEO:",
        "after:",
        "이전:",
        "kind:",
        "종류:쇼츠",
        "short",
        "2026-05-31",
        "치킨",
        "소스",
        "🔥",
        "vİdeo:",
        "*",
    ]
)
SYNTAX = st.lists(PIECES, max_size=12).map("".join)


def code(raw: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_query(raw)
    assert str(caught.value)
    return caught.value.code


@given(TYPED | SYNTAX)
@example("vİdeo:abc 치킨")
@example("ᄒ\u200bᅡ\u200bᆫ")
@example('channel:""')
def test_any_text_is_a_query_or_a_usage_error(raw: str) -> None:
    try:
        query = parse_query(raw)
    except UsageError:
        assert code(raw) in {
            "empty_query",
            "query_too_long",
            "bad_value",
            "unknown_value",
            "excluded_filter",
        }
        return
    parts = [
        query.raw,
        *([query.text] if query.text else query.speakers),
        *query.phrases,
        *query.excluded,
        *query.channels,
        *query.videos,
    ]
    for part in parts:
        assert unicodedata.is_normalized("NFC", part)
        assert part.isprintable()
        assert any(c.isalnum() for c in part)
        assert " ".join(part.split()) == part.strip()
    assert all(phrase in query.text for phrase in query.phrases)


@given(st.text(st.characters(exclude_characters='"“”„‟″「」『』-:', codec="utf-8"), max_size=60))
def test_without_syntax_every_word_with_a_letter_is_looked_for(raw: str) -> None:
    said = [word for word in tidy(raw).split() if any(c.isalnum() for c in word)]
    if said:
        assert [word for word in parse_query(raw).text.split() if word != "&"] == said
    else:
        assert code(raw) == "empty_query"


@given(TYPED | SYNTAX)
def test_decomposed_hangul_is_the_same_query(raw: str) -> None:
    try:
        wanted: object = parse_query(unicodedata.normalize("NFC", raw))
    except UsageError as error:
        wanted = error.code
    decomposed = unicodedata.normalize("NFD", raw)
    assert (code(decomposed) if isinstance(wanted, str) else parse_query(decomposed)) == wanted


@given(TYPED)
def test_tidying_twice_changes_nothing(raw: str) -> None:
    assert tidy(tidy(raw)) == tidy(raw)


def test_the_whole_syntax_at_once() -> None:
    raw = (
        '치킨 소스 "찍어 먹" -광고 -"협찬 받은" channel:느긋한식탁 video:"치킨 리뷰" after:2026-01-01 이전:2026-12-31'
        " kind:video 종류:쇼츠"
    )
    assert parse_query(raw) == Query(
        raw=raw,
        text="치킨 소스 찍어 먹",
        phrases=("찍어 먹",),
        excluded=("광고", "협찬 받은"),
        channels=("느긋한식탁",),
        videos=("치킨 리뷰",),
        after=date(2026, 1, 1),
        before=date(2026, 12, 31),
        kinds=("video", "short"),
    )


@cases(
    "raw",
    [
        *(
            "",
            " ",
            "\t\n",
            "...",
            "?!",
            "🔥🔥",
            "\0\x1b",
            "\u200b",
            '""',
            '" "',
            "-",
            "--",
            "- -",
            '-""',
            "_",
            "*",
            "♪",
        ),
        *("channel:느긋", "after:2026-01-01", 'video:"a b"', '채널:""', "kind:short"),
    ],
)
def test_without_a_letter_or_with_filters_alone_a_query_is_empty(raw: str) -> None:
    assert code(raw) == "empty_query"


@pytest.mark.parametrize("raw", ["-광고", '-"광고 협찬"', "-광고 channel:느긋", "-광고 🔥"])
def test_exclusions_alone_say_so(raw: str) -> None:
    assert code(raw) == "empty_query"


def test_a_query_of_ten_thousand_characters_is_too_long() -> None:
    with failing("query_too_long", UsageError) as caught:
        parse_query("치" * 10_000)
    assert caught.value.details == {"length": 10_000, "limit": MAX_LENGTH}


def test_length_is_counted_in_syllables_after_tidying() -> None:
    most = "치" * MAX_LENGTH
    assert parse_query(unicodedata.normalize("NFD", most) + "   \0").text == most
    assert code(most + "치") == "query_too_long"


@pytest.mark.parametrize(
    ("raw", "phrases"),
    [
        ('"찍어 먹"', ("찍어 먹",)),
        ("“찍어 먹”", ("찍어 먹",)),
        ("「찍어 먹」 『소스』", ("찍어 먹", "소스")),
        ("„찍어 먹‟", ("찍어 먹",)),
        ('"찍어   먹"소스', ("찍어 먹",)),
        ('소스"찍어 먹"', ("찍어 먹",)),
        ('"찍어 먹', ()),
        ('찍어 먹"', ()),
        ('"찍어 먹" "소스', ("찍어 먹",)),
        ('"-광고" "channel:x" 소스', ("-광고", "channel:x")),
    ],
)
def test_phrases_stand_in_quotes_of_any_kind(raw: str, phrases: tuple[str, ...]) -> None:
    assert parse_query(raw).phrases == phrases


def test_an_unclosed_quote_loses_no_word() -> None:
    assert parse_query('치킨 "찍어 먹').text == "치킨 찍어 먹"


@pytest.mark.parametrize(
    ("raw", "text", "excluded"),
    [
        ("소스 -광고", "소스", ("광고",)),
        ("-광고 소스", "소스", ("광고",)),
        ("소스-광고", "소스-광고", ()),
        ("소스 - 광고", "소스 광고", ()),
        ("소스 --광고", "소스", ("-광고",)),
        ("소스 -🔥", "소스", ()),
        ("소스 -광고 -광고", "소스", ("광고", "광고")),
        ("a-b -c-d", "a-b", ("c-d",)),
    ],
)
def test_a_minus_before_a_word_excludes_it(raw: str, text: str, excluded: tuple[str, ...]) -> None:
    assert (parse_query(raw).text, parse_query(raw).excluded) == (text, excluded)


@pytest.mark.parametrize(
    "word", ["https://x.y", "x:y", "12:41", "mychannel:x", "내채널:x", "mankind:x", "channel", "OR"]
)
def test_a_colon_makes_no_filter_of_another_word(word: str) -> None:
    assert parse_query(f"치킨 {word}") == Query(f"치킨 {word}", f"치킨 {word}")


@pytest.mark.parametrize(
    "word", ["a*", "^치킨$", ".*a", "%치킨%", "'x';DROP", "{a}", "C++", "#태그", "[음악]", "a\\b", "NEAR(a,b)"]
)
def test_what_is_no_syntax_is_text(word: str) -> None:
    query = parse_query(f"치킨 {word}")
    assert query.text.split() == ["치킨", word]
    assert (query.channels, query.videos, query.phrases) == ((), (), ())


@pytest.mark.parametrize("name", ["channel", "채널", "CHANNEL", "Channel"])
def test_filters_have_names_in_both_languages(name: str) -> None:
    assert parse_query(f'소스 {name}:"느긋한 식탁" {name}:둘').channels == ("느긋한 식탁", "둘")
    assert parse_query(unicodedata.normalize("NFD", f"{name}:하나 소스")).channels == ("하나",)


def test_a_filter_without_a_value_filters_nothing() -> None:
    assert parse_query('소스 channel:"" video:"."') == Query('소스 channel:"" video:"."', "소스")


@cases("name", ["after", "before", "이후", "이전"])
@cases("value", ["언젠가", "202", "2026-13-01", "2026-02-30", "26-13-01", "0000-01-01", "２０２６-01-01"])
def test_a_date_that_is_none_is_named_with_its_filter_as_it_was_typed(name: str, value: str) -> None:
    with failing("bad_value", UsageError) as caught:
        parse_query(f"소스 {name}:{value}")
    assert caught.value.message == f"{value} is not a valid date for {name}."


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("video", "video"),
        ("Videos", "video"),
        ("영상", "video"),
        ("short", "short"),
        ("SHORTS", "short"),
        ("쇼츠", "short"),
        ('"쇼츠"', "short"),
        ("stream", "stream"),
        ("live", "stream"),
        ("라이브", "stream"),
        ("생방송", "stream"),
    ],
)
def test_kinds_have_names_in_both_languages(value: str, kind: str) -> None:
    for name in ("kind", "종류", "KIND"):
        assert parse_query(f"소스 {name}:{value}").kinds == (kind,)
        assert parse_query(unicodedata.normalize("NFD", f"{name}:{value} 소스")).kinds == (kind,)


@pytest.mark.parametrize("value", ["쇼", "clip", "short,stream", "영상들", "ｓhort"])
def test_a_kind_that_is_none_is_named_and_the_known_ones_are_told(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_query(f"소스 종류:{value}")
    assert (caught.value.code, caught.value.details["name"]) == ("unknown_value", value)
    assert "video, short, stream" in caught.value.hint


@given(TYPED | SYNTAX)
def test_the_pieces_of_a_text_stand_where_they_say(raw: str) -> None:
    typed = tidy(raw)
    end = 0
    for part in query_parts(typed):
        assert not any(character.isalnum() for character in typed[end : part.start])
        said = typed[part.start : part.end].rstrip(QUOTES)
        assert " ".join(said.split()).endswith(part.value)
        assert part.quoted == (len(said) < part.end - part.start)
        end = part.end


@cases("name", ["channel", "Channel", "채널", "이후", "종류"])
def test_a_filter_cannot_be_excluded_and_is_named_as_it_was_typed(name: str) -> None:
    """Taken without its minus it would search exactly what was to be left out."""
    for typed in (f"소스 -{name}:2026-01-01", f'-{name}:"느긋한 식탁" 소스'):
        with pytest.raises(UsageError) as caught:
            parse_query(typed)
        assert (caught.value.code, caught.value.details) == ("excluded_filter", {"name": name})


@pytest.mark.parametrize("begun", ["after:", "이전:", "채널:", 'video:""', "after: ", "종류:"])
def test_a_filter_that_is_still_being_typed_filters_nothing(begun: str) -> None:
    assert parse_query(f"치킨 {begun}") == dataclasses.replace(
        parse_query("치킨"), raw=parse_query(f"치킨 {begun}").raw
    )


def test_a_text_far_too_long_is_refused_unread() -> None:
    with pytest.raises(UsageError) as caught:
        parse_query(" " * 100_000)
    assert (caught.value.code, caught.value.details["length"]) == ("query_too_long", 100_000)
    assert len(tidy("가" * 100_000)) == MAX_TYPED
