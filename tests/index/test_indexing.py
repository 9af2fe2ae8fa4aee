"""Indexing on the bundled sample and on invented files: what it tells, what it writes, and going on after any end."""

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest

import subtitle_rag
from subtitle_rag.base.domain.errors import BusyError, UsageError
from subtitle_rag.base.domain.events import Found, IndexEvent, IndexReport, VideoDone, VideoFailed, WindowsIndexed
from subtitle_rag.base.domain.values import Morphemes, Video
from subtitle_rag.base.vectors.points import Point
from subtitle_rag.captions import files, parse as parsing
from subtitle_rag.index import indexing
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.store import Library
from tests.support.failures import failing
from tests.support.invented import came_true, caption_folder, context_of
from tests.support.place import Place, removal_cut_short

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"
ID = "invented000"


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 4, minutes=3)


def file_of(captions: Path, id: str = ID) -> Path:
    return next(captions.glob(f"*[[]{id}[]].ko.vtt"))


def done(events: list[IndexEvent], change: str) -> list[str]:
    return [event.video for event in events if isinstance(event, VideoDone) and event.change == change]


def failed(events: list[IndexEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, VideoFailed)]


def test_what_lies_beside_the_captions_is_kept_and_kept_up(place: Place, captions: Path) -> None:
    sidecar = file_of(captions).with_name(file_of(captions).name.removesuffix(".ko.vtt") + ".info.json")
    told = json.loads(sidecar.read_text()) if sidecar.exists() else {}
    heat = [{"start_time": 0, "end_time": 9, "value": 0.5}]
    sidecar.write_text(json.dumps({**told, "media_type": "short", "heatmap": heat}))
    place.run(captions)
    assert place.library.details(ID).heatmap == ((0, 9_000, 0.5),)
    video = place.library.video(ID)
    assert video
    assert video.kind == "short"
    sidecar.write_text(json.dumps({**told, "media_type": "short", "heatmap": heat * 2}))
    assert ID in done(place.run(captions), "unchanged")
    assert len(place.library.details(ID).heatmap) == 2


def test_the_sample_becomes_searchable(place: Place) -> None:
    first, *rest, report = place.run(SAMPLE)
    assert first == Found(9)
    assert len(done(rest, "new")) == 9
    windows = sum(event.windows for event in rest if isinstance(event, VideoDone))
    assert report == IndexReport(found=9, new=9, windows=windows)
    assert sum(event.count for event in rest if isinstance(event, WindowsIndexed)) == windows
    assert place.library.counts().searchable == windows > 50
    assert place.sound()
    assert len(place.results("치킨 소스")) > 5


