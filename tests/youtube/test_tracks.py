"""Which track is taken of lists in the shape that yt-dlp gives them: seven formats a track, told apart by address."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.youtube.tracks import FORMATS, MAX_CANDIDATES, TrackChoice, track_candidates

EXTENSIONS = ("json3", "srv1", "srv2", "srv3", "ttml", "srt", "vtt")
KO = ["ko"]

Entries = list[dict[str, Any]]
CHAT: Entries = [
    {
        "url": "https://www.youtube.com/watch?v=abcdefghijk&bpctr=9999999999&has_verified=1",
        "video_id": "abcdefghijk",
        "ext": "json",
        "protocol": "youtube_live_chat_replay",
    }
]


def manual(lang: str, name: str = "", **query: str) -> Entries:
    return formats(lang, **({"name": name} if name else {}), **query)


def heard(lang: str, **query: str) -> Entries:
    return formats(lang, caps="asr", kind="asr", variant="punctuated", **query)


def formats(lang: str, **query: str) -> Entries:
    fields = {"v": "abcdefghijk", "ei": "xyz", "sig": "A.B", "lang": lang, **query}
    told = "&".join(f"{key}={quote(value)}" for key, value in fields.items())
    address = f"https://www.youtube.com/api/timedtext?{told}"
    name = query.get("name", lang)
    return [{"ext": ext, "url": f"{address}&fmt={ext}", "name": name, "impersonate": True} for ext in EXTENSIONS]


def info(subtitles: object = None, automatic: object = None) -> dict[str, Any]:
    return {"id": "abcdefghijk", "title": "국수", "subtitles": subtitles, "automatic_captions": automatic}


def korean(**extra: Entries) -> dict[str, Entries]:
    """The automatic captions of a Korean video, with a machine's translations."""
    own = heard("ko")
    return {"ko-orig": own, "ko": own, "en": heard("ko", tlang="en"), "ja": heard("ko", tlang="ja"), **extra}


ENGLISH = {"en-orig": heard("en"), "en": heard("en"), "ko": heard("en", tlang="ko")}


def choose_track(of: object, languages: Sequence[str], *, translated: bool = False) -> TrackChoice | None:
    """The first one to ask for."""
    return next(iter(track_candidates(of, languages, translated=translated)), None)  # type: ignore[arg-type]


def chosen(of: dict[str, Any], *languages: str, translated: bool = False) -> TrackChoice:
    offer = choose_track(of, languages or KO, translated=translated)
    assert offer is not None
    assert f"&fmt={offer.format}" in offer.url
    return offer


def test_a_manual_track_goes_before_what_a_machine_heard() -> None:
    offer = chosen(info({"ko": manual("ko"), "live_chat": CHAT}, korean()))
    assert (offer.language, offer.kind, offer.format, offer.flag) == ("ko", "manual", "vtt", "")
    assert "kind=asr" not in offer.url


def test_what_a_machine_heard_is_taken_where_there_is_no_manual_track() -> None:
    offer = chosen(info({"en": manual("en"), "live_chat": CHAT}, korean()))
    assert (offer.language, offer.kind, offer.format, offer.flag) == ("ko", "asr", "json3", "")
    assert "kind=asr" in offer.url
    assert "tlang" not in offer.url


def test_without_the_web_pages_translations_the_original_is_still_found() -> None:
    own = heard("ko")
    assert chosen(info({}, {"ko-orig": own, "ko": own})).flag == ""
    assert chosen(info({}, {"ko-orig": own})).url == own[0]["url"]


@pytest.mark.parametrize("key", ["ko-KR", "ko-kr"])
def test_korean_of_korea_is_korean(key: str) -> None:
    offer = chosen(info({key: manual(key)}, korean()))
    assert (offer.language, offer.kind) == (key, "manual")


def test_a_named_track_is_taken_but_the_plain_one_goes_before_it() -> None:
    named = manual("ko", "해설 자막")
    assert chosen(info({"ko-eEY6OEpapPo": named})).url == named[-1]["url"]
    plain = manual("ko")
    for subtitles in ({"ko-eEY6OEpapPo": named, "ko": plain}, {"ko": plain, "ko-eEY6OEpapPo": named}):
        assert chosen(info(subtitles)).url == plain[-1]["url"]


