"""Pictures of scenes: where they are on a storyboard, what they cost, and what is kept of them."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.domain import Details, FetchError, Storyboard, Video
from subtitle_rag.fetching import pictures
from subtitle_rag.fetching.pictures import Picture, Pictures
from tests.fetching.desk import HANDLE, QUICK, Desk, channel, clip
from tests.support.cases import cases

BOARD = Storyboard(160, 90, rows=5, columns=5, interval_ms=10_000, sheets=("a", "b"))


@cases(
    ("seconds", "place"),
    [
        (0, (0, 0, 0)),
        (9.9, (0, 0, 0)),
        (10, (0, 1, 0)),
        (50, (0, 0, 1)),
        (250, (1, 0, 0)),
        (9_999, (1, 4, 4)),
        (-5, (0, 0, 0)),
    ],
)
def test_a_moment_has_a_place_on_the_sheets(seconds: float, place: tuple[int, int, int]) -> None:
    assert BOARD.place(int(seconds * 1000)) == place


def test_a_place_is_a_box_of_pixels() -> None:
    assert Picture(Path("x"), (160, 90), column=2, row=3).box == (320, 270, 480, 360)


@pytest.fixture
def video(desk: Desk) -> Video:
    desk.youtube.add(channel(clip(1, duration=600), clip(2, duration=600)))
    desk.run(HANDLE)
    desk.youtube.clear()
    found = desk.place.library.video("slowcook001")
    assert found
    return found


@pytest.fixture
def kept(desk: Desk, tmp_path: Path) -> Pictures:
    return Pictures(desk.place.library, tmp_path / "cache", QUICK)


def test_a_sheet_is_one_request_for_all_its_moments(desk: Desk, video: Video, kept: Pictures, tmp_path: Path) -> None:
    first, second = kept.of(video, 0), kept.of(video, 12_000)
    assert first
    assert second
    assert first.sheet == second.sheet
    assert first.box != second.box
    assert desk.asked == {"image": 1}
    again = Pictures(desk.place.library, tmp_path / "cache", QUICK)
    assert again.of(video, 0) == first
    assert desk.asked == {"image": 1}


@pytest.mark.parametrize("status", [403, 404])
def test_an_expired_address_is_renewed_once(desk: Desk, video: Video, kept: Pictures, status: int) -> None:
    desk.youtube.refuse("image", status)
    assert kept.of(video, 0)
    assert desk.asked == {"image": 2, "watch": 1}


def test_what_stays_refused_is_not_asked_for_again(desk: Desk, video: Video, kept: Pictures) -> None:
    desk.youtube.refuse("image", 404, times=None)
    with pytest.raises(FetchError):
        kept.of(video, 0)
    spent = desk.asked
    assert kept.of(video, 0) is None
    assert desk.asked == spent


def test_a_block_ends_all_asking(desk: Desk, video: Video, kept: Pictures) -> None:
    desk.youtube.refuse(None, 429, times=None)
    with pytest.raises(FetchError):
        kept.of(video, 0)
    spent = desk.asked
    assert kept.of(replace(video, id="slowcook002"), 0) is None
    assert desk.asked == spent


def test_while_the_queue_rests_nothing_is_asked_for(desk: Desk, video: Video, kept: Pictures) -> None:
    desk.place.library.sources.put_rest(int(time.time()) + 3_600, "rate_limited")
    assert kept.of(video, 0) is None
    assert desk.asked == {}
    desk.place.library.sources.end_rest()
    assert kept.of(video, 0)


def test_sheets_come_from_youtube_alone(desk: Desk, video: Video, kept: Pictures) -> None:
    details = Details(storyboard=Storyboard(160, 90, 5, 5, 10_000, ("https://evilytimg.com/a",)))
    desk.place.library.put_details(video.id, details)
    desk.youtube.refuse("watch", 404, times=None)
    with pytest.raises(FetchError):
        kept.of(video, 0)
    assert "image" not in desk.asked


def test_what_is_no_picture_is_not_kept(
    desk: Desk, video: Video, kept: Pictures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MAGIC_BYTES", (b"GIF89a",))
    assert kept.of(video, 0) is None
    assert not (tmp_path / "cache").exists()


def test_videos_that_are_files_have_none(desk: Desk, kept: Pictures) -> None:
    assert kept.of(Video("file-../../x", "제목", "UC1", "채널"), 0) is None
    assert desk.asked == {}


def test_the_cache_is_bounded(desk: Desk, video: Video, kept: Pictures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_SHEETS", 1)
    first, last = kept.of(video, 0), kept.of(video, 590_000)
    assert first
    assert last
    assert first.sheet != last.sheet
    assert not first.sheet.exists()
    assert last.sheet.exists()


def test_many_threads_ask_once(desk: Desk, video: Video, kept: Pictures) -> None:
    threads = [threading.Thread(target=kept.of, args=(video, 0)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert desk.asked == {"image": 1}
