"""Addresses, handles and ids: what is read from them, what is refused, and that yt-dlp knows every canonical form."""

import importlib
import unicodedata
from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import TABS
from subtitle_rag.captions.addresses import Source, addresses_in, find_addresses, parse_address, parse_addresses
from tests.support.addresses import (
    CHANNEL,
    DECOMPOSED,
    ENCODED,
    HANDLE,
    HANGUL,
    ID,
    LIST,
    LISTED,
    MARKET,
    PASTED,
    PL,
    REASONS,
    REFUSED,
    TYPED,
    UC,
    VIDEO,
    WWW,
    tab,
)
from tests.support.cases import cases


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as error:
        parse_address(text)
    return error.value


@cases(("typed", "expected"), TYPED)
def test_what_is_typed_names_one_source(typed: str, expected: Source) -> None:
    assert parse_address(typed) == expected


@cases("typed", REFUSED)
def test_anything_else_is_refused(typed: str) -> None:
    error = refused(typed)
    assert error.code == "unsupported_url"
    assert list(error.details) == ["url", "reason"]
    assert error.details["url"].isprintable()
    assert len(error.details["url"]) <= 200


def test_a_refused_text_is_shown_without_control_characters_and_cut() -> None:
    assert refused(" http://a\x1b[31m\u202e/\n가 ").details["url"] == "http://a[31m/가"
    assert refused("http://" + "a" * 300).details["url"] == "http://" + "a" * 193
    assert refused("\ud800").details["url"] == ""


@cases(
    ("source", "url"),
    [
        (VIDEO, f"{WWW}/watch?v={ID}"),
        (LISTED, f"{WWW}/watch?v={ID}"),
        (LIST, f"{WWW}/playlist?list={PL}"),
        (CHANNEL, f"{WWW}/channel/{UC}"),
        (tab(CHANNEL, "shorts"), f"{WWW}/channel/{UC}/shorts"),
        (HANDLE, f"{WWW}/@market"),
        (MARKET, f"{WWW}/{ENCODED}"),
        (tab(MARKET, "streams"), f"{WWW}/{ENCODED}/streams"),
        (Source("channel", "@market", TABS), f"{WWW}/@market"),
        (tab(HANDLE, "search?query=a&b 찌개"), f"{WWW}/@market/search?query=a%26b%20%EC%B0%8C%EA%B0%9C"),
        (Source("channel", "c/시장"), f"{WWW}/c/%EC%8B%9C%EC%9E%A5"),
        (Source("channel", "user/Market"), f"{WWW}/user/Market"),
        (Source("channel", "Market", ("videos",)), f"{WWW}/Market/videos"),
    ],
)
def test_the_canonical_address(source: Source, url: str) -> None:
    assert source.url == url


@cases("expected", dict.fromkeys(source for _, source in TYPED))
def test_the_canonical_address_names_the_same_source(expected: Source) -> None:
    assert parse_address(expected.url) == Source(expected.kind, expected.key, expected.tabs)


# --- as they are pasted ---


@cases(("pasted", "sources"), [*PASTED, *((typed, (source,)) for typed, source in TYPED)])
def test_what_is_pasted_names_sources(pasted: str, sources: tuple[Source, ...]) -> None:
    assert parse_addresses(pasted) == sources


@cases(("pasted", "sources"), PASTED)
def test_what_is_found_in_a_text_is_found_again(pasted: str, sources: tuple[Source, ...]) -> None:
    """The app puts it into its field in the place of the text."""
    assert parse_addresses(" ".join(find_addresses(pasted))) == sources