def test_the_analyzer_works_on_the_next_batch_while_one_is_written(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed, needed = list[str](), list[int]()
    ahead: list[bool] = []

    class Watched(Analyzer):
        def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
            for text, analysis in zip(texts, place.analyzer.morphemes(texts), strict=True):
                analysed.append(text)
                yield analysis

    def slowly_inserted(points: Sequence[Point]) -> None:
        needed.append(1 + len(points))  # a video's title and its windows
        if len(needed) < 4:
            ahead.append(came_true(lambda: len(analysed) > sum(needed)))
        EdgeIndex.insert(place.index, points)

    monkeypatch.setattr(indexing, "BATCH", 1)
    monkeypatch.setattr(place.index, "insert", slowly_inserted)
    list(Indexer(place.library, place.index, Watched()).index([captions]))
    assert ahead == [True] * 3
    assert place.sound()


def test_a_second_run_writes_nothing(place: Place) -> None:
    place.run(SAMPLE)
    rows, files = place.content(), place.written()
    with closing(connect(place.library.path)) as watcher:
        before = watcher.execute("PRAGMA data_version").fetchone()
        events = place.run(SAMPLE)
        assert watcher.execute("PRAGMA data_version").fetchone() == before
    assert len(done(events, "unchanged")) == 9
    assert events[-1] == IndexReport(found=9, unchanged=9)
    assert (place.content(), place.written()) == (rows, files)


def test_a_second_run_with_failures_writes_nothing_either(place: Place, captions: Path) -> None:
    file_of(captions).write_text("no captions")
    (captions / "notes [notes000001].ko.srt").write_text("")
    assert len(failed(place.run(captions))) == 2
    rows, files = place.content(), place.written()
    assert place.report(captions).failed == 2
    assert (place.content(), place.written()) == (rows, files)


def test_every_writing_shows_in_what_these_tests_compare(place: Place, captions: Path) -> None:
    place.run(captions)
    rows, files = place.content(), place.written()
    file_of(captions).write_text(file_of(captions, "invented001").read_text())
    place.run(captions)
    assert place.content() != rows
    assert place.written() != files


def test_changed_captions_replace_the_old_ones(place: Place, captions: Path) -> None:
    place.run(captions)
    old = place.index.ids(ID)
    kept = place.index.ids("invented001")
    file_of(captions).write_text("WEBVTT\n\n00:07.000 --> 00:30.000\n코끼리 아저씨를 만났어요\n", encoding="utf-8")
    events = place.run(captions)
    assert done(events, "changed") == [ID]
    assert len(done(events, "unchanged")) == 3
    assert place.index.ids(ID).isdisjoint(old)
    assert place.index.ids("invented001") == kept
    assert place.sound()
    (found, *_others) = place.results("코끼리")
    assert {found[0]} == place.index.ids(ID)


def test_a_changed_title_is_searchable_and_the_old_one_is_not(place: Place, captions: Path) -> None:
    stem = file_of(captions).name.removesuffix(".ko.vtt")
    sidecar = captions / f"{stem}.info.json"
    sidecar.write_text(json.dumps({"title": "코뿔소 이야기"}), encoding="utf-8")
    place.run(captions)
    assert {id for id, _score in place.results("코뿔소")} == place.index.ids(ID)
    sidecar.write_text(json.dumps({"title": "앵무새 이야기", "upload_date": "20260531"}), encoding="utf-8")
    assert done(place.run(captions), "changed") == [ID]
    assert place.results("코뿔소") == []
    assert {id for id, _score in place.results("앵무새")} == place.index.ids(ID)
    assert {id for id, _score in place.results("앵무새 after:2026-05-31")} == place.index.ids(ID)
    assert place.sound()


@pytest.mark.parametrize(("text", "code"), [("no captions", "not_captions"), ("WEBVTT\n\n", "no_cues")])
def test_a_file_that_turns_bad_keeps_its_windows_and_is_told(
    place: Place, captions: Path, text: str, code: str
) -> None:
    place.run(captions)
    good, windows, results = file_of(captions).read_bytes(), place.content()["window"], place.results()
    file_of(captions).write_text(text)
    events = place.run(captions)
    assert failed(events) == [code]
    assert events[-1] == IndexReport(
        found=4, unchanged=3, failed=1, failures=[e for e in events if isinstance(e, VideoFailed)]
    )
    assert place.content()["window"] == windows
    assert place.results() == results
    assert [state.failure for state in place.library.videos() if state.video.id == ID] == [code]
    file_of(captions).write_bytes(good)
    assert done(place.run(captions), "changed") == [ID]
    assert place.library.counts().failed == 0
    assert place.content()["window"] == windows


def test_the_next_track_stands_in_for_a_bad_one(place: Place, captions: Path) -> None:
    good = file_of(captions)
    bad = good.with_name(good.name.replace(".ko.", ".ko-KR."))
    good.rename(good.with_name(good.name.replace(".ko.", ".en.")))
    bad.write_text("no captions")
    events = place.run(captions)
    assert (failed(events), len(done(events, "new"))) == (["not_captions"], 4)
    track = place.library.track(ID)
    assert track is not None
    assert track.language == "en"
    assert place.library.counts().failed == 0
    rows = place.content()
    events = place.run(captions)
    assert (failed(events), len(done(events, "unchanged"))) == (["not_captions"], 4)
    assert place.content() == rows


def test_a_removed_video_leaves_no_point(place: Place, captions: Path) -> None:
    place.run(captions)
    points = place.index.count()
    own = len(place.index.ids(ID))
    place.indexer.remove([ID, "never there"])
    assert place.library.video(ID) is None
    assert place.index.ids(ID) == set()
    assert place.index.count() == points - own
    assert place.sound()


def test_a_removal_cut_short_is_finished_by_the_next_run(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.run(captions)
    with removal_cut_short(monkeypatch):
        place.indexer.remove([ID, "invented001"])
    assert place.index.ids(ID)
    file_of(captions).unlink()
    place.run(captions)
    assert place.index.ids(ID) == set()
    assert place.sound()


def test_a_rebuilt_index_answers_as_the_first_one_and_needs_no_caption_files(place: Place, captions: Path) -> None:
    place.run(captions, SAMPLE)
    rows, results = place.content(), place.results()
    shutil.rmtree(captions)
    events = list(place.indexer.rebuild())
    assert sum(event.count for event in events) == place.library.counts().windows
    assert (place.content(), place.results()) == (rows, results)
    assert place.sound()


@pytest.fixture
def whole(tmp_path: Path, analyzer: Analyzer, captions: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """An uninterrupted run over `captions`, in small batches."""
    monkeypatch.setattr(indexing, "BATCH", 2)
    with closing(Place.at(tmp_path / "whole", analyzer)) as opened:
        opened.run(captions)
        yield opened


@pytest.mark.campaign(part="flows")
def test_a_run_ended_at_any_event_goes_on_from_there(
    whole: Place, captions: Path, tmp_path: Path, analyzer: Analyzer
) -> None:
    rows, results = whole.content(), whole.results()
    with closing(Place.at(tmp_path / "counted", analyzer)) as counted:
        events = len(counted.run(captions))
    assert events > 7, "found, four videos, their windows in more than one batch, and the report"
    for ended_at in range(1, events + 1):
        with closing(Place.at(tmp_path / f"ended-{ended_at}", analyzer)) as place:
            run = place.indexer.index([captions])
            for _event in range(ended_at):
                next(run)
            run.close()
            place.run(captions)
            assert (place.content(), place.results()) == (rows, results), ended_at
            assert place.sound()


def test_a_rebuild_ended_at_any_event_goes_on_from_there(whole: Place, captions: Path) -> None:
    rows, results = whole.content(), whole.results()
    for ended_at in range(1, len(list(whole.indexer.rebuild()))):
        rebuild = whole.indexer.rebuild()
        for _event in range(ended_at):
            next(rebuild)
        rebuild.close()
        whole.run(captions)
        assert (whole.content(), whole.results()) == (rows, results), ended_at
        assert whole.sound()


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_what_waits_for_the_index_still_waits_behind_a_rebuild_that_is_not_adopted(
    whole: Place, captions: Path, killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild fills another index. It has windows and contexts that the index in use lacks."""
    first, second, *_others = whole.library.windows_of(ID)
    caption_folder(captions, 6, minutes=3)
    with monkeypatch.context() as patch:
        patch.setattr(EdgeIndex, "insert", ending)
        with pytest.raises(StopError):
            whole.run(captions)
    waiting = whole.library.counts().windows - whole.library.counts().searchable
    assert waiting > 0
    assert whole.library.contexts.put(context_of(first, "두레반 삼촌이 육수를 맛보는 장면입니다."))
    with monkeypatch.context() as patch:
        if killed:
            patch.setattr(Library, "forget_staged", lambda _library: None)
        rebuild = whole.indexer.rebuild()
        for _event in range(len(list(whole.library.videos())) - 1):
            next(rebuild)
        assert whole.library.contexts.put(
            context_of(second, "두레반 이모가 국수를 삶는 장면입니다.", written_at=int(time.time()))
        )
        rebuild.close()
    whole.run(captions)
    assert whole.sound()
    assert whole.library.contexts.unindexed() == {ID: sorted([first.id, second.id])}
    whole.indexer.add_contexts(whole.library.contexts.unindexed())
    assert all(point.payload["context"] for point in whole.index.get([first.id, second.id]))
    list(whole.indexer.rebuild())
    assert whole.sound()
    assert whole.library.contexts.unindexed() == {}


class StopError(BaseException):
    """Stands for whatever ends a process."""


def ending(*_args: Any) -> None:
    raise StopError


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("method", "call"),
    [
        *((method, call) for method in ("put_video", "insert", "put_indexed") for call in (0, 2)),
        ("delete_videos", 0),  # once for all videos of a run
        ("finish_purge", 0),
    ],
)
@pytest.mark.campaign(part="kills")
def test_a_run_ended_at_any_write_goes_on_from_there(
    whole: Place, captions: Path, method: str, call: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`call`: which call of the method does not return; `after`: it has done its work."""
    for number in range(3):
        own, other = f"invented{number:03d}", f"invented{number + 1:03d}"
        file_of(captions, own).write_bytes(file_of(captions, other).read_bytes() + b"\n")
    target = EdgeIndex if hasattr(EdgeIndex, method) else Library
    real = getattr(target, method)
    calls: list[int] = []

    def counting(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) <= call:
            return real(*args, **options)
        if after:
            real(*args, **options)
        raise StopError

    with monkeypatch.context() as patch:
        patch.setattr(target, method, counting)
        with pytest.raises(StopError):
            whole.run(captions)
    whole.run(captions)
    assert whole.sound()
    with closing(Place.at(whole.folder / "anew", whole.analyzer)) as anew:
        anew.run(captions)
        assert whole.content() == anew.content()
        assert {id for id, _score in whole.results()} == {id for id, _score in anew.results()}


def test_contexts_that_come_behind_a_killed_run_are_indexed_by_the_next(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The killed run has written its points, without contexts, and not noted them."""
    with monkeypatch.context() as patch:
        patch.setattr(Library, "put_indexed", ending)
        with pytest.raises(StopError):
            place.run(captions)
    (window, *_others) = place.library.windows_of(ID)
    late = {ID: [window.id]}
    assert place.library.contexts.put(context_of(window, "두레반 삼촌이 육수를 맛보는 장면입니다."))
    place.indexer.add_contexts(late)  # it is not searchable yet
    place.run(captions)
    assert place.sound()
    (point,) = place.index.get([window.id])
    assert point.payload["context"] == "두레반 삼촌이 육수를 맛보는 장면입니다."
    assert [id for id, _score in place.results("두레반")][:1] == [window.id]


def test_one_works_on_a_library_at_a_time(place: Place, captions: Path) -> None:
    first = place.indexer.index([captions])
    next(first)
    for second in (place.indexer.index([captions]), place.indexer.rebuild()):
        with failing("busy", BusyError):
            next(second)
    with failing("busy", BusyError):
        place.indexer.remove([ID])
    assert place.library.counts().videos == 0
    list(first)
    assert place.report(captions).unchanged == 4


def test_a_run_may_be_ended_by_another_thread(place: Place, captions: Path) -> None:
    from threading import Thread

    run = place.indexer.index([captions])
    next(run)
    other = Thread(target=run.close)
    other.start()
    other.join()
    assert place.report(captions).new == 4


def test_several_sources_are_one_run(place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(captions.parent)
    file = file_of(captions)
    assert place.report(file, Path("captions"), captions) == IndexReport(
        found=4, new=4, windows=place.library.counts().windows
    )
    assert place.report(file) == IndexReport(found=1, unchanged=1)


def test_a_run_makes_searchable_what_earlier_ones_left(place: Place, captions: Path) -> None:
    run = place.indexer.index([captions])
    for event in run:
        if isinstance(event, VideoDone):
            break
    run.close()
    assert place.library.counts().searchable == 0
    left = place.library.counts().windows
    file = file_of(captions, "invented003")
    assert place.report(file).windows == left + len(place.library.windows_of("invented003"))
    assert place.sound()


@pytest.mark.parametrize("source", ["nowhere", "nowhere/at all.vtt"])
def test_a_source_that_is_not_there_is_refused_before_anything_is_written(
    place: Place, captions: Path, source: str
) -> None:
    with failing("unsupported_source", UsageError):
        place.run(captions, captions / source)
    assert place.library.counts().videos == 0


def test_a_folder_without_captions_is_told(place: Place, tmp_path: Path) -> None:
    empty = tmp_path / "비어 있음"
    empty.mkdir()
    (empty / "notes.txt").write_text("no captions")
    with failing("no_caption_files", UsageError) as caught:
        place.run(empty)
    assert "비어 있음" in caught.value.message


def test_a_named_file_that_is_no_caption_file_is_told_and_the_others_go_on(
    place: Place, captions: Path, tmp_path: Path
) -> None:
    other = tmp_path / "holiday.jpg"
    other.write_bytes(b"\xff\xd8\xff")
    events = place.run(other, captions)
    assert (failed(events), len(done(events, "new"))) == (["not_captions"], 4)


def test_a_bad_file_with_an_undecodable_name_is_remembered(place: Place, captions: Path) -> None:
    import os

    try:
        (captions / os.fsdecode(b"\xff\xfe.vtt")).write_text("WEBVTT\n\n")
    except OSError:
        pytest.skip("this file system has no such names")
    assert failed(place.run(captions)) == ["no_cues"]
    assert place.library.counts().failed == 1
    assert place.report(captions).failed == 1


def dated(captions: Path, *days: str) -> list[str]:
    """The ids of the folder's videos, each with a sidecar that says when it was published."""
    ids = []
    for file, published in zip(sorted(captions.glob("*.ko.vtt")), days, strict=False):
        sidecar = file.with_name(file.name.removesuffix(".ko.vtt") + ".info.json")
        sidecar.write_text(json.dumps({"upload_date": published.replace("-", "")}), encoding="utf-8")
        ids.append(file.name.partition("[")[2][:11])
    return ids


def test_since_leaves_out_older_and_undated_videos(place: Place, captions: Path) -> None:
    ids = dated(captions, "2026-01-01", "2026-03-01", "2026-02-01")
    events = list(place.indexer.index([captions], since=date(2026, 2, 1)))
    assert events[0] == Found(2)
    assert done(events, "new") == ids[1:]


def test_a_limit_takes_the_newest(place: Place, captions: Path) -> None:
    ids = dated(captions, "2026-01-01", "2026-03-01", "2026-02-01")
    events = list(place.indexer.index([captions], limit=2))
    assert done(events, "new") == ids[1:]


def test_one_file_never_stops_the_others_whatever_it_raises(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_number = '{"events":[{"tStartMs":' + "9" * 400 + ',"segs":[{"utf8":"코뿔소"}]}]}'
    (captions / "number [number00001].ko.json3").write_text(long_number, encoding="utf-8")
    inner = parsing.parse_captions

    def parse(raw: bytes, format: str, *, path: str, language: str) -> Any:
        if ID in path:
            raise RecursionError
        return inner(raw, format, path=path, language=language)

    monkeypatch.setattr(indexing, "parse_captions", parse)
    events = place.run(captions)
    assert failed(events) == ["caption_unexpected"]
    assert len(done(events, "new")) == 4
    assert place.report(captions).failed == 1, "the failure is stored, and tried again"
    monkeypatch.setattr(indexing, "parse_captions", inner)
    assert done(place.run(captions), "new") == [ID]


def test_a_file_that_cannot_be_described_never_stops_the_others(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = files._video

    def video(path: Path, *rest: Any) -> Any:
        if ID in path.name:
            raise OverflowError
        return inner(path, *rest)

    monkeypatch.setattr(files, "_video", video)
    events = place.run(captions)
    assert failed(events) == ["caption_unexpected"]
    assert len(done(events, "new")) == 3


@pytest.mark.parametrize("error", [OverflowError("int too large"), UnicodeEncodeError("utf-8", "\ud800", 0, 1, "bad")])
def test_a_video_that_cannot_be_stored_never_stops_the_others(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    inner = Library.put_video

    def put_video(library: Library, video: Video, *rest: Any) -> None:
        if video.id == ID:
            raise error
        inner(library, video, *rest)

    monkeypatch.setattr(Library, "put_video", put_video)
    events = place.run(captions)
    assert failed(events) == ["caption_unexpected"]
    assert len(done(events, "new")) == 3
    monkeypatch.setattr(Library, "put_video", inner)
    assert done(place.run(captions), "new") == [ID]
    assert place.sound()


def test_a_failure_that_cannot_be_stored_never_stops_the_others(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unstorable(*_arguments: Any) -> None:
        raise OverflowError

    file_of(captions).write_text("nothing", encoding="utf-8")
    monkeypatch.setattr(Library, "put_failure", unstorable)
    events = place.run(captions)
    assert failed(events) == ["not_captions"]
    assert len(done(events, "new")) == 3


def test_a_text_that_cannot_be_analysed_never_stops_the_others(
    place: Place, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = Analyzer.morphemes

    def morphemes(analyzer: Analyzer, texts: Sequence[str]) -> Iterator[Morphemes]:
        if any("코뿔소" in text for text in texts):
            raise RuntimeError("Kiwi cannot read this")
        yield from inner(analyzer, texts)

    file = file_of(captions)
    file.write_text(file.read_text(encoding="utf-8") + "\n\n00:50:00.000 --> 00:50:02.000\n코뿔소\n", encoding="utf-8")
    monkeypatch.setattr(Analyzer, "morphemes", morphemes)
    assert len(done(place.run(captions), "new")) == 4
    assert place.sound()
