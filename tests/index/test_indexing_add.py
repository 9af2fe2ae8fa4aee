"""One video's track at a time, as fetching brings it; what an ended run has left; and windows of an older rule."""

import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from filelock import FileLock

from subtitle_rag.base.domain.errors import BusyError, CaptionError
from subtitle_rag.base.domain.events import Found, IndexReport, Listed, Resting, VideoDone, VideoFailed, WindowsIndexed
from subtitle_rag.base.domain.values import Chapter, Details, Heat, Track, Video
from subtitle_rag.captions import windows
from subtitle_rag.captions.windows import RULE
from subtitle_rag.index import indexing
from subtitle_rag.library.store import Library
from tests.support.failures import failing
from tests.support.invented import caption_folder, caption_text
from tests.support.place import Place
from tests.support.rolling import Lines, to_json3

ID = "abcdefghijk"
DETAILS = Details("설명", "https://i.ytimg.com/a.jpg", (Heat(0, 1, 0.5),))


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 3, minutes=3)


def watched(id: str = ID, **changes: Any) -> Video:
    url = f"https://www.youtube.com/watch?v={id}"
    return Video(
        **{"id": id, "title": f"영상 {id}", "channel_id": "UCx", "channel": "느린 부엌", "url": url, **changes}
    )


def manual(seed: int = 7, minutes: float = 3) -> Track:
    return track(caption_text(random.Random(seed), minutes).encode(), "manual", "vtt")


def heard(text: str, seconds: int = 180) -> Track:
    """A line of speech every three seconds, as YouTube hears it."""
    lines: Lines = [
        [(at * 1_000 + 250 * n, word) for n, word in enumerate(text.split())] for at in range(0, seconds, 3)
    ]
    return track(to_json3(lines, seconds * 1_000).encode(), "asr", "json3")


def track(raw: bytes, kind: str, format: str) -> Track:
    return Track("ko", kind, format, raw, sha256(raw).hexdigest(), 1_700_000_000)


def add(place: Place, video: Video, own: Track, details: Details = DETAILS) -> list[VideoDone | WindowsIndexed]:
    return list(place.indexer.add(video, own, details))


def changes(events: list[VideoDone | WindowsIndexed]) -> list[str]:
    return [event.change for event in events if isinstance(event, VideoDone)]


def test_a_track_that_is_added_becomes_searchable(place: Place) -> None:
    own = heard("코끼리 아저씨를 만났어요")
    done, indexed = add(place, watched(), own)
    windows = place.library.windows_of(ID)
    assert done == VideoDone(ID, f"영상 {ID}", "new", len(windows))
    assert indexed == WindowsIndexed(len(windows))
    assert {id for id, _score in place.results("코끼리")} == {window.id for window in windows} != set()
    assert (place.library.video(ID), place.library.track(ID)) == (watched(), own)
    assert place.library.details(ID) == DETAILS
    assert place.sound()


def test_a_track_that_is_there_already_writes_nothing(place: Place) -> None:
    add(place, watched(), manual())
    rows, files = place.content(), place.written()
    assert add(place, watched(), manual()) == [
        VideoDone(ID, f"영상 {ID}", "unchanged", len(place.library.windows_of(ID)))
    ]
    assert (place.content(), place.written()) == (rows, files)


def test_another_track_takes_the_place_of_the_old_one(place: Place) -> None:
    add(place, watched(), heard("코끼리 아저씨를 만났어요"))
    assert changes(add(place, watched(), heard("앵무새 아저씨를 만났어요"), Details("새 설명"))) == ["changed"]
    assert place.results("코끼리") == []
    assert {id for id, _score in place.results("앵무새")} == place.index.ids(ID)
    assert place.library.details(ID) == Details("새 설명")
    assert place.sound()