@cases(("pasted", "reason"), REASONS)
def test_a_refusal_says_what_was_wrong(pasted: str, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_addresses(pasted)
    assert error.value.code == "unsupported_url"
    assert reason in error.value.details["reason"]
    assert reason in error.value.message


@cases("pasted", REFUSED)
def test_no_stranger_is_found_in_a_text(pasted: str) -> None:
    """What is wrong beside a good address is left out or refused, never followed."""
    assert all(source.url.startswith(f"{WWW}/") for source in addresses_in(pasted))


# --- for the web or for the disk ---


@cases(
    "text",
    [
        f"{WWW}/watch?v={ID}",
        "HTTPS://YOUTU.BE/abc",
        " <https://example.org/> ",
        "youtube.com",
        "m.youtube.com/@market",
        "//www.youtube.com/@market",
        f"youtu.be/{ID}",
        "youtube-nocookie.com/embed/x",
        "youtube.com:8080/",
        "@market",
        "＠market",
        HANGUL,
        DECOMPOSED,
        ENCODED,
        "@market?si=abc",
        "@market/shorts",
        "@market/",
        UC,
        PL,
        "PLBB231211A4F62143",
        "UULF" + UC[2:],
        "OLAK5uy_" + "k" * 33,
        "https://" + "a" * 10_000,
    ],
)
def test_addresses_are_not_taken_for_paths(text: str) -> None:
    assert find_addresses(text)


@cases(
    "text",
    [
        "",
        ID,
        "my-captions",
        "captions",
        "자막/시장.ko.vtt",
        "/home/me/captions",
        "//server/share",
        "./@market",
        "@captions/a.vtt",
        "@market.vtt",
        "@시장.KO.SRT",
        "@",
        "C:\\captions",
        "C://captions",
        "file:///etc/passwd",
        "강의: 1부.vtt",
        "youtube.com_talk.vtt",
        "youtube",
        "PLaylist-captions",
        "UCLA-lectures",
        f"시장 [{ID}].ko.vtt",
        "a" * 10_000,
        "a." * 5_000,
    ],
)
def test_paths_are_not_taken_for_addresses(text: str) -> None:
    assert not find_addresses(text)


# --- properties ---

pieces = st.sampled_from(
    [
        *("https://", "http:", "//", "www.", "youtube.com", "youtu.be", "music.youtube.com", "consent.youtube.com"),
        *("/", "?", "&", "#", "@", ":", "=", "%", "%2F", "%00", "%40", "\\", "[", "]", " ", "\n", "\u202e", "\ud800"),
        *("watch", "v=", "list=", "m?continue=", "channel/", "c/", "shorts/", "search?query=", "attribution_link?u="),
        *(ID, UC, PL, HANGUL, DECOMPOSED, ENCODED, "RDMM", "ｙ", "ß", "İ", "Σ", "\u0301", "·", "가"),
    ]
)
texts = st.text() | st.lists(pieces | st.text(max_size=3), max_size=10).map("".join)
rooted = st.tuples(st.sampled_from(["@", "youtube.com/", f"{WWW}/", f"{WWW}/@", f"{WWW}/c/"]), texts).map("".join)
names = st.text(st.characters(categories=["L", "N", "M"]), min_size=1, max_size=30)


def parsed(text: str) -> Source | None:
    try:
        return parse_address(text)
    except UsageError:
        return None


@given(texts | rooted)
def test_any_text_names_sources_on_youtube_or_is_refused(text: str) -> None:
    alone = parsed(text)
    for source in {*([alone] if alone else []), *addresses_in(text)}:
        parts = urlsplit(source.url)
        assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "www.youtube.com", "")
        assert source.url.isascii()
        assert source.url.isprintable()
        assert parse_address(source.url) == Source(source.kind, source.key, source.tabs)


words = st.text(st.characters(categories=["L", "N", "M", "Zs", "Po"], exclude_characters="@.·,;:/?&#%"), max_size=20)


@given(st.sampled_from(TYPED), words, words, st.sampled_from(["", " ", "\n", "(", "「", '"', "<", "[제목]("]))
def test_an_address_is_found_among_any_words(typed: tuple[str, Source], before: str, after: str, mark: str) -> None:
    text, source = typed
    url = source.url if "search" not in source.url else "https://youtu.be/aB3_-xYz019"
    expected = parse_address(url)
    assert expected in parse_addresses(f"{before} {mark}{url} {after}"), text


@given(st.lists(st.sampled_from(TYPED), min_size=1, max_size=8), st.sampled_from([" ", "\n", ", ", "\r\n- ", " | "]))
def test_all_of_a_list_are_taken_each_once(typed: list[tuple[str, Source]], between: str) -> None:
    sources = [parse_address(source.url) for _text, source in typed]
    assert parse_addresses(between.join(source.url for source in sources)) == tuple(dict.fromkeys(sources))


@given(names)
def test_a_handle_is_one_however_it_is_written(name: str) -> None:
    source = parsed("@" + name)
    if source:
        assert unicodedata.is_normalized("NFC", source.key)
        assert parse_address(source.url) == source == parse_address(source.key)
        assert unquote(source.url).endswith("/" + source.key)
        assert parse_address(f"{WWW}/@{quote(unicodedata.normalize('NFD', name))}") == source


# --- yt-dlp itself ---


def test_yt_dlp_takes_every_canonical_address_by_its_extractors_for_youtube() -> None:
    module = importlib.import_module("yt_dlp.extractor.youtube")
    extractors = [value for name, value in vars(module).items() if name.endswith("IE")]
    assert len(extractors) > 10
    for source in dict.fromkeys(source for _, source in TYPED):
        takers = {extractor.IE_NAME for extractor in extractors if extractor.suitable(source.url)}
        assert takers, source.url
        assert takers <= {"youtube", "youtube:tab", "youtube:playlist"}, source.url
        assert (takers == {"youtube"}) == (source.kind == "video"), source.url


def test_yt_dlp_keeps_for_itself_no_name_that_is_taken_for_a_channel() -> None:
    from yt_dlp.extractor.youtube import YoutubeTabIE

    for word in YoutubeTabIE._RESERVED_NAMES.split("|"):
        for typed in (f"{WWW}/{word}", f"{WWW}/{word}-a", f"{WWW}/{word}가"):
            source = parsed(typed)
            assert source is None or YoutubeTabIE.suitable(source.url), typed