@pytest.mark.parametrize("other", ["kok", "en", "ja", "k", "kor", ""])
def test_another_language_is_not_korean(other: str) -> None:
    assert choose_track(info({other: manual(other)}, {f"{other}-orig": heard(other)}), KO) is None


def test_a_wish_for_korean_of_korea_is_not_met_by_any_other() -> None:
    assert choose_track(info({"ko": manual("ko")}), ["ko-KR"]) is None
    assert chosen(info({"ko": manual("ko"), "ko-KR": manual("ko-KR")}), "ko-KR").language == "ko-KR"


def test_an_english_videos_korean_is_a_translation_and_not_taken() -> None:
    assert choose_track(info({}, ENGLISH), KO) is None
    assert choose_track(info({"en": manual("en")}, ENGLISH), KO) is None


def test_a_translation_is_taken_where_it_is_wished_for_and_says_so() -> None:
    offer = chosen(info({}, ENGLISH), translated=True)
    assert (offer.language, offer.kind, offer.format, offer.flag) == ("ko", "asr", "json3", "translated")
    assert "tlang=ko" in offer.url


def test_the_translation_of_a_manual_track_is_taken_as_webvtt() -> None:
    offer = chosen(info({"en": manual("en")}, {"ko-en": manual("en", tlang="ko-en")}), translated=True)
    assert (offer.kind, offer.format, offer.flag) == ("manual", "vtt", "translated")


def test_what_was_said_goes_before_every_translation() -> None:
    assert chosen(info({}, ENGLISH), "ko", "en", translated=True).language == "en"
    assert chosen(info({"ko": manual("ko")}, ENGLISH), translated=True).flag == ""


def test_a_translation_into_the_own_language_is_none() -> None:
    assert chosen(info({}, {"ko": heard("ko", tlang="ko")})).flag == ""


@pytest.mark.parametrize("turned", [False, True])
def test_of_a_list_that_holds_a_translation_and_the_real_track_the_real_one_is_taken(turned: bool) -> None:
    parts = [heard("en", tlang="ko"), heard("ko")]
    both = parts[::-1] if turned else parts
    offer = chosen(info({}, {"en-orig": heard("en"), "en": heard("en"), "ko": both[0] + both[1]}), translated=True)
    assert (offer.flag, offer.kind) == ("", "asr")
    assert "tlang" not in offer.url


def test_of_several_originals_any_may_be_a_dub() -> None:
    dubbed = korean(**{"en-orig": heard("en")})
    assert chosen(info({}, dubbed)).flag == "dub"
    assert chosen(info({}, dubbed), "en").flag == "dub"
    assert chosen(info({"ko": manual("ko")}, dubbed)).flag == ""


def test_one_original_is_no_dub() -> None:
    assert chosen(info({}, korean())).flag == ""


def test_the_chat_of_a_live_stream_is_no_track() -> None:
    chat = [*CHAT, {**CHAT[0], "url": CHAT[0]["url"] + "&lang=ko", "ext": "vtt"}]
    assert choose_track(info({"live_chat": chat, "ko": chat}), KO) is None


def test_behind_the_first_manual_track_come_a_variant_of_it_and_the_automatic_one() -> None:
    named = {f"ko-{name}": manual("ko", name) for name in ("cc", "lyrics", "signs")}
    wished = track_candidates(info({"ko": manual("ko"), **named, "en": manual("en")}, korean()), KO)
    assert [(each.key, each.kind) for each in wished] == [("ko", "manual"), ("ko-cc", "manual"), ("ko", "asr")]


def test_a_track_under_two_keys_is_asked_for_once_and_never_too_many() -> None:
    assert len(track_candidates(info({}, korean()), ["ko", "ko-orig", "KO"])) == 1
    many = {name: manual(name) for name in ("ko", "en", "ja", "de", "fr")}
    assert len(track_candidates(info(many), list(many))) == MAX_CANDIDATES


