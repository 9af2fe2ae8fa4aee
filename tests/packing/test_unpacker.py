"""A library goes into a pack and comes out in another one, which loses nothing by it."""

import gc
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.domain import (
    AppError,
    Details,
    MeasuredTrack,
    Track,
    TrackSelection,
    UsageError,
    Video,
)
from subtitle_rag.indexing import windows_of_track
from subtitle_rag.library.context_store import OverviewSection
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.packing import packer
from subtitle_rag.packing.pack_file import MEMBERS
from subtitle_rag.packing.packer import Packer, PackSelection
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.invented import caption_folder
from tests.support.packs import checked, context_of, forged, members, pack, sealed, unpack, with_contexts
from tests.support.place import Place

NEVER = ("detail", "setting", "purge", "answer")
"""Tables that a pack holds in part, or not at all."""

Open = Callable[[str], Place]


@pytest.fixture
def open_place(tmp_path: Path, analyzer: Analyzer) -> Iterator[Open]:
    places: list[Place] = []

    def open_place(name: str) -> Place:
        places.append(Place.at(tmp_path / name, analyzer))
        return places[-1]

    yield open_place
    for place in places:
        place.close()


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Path:
    """The folder of a library and its captions."""
    folder = tmp_path_factory.mktemp("given")
    with closing(Place.at(folder / "giver", analyzer)) as place:
        place.run(caption_folder(folder / "captions", 3, minutes=3))
        with_contexts(place)
    return folder


@pytest.fixture
def giver(given: Path, open_place: Open, tmp_path: Path) -> Place:
    shutil.copytree(given, tmp_path, dirs_exist_ok=True)
    return open_place("giver")


@pytest.fixture
def receiver(open_place: Open) -> Place:
    return open_place("receiver")


def window_at(place: Place, ordinal: int = 0) -> Any:
    return place.library.windows_of("invented000")[ordinal]


def without(place: Place, *left_out: str) -> dict[str, Any]:
    """The tables of a library. The path of a caption file and the times of its work stay at home."""
    tables = {name: rows for name, rows in place.content().items() if name not in (*NEVER, *left_out)}
    tables["video"] = [(*row[:7], None, *row[8:]) for row in tables["video"]]
    tables["stage"] = [(*row[:5], *row[6:]) for row in tables["stage"]]
    return tables


def test_an_unpacked_library_answers_like_the_packed_one(giver: Place, receiver: Place, tmp_path: Path) -> None:
    packed = pack(giver, tmp_path / "a.pack")
    report = unpack(receiver, tmp_path / "a.pack")
    assert (report.new, report.windows, report.contexts) == (3, packed.windows, packed.contexts)
    assert packed.contexts > 0
    assert without(receiver) == without(giver)
    assert receiver.results("캠핑", "국수", "할머니 시장") == giver.results("캠핑", "국수", "할머니 시장")
    assert receiver.sound()


def test_unpacking_again_changes_nothing(giver: Place, receiver: Place, tmp_path: Path) -> None:
    pack(giver, tmp_path / "a.pack")
    unpack(receiver, tmp_path / "a.pack")
    before, files = receiver.content(), receiver.written()
    report = unpack(receiver, tmp_path / "a.pack")
    assert (report.new, report.known, report.contexts, report.windows) == (0, 3, 0, 0)
    assert (receiver.content(), receiver.written()) == (before, files)


def test_a_window_keeps_its_own_context_and_the_others_get_one(giver: Place, receiver: Place, tmp_path: Path) -> None:
    packed = pack(giver, tmp_path / "a.pack")
    receiver.run(tmp_path / "captions")
    first = window_at(receiver)
    own = context_of(first, "바다에서 문어를 잡습니다.", model="qwen3:4b", written_at=1_600_000_000)
    receiver.library.contexts.put(own)
    receiver.indexer.add_contexts({first.video_id: [first.id]})
    report = unpack(receiver, tmp_path / "a.pack")
    assert (report.known, report.contexts, report.contexts_kept) == (3, packed.contexts - 1, 1)
    assert receiver.library.contexts.of_windows([first.id])[first.id] == own
    assert receiver.library.contexts.unindexed() == {}
    theirs = next(id for id in giver.library.contexts.texts() if id != first.id)
    assert receiver.library.contexts.texts()[theirs] == giver.library.contexts.texts()[theirs]


def test_other_captions_of_the_library_stay_and_are_a_conflict(giver: Place, receiver: Place, tmp_path: Path) -> None:
    pack(giver, tmp_path / "a.pack")
    receiver.run(caption_folder(tmp_path / "others", 1, minutes=2, seed=99))
    before = receiver.library.track("invented000")
    report = unpack(receiver, tmp_path / "a.pack")
    assert [(each.kind, each.video) for each in report.conflicts] == [("captions", "invented000")]
    assert (report.new, report.contexts_left_out > 0) == (2, True)
    assert receiver.library.track("invented000") == before
    assert receiver.sound()


