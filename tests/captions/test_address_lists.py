"""Lists of channels as people have them, and as an attacker would write them."""

import io
import struct
import time
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.captions import address_lists
from subtitle_rag.captions.address_lists import is_address_list, parse_address_list, read_address_list

ONE, TWO = "UC" + "a" * 22, "UC" + "b" * 22
VIDEO, PLAYLIST = "dQw4w9WgXcQ", "PL" + "c" * 16
TAKEOUT = (
    "Channel Id,Channel Url,Channel Title\n"
    f"{ONE},http://www.youtube.com/channel/{ONE},느린 부엌\n"
    f'{TWO},http://www.youtube.com/channel/{TWO},"숲길, 그리고 ""밤"""\n'
)
KOREAN = TAKEOUT.replace("Channel Id,Channel Url,Channel Title", "채널 ID,채널 URL,채널 제목")
BOTH = [f"channel/{ONE}", f"channel/{TWO}"]
OPML = f"""<?xml version="1.0"?>
<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
<opml version="1.1"><body><outline text="YouTube Subscriptions" title="구독">
<outline text="느린 부엌 &amp; 친구" type="rss" xmlUrl="https://www.youtube.com/feeds/videos.xml?channel_id={ONE}"/>
<outline title='숲길 &x;' htmlUrl='https://www.youtube.com/channel/{TWO}' xmlUrl='https://example.org/feed'/>
<outline text="news" xmlUrl="https://example.org/feed.xml"/>
</outline></body></opml>"""
BOOKMARKS = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>북마크 메뉴</H1>
<DL><p>
    <DT><H3 ADD_DATE="1">요리</H3>
    <DL><p>
        <DT><A HREF="https://www.youtube.com/@느린부엌/videos" ICON="data:image/png;base64,AAAA">느린 부엌</A>
        <DT><A HREF="https://youtu.be/{VIDEO}?list={PLAYLIST}" TAGS="href=https://youtu.be/evil">국수 &gt; 만두</A>
        <DT><A HREF="https://www.youtube.com/playlist?list={PLAYLIST}">국물 모음</A>
        <DT><A HREF="javascript:location='https://www.youtube.com/@evil'">click me</A>
        <DT><A HREF="https://evil.example/https://www.youtube.com/@evil">nearly</A>
        <DT><A HREF="data:text/html,https://www.youtube.com/@evil">data</A>
        <DT><A HREF="file:///home/me/@evil">file</A>
        <DT><A HREF="https://www.youtube.com/">YouTube</A>
        <DT><A HREF="https://www.youtube.com@evil.example/@evil">user</A>
    </DL><p>
