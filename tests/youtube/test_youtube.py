"""The door to YouTube, through yt-dlp's own extractor: lists, videos, and which track of a video is taken."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import FetchError
from subtitle_rag.base.domain.values import TABS, Track
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.captions.parse import parse_captions as cues
from subtitle_rag.youtube.tracks import TrackChoice, track_candidates
from subtitle_rag.youtube.youtube import ATTEMPTS, Page, YouTube
from tests.stand_ins.youtube import QUICK, BackingOff, Caption, Channel, Clip, StandIn
from tests.stand_ins.youtube_clips import LINES, State

SETTINGS = BackingOff(pause=0)
OWNER = "a" * 22
SITE = "https://www.youtube.com"
ID = "slowcook001"


class Waits(list[float]):
    """Notes how long was to be waited, and waits for nothing."""

    def __call__(self, seconds: float) -> bool:
        self.append(seconds)
        return False


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def door(youtube: StandIn, waits: Waits) -> Iterator[YouTube]:
    with YouTube(SETTINGS, waits) as made:
        yield made


def channel(*clips: Clip, **changes: Any) -> Channel:
    return Channel(f"UC{OWNER}", "@느린부엌", "느린 부엌", list(clips), **changes)


def page(door: YouTube, id: str = ID, title: str = ID) -> Page:
    return next(door.pages(id, title))


def offer(door: YouTube, *languages: str, translated: bool = False) -> TrackChoice | None:
    return next(iter(track_candidates(page(door).info, languages or ("ko",), translated=translated)), None)


def track(door: YouTube, *languages: str, translated: bool = False) -> Track:
    chosen = offer(door, *languages, translated=translated)
    assert chosen
    return door.track(chosen, "국수")


def test_what_a_machine_heard_is_taken_with_the_times_of_its_words(youtube: StandIn, door: YouTube) -> None:
    youtube.add(Clip(ID, "국수"))
    taken = track(door)
    assert (taken.language, taken.kind, taken.format, taken.flag) == ("ko", "asr", "json3", "")
    assert [cue.text for cue in cues(taken.raw, "json3")] == [text for _start, _end, text in LINES]
    assert cues(taken.raw, "json3")[0].word_starts
    assert abs(taken.fetched_at - time.time()) < 60
    assert [asked.kind for asked in youtube.requests] == ["watch", "timedtext"]
    assert youtube.requests[-1].query["fmt"] == "json3"


def test_what_a_human_wrote_goes_before_what_a_machine_heard(youtube: StandIn, door: YouTube) -> None:
    written = Caption(kind="manual", lines=((0, 900, "사람이 쓴 자막"),))
    youtube.add(Clip(ID, "국수", [Caption(), written, Caption(kind="manual", name="가사")]))
    taken = track(door)
    assert (taken.language, taken.kind, taken.format, taken.flag) == ("ko", "manual", "vtt", "")
    assert [cue.text for cue in cues(taken.raw, "vtt")] == ["사람이 쓴 자막"]
    assert youtube.count("timedtext") == 1


def test_a_translation_is_never_taken_for_what_was_said(youtube: StandIn, door: YouTube) -> None:
    youtube.add(Clip(ID, "Noodles", [Caption("en")]))
    assert "ko" in page(door).info["automatic_captions"]
    assert offer(door) is None
    taken = track(door, translated=True)
    assert (taken.language, taken.kind, taken.flag) == ("ko", "asr", "translated")
    assert "[MT ko]" in taken.raw.decode()


def test_a_translation_of_a_manual_track_is_one_too(youtube: StandIn, door: YouTube) -> None:
    youtube.add(Clip(ID, "Noodles", [Caption("en", kind="manual")]))
    assert offer(door) is None
    taken = track(door, translated=True)
    assert (taken.language, taken.flag) == ("ko", "translated")


def test_where_a_dub_is_possible_the_track_says_so(youtube: StandIn, door: YouTube) -> None:
    youtube.add(Clip(ID, "국수", [Caption("ko"), Caption("en")]))
    taken = track(door)
    assert (taken.language, taken.kind, taken.flag) == ("ko", "asr", "dub")
    assert "[MT" not in taken.raw.decode()


def test_a_live_chat_is_no_caption(youtube: StandIn, door: YouTube) -> None:
    youtube.add(Clip(ID, "지난 방송", [], kind="stream", live_chat=True))
    assert "live_chat" in page(door).info["subtitles"]
    assert offer(door) is None


def test_a_refused_track_is_asked_for_after_the_time_that_youtube_names(
    youtube: StandIn, door: YouTube, waits: Waits
) -> None:
    youtube.add(Clip(ID, "국수"))
    youtube.refuse("timedtext", times=2, headers={"Retry-After": "7"})
    assert track(door)
    assert youtube.count("timedtext") == 3
    assert len(waits) == 2
    assert all(7 <= wait <= 8 for wait in waits)


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        ({"status": 429}, "rate_limited"),
        ({"status": 403}, "rate_limited"),
        ({"status": 503}, "network"),
        ({"status": 200}, "caption_blocked"),
        ({"close": True}, "network"),
        ({"cut": 100}, "network"),
    ],
)
def test_a_track_is_asked_for_five_times_and_no_more(
    youtube: StandIn, door: YouTube, waits: Waits, refusal: dict[str, Any], code: str
) -> None:
    youtube.add(Clip(ID, "국수"))
    youtube.refuse("timedtext", times=None, **refusal)
    with pytest.raises(FetchError) as refused:
        track(door)
    assert refused.value.code == code
    assert youtube.count("timedtext") == ATTEMPTS == 5
    assert waits == [2, 4, 8, 16]


def test_a_track_that_is_gone_is_no_video_that_is_gone(youtube: StandIn, door: YouTube, waits: Waits) -> None:
    youtube.add(Clip(ID, "국수"))
    youtube.refuse("timedtext", 404, times=None)
    with pytest.raises(FetchError) as refused:
        track(door)
    assert refused.value.code == "caption_damaged"
    assert "404" in refused.value.message
    assert (youtube.count("timedtext"), waits) == (1, [])


def test_a_long_wait_is_left_to_whoever_asked(youtube: StandIn, door: YouTube, waits: Waits) -> None:
    youtube.add(Clip(ID, "국수"))
    youtube.refuse("timedtext", times=None, headers={"Retry-After": "600"})
    before = time.time()
    with pytest.raises(FetchError) as refused:
        track(door)
    assert before + 600 <= refused.value.details["retry_at"] <= before + 603
    assert youtube.count("timedtext") == 1
    assert waits == []


@pytest.mark.parametrize("retry_after", ["soon", "", "-5", "1e3"])
def test_a_wait_that_cannot_be_read_is_our_own(youtube: StandIn, door: YouTube, waits: Waits, retry_after: str) -> None:
    youtube.add(Clip(ID, "국수"))
    youtube.refuse("timedtext", headers={"Retry-After": retry_after})
    assert track(door)
    assert waits == [2]


@pytest.mark.parametrize(
    ("state", "code", "requests"),
    [("private", "private", 1), ("bot_check", "bot_check", 3), ("session_limit", "rate_limited", 3)],
)
def test_what_cannot_be_watched_has_a_code(
    youtube: StandIn, door: YouTube, state: State, code: str, requests: int
) -> None:
    youtube.add(Clip(ID, "국수", state=state))
    with pytest.raises(FetchError) as refused:
        page(door, ID, "멸치 국수")
    assert refused.value.code == code
    assert refused.value.details["title"] == "멸치 국수"
    assert refused.value.details["reason"]
    assert "멸치 국수" in refused.value.message or code in ("bot_check", "rate_limited")
    assert youtube.count() == requests


def test_a_video_that_does_not_exist_is_not_found(youtube: StandIn, door: YouTube) -> None:
    with pytest.raises(FetchError) as refused:
        page(door)
    assert refused.value.code == "not_found"


def test_a_server_that_is_not_there_is_a_broken_way(youtube: StandIn) -> None:
    youtube.add(Clip(ID, "국수"))
    youtube.stop()
    with YouTube(QUICK) as door:
        for ask in (lambda: page(door), lambda: door.listing(parse_address("@느린부엌"), TABS), door.reach):
            with pytest.raises(FetchError) as refused:
                ask()
            assert refused.value.code == "network"
        youtube.start()
        door.reach()
        assert page(door).video.title == "국수"


def test_the_way_to_youtube_is_tried_with_one_request(youtube: StandIn, door: YouTube) -> None:
    door.reach()
    assert [(asked.path, asked.host) for asked in youtube.requests] == [("/generate_204", "www.youtube.com")]


@pytest.mark.campaign(part="flows")
def test_a_list_is_asked_for_page_by_page(youtube: StandIn, door: YouTube) -> None:
    youtube.add(channel(*[Clip(f"slowcook{number:03d}", f"국수 {number}") for number in range(250)]))
    (uploads,) = door.listing(parse_address("@느린부엌"), TABS).lists
    assert youtube.count() == 2
    assert len(list(islice(uploads, 100))) == 100
    assert youtube.count() == 2
    assert len(list(uploads)) == 150
    assert (youtube.count("tab"), youtube.count("playlist"), youtube.count("browse")) == (1, 1, 2)


def test_a_channel_without_uploads_is_empty(youtube: StandIn, door: YouTube) -> None:
    youtube.add(channel())
    with pytest.raises(FetchError) as refused:
        door.listing(parse_address("@느린부엌"), TABS)
    assert refused.value.code == "empty_tab"


@pytest.mark.parametrize("address", ["@느린부엌", f"{SITE}/@느린부엌/videos", f"UU{OWNER}"])
def test_an_entry_is_what_the_list_says(youtube: StandIn, door: YouTube, address: str) -> None:
    begins = int(time.time()) + 9_000
    states: tuple[State, ...] = ("public", "members_only", "upcoming", "live")
    made = [
        Clip(f"state-{state:-<5.5}", "원래 제목", flat_title="A title", state=state, starts_at=begins)
        for state in states
    ]
    youtube.add(channel(*made))
    (entries,) = door.listing(parse_address(address), TABS).lists
    found = list(entries)
    assert [entry.refusal for entry in found] == ["", "members_only", "upcoming", "live"]
    first = found[0]
    assert (first.video.title, first.video.channel_id, first.video.channel) == ("A title", f"UC{OWNER}", "느린 부엌")
    assert first.about
    assert timedelta(days=20) <= datetime.now(UTC).date() - first.about <= timedelta(days=22)


def test_a_list_that_breaks_keeps_what_it_gave(youtube: StandIn, door: YouTube) -> None:
    youtube.add(channel(*[Clip(f"slowcook{number:03d}", "국수") for number in range(40)]))
    youtube.refuse("browse", headers={"Retry-After": "99"})
    (entries,) = door.listing(parse_address("@느린부엌/videos"), TABS).lists
    found = [next(entries) for _number in range(30)]
    with pytest.raises(FetchError) as refused:
        next(entries)
    assert (len(found), refused.value.code) == (30, "rate_limited")
    assert 99 <= refused.value.details["retry_at"] - time.time() <= 102
    assert next(entries, None) is None
