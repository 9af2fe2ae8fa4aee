"""What a run leaves in the library, and how: one video after another is searchable, and nothing is done twice."""

import threading
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.events import FetchEstimate, Found, IndexReport, Listed, VideoDone, WindowsIndexed
from subtitle_rag.library.sources import FollowedSource, SourceOptions
from subtitle_rag.youtube.fetcher import RunOptions, followed_requests
from tests.stand_ins.youtube import Caption, Channel, Clip, Playlist
from tests.youtube.desk import (
    HANDLE,
    OWNER,
    QUICK,
    Desk,
    changes,
    channel,
    clip,
    clips,
    fetched,
    report,
    spoken,
)

VIDEOS = f"{HANDLE}/videos"
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
LONG = [(second * 1_000, second * 1_000 + 900, f"국수를 삶는 이야기 {second}") for second in range(0, 300, 5)]


def test_each_video_is_found_while_the_next_ones_are_still_to_come(desk: Desk) -> None:
    words = ("고양이", "자전거", "우산")
    desk.youtube.add(channel(*[clip(number, captions=spoken(f"{word} 이야기")) for number, word in enumerate(words)]))
    events = iter(desk.events(HANDLE))
    for number, word in enumerate(words):
        while not isinstance(next(events), WindowsIndexed):
            pass
        assert desk.found(word) == {f"slowcook{number:03d}"}
        assert desk.youtube.count("timedtext") == number + 1
        assert all(desk.found(later) == set() for later in words[number + 1 :])
    assert isinstance(list(events)[-1], IndexReport)
    assert desk.place.sound()


@pytest.mark.campaign(part="lists")
def test_a_run_that_is_stopped_has_made_all_that_it_fetched_searchable(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(20)))
    for event in desk.events(HANDLE):
        if isinstance(event, VideoDone):
            desk.stop.set()
    assert len(desk.done) == 1
    assert desk.place.sound()
    desk.stop.clear()
    made = desk.report(HANDLE)
    assert (made.new, made.unchanged) == (19, 1)
    assert desk.youtube.count("watch") == 19


