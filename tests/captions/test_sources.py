"""Addresses, handles and ids: what is read from them, what is refused, and that yt-dlp knows every canonical form."""

import importlib
import unicodedata
from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subtitle_rag.captions.sources import TABS, Source, looks_like_address, parse
from subtitle_rag.errors import UsageError

ID = "aB3_-xYz019"
UC = "UCabcdefghijklmnopqrst_-"
PL = "PLabcdefghijklmnopqrstuvwxyz012345"
HANGUL = "@동네시장"
ENCODED = quote(HANGUL, safe="@")
DECOMPOSED = unicodedata.normalize("NFD", HANGUL)
WWW = "https://www.youtube.com"

VIDEO = Source("video", ID)
LISTED = Source("video", ID, playlist=PL)
LIST = Source("playlist", PL)
CHANNEL = Source("channel", UC)
HANDLE = Source("channel", "@market")
MARKET = Source("channel", HANGUL)


def tab(source: Source, name: str) -> Source:
    return Source(source.kind, source.key, (name,))


TYPED = [
    # videos
    (ID, VIDEO),
    (f"{WWW}/watch?v={ID}", VIDEO),
    (f"http://www.youtube.com/watch?v={ID}", VIDEO),
    (f"www.youtube.com/watch?v={ID}", VIDEO),
    (f"youtube.com/watch?v={ID}", VIDEO),
    (f"//youtube.com/watch?v={ID}", VIDEO),
    (f"https://m.youtube.com/watch?v={ID}&app=desktop", VIDEO),
    (f"https://music.youtube.com/watch?v={ID}&feature=share", VIDEO),
    (f"HTTPS://WWW.YouTube.COM/watch?v={ID}", VIDEO),
    (f"{WWW}/watch/?v={ID}", VIDEO),
    (f"{WWW}//watch?v={ID}", VIDEO),
    (f"{WWW}/watch?app=desktop&feature=youtu.be&v={ID}&t=83s", VIDEO),
    (f"{WWW}/watch?v={ID}&pp=ygUG7Iuc7J6l&si=abc", VIDEO),
    (f"{WWW}/watch?v={ID}#t=1m3s", VIDEO),
    (f"{WWW}/watch?v={ID}?t=10", VIDEO),
    (f"{WWW}/watch?v={ID}&list=", VIDEO),
    (f"{WWW}/watch_popup?v={ID}", VIDEO),
    (f"youtu.be/{ID}", VIDEO),
    (f"https://youtu.be/{ID}", VIDEO),
    (f"https://www.youtu.be/{ID}/", VIDEO),
    (f"https://youtu.be/{ID}?si=AbCd_ef&t=83", VIDEO),
    (f"https://youtu.be/{ID}&t=83", VIDEO),
    (f"https://YOUTU.BE/{ID}", VIDEO),
    (f"{WWW}/shorts/{ID}", VIDEO),
    (f"youtube.com/shorts/{ID}?feature=share", VIDEO),
    (f"https://m.youtube.com/shorts/{ID}/", VIDEO),
    (f"{WWW}/live/{ID}?si=abc", VIDEO),
    (f"{WWW}/v/{ID}?version=3", VIDEO),
    (f"{WWW}/v/{ID}&hl=ko_KR", VIDEO),
    (f"{WWW}/e/{ID}", VIDEO),
    (f"{WWW}/embed/{ID}?start=30", VIDEO),
    (f"https://www.youtube-nocookie.com/embed/{ID}", VIDEO),
    (f"youtube-nocookie.com/embed/{ID}?rel=0", VIDEO),
    (f"  {WWW}/watch?v={ID}\n", VIDEO),
    (f'"{WWW}/watch?v={ID}"', VIDEO),
    (f"'{ID}'", VIDEO),
    (f"<{WWW}/watch?v={ID}>", VIDEO),
    (f"“https://youtu.be/{ID}”", VIDEO),
    (f"「https://youtu.be/{ID}」", VIDEO),
    (f"\u200bhttps://youtu.be/{ID}\u200b", VIDEO),
    (f"\u3000youtu.be/{ID}\u00a0", VIDEO),
    # a video and what stands beside it
    (f"{WWW}/watch?v={ID}&list={PL}", LISTED),
    (f"{WWW}/watch?list={PL}&index=3&v={ID}", LISTED),
    (f"{WWW}/watch?v={ID}&amp;list={PL}", LISTED),
    (f"https://music.youtube.com/watch?v={ID}&list={PL}", LISTED),
    (f"https://youtu.be/{ID}?list={PL}&si=abc", LISTED),
    (f"{WWW}/embed/{ID}?list={PL}", LISTED),
    (f"{WWW}/watch?v={ID}&list=RD{ID}&start_radio=1", VIDEO),
    (f"{WWW}/watch?v={ID}&list=RDMM", VIDEO),
    (f"{WWW}/watch?v={ID}&list=WL&index=2", VIDEO),
    (f"{WWW}/watch?v={ID}&list=LL", VIDEO),
    (f"{WWW}/watch?v={ID}&list=TLGGabcdefghijklm", VIDEO),
    # wrapped
    (f"https://consent.youtube.com/m?continue={quote(f'{WWW}/live/{ID}?cbrd=1', safe='')}&gl=KR", VIDEO),
    (f"consent.youtube.com/m?continue={quote(f'{WWW}/{ENCODED}/shorts', safe='')}&hl=ko", tab(MARKET, "shorts")),
    (f"{WWW}/attribution_link?a=abc&u={quote(f'/watch?v={ID}&feature=share', safe='')}", VIDEO),
    # playlists
    (PL, LIST),
    (f"{WWW}/playlist?list={PL}", LIST),
    (f"youtube.com/playlist?list={PL}&si=abc", LIST),
    (f"{WWW}/playlist/?list={PL}", LIST),
    (f"{WWW}/playlist?list={PL}?si=abc", LIST),
    (f"https://m.youtube.com/playlist?list={PL}", LIST),
    (f"https://music.youtube.com/playlist?list={PL}", LIST),
    (f"https://music.youtube.com/browse/VL{PL}", LIST),
    (f"{WWW}/watch?list={PL}", LIST),
    (f"{WWW}/watch?v=&list={PL}", LIST),
    (f"{WWW}/embed/videoseries?list={PL}", LIST),
    (f"https://www.youtube-nocookie.com/embed/videoseries?list={PL}", LIST),
    (f"{WWW}/embed?listType=playlist&list={PL}", LIST),
    ("PLBB231211A4F62143", Source("playlist", "PLBB231211A4F62143")),
    ("UU" + UC[2:], Source("playlist", "UU" + UC[2:])),
    ("UULF" + UC[2:], Source("playlist", "UULF" + UC[2:])),
    ("UUSH" + UC[2:], Source("playlist", "UUSH" + UC[2:])),
    ("UULV" + UC[2:], Source("playlist", "UULV" + UC[2:])),
    ("FL" + UC[2:], Source("playlist", "FL" + UC[2:])),
    ("OLAK5uy_" + "k" * 33, Source("playlist", "OLAK5uy_" + "k" * 33)),
    (f"{WWW}/playlist?list=UU{UC[2:]}", Source("playlist", "UU" + UC[2:])),
    # channels by id
    (UC, CHANNEL),
    (f"{WWW}/channel/{UC}", CHANNEL),
    (f"youtube.com/channel/{UC}/", CHANNEL),
    (f"{WWW}/channel/{UC}?sub_confirmation=1", CHANNEL),
    (f"{WWW}/{UC}", CHANNEL),
    (f"https://music.youtube.com/channel/{UC}", CHANNEL),
    (f"https://music.youtube.com/browse/{UC}", CHANNEL),
    (f"{WWW}/channel/{UC}/videos", tab(CHANNEL, "videos")),
    (f"{WWW}/channel/{UC}/videos?view=0&sort=p", tab(CHANNEL, "videos")),
    (f"{WWW}/channel/{UC}/about", CHANNEL),
    # channels by handle
    ("@market", HANDLE),
    ("@Market", HANDLE),
    ("＠ｍａｒｋｅｔ", HANDLE),
    (" @market ", HANDLE),
    (f"{WWW}/@market", HANDLE),
    (f"{WWW}/@MARKET/", HANDLE),
    ("youtube.com/@market?si=abc", HANDLE),
    ("https://music.youtube.com/@market", HANDLE),
    ("@market/shorts", tab(HANDLE, "shorts")),
    ("@my-shop_1.kr", Source("channel", "@my-shop_1.kr")),
    ("@l·l", Source("channel", "@l·l")),
    ("@ตลาดน้ำ", Source("channel", "@ตลาดน้ำ")),
    ("@Straße", Source("channel", "@straße")),
    (HANGUL, MARKET),
    (f"  {HANGUL}  ", MARKET),
    (f"{WWW}/{HANGUL}", MARKET),
    (f"youtube.com/{HANGUL}", MARKET),
    (DECOMPOSED, MARKET),
    (f"{WWW}/{DECOMPOSED}", MARKET),
    (f"{WWW}/{quote(DECOMPOSED, safe='@')}", MARKET),
    (f"{WWW}/{ENCODED}", MARKET),
    (f"{WWW}/{ENCODED}%20%20", MARKET),
    (f"{WWW}/%40{ENCODED[1:]}", MARKET),
    (f"{WWW}/{ENCODED}%0A", MARKET),
    (ENCODED, MARKET),
    (f"m.youtube.com/{ENCODED}/streams", tab(MARKET, "streams")),
    # tabs
    *((f"{WWW}/@market/{name}", tab(HANDLE, name)) for name in TABS),
    *((f"{WWW}/@market/{name}/", tab(HANDLE, name)) for name in ("playlists", "podcasts", "releases", "courses")),
    *(
        (f"{WWW}/@market/{name}", HANDLE)
        for name in ("featured", "about", "community", "membership", "store", "new_tab")
    ),
    (f"{WWW}/@market/live", tab(HANDLE, "streams")),
    (f"{WWW}/@market/Shorts", tab(HANDLE, "shorts")),
    (f"{WWW}/@market/search?query=%EA%B9%80%EC%B9%98+%EC%B0%8C%EA%B0%9C", tab(HANDLE, "search?query=김치 찌개")),
    (f"{WWW}/@market/search?query=a%26b%3Fquery%3Dc", tab(HANDLE, "search?query=a&b?query=c")),
    (f"{WWW}/@market/search?query=", HANDLE),
    # old names
    (f"{WWW}/c/Market", Source("channel", "c/Market")),
    (f"{WWW}/c/Market/streams", Source("channel", "c/Market", ("streams",))),
    (f"{WWW}/c/%EC%8B%9C%EC%9E%A5", Source("channel", "c/시장")),
    (f"{WWW}/user/Market", Source("channel", "user/Market")),
    ("youtube.com/user/Market/videos?flow=grid", Source("channel", "user/Market", ("videos",))),
    (f"{WWW}/Market", Source("channel", "Market")),
    ("youtube.com/Market/playlists", Source("channel", "Market", ("playlists",))),
    (f"{WWW}/watchmaker", Source("channel", "watchmaker")),
    (f"{WWW}/시장", Source("channel", "시장")),
]