@pytest.mark.parametrize("change", [{"title": "코뿔소 이야기"}, {"channel": "빠른 부엌"}, {"kind": "short"}])
def test_a_video_that_says_something_else_of_itself_is_changed(place: Place, change: dict[str, str]) -> None:
    add(place, watched(), manual())
    assert changes(add(place, watched(**change), manual())) == ["changed"]
    assert place.library.video(ID) == watched(**change)
    assert place.sound()


def test_windows_are_cut_where_chapters_begin(place: Place) -> None:
    chapters = (Chapter(0, "처음"), Chapter(48_000, "양념"), Chapter(111_000, "튀기기"))
    add(place, watched(chapters=chapters), heard("국수를 먹었어요"))
    assert [window.start_ms for window in place.library.windows_of(ID)] == [0, 48_000, 111_000]
    assert changes(add(place, watched(), heard("국수를 먹었어요"))) == ["changed"]
    assert [window.start_ms for window in place.library.windows_of(ID)] == [0, 60_000, 120_000]
    assert place.sound()


@pytest.mark.parametrize(
    ("raw", "format", "code"),
    [
        (b"no captions", "vtt", "not_captions"),
        (b"WEBVTT\n\n", "vtt", "no_cues"),
        (b"<html></html>", "json3", "not_captions"),
        (b"", "json3", "not_captions"),
        (b'{"events": []}', "json3", "no_cues"),
    ],
)
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
def test_a_track_that_cannot_be_used_leaves_all_as_it_was(
    place: Place, raw: bytes, format: str, code: str, known: bool
) -> None:
    if known:
        add(place, watched(), manual())
    rows, files = place.content(), place.written()
    with failing(code, CaptionError) as caught:
        add(place, watched(title="새 제목"), track(raw, "asr", format), Details("새 설명"))
    assert watched().title in caught.value.message or "새 제목" in caught.value.message
    assert (place.content(), place.written()) == (rows, files)
    assert changes(add(place, watched(), manual())) == ["unchanged" if known else "new"]


def test_captions_end_a_refusal(place: Place) -> None:
    place.library.sources.put_refused(watched(), "caption_blocked", {"title": "x"}, 5)
    assert changes(add(place, watched(), manual())) == ["new"]
    place.library.sources.put_refused(watched(), "caption_blocked", {"title": "x"}, 5)
    add(place, watched(), manual())
    assert place.library.counts().failed == 0
    assert place.sound()


def test_another_indexer_at_work_is_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BACKGROUND_TIMEOUT_S", 30)
    lock = FileLock(place.folder / "library.lock", thread_local=False)
    for work in (place.indexer.add(watched(), manual(), DETAILS), place.indexer.finish()):
        lock.acquire()
        letting_go = Timer(0.1, lock.release)
        letting_go.start()
        list(work)
        assert not lock.is_locked
        letting_go.join()
    assert place.sound()
    assert place.library.counts().videos == 1