def test_windows_of_another_rule_are_cut_anew_without_their_contexts(
    giver: Place, receiver: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pack(giver, tmp_path / "a.pack")
    monkeypatch.setattr("subtitle_rag.packing.unpacker.RULE", "another rule")
    monkeypatch.setattr("subtitle_rag.packing.unpacker.windows_of_track", _halves)
    monkeypatch.setattr("subtitle_rag.indexing.RULE", "another rule")
    report = unpack(receiver, tmp_path / "a.pack")
    assert (report.new, report.contexts, report.contexts_left_out) == (3, 0, packed.contexts)
    assert receiver.sound()


def _halves(video: Video, track: Track, path: str) -> Any:
    """Cut as a later version might: other texts under the same ids."""
    return [replace(window, text=window.text[: len(window.text) // 2], lines=window.lines[:1]) for window in
            windows_of_track(video, track, path)]  # fmt: skip


def test_a_pack_renames_no_channel_and_replaces_no_mark(giver: Place, receiver: Place, tmp_path: Path) -> None:
    video = giver.library.video("invented000")
    assert video is not None
    for title, at in (("같은 곳", 0), ("새 곳", 60_000)):
        giver.library.marks.add(video, at, at + 9_000, at, title, note="남의 메모", tag="그들")
    pack(giver, tmp_path / "a.pack")
    (tmp_path / "one").mkdir()
    (tmp_path / "captions" / "영상 0 [invented000].ko.vtt").rename(tmp_path / "one" / "영상 0 [invented000].ko.vtt")
    receiver.run(tmp_path / "one")
    with closing(sqlite3.connect(receiver.library.path)) as db, db:
        db.execute("UPDATE channel SET id = ?, name = '내 이름'", (video.channel_id,))
        db.execute("UPDATE video SET channel_id = ?", (video.channel_id,))
    receiver.library.marks.add(video, 0, 9_000, 0, "같은 곳", note="내 메모", tag="내 것")
    report = unpack(receiver, tmp_path / "a.pack")
    assert dict(receiver.library.channels()) == {video.channel_id: "내 이름"}
    assert [(mark.note, mark.line) for mark in receiver.library.marks.all()] == [
        ("내 메모", "같은 곳"),
        ("남의 메모", "새 곳"),
    ]
    assert (report.marks, [each.kind for each in report.conflicts]) == (1, ["mark"])


def test_sources_are_followed_only_on_request(giver: Place, receiver: Place, tmp_path: Path) -> None:
    url, options = (
        "https://www.youtube.com/@neutit",
        SourceOptions(tabs=("shorts",), since=date(2024, 5, 1), match="국수"),
    )
    channel = giver.library.videos()[0].video.channel_id
    giver.library.sources.follow(url, name="느긋한 식탁", channel_id=channel, options=options)
    giver.library.sources.follow(url + "2", name="남의 방", channel_id="UC" + "a" * 22, options=options)
    pack(giver, tmp_path / "a.pack")
    assert unpack(receiver, tmp_path / "a.pack").not_followed == [url]
    assert receiver.library.sources.followed() == []
    assert unpack(receiver, tmp_path / "a.pack", follow=True).followed == [url]
    (followed,) = receiver.library.sources.followed()
    assert (followed.options, followed.complete, followed.videos) == (options, False, 0)
    assert unpack(receiver, tmp_path / "a.pack", follow=True).followed == []


def test_proper_nouns_and_overviews_of_long_videos_go_with_a_channel(
    giver: Place, receiver: Place, tmp_path: Path
) -> None:
    library = giver.library
    channel = library.videos()[0].video.channel_id
    library.contexts.put_glossary(channel, ("은솔포", "바삭골"))
    library.contexts.put_overview("a" * 32, "invented000", "긴 영상의 줄거리")
    section = OverviewSection("b" * 32, "invented000", "s1", "앞부분")
    assert library.contexts.put_overview_section(section, library.contexts.transcript("invented000"))
    pack(giver, tmp_path / "a.pack")
    assert unpack(receiver, tmp_path / "a.pack").new == 3
    assert without(receiver) == without(giver)
    assert receiver.library.contexts.glossary(channel) == ("은솔포", "바삭골")


def test_a_pack_of_version_1_is_read_without_what_is_of_no_channel(
    giver: Place, receiver: Place, tmp_path: Path
) -> None:
    pack(giver, tmp_path / "a.pack")
    content = members(tmp_path / "a.pack")
    first, *others = content["videos.jsonl"].splitlines()
    due = {**json.loads(first), "id": "DueDueDueDu", "url": None, "track": None, "windows": [], "contexts": []}
    due |= {"failure": {"code": "members_only", "details": {"title": "x"}}, "summary": None}
    videos = b"\n".join([first, *others, json.dumps(due).encode()]) + b"\n"
    manifest = json.loads(content["manifest.json"]) | {"version": 1, "whole": True}
    earlier = {**content, "manifest.json": json.dumps(manifest).encode()}
    sealed(tmp_path / "b.pack", earlier | {"answers.jsonl": b"{}\n", "settings.jsonl": b""}, {"videos.jsonl": videos})
    report = unpack(receiver, tmp_path / "b.pack")
    assert (report.new, receiver.library.video("DueDueDueDu"), receiver.library.answers.latest()) == (3, None, [])
    assert without(receiver) == without(giver)


def test_a_library_can_be_packed_whatever_names_and_dates_it_has(giver: Place, receiver: Place, tmp_path: Path) -> None:
    captions = tmp_path / "others"
    captions.mkdir()
    text = (tmp_path / "captions" / "영상 0 [invented000].ko.vtt").read_bytes()
    long = "en-" + "x" * 60
    for language in ("en-eEY6OEpapP_", long):  # YouTube's name of a second English track
        (captions / f"강연 {len(language)}.{language}.vtt").write_bytes(text)
    for file in captions.iterdir():
        os.utime(file, (-1, -1))  # before 1970
    giver.run(captions)
    languages = ("한국어", "zh-Hans", "ko_KR", "", "x" * 50)
    for name, typed in (("aaa", languages), ("bbb", ("한국어",)), ("ccc", ()), ("ddd", ("ko",) * 30)):
        url = f"https://www.youtube.com/@{name}"
        options = SourceOptions(languages=typed)
        giver.library.sources.follow(url, name=name, channel_id=giver.library.channels()[0][0], options=options)
    giver.library.contexts.put_glossary("channel", ["가" * 2_000])
    video = giver.library.videos()[0].video
    giver.library.marks.add(video, 0, 1_000, 0, "줄", note="메모" * 1_000, tag="꼬" * 2_000)

    packed = pack(giver, tmp_path / "a.pack")
    assert (packed.videos, packed.marks, packed.sources) == (5, 1, 4)
    report = unpack(receiver, tmp_path / "a.pack", follow=True)
    assert (report.new, report.marks, len(report.followed)) == (5, 1, 4)
    tracks = [receiver.library.track(state.video.id) for state in receiver.library.videos()]
    assert sorted(track.language for track in tracks if track) == ["en-eEY6OEpapP-", "ko", "ko", "ko", "und"]
    assert {track.fetched_at for track in tracks if track and track.language != "ko"} == {0}
    followed = {source.name: source.options.languages for source in receiver.library.sources.followed()}
    assert followed == {"aaa": ("zh-Hans", "ko_KR"), "bbb": ("ko",), "ccc": ("ko",), "ddd": ("ko",) * 20}


def test_a_pack_has_the_reason_of_a_track_and_earlier_versions_can_read_it(
    giver: Place, receiver: Place, tmp_path: Path
) -> None:
    tracks = (MeasuredTrack("ko", "manual", failure="no_cues"), MeasuredTrack("ko-한국어", "asr", 4_211))
    selection = TrackSelection(tracks, 1, "mislabelled")
    giver.library.put_selection("invented000", selection)
    pack(giver, tmp_path / "a.pack")
    records = [json.loads(line) for line in members(tmp_path / "a.pack")["videos.jsonl"].splitlines()]
    assert {record["track"]["flag"] for record in records} == {""}

    unpack(receiver, tmp_path / "a.pack")
    track = receiver.library.track("invented000")
    assert track
    assert track.flag == "mislabelled"
    assert track.selection == replace(selection, tracks=(tracks[0], replace(tracks[1], language="und")))


def test_a_pack_of_a_channel_holds_nothing_of_the_machine(giver: Place, tmp_path: Path) -> None:
    library = giver.library
    library.database.put_setting("recent_searches", json.dumps(["비밀스러운 검색"]))
    library.database.put_setting("player", "mpv-geheim")
    library.sources.put_due(Video("DueDueDueDu", "기다리는 영상", "else", "남의 방"))
    unread = Video("file-" + "0" * 16, "읽을 수 없는 파일", "else", "남의 방", source=str(tmp_path / "x.vtt"))
    library.put_failure(unread, "unreadable", {"path": str(tmp_path / "x.vtt"), "reason": "?"})
    library.put_details("invented000", Details("설명", "https://i.ytimg.com/vi/x/a.jpg"))
    library.database.change(
        "INSERT INTO answer VALUES (1, 1, '비밀스러운 질문', '답', 'm', 'a1', 's', 'w', '[]', '[]', '[]')"
    )
    channel = library.videos()[0].video.channel_id
    packed = pack(giver, tmp_path / "a.pack", PackSelection(channels=(channel, "else")))
    text = b"".join(members(tmp_path / "a.pack").values()).decode()
    assert packed.windows == library.counts().windows
    for secret in ("비밀스러운", "mpv-geheim", str(tmp_path), "ytimg", ".ko.vtt", "읽을 수 없는 파일", "DueDueDueDu"):
        assert secret not in text


def test_a_pack_has_the_chosen_videos_alone_and_marks_if_wanted(giver: Place, tmp_path: Path) -> None:
    for id in ("invented000", "invented001"):
        video = giver.library.video(id)
        assert video is not None
        giver.library.marks.add(video, 0, 9_000, 0, "줄", note="메모")
    packed = pack(giver, tmp_path / "a.pack", PackSelection(videos=("invented001",)))
    assert (packed.videos, packed.marks, packed.noted_marks) == (1, 1, 1)
    packed = pack(giver, tmp_path / "a.pack", PackSelection(videos=("invented001",), marks=False))
    assert (packed.videos, packed.marks) == (1, 0)
    with pytest.raises(UsageError, match="No video with captions"):
        pack(giver, tmp_path / "b.pack", PackSelection(channels=("nowhere",)))
    assert list(tmp_path.glob("b.pack*")) == []


def test_the_same_library_makes_the_same_members(giver: Place, tmp_path: Path) -> None:
    packs = [tmp_path / name for name in ("a.pack", "b.pack")]
    packs[1].with_name("b.pack.part").write_bytes(bytes(500_000))  # of a run that was killed
    for path in packs:
        pack(giver, path)
    first, second = (members(path) for path in packs)
    assert [first[name] for name in MEMBERS] == [second[name] for name in MEMBERS]
    assert checked(packs[0]) == 3


def test_a_folder_that_cannot_be_written_is_said_and_the_earlier_pack_stays(giver: Place, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="cannot be written"):
        pack(giver, tmp_path / "nowhere" / "a.pack")
    (tmp_path / "a.pack").mkdir()
    with pytest.raises(AppError, match="cannot be written"):
        pack(giver, tmp_path / "a.pack")
    assert list(tmp_path.glob("*.part")) == []


def test_captions_that_cannot_be_read_here_stop_no_other(giver: Place, receiver: Place, tmp_path: Path) -> None:
    raw = b"no captions"
    with closing(sqlite3.connect(giver.library.path)) as db, db:
        import hashlib
        import zlib

        values = (zlib.compress(raw), hashlib.sha256(raw).hexdigest())
        db.execute("UPDATE track SET raw = ?, sha256 = ? WHERE video_id = 'invented001'", values)
    pack(giver, tmp_path / "a.pack")
    report = unpack(receiver, tmp_path / "a.pack")
    assert [failure.video for failure in report.failures] == ["invented001"]
    assert (report.new, receiver.sound()) == (2, True)


def test_a_summary_of_ones_own_stays_and_a_pack_without_one_is_read(
    giver: Place, receiver: Place, open_place: Open, tmp_path: Path
) -> None:
    pack(giver, tmp_path / "a.pack")
    unpack(receiver, tmp_path / "a.pack")
    summary = receiver.library.summaries.get("invented000")
    assert summary is not None
    receiver.library.summaries.put(replace(summary, text="나의 요약입니다."))
    unpack(receiver, tmp_path / "a.pack")
    assert receiver.library.summaries.of(["invented000"]) == {"invented000": "나의 요약입니다."}
    earlier = forged(
        tmp_path / "a.pack",
        tmp_path / "earlier.pack",
        "videos.jsonl",
        lambda records: [{name: value for name, value in each.items() if name != "summary"} for each in records],
    )
    other = open_place("other")
    assert unpack(other, earlier).new == 3
    assert other.library.summaries.all() == {}


def test_an_interrupted_pack_leaves_no_file_and_no_archive_that_ends_later(
    giver: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> Iterator[Any]:
        yield from map(int, ())
        raise KeyboardInterrupt

    written_late: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: written_late.append(str(each.exc_value)))
    monkeypatch.setattr(Packer, "_marks", interrupted)
    monkeypatch.setattr(packer.logger, "disabled", True)  # records of a log hold the traceback, and by it the archive
    with pytest.raises(KeyboardInterrupt):
        pack(giver, tmp_path / "a.pack")
    gc.collect()
    assert written_late == []
    assert list(tmp_path.glob("a.pack*")) == []