</DL>"""


def read(text: str | bytes, name: str = "list") -> list[str]:
    raw = text.encode() if isinstance(text, str) else text
    return paths(parse_address_list(raw, name))


def paths(found: address_lists.AddressList) -> list[str]:
    return [source.url.removeprefix("https://www.youtube.com/") for source in found.sources]


def zipped(**members: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_csv", ".csv"), text)
    return made.getvalue()


@pytest.mark.parametrize("text", [TAKEOUT, KOREAN, "\ufeff" + KOREAN.replace("\n", "\r\n")], ids=range(3))
def test_takeout_s_subscriptions_are_read_in_any_language(text: str) -> None:
    assert read(text) == BOTH


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_a_table_that_another_program_has_saved_is_read(delimiter: str) -> None:
    rows = [["ID", "URL", "제목"], [ONE, f"https://www.youtube.com/channel/{ONE}", "느린 부엌"]]
    assert read("\n".join(map(delimiter.join, rows))) == BOTH[:1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp949"])
def test_encodings_are_those_of_captions(encoding: str) -> None:
    assert read(KOREAN.encode(encoding)) == BOTH


def test_an_id_alone_is_enough_of_a_row() -> None:
    assert read(f"Channel ID,Channel title\n{ONE},hello_world\n") == [f"channel/{ONE}"]


def test_opml_gives_feeds_and_pages_and_no_entity_of_its_own() -> None:
    assert read(OPML) == BOTH
    assert parse_address_list(OPML.encode(), "x").others == 1
    assert read(OPML[: OPML.index("htmlUrl")]) == [f"channel/{ONE}"]


def test_of_bookmarks_only_channels_playlists_and_videos_come_through() -> None:
    found = parse_address_list(BOOKMARKS.encode(), "bookmarks.html")
    urls = [source.url for source in found.sources]
    assert urls[1:] == [f"https://www.youtube.com/watch?v={VIDEO}", f"https://www.youtube.com/playlist?list={PLAYLIST}"]
    assert found.sources[0].tabs == ("videos",)
    assert found.others == 6
    assert not any("evil" in url for url in urls)


def test_addresses_one_a_line_are_a_list_too() -> None:
    text = f"# mine\nhttps://www.youtube.com/@느린부엌\n@숲길\n\n{ONE}\nhttps://example.org/x\nno address\n@숲길\n"
    assert read(text) == [
        "@%EB%8A%90%EB%A6%B0%EB%B6%80%EC%97%8C",
        "@%EC%88%B2%EA%B8%B8",
        f"channel/{ONE}",
    ]


def test_the_table_is_found_in_takeout_s_archive(tmp_path: Path) -> None:
    path = tmp_path / "takeout.zip"
    path.write_bytes(
        zipped(
            Takeout__YouTube__comments_csv=f"Comment ID,Channel ID\nabc,{TWO}\n",
            **{"Takeout__YouTube 및 YouTube Music__구독정보__구독정보_csv": KOREAN},
        )
    )
    assert is_address_list(path)
    assert paths(read_address_list(path)) == BOTH
    path.write_bytes(zipped(a__Abonnements_csv=TAKEOUT, a__empty_csv=""))
    assert paths(read_address_list(path)) == BOTH


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "list_unreadable"),
        (b"hello\n", "list_unreadable"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 300, "list_unreadable"),
        (BOOKMARKS.partition("<DT><A")[0].encode(), "list_unreadable"),
        (b"PK\x03\x04 and no more", "list_unreadable"),
        (zipped(readme="nothing"), "list_unreadable"),
        (zipped(subscriptions_csv=TAKEOUT)[:-40], "list_unreadable"),
    ],
    ids=range(7),
)
def test_what_is_no_list_is_refused_in_words(tmp_path: Path, raw: bytes, code: str) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(raw)
    with pytest.raises(UsageError) as caught:
        read_address_list(path)
    assert caught.value.code == code
    assert caught.value.message
    assert caught.value.hint


def test_a_file_that_cannot_be_opened_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_address_list(tmp_path / "none.csv")
    assert caught.value.code == "list_unreadable"


def test_giants_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_lists, "MAX_BYTES", 100_000)
    big = tmp_path / "big.csv"
    big.write_bytes(TAKEOUT.encode() + b"x" * 100_001)
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(zipped(subscriptions_csv=TAKEOUT + "0" * 5_000_000))
    for path, code in ((big, "list_unreadable"), (bomb, "list_unreadable")):
        with pytest.raises(UsageError) as caught:
            read_address_list(path)
        assert caught.value.code == code
    monkeypatch.setattr(address_lists, "MAX_DIRECTORY", 10)
    bomb.write_bytes(zipped(subscriptions_csv=TAKEOUT))
    with pytest.raises(UsageError, match="directory"):
        read_address_list(bomb)


def test_an_archive_that_lies_about_a_size_ends_with_its_own_bytes(tmp_path: Path) -> None:
    raw = bytearray(zipped(subscriptions_csv=TAKEOUT * 50))
    at = raw.rfind(b"PK\x01\x02")
    struct.pack_into("<I", raw, at + 24, 10)
    path = tmp_path / "lie.zip"
    path.write_bytes(bytes(raw))
    with pytest.raises(UsageError):
        read_address_list(path)


def test_thousands_of_entries_end_at_a_bound_and_say_so() -> None:
    rows = "".join(
        f"UC{number:022d},https://www.youtube.com/channel/UC{number:022d},채널 {number}\n" for number in range(10_050)
    )
    found = parse_address_list(("Channel Id,Channel Url,Channel Title\n" + rows).encode(), "x.csv")
    assert (len(found.sources), found.is_cut) == (10_000, True)


@pytest.mark.parametrize(
    "text",
    [
        "<opml>" + '<outline a="' * 60_000,
        "<opml>" + "<outline " + "a='b' " * 100_000,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>" + "<a href=" * 80_000,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>" + '<a href="javascript:x">' * 30_000,
        "<!doctype x><" * 50_000,
        "<" * 300_000,
        "a,UC\n" + '"' * 300_000,
        "@" * 300_000,
        "https://" * 60_000,
        "x," * 200_000 + "\nUC" + "a" * 22,
    ],
    ids=range(10),
)
def test_hostile_text_takes_time_by_its_length_alone(text: str) -> None:
    """A reader that looks back from every sign would take minutes."""
    counted = 0
    begun = time.process_time()
    for raw in (text[: len(text) // 8], text):
        with suppress(UsageError):
            counted += len(parse_address_list(raw.encode(), "x").sources)
    assert time.process_time() - begun < 20
    assert counted < 4


@pytest.mark.parametrize(
    ("name", "text", "is_list"),
    [
        ("subscriptions.csv", TAKEOUT, True),
        ("a.OPML", OPML, True),
        ("bookmarks.html", BOOKMARKS, True),
        ("feeds.xml", OPML, True),
        ("captions.xml", "<tt xmlns='http://www.w3.org/ns/ttml'></tt>", False),
        ("channels.txt", f"https://www.youtube.com/@a\n{ONE}\n", True),
        ("spoken.txt", "00:01 국수를 삶아요\n00:05 만두\n", False),
        ("notes.txt", "https://www.youtube.com/@a\nsomething else\n", False),
        ("empty.txt", "", False),
        ("x.vtt", "WEBVTT\n", False),
    ],
    ids=range(10),
)
def test_a_list_is_told_from_captions(tmp_path: Path, name: str, text: str, is_list: bool) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert is_address_list(path) is is_list
    assert not is_address_list(tmp_path)