@pytest.mark.parametrize("patience", [0, 0.05])
def test_an_indexer_that_stays_at_work_is_told_of(
    place: Place, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BACKGROUND_TIMEOUT_S", patience)
    with FileLock(place.folder / "library.lock"):
        for work in (place.indexer.add(watched(), manual(), DETAILS), place.indexer.finish()):
            with failing("busy", BusyError):
                list(work)
    assert place.library.counts().videos == 0
    assert changes(add(place, watched(), manual())) == ["new"]


def test_what_an_ended_run_left_is_finished(place: Place) -> None:
    run = place.indexer.add(watched(), heard("코끼리 아저씨를 만났어요"), DETAILS)
    assert isinstance(next(run), VideoDone)
    run.close()  # type: ignore[attr-defined]
    assert place.library.counts().searchable == 0
    windows = place.library.counts().windows
    assert list(place.indexer.finish()) == [WindowsIndexed(windows)]
    assert {id for id, _score in place.results("코끼리")} == place.index.ids(ID) != set()
    assert place.sound()


def test_where_nothing_is_left_there_is_nothing_to_finish(place: Place) -> None:
    assert list(place.indexer.finish()) == []
    add(place, watched(), manual())
    rows, files = place.content(), place.written()
    assert list(place.indexer.finish()) == []
    assert {**place.content(), "setting": []} == {**rows, "setting": []}
    assert place.written() == files


OLD = "p1.w3.30-20-90.o12"


@pytest.fixture
def aged(place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A library whose windows were made by another rule than the current one, and from files that are gone."""
    with monkeypatch.context() as patch:
        for module in (indexing, windows):
            patch.setattr(module, "RULE", OLD)
        patch.setattr(windows, "TARGET_MS", 30_000)
        place.run(captions)
        add(place, watched(), manual(), DETAILS)
        assert place.sound()
    shutil.rmtree(captions)
    return place


def rule_hashes(place: Place) -> set[str]:
    with closing(sqlite3.connect(place.library.path)) as db:
        return {rule for (rule,) in db.execute("SELECT DISTINCT rule_hash FROM window")}


def anew(place: Place, folder: Path) -> set[str]:
    """The ids of the windows that the current rule makes of a library's tracks."""
    with closing(Place.at(folder, place.analyzer)) as other:
        for state in place.library.videos():
            own = place.library.track(state.video.id)
            assert own is not None
            add(other, state.video, own)
        return {window.id for state in other.library.videos() for window in other.library.windows_of(state.video.id)}


@pytest.mark.parametrize("way", ["index", "recut", "rebuild"])
def test_windows_of_an_older_rule_are_made_anew_from_the_stored_tracks(aged: Place, tmp_path: Path, way: str) -> None:
    assert rule_hashes(aged) == {OLD}
    old = {window.id for state in aged.library.videos() for window in aged.library.windows_of(state.video.id)}
    expected = anew(aged, tmp_path / "anew")
    others = caption_folder(tmp_path / "other", 1, minutes=1, seed=3)
    next(others.glob("*.vtt")).rename(others / "새 영상 [newvideo000].ko.vtt")
    if way == "index":
        assert aged.report(others).new == 1
        aged.indexer.remove(["newvideo000"])
    else:
        list(getattr(aged.indexer, way)())
    now = {window.id for state in aged.library.videos() for window in aged.library.windows_of(state.video.id)}
    assert (now, rule_hashes(aged)) == (expected, {RULE})
    assert not now & old
    assert aged.library.details(ID) == DETAILS
    assert aged.sound()
    assert changes(add(aged, watched(), manual())) == ["unchanged"]


class StopError(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("call", [0, 2])
def test_dividing_anew_goes_on_where_it_was_ended(
    aged: Place, tmp_path: Path, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = anew(aged, tmp_path / "anew")
    put_windows, calls = Library.put_windows, iter(range(99))

    def ending(*args: Any) -> None:
        if next(calls) == call:
            raise StopError
        put_windows(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Library, "put_windows", ending)
        with pytest.raises(StopError):
            list(aged.indexer.recut())
    assert OLD in rule_hashes(aged)
    list(aged.indexer.recut())
    list(aged.indexer.finish())
    assert {id for state in aged.library.videos() for id in aged.index.ids(state.video.id)} == expected
    assert aged.sound()


def test_a_report_is_the_sum_of_what_was_told() -> None:
    report = IndexReport()
    failure = VideoFailed("b", "만두", "private", {"title": "만두"})
    waiting, ending = Resting(5, "network", {}, True), Resting(9, "bot_check", {}, False)
    done = VideoDone("a", "국수", "new", 3)
    for event in (
        Found(2),
        Listed("a", "국수"),
        done,
        replace(done, change="changed"),
        Found(4),
        failure,
        waiting,
        ending,
    ):
        report.count(event)
    report.count(WindowsIndexed(3))
    report.count(WindowsIndexed(2))
    assert report == IndexReport(1, [failure], ending, 4, 1, 1, windows=5)
    report.add(IndexReport(1, [failure], waiting, found=1))
    assert report == IndexReport(2, [failure, failure], ending, 5, 1, 1, windows=5)