def test_what_yt_dlp_lists_of_a_manual_track_beside_the_automatic_one_is_no_automatic_one() -> None:
    beside = {"ko-ko": manual("ko"), **korean()}
    wished = track_candidates(info({"ko": manual("ko")}, beside), KO)
    assert [(each.key, each.kind) for each in wished] == [("ko", "manual"), ("ko", "asr")]


def test_a_translation_comes_behind_all_that_was_said() -> None:
    wished = track_candidates(info({"ko": manual("ko")}, ENGLISH), KO, translated=True)
    assert [each.flag for each in wished] == ["", "translated"]


def test_languages_are_wished_for_in_order() -> None:
    both = info({"en": manual("en")}, korean())
    assert chosen(both, "ko", "en").kind == "asr"
    assert chosen(both, "en", "ko").kind == "manual"
    assert chosen(info({"en": manual("en")}), "ko", "en").language == "en"
    assert choose_track(both, ["fr", "de"]) is None
    assert choose_track(both, []) is None


def test_a_language_may_be_written_in_any_case() -> None:
    assert chosen(info({"ko-KR": manual("ko-KR")}), "KO").language == "ko-KR"


def test_a_track_without_the_format_that_is_fetched_is_passed_over() -> None:
    assert choose_track(info({}, {"ko": [entry for entry in heard("ko") if entry["ext"] != "json3"]}), KO) is None
    assert choose_track(info({"ko": [entry for entry in manual("ko") if entry["ext"] != "vtt"]}), KO) is None


def test_an_automatic_track_among_the_manual_ones_counts_as_automatic() -> None:
    assert choose_track(info({"ko": heard("ko")}), KO) is None
    assert chosen(info({"ko": heard("ko")}, korean())).kind == "asr"


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=a&lang=ko",
        "https://www.youtube.com/api/timedtext?v=a",
        "https://www.youtube.com/api/timedtext?v=a&lang=",
        "",
        None,
        5,
        ["https://www.youtube.com/api/timedtext?lang=ko"],
    ],
)
def test_an_address_that_names_no_language_is_no_track(url: object) -> None:
    assert choose_track(info({"ko": [{"ext": "vtt", "url": url}]}), KO) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "youtube.com.evil.example",
        "notyoutube.com",
        "www.youtube.com@evil.example",
        "127.0.0.1",
        "[::bad",
    ],
)
def test_a_track_that_lies_elsewhere_is_none(host: str) -> None:
    own = [{**entry, "url": entry["url"].replace("www.youtube.com", host)} for entry in manual("ko")]
    assert choose_track(info({"ko": own}), KO) is None


PARTS = st.text("abko=&?/:.#%_-가", max_size=12) | st.sampled_from(["asr", "ko", "en", "vtt", "json3", "live_chat"])
ADDRESSES = st.builds(
    lambda lang, kind, tlang, rest: (
        f"https://www.youtube.com/api/timedtext?lang={lang}&kind={kind}&tlang={tlang}{rest}"
    ),
    PARTS,
    PARTS,
    PARTS,
    PARTS,
)
ANYTHING = st.none() | st.booleans() | st.integers() | PARTS | ADDRESSES
ENTRIES = st.lists(st.fixed_dictionaries({}, optional={"url": ANYTHING, "ext": ANYTHING, "name": ANYTHING}) | ANYTHING)
LISTS = st.dictionaries(ANYTHING, ENTRIES | ANYTHING, max_size=4) | ENTRIES | ANYTHING


@given(LISTS, LISTS, st.lists(st.sampled_from(["ko", "en", ""]), max_size=2), st.booleans())
def test_whatever_yt_dlp_gives_there_is_an_offer_or_none(
    subtitles: object, automatic: object, languages: list[str], translated: bool
) -> None:
    offer = choose_track(info(subtitles, automatic), languages, translated=translated)
    assert choose_track({}, languages, translated=translated) is None
    if offer is not None:
        assert offer.format == FORMATS[offer.kind]
        assert offer.flag in ("", "dub") or (translated and offer.flag == "translated")