REFUSED = [
    "",
    "   ",
    "market",
    "동네시장",
    "./captions/a.vtt",
    "C:\\captions",
    "@",
    "@@market",
    "@mar ket",
    "@...",
    "@" + "가" * 101,
    # YouTube, but no source
    WWW,
    f"{WWW}/",
    f"{WWW}/watch",
    f"{WWW}/watch?v=abc",
    f"{WWW}/watch?v=abc&list={PL}",
    f"{WWW}/watch?v={ID}tail",
    f"{WWW}/watch/{ID}/x",
    f"{WWW}/shorts",
    f"{WWW}/shorts/abc",
    f"{WWW}/embed/videoseries",
    f"{WWW}/embed/live_stream?channel={UC}",
    "youtu.be",
    "youtu.be/abc",
    f"youtu.be/{ID}/x",
    "videoseries",
    f"{WWW}/playlist",
    f"{WWW}/playlist?list=PLabc",
    f"{WWW}/playlist?list=WL",
    f"{WWW}/playlist?list=LL",
    f"{WWW}/playlist?list=HL",
    f"{WWW}/playlist?list=LM",
    f"{WWW}/playlist?list=LL{UC[2:]}",
    f"{WWW}/playlist?list=RD{ID}",
    f"{WWW}/watch?list=RDMM",
    f"RD{ID}",
    "RDCLAK5uy_" + "k" * 33,
    "WL",
    "LL",
    f"{WWW}/feed/subscriptions",
    f"{WWW}/feed/trending",
    f"{WWW}/results?search_query=%EC%8B%9C%EC%9E%A5",
    "https://music.youtube.com/search?q=a",
    "https://music.youtube.com/library",
    "https://music.youtube.com/browse/MPREb_abcdefghijk",
    f"{WWW}/hashtag/shorts",
    f"{WWW}/clip/UgkxAbCdEfGhIjKl",
    f"{WWW}/post/UgkxAbCdEfGhIjKl",
    f"{WWW}/gaming",
    f"{WWW}/premium",
    f"{WWW}/index.html",
    f"{WWW}/watch-this",
    f"{WWW}/c/",
    f"{WWW}/c/a%2Fb",
    f"{WWW}/c/%2525",
    f"{WWW}/channel/Market",
    f"{WWW}/channel/{UC[:-1]}",
    f"{WWW}/@market/videos/x",
    f"{WWW}/@market/../watch",
    f"{WWW}/@market%00",
    f"{WWW}/@mar%0Aket",
    f"{WWW}/@mar%ED%95",
    f"{WWW}/Market/unknown",
    f"{WWW}/@market/search?query=" + "a" * 101,
    f"{WWW}/@market/search?query=a%00b",
    f"{WWW}/redirect?q=https%3A%2F%2Fyoutu.be%2F{ID}",
    f"{WWW}/oembed?url=https%3A%2F%2Fyoutu.be%2F{ID}",
    f"{WWW}/signin?next=%2Fwatch%3Fv%3D{ID}",
    f"{WWW}/attribution_link?u=.evil.example/watch?v={ID}",
    f"{WWW}/attribution_link?u=https%3A%2F%2Fevil.example%2F",
    "https://consent.youtube.com/m",
    "https://consent.youtube.com/m?continue=",
    "https://consent.youtube.com/m?continue=http%3A%2F%2F169.254.169.254%2F",
    "https://consent.youtube.com/m?continue=" + quote(f"{WWW}/@a\nb", safe=""),
    "https://consent.youtube.com/m?continue="
    + quote("https://consent.youtube.com/m?continue=" + quote(f"{WWW}/@market", safe=""), safe=""),
    f"https://studio.youtube.com/video/{ID}/edit",
    f"https://www.youtube-nocookie.com/watch?v={ID}",
    # elsewhere
    "http://169.254.169.254/",
    "http://[::1]/",
    "http://[youtube.com/",
    "http://localhost/watch?v=" + ID,
    "file:///etc/passwd",
    f"file://www.youtube.com/watch?v={ID}",
    "ytsearch5:시장",
    f"ytsearch:{ID}",
    "javascript:alert(1)",
    f"ftp://www.youtube.com/watch?v={ID}",
    f"https://vimeo.com/watch?v={ID}",
    f"https://youtube.com.evil.example/watch?v={ID}",
    f"https://evil.example/?https://youtube.com/watch?v={ID}",
    f"https://evil.example/https://www.youtube.com/watch?v={ID}",
    f"https://evilyoutube.com/watch?v={ID}",
    f"https://youtube.com@evil.example/watch?v={ID}",
    f"https://evil.example@youtube.com/watch?v={ID}",
    f"https://youtube.com\\@evil.example/watch?v={ID}",
    f"https://evil.example#@youtube.com/watch?v={ID}",
    f"https:\\\\www.youtube.com\\watch?v={ID}",
    f"https://www.youtube.com:443/watch?v={ID}",
    f"youtube.com:8080/watch?v={ID}",
    f"https://www.youtube.com./watch?v={ID}",
    f"https://www.y\u043eutube.com/watch?v={ID}",
    f"https://www.ｙoutube.com/watch?v={ID}",
    f"https://www.youtu\u00adbe.com/watch?v={ID}",
    f"https://xn--yutube-wqf.com/watch?v={ID}",
    # characters and sizes
    f"https://www.you\ntube.com/watch?v={ID}",
    f"{WWW}/wat\tch?v={ID}",
    f"{WWW}/watch?v={ID}\n{WWW}/watch?v={ID}",
    f"{WWW}/watch?v={ID} 이거 봐",
    f"{WWW}/watch?v={ID}\x00",
    f"{WWW}/@market\u202e",
    f"{WWW}/@\ud800",
    f"{WWW}/watch?" + "a=1&" * 500 + f"v={ID}",
    f"{WWW}/watch?v={ID}&x=" + "가" * 10_000,
    "@" * 10_000,
    "/" * 10_000,
    "%" * 10_000,
]


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as error:
        parse(text)
    return error.value