def test_what_a_run_tells_is_in_order(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    events = desk.run(HANDLE)
    assert [type(event) for event in events] == [
        FetchEstimate,
        *(Listed, Found, VideoDone, WindowsIndexed),
        *(Listed, Found, VideoDone, WindowsIndexed),
        IndexReport,
    ]


def test_two_runs_at_once_would_ask_twice_as_often(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    first = iter(desk.events(HANDLE))
    next(first)
    desk.youtube.clear()
    with pytest.raises(BusyError) as refused:
        list(desk.events(HANDLE))
    assert refused.value.code == "busy"
    assert desk.asked == {}
    list(first)
    assert len(desk.done) == 2
    assert report(list(desk.events(HANDLE))).unchanged == 2


def test_a_run_can_be_given_up_by_another_thread(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    first = desk.events(HANDLE)
    beginning = threading.Thread(target=lambda: next(first))
    beginning.start()
    beginning.join(20)
    first.close()  # type: ignore[attr-defined]
    assert report(desk.run(HANDLE)).new == 2


def test_a_refresh_asks_again_and_writes_nothing_that_is_unchanged(desk: Desk) -> None:
    made = channel(*clips(2))
    desk.youtube.add(made)
    desk.run(HANDLE)
    before, files = desk.place.content(), desk.place.written()
    events = desk.run(HANDLE, run_options=RunOptions(refresh=True))
    assert desk.asked == fetched(2, playlist=1)
    assert set(changes(events).values()) == {"unchanged"}
    after = desk.place.content()
    assert {name for name in before if before[name] != after[name]} <= {"source"}  # when it was listed
    assert desk.place.written() == files
    made.clips[0].captions = spoken("고양이가 왔어요")
    events = desk.run(HANDLE, run_options=RunOptions(refresh=True))
    assert changes(events) == {"slowcook000": "changed", "slowcook001": "unchanged"}
    assert desk.found("고양이") == {"slowcook000"}
    assert desk.place.sound()


def test_a_refresh_asks_again_for_a_single_video_too(desk: Desk) -> None:
    desk.youtube.add(clip(1))
    desk.run("slowcook001")
    assert changes(desk.run("slowcook001", run_options=RunOptions(refresh=True))) == {"slowcook001": "unchanged"}
    assert desk.asked == fetched(1)


def test_a_refresh_that_is_refused_keeps_what_is_there(desk: Desk) -> None:
    made = channel(clip(1, captions=spoken("고양이가 왔어요")))
    desk.youtube.add(made)
    desk.run(HANDLE)
    made.clips[0].state = "geo_blocked"
    assert changes(desk.run(HANDLE, run_options=RunOptions(refresh=True))) == {"slowcook001": "geo_blocked"}
    assert desk.found("고양이") == {"slowcook001"}
    assert desk.place.library.track("slowcook001")


def test_captions_that_are_the_same_after_a_refused_refresh_are_unchanged(desk: Desk) -> None:
    made = channel(*clips(2))
    desk.youtube.add(made)
    desk.run(HANDLE)
    files = desk.place.written()
    made.clips[0].state = "geo_blocked"
    desk.run(HANDLE, run_options=RunOptions(refresh=True))
    assert desk.states["slowcook000"] == "geo_blocked"
    made.clips[0].state = "public"
    events = desk.run(HANDLE, run_options=RunOptions(refresh=True))
    assert set(changes(events).values()) == {"unchanged"}
    assert desk.states == {"slowcook000": "done", "slowcook001": "done"}
    assert desk.place.written() == files
    assert desk.place.sound()


def test_the_videos_own_words_replace_the_lists_translation(desk: Desk) -> None:
    desk.youtube.add(channel(clip(1, title="멸치 국수 삶기", flat_title="How to boil noodles")))
    events = desk.run(HANDLE)
    assert [event.title for event in events if isinstance(event, Listed | VideoDone)] == [
        "How to boil noodles",
        "멸치 국수 삶기",
    ]
    assert desk.state("slowcook001").video.title == "멸치 국수 삶기"
    assert desk.found("멸치") == {"slowcook001"}
    desk.sync()
    assert desk.state("slowcook001").video.title == "멸치 국수 삶기"


def test_all_that_a_video_tells_of_itself_is_kept(desk: Desk) -> None:
    lone = clip(
        1,
        duration=300,
        kind="short",
        published="2026-05-02T09:00:00+09:00",
        description="재료: 멸치\n\n0:00 시작",
        chapters=[(0, "재료 손질"), (95, "육수"), (200, "담기")],
        heatmap=[0.25, 1.0, 0.5],
        captions=[Caption(lines=LONG)],
    )
    desk.youtube.add(channel(lone))
    desk.run(HANDLE)
    video = desk.place.library.video("slowcook001")
    assert video
    assert (video.channel_id, video.channel, video.kind) == (f"UC{OWNER}", "느린 부엌", "short")
    assert (video.published, video.duration_ms) == (date(2026, 5, 2), 300_000)
    assert video.url == "https://www.youtube.com/watch?v=slowcook001"
    assert [each.title for each in video.chapters] == ["재료 손질", "육수", "담기"]
    assert [each.start_ms for each in video.chapters] == [0, 95_000, 200_000]
    details = desk.place.library.details("slowcook001")
    assert details.description == "재료: 멸치\n\n0:00 시작"
    assert details.thumbnail == "https://i.ytimg.com/vi/slowcook001/hqdefault.jpg"
    assert [tuple(each) for each in details.heatmap] == [
        (0, 100_000, 0.25),
        (100_000, 200_000, 1.0),
        (200_000, 300_000, 0.5),
    ]
    starts = [window.start_ms for window in desk.place.library.windows_of("slowcook001")]
    assert {95_000, 200_000} <= set(starts)


def test_hostile_titles_are_stored_clean_and_name_no_file(desk: Desk, tmp_path: Path) -> None:
    for number, title in enumerate(HOSTILE):
        lone = clip(
            number, title=title, description=title, chapters=[(0, title)], captions=spoken(title[:200] + " 국수")
        )
        made = Channel(f"UC{str(number) * 22}", f"@느린부엌{number}", title, [lone])
        desk.youtube.add(made, Playlist(f"PLslowkitchen0{number}", title, made.clips, made))
    lists = [f"PLslowkitchen0{number}" for number in range(len(HOSTILE))]
    desk.run(*(f"{HANDLE}{number}" for number in range(len(HOSTILE))), *lists)
    assert len(desk.done) == len(HOSTILE)
    names = [one.name for one in desk.place.library.sources.followed()]
    for video_id in desk.done:
        video = desk.place.library.video(video_id)
        assert video
        names += [video.title, video.channel, *[chapter.title for chapter in video.chapters]]
        description = desk.place.library.details(video_id).description
        assert all(line.isprintable() for line in description.split("\n"))
    assert len(names) == 5 * len(HOSTILE)
    assert all(name and name.isprintable() and len(name) <= 300 for name in names)
    assert [entry.name for entry in tmp_path.iterdir()] == ["library"]
    files = {file.relative_to(tmp_path / "library").parts[0] for file in tmp_path.rglob("*") if file.is_file()}
    assert all(file.split(".")[0] in ("library", "index", "youtube") for file in files)
    assert desk.place.sound()


def test_the_raw_bytes_are_stored_as_they_came(desk: Desk) -> None:
    body = '{"wireMagic":"pb3", "events" : [{"tStartMs":0,"dDurationMs":900,"segs":[{"utf8":"국수"}]}]}\n\n'.encode()
    desk.youtube.add(clip(1, captions=[Caption(body=body)]))
    desk.run("slowcook001")
    track = desk.place.library.track("slowcook001")
    assert track
    assert (track.raw, track.language, track.kind, track.format, track.flag) == (body, "ko", "asr", "json3", "")


def test_translations_are_taken_only_if_they_are_wished_for(desk: Desk) -> None:
    desk.youtube.add(channel(clip(1, captions=[Caption("en")]), clip(2)))
    assert changes(desk.run(HANDLE)) == {"slowcook001": "no_captions", "slowcook002": "new"}
    assert changes(desk.run(HANDLE, translated=True, run_options=RunOptions(retry=True)))["slowcook001"] == "new"
    track = desk.place.library.track("slowcook001")
    assert track
    assert (track.language, track.flag) == ("ko", "translated")


def test_a_video_that_has_a_file_in_the_library_is_not_asked_for(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "captions"
    folder.mkdir()
    (folder / "국수 [slowcook001].ko.vtt").write_text("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n국수\n")
    desk.place.run(folder)
    desk.youtube.add(channel(*clips(2)))
    events = desk.run(HANDLE)
    assert changes(events) == {"slowcook000": "new", "slowcook001": "unchanged"}
    assert desk.asked == fetched(1, tab=1, playlist=1)


def test_a_video_without_a_length_is_nobodys_failure(desk: Desk) -> None:
    desk.youtube.add(channel(Clip("slowcook001", "국수", duration=0)))
    assert report(desk.run(HANDLE)).new == 1


def test_a_video_of_no_known_channel_has_a_place(desk: Desk) -> None:
    desk.youtube.add(clip(1))
    desk.run("slowcook001")
    assert desk.state("slowcook001").video.channel == "이름 없는 채널"


def test_a_broken_extractor_costs_one_video(desk: Desk) -> None:
    """Whatever an extractor throws is a failure of that video, not of the run."""
    desk.settings = replace(QUICK)
    desk.youtube.add(channel(*clips(3)))
    desk.youtube.refuse("watch", 200, times=1, body=b"<html></html>", video="slowcook001")
    desk.youtube.refuse("player", 200, body=b'{"playabilityStatus": []}', video="slowcook001", times=None)
    desk.youtube.refuse("next", 200, body=b"[]", video="slowcook001", times=None)
    events = desk.run(HANDLE)
    assert changes(events) == {"slowcook000": "new", "slowcook001": "yt_dlp_outdated", "slowcook002": "new"}


def test_a_followed_source_that_cannot_be_parsed_keeps_no_other_from_its_turn() -> None:
    urls = ("https://www.youtube.com/@market", "https://gone.example/@market", "https://www.youtube.com/@kitchen")
    sources = [FollowedSource(id, url, None, url, SourceOptions(), True, None, 0) for id, url in enumerate(urls)]
    assert [request.source.key for request in followed_requests(sources)] == ["@market", "@kitchen"]


def test_a_channel_without_a_name_is_called_as_its_source(desk: Desk) -> None:
    desk.youtube.add(replace(channel(clip(1, captions=[Caption(lines=LONG)])), name=""))
    desk.run(HANDLE)
    video = desk.place.library.video("slowcook001")
    assert video
    assert (video.channel_id, video.channel) == (f"UC{OWNER}", "@느린부엌")
