"""The stand-in of YouTube serves the real extractor, with the settings that a reader of captions gives it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from yt_dlp.networking.exceptions import (
    HTTPError,
    IncompleteRead,
    RequestError,
    TransportError,
)
from yt_dlp.utils import DownloadError, ExtractorError, GeoRestrictedError

from subtitle_rag.captions.parse import parse_captions
from tests.stand_ins.youtube import Caption, Channel, Clip, Playlist, StandIn, stand_in
from tests.stand_ins.youtube_clips import LINES, State
from tests.stand_ins.youtube_reader import SITE, Reader

OWNER = "a" * 22
HOSTILE = (
    "<script>alert(1)</script></script> &amp; [b]굵게[/b]",
    "\x1b[31m빨강\x1b[0m \x07\x9b2J",
    "../../etc/passwd\\..\\/국수",
    "국수 " * 1_250,
    "\u202e수국 \u2066끝\u2069",
    "첫 줄\n둘째 줄\r\n\t셋째\u2028넷째",
    "});ytcfg.set({}); var ytInitialData = {};",
    "😀 ㄱㅏ \u1100\u1161 \ud55c",
)


@pytest.fixture
def reader(youtube: StandIn) -> Iterator[Reader]:
    made = Reader()
    yield made
    made.ydl.close()


def channel(*clips: Clip, **changes: Any) -> Channel:
    return Channel(f"UC{OWNER}", "@느린부엌", "느린 부엌", list(clips), **changes)


def clips(count: int) -> list[Clip]:
    return [Clip(f"slowcook{number:03d}", f"국수 삶기 {number}") for number in range(count)]


def test_a_video_with_captions_takes_three_requests(youtube: StandIn, reader: Reader) -> None:
    youtube.add(Clip("slowcook001", "국수 삶기"))
    spoken = parse_captions(reader.caption("slowcook001"), "json3")
    assert [cue.text for cue in spoken] == [text for _start, _end, text in LINES]
    assert [asked.kind for asked in youtube.requests] == ["watch", "player", "timedtext"]
    assert [asked.client for asked in youtube.asked("player")] == ["VISIONOS"]
    assert {asked.video for asked in youtube.requests} == {"slowcook001"}
    assert "SOCS=CAI" in youtube.requests[0].headers["cookie"]
    assert reader.log.warnings == []


def test_json3_and_vtt_of_a_track_say_the_same(youtube: StandIn, reader: Reader) -> None:
    youtube.add(Clip("slowcook001", "국수", [Caption(), Caption(kind="manual", lines=((0, 900, "멸치 & <육수>"),))]))
    read = {ext: reader.caption("slowcook001", ext=ext) for ext in ("json3", "vtt")}
    json3, vtt = ([(cue.start_ms, cue.text) for cue in parse_captions(raw, ext)] for ext, raw in read.items())
    assert json3 == vtt
    assert "<c> 오늘은</c>" in read["vtt"].decode()
    manual = reader.caption("slowcook001", "ko", "vtt")
    assert [cue.text for cue in parse_captions(manual, "vtt")] == ["멸치 & <육수>"]
    assert b"position" not in manual


@pytest.mark.campaign(part="lists")
def test_a_tab_is_read_page_by_page(youtube: StandIn, reader: Reader) -> None:
    youtube.add(channel(*clips(250)))
    assert len(reader.entries("@느린부엌/videos", 30)) == 30
    assert (youtube.count("tab"), youtube.count("browse")) == (1, 0)
    youtube.clear()
    assert [entry["id"] for entry in reader.entries("@느린부엌/videos")] == [clip.id for clip in clips(250)]
    assert (youtube.count("tab"), youtube.count("browse"), youtube.count()) == (1, 8, 9)


@pytest.mark.parametrize(("options", "requests"), [(["no-youtube-unavailable-videos"], 3), ([], 4)])
def test_the_upload_list_takes_a_hundred_at_once(youtube: StandIn, options: list[str], requests: int) -> None:
    youtube.add(channel(*clips(250)))
    entries = Reader(compat_opts=options).entries(f"playlist?list=UU{OWNER}")
    assert len(entries) == 250
    assert (entries[0]["channel_id"], entries[0]["channel"]) == (f"UC{OWNER}", "느린 부엌")
    assert youtube.count() == requests


@pytest.mark.parametrize(
    "path",
    ["@느린부엌", "@%EB%8A%90%EB%A6%B0%EB%B6%80%EC%97%8C", f"channel/UC{OWNER}", "c/느린", "user/slow", "slow"],
)
def test_the_about_page_names_the_channel(youtube: StandIn, reader: Reader, path: str) -> None:
    youtube.add(channel(*clips(1), aliases=("느린", "slow")))
    about = reader.look(f"{path}/about")
    assert (about["channel_id"], about["channel"], about["uploader_id"]) == (f"UC{OWNER}", "느린 부엌", "@느린부엌")
    assert (list(about["entries"]), youtube.count()) == ([], 1)


def test_tabs_follow_from_the_kinds(youtube: StandIn, reader: Reader) -> None:
    made = channel(Clip("slowcook001", "국수"), Clip("shortcook01", "짧게", kind="short"))
    youtube.add(made, Playlist("PLslowkitchen01", "모음", made.clips, made))
    assert [entry["url"] for entry in reader.entries("@느린부엌/shorts")] == [f"{SITE}/shorts/shortcook01"]
    assert [entry["id"] for entry in reader.entries("@느린부엌/playlists")] == ["PLslowkitchen01"]
    with pytest.raises(DownloadError, match="This channel does not have a streams tab"):
        reader.look("@느린부엌/streams")
    youtube.clear()
    assert [nested["title"] for nested in reader.entries("@느린부엌")] == ["느린 부엌 - Videos", "느린 부엌 - Shorts"]
    assert youtube.count("tab") == 2
    with pytest.raises(DownloadError, match="The playlist does not exist"):
        reader.look("playlist?list=PLnothing00000")
    youtube.clear()
    with pytest.raises(DownloadError, match="404"):
        reader.look("@없는채널/videos")
    assert (youtube.count("tab"), youtube.count("resolve")) == (3, 3)


def test_lists_show_what_needs_no_asking(youtube: StandIn, reader: Reader) -> None:
    states: tuple[State, ...] = ("public", "members_only", "upcoming", "live", "was_live", "private", "deleted")
    made = [Clip(f"state-{state:.5}", "원래 제목", flat_title="A title", state=state) for state in states]
    youtube.add(channel(*made))
    shown = [(each["live_status"], each["availability"]) for each in reader.entries("@느린부엌/videos")]
    known = [(None, None), (None, "subscriber_only"), ("is_upcoming", None), ("is_live", None), ("was_live", None)]
    assert shown == known
    listed = reader.entries(f"playlist?list=UU{OWNER}")
    assert [(each["live_status"], each["availability"]) for each in listed[:5]] == known
    assert [each["title"] for each in listed[4:]] == ["A title", "[Private video]", "[Deleted video]"]
    assert time.time() - listed[0]["timestamp"] < 30 * 86_400
    assert reader.log.warnings == []


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("private", "Private video"),
        ("deleted", "Video unavailable. This video has been removed"),
        ("members_only", "Join this channel to get access to members-only content"),
        ("age_restricted", "Sign in to confirm your age"),
        ("bot_check", "Sign in to confirm you’re not a bot"),
        ("geo_blocked", "not made this video available in your country"),
        ("session_limit", "This content isn't available, try again later"),
        ("upcoming", "Premieres in 2 hours"),
    ],
)
def test_what_cannot_be_watched_says_why(youtube: StandIn, reader: Reader, state: State, message: str) -> None:
    youtube.add(Clip("slowcook001", "국수", state=state, starts_at=int(time.time()) + 7_300))
    with pytest.raises(DownloadError, match=message) as refused:
        reader.video("slowcook001")
    inner = refused.value.exc_info[1]
    assert isinstance(inner, GeoRestrictedError if state == "geo_blocked" else ExtractorError)
    assert youtube.count() == (4 if state == "age_restricted" else 2)


def test_streams_begin_are_live_and_end(youtube: StandIn, reader: Reader) -> None:
    soon = Clip("stream00001", "생방송", kind="stream", state="upcoming")
    live = Clip("stream00002", "지금", kind="stream", state="live")
    over = Clip("stream00003", "지난 방송", kind="stream", live_chat=True)
    youtube.add(channel(soon, live, over))
    with pytest.raises(DownloadError, match="will begin in"):
        reader.video(soon.id)
    found = reader.video(live.id)
    assert (found["live_status"], found["duration"], found["automatic_captions"]) == ("is_live", None, {})
    found = reader.video(over.id)
    assert (found["live_status"], found["media_type"]) == ("was_live", "livestream")
    assert "live_chat" in found["subtitles"]
    assert reader.look("@느린부엌/live")["id"] == live.id


def test_what_a_video_tells_of_itself(youtube: StandIn, reader: Reader) -> None:
    chapters = [(0, "재료 손질"), (65, "육수"), (3_700, "담기")]
    extra = {"chapters": chapters, "heatmap": [0.25, 1.0, 0.5], "description": "국수 0:10 아님\n\n링크"}
    youtube.add(channel(Clip("slowcook001", "국수", duration=3_900, kind="short", **extra)))  # type: ignore[arg-type]
    found = reader.video("slowcook001")
    assert [(each["start_time"], each["title"]) for each in found["chapters"]] == chapters
    assert [each["value"] for each in found["heatmap"]] == [0.25, 1.0, 0.5]
    assert (found["heatmap"][1]["start_time"], found["heatmap"][1]["end_time"]) == (1_300, 2_600)
    assert (found["description"], found["media_type"]) == (extra["description"], "short")
    assert (found["upload_date"], found["timestamp"], found["duration"]) == ("20260502", 1_777_680_000, 3_900)
    assert (found["channel"], found["uploader_id"]) == ("느린 부엌", "@느린부엌")
    board = next(each for each in found["formats"] if each["format_id"] == "sb0")
    assert (board["width"], board["rows"], round(1 / board["fps"])) == (320, 3, 10)
    for url in (found["thumbnail"], board["fragments"][0]["url"]):
        assert reader.fetch(url).startswith(b"\xff\xd8\xff")
    assert [asked.video for asked in youtube.asked("image")] == ["slowcook001"] * 2


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_titles_arrive_as_they_are(youtube: StandIn, reader: Reader, title: str) -> None:
    youtube.add(channel(Clip("slowcook001", title, description=title, chapters=[(0, title)])))
    found = reader.video("slowcook001")
    assert (found["title"], found["description"], found["chapters"][0]["title"]) == (title, title, title)
    assert [each["title"] for each in reader.entries("@느린부엌/videos")] == [title]
    assert [each["title"] for each in reader.entries(f"playlist?list=UU{OWNER}")] == [title]


def test_which_tracks_there_are(youtube: StandIn, reader: Reader) -> None:
    named = [Caption(kind="manual"), Caption(kind="manual", name="가사")]
    youtube.add(
        Clip("english0001", "영어", [Caption("en")]),
        Clip("dubbed00001", "더빙", [Caption("ko"), Caption("en")]),
        Clip("manual00001", "사람이 쓴 자막", [*named, Caption()]),
        Clip("silent00001", "조용", []),
    )
    english = reader.video("english0001")["automatic_captions"]
    assert all("tlang=ko" in each["url"] for each in english["ko"])
    assert "[MT ko] 그러면" in reader.fetch(english["ko"][0]["url"]).decode()
    dubbed = reader.video("dubbed00001")["automatic_captions"]
    assert {key for key in dubbed if key.endswith("-orig")} == {"ko-orig", "en-orig"}
    assert len(dubbed["ko"]) == 14
    assert list(reader.video("manual00001")["subtitles"]) == ["ko", "ko-가사"]
    assert reader.caption("manual00001", "ko-가사") == reader.caption("manual00001", "ko")
    assert reader.video("silent00001")["automatic_captions"] == {}


def test_tracks_that_need_a_token(youtube: StandIn, reader: Reader) -> None:
    web_only = [Caption(exp="xpe", clients=frozenset({"WEB"})), Caption(clients=frozenset({"VISIONOS"}))]
    youtube.add(
        Clip("tokenall001", "모두", [Caption(exp="xpe")]),
        Clip("tokenweb001", "웹만", web_only),
        Clip("empty000001", "빈 답", [Caption(body=b"")]),
    )
    assert reader.video("tokenall001")["automatic_captions"] == {}
    assert reader.log.warnings == []  # yt-dlp speaks of it only where subtitles are to be written
    writer = Reader(writesubtitles=True)
    assert writer.video("tokenall001")["automatic_captions"] == {}
    assert "PO token was not provided" in writer.log.warnings[-1]
    assert reader.caption("tokenweb001")
    assert reader.caption("empty000001") == b""
    address = youtube.asked("timedtext")[0].query | {"exp": "xpe", "v": "tokenall001"}
    query = "&".join(f"{name}={value}" for name, value in address.items())
    assert reader.fetch(f"{SITE}/api/timedtext?{query}") == b""
    assert reader.fetch(f"{SITE}/api/timedtext?{query}&pot=token")


def test_too_many_requests_for_captions(youtube: StandIn, reader: Reader) -> None:
    youtube.add(Clip("slowcook001", "국수"), Clip("slowcook002", "만두"))
    youtube.refuse("timedtext", 429, times=2, headers={"Retry-After": "7"}, video="slowcook001")
    for _attempt in range(2):
        with pytest.raises(HTTPError) as refused:
            reader.caption("slowcook001")
        assert (refused.value.status, refused.value.response.headers["Retry-After"]) == (429, "7")
        assert reader.caption("slowcook002")
    assert reader.caption("slowcook001")
    assert youtube.count("timedtext") == 5


def test_too_many_requests_for_a_video(youtube: StandIn, reader: Reader) -> None:
    """A refused watch page costs two requests more; a refused player leaves what the watch page told."""
    youtube.add(Clip("slowcook001", "국수"))
    youtube.refuse("watch")
    assert "ko-orig" in reader.video("slowcook001")["automatic_captions"]
    assert [asked.kind for asked in youtube.requests] == ["watch", "next", "player", "player"]
    youtube.clear()
    youtube.refuse("player", times=None)
    assert "ko-orig" in reader.video("slowcook001")["automatic_captions"]
    assert youtube.count() == 2
    youtube.refuse(None, times=None)
    with pytest.raises(DownloadError, match="Failed to extract any player response"):
        reader.video("slowcook001")
    assert sum("429" in warning for warning in reader.log.warnings) == 6
    youtube.forgive()
    assert reader.video("slowcook001")["title"] == "국수"


def test_too_many_requests_in_the_middle_of_a_list(youtube: StandIn, reader: Reader) -> None:
    youtube.add(channel(*clips(100)))
    youtube.refuse("browse", after=1, headers={"Retry-After": "9"})
    read: list[str] = []
    with pytest.raises(ExtractorError) as refused:
        read.extend(entry["id"] for entry in reader.look("@느린부엌/videos")["entries"])
    assert refused.value.cause.response.headers["Retry-After"] == "9"
    assert (len(read), youtube.count()) == (60, 3)
    youtube.refuse("tab")
    youtube.clear()
    assert len(reader.entries("@느린부엌/videos", 30)) == 30
    assert [asked.kind for asked in youtube.requests] == ["tab", "resolve", "browse"]


def test_connections_that_end_early(youtube: StandIn, reader: Reader) -> None:
    youtube.add(Clip("slowcook001", "국수"))
    youtube.refuse("timedtext", close=True)
    with pytest.raises(TransportError, match="closed connection"):
        reader.caption("slowcook001")
    youtube.refuse("timedtext", cut=100)
    with pytest.raises(IncompleteRead, match="100 bytes read"):
        reader.caption("slowcook001")
    youtube.stop()
    with pytest.raises(DownloadError, match="refused"):
        reader.video("slowcook001")
    youtube.start()
    assert reader.caption("slowcook001")


def test_requests_can_be_held(youtube: StandIn, reader: Reader) -> None:
    youtube.add(Clip("slowcook001", "국수"))
    hold = youtube.hold("player")
    titles: list[str] = []
    reading = threading.Thread(target=lambda: titles.append(reader.video("slowcook001")["title"]))
    reading.start()
    assert hold.arrived.wait(20)
    assert titles == []
    hold.release()
    reading.join(20)
    assert titles == ["국수"]


@pytest.mark.parametrize(
    "url", ["https://example.com/", "http://169.254.169.254/", "ftp://youtube.com/", "file:///etc"]
)
def test_nothing_but_youtube_is_asked(youtube: StandIn, reader: Reader, url: str) -> None:
    with pytest.raises(RequestError, match="does not answer for"):
        reader.fetch(url)
    youtube.refuse("other", 302, headers={"Location": url})
    with pytest.raises((RequestError, HTTPError)):
        reader.fetch(f"{SITE}/generate_204")
    assert reader.fetch(f"{SITE}/generate_204") == b""


def test_the_environments_proxy_is_left_out(youtube: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    youtube.add(Clip("slowcook001", "국수"))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert Reader(proxy="socks5://127.0.0.1:9").video("slowcook001")["title"] == "국수"
    assert Reader().video("slowcook001")["title"] == "국수"


def test_one_reader_follows_the_environment() -> None:
    """Without a stand-in the other handlers serve again."""
    made = Reader()
    for title in ("첫째", "둘째"):
        with stand_in() as youtube:
            youtube.add(Clip("slowcook001", title))
            assert made.video("slowcook001")["title"] == title
    assert "STAND_IN_YOUTUBE" not in os.environ
    with made.ydl.urlopen("data:text/plain,hello") as answer:
        assert answer.read() == b"hello"


def test_the_command_of_yt_dlp_meets_it_too(youtube: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    youtube.add(channel(*clips(40)))
    settings = tmp_path / "settings"
    (settings / "yt-dlp").mkdir(parents=True)
    (settings / "yt-dlp" / "config").write_text("--no-such-option\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings))
    ran = subprocess.run(
        [sys.executable, "-m", "yt_dlp", "--flat-playlist", "-J", f"{SITE}/@느린부엌/videos"],
        env={**os.environ, **youtube.environment(tmp_path / "home")},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert len(json.loads(ran.stdout)["entries"]) == 40
    assert (youtube.count("tab"), youtube.count("browse")) == (1, 1)