@pytest.mark.parametrize(("typed", "expected"), TYPED)
def test_what_is_typed_names_one_source(typed: str, expected: Source) -> None:
    assert parse(typed) == expected


@pytest.mark.parametrize("typed", REFUSED, ids=lambda text: ascii(text)[:60])
def test_anything_else_is_refused(typed: str) -> None:
    error = refused(typed)
    assert error.code == "unsupported_url"
    assert list(error.details) == ["url"]
    assert error.details["url"].isprintable()
    assert len(error.details["url"]) <= 200


def test_a_refused_text_is_shown_without_control_characters_and_cut() -> None:
    assert refused(" http://a\x1b[31m\u202e/\n가 ").details == {"url": "http://a[31m/가"}
    assert refused("http://" + "a" * 300).details == {"url": "http://" + "a" * 193}
    assert refused("\ud800").details == {"url": ""}


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("expected", dict.fromkeys(source for _, source in TYPED))
def test_the_canonical_address_names_the_same_source(expected: Source) -> None:
    assert parse(expected.url) == Source(expected.kind, expected.key, expected.tabs)


# --- for the web or for the disk ---


@pytest.mark.parametrize(
    "text",
    [
        f"{WWW}/watch?v={ID}",
        "HTTPS://YOUTU.BE/abc",
        " <https://example.org/> ",
        "file:///etc/passwd",
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
    assert looks_like_address(text)


@pytest.mark.parametrize(
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
    assert not looks_like_address(text)


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
        return parse(text)
    except UsageError:
        return None


@given(texts | rooted)
def test_any_text_is_a_source_on_youtube_or_refused(text: str) -> None:
    looks_like_address(text)
    source = parsed(text)
    if source:
        parts = urlsplit(source.url)
        assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "www.youtube.com", "")
        assert source.url.isascii()
        assert source.url.isprintable()
        assert parse(source.url) == Source(source.kind, source.key, source.tabs)


@given(names)
def test_a_handle_is_one_however_it_is_written(name: str) -> None:
    source = parsed("@" + name)
    if source:
        assert unicodedata.is_normalized("NFC", source.key)
        assert parse(source.url) == source == parse(source.key)
        assert unquote(source.url).endswith("/" + source.key)
        assert parse(f"{WWW}/@{quote(unicodedata.normalize('NFD', name))}") == source


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
    base = importlib.import_module("yt_dlp.extractor.youtube").YoutubeTabIE
    for word in base._RESERVED_NAMES.split("|"):
        for typed in (f"{WWW}/{word}", f"{WWW}/{word}-a", f"{WWW}/{word}가"):
            source = parsed(typed)
            assert source is None or base.suitable(source.url), typed
