"""Packs that no app has written: each is refused with a code before anything is written."""

import base64
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.packing import kinds, pack_file
from subtitle_rag.packing.pack_file import MANIFEST, MARKS, MEMBERS, SOURCES, VECTORS, VIDEOS
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.cases import cases
from tests.support.failures import failing
from tests.support.invented import caption_folder
from tests.support.packs import Record, checked, forged, members, pack, sealed, unpack, with_contexts, written
from tests.support.place import Place

Change = Callable[[Record], object]

OTHER_CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:01.000\n아\n"
TOKENS = {"dimensions": 5, "bits": 16, "numbers": "AAAAAAAA"}
BROKEN_MANIFESTS = (b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"format": 1, "format": 2}', b"1" * 9_000)


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def floats(*values: float) -> Record:
    return {"bits": 32, "numbers": coded(struct.pack(f"<{len(values)}f", *values))}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Path:
    """A pack with a record of each kind."""
    folder = tmp_path_factory.mktemp("good")
    with closing(Place.at(folder / "giver", analyzer)) as giver:
        giver.run(caption_folder(folder / "captions", 2, minutes=2))
        with_contexts(giver)
        video = giver.library.videos()[0].video
        giver.library.marks.add(video, 0, 9_000, 0, "줄", note="메모", tag="태그")
        pack(giver, folder / "raw.pack")
    window = json.loads(members(folder / "raw.pack")[VIDEOS].splitlines()[0])["windows"][0]["id"]
    dense = floats(1.0, 2.0, 2.0)
    vectors = [{"window": window, "encoder": "tiny@00000000", "source": "a" * 32 + "/", "dense": dense}]
    source = {
        "url": "https://www.youtube.com/@neutit",
        "name": "이름",
        "channel_id": None,
        "tabs": [],
        "languages": ["ko"],
    }
    options: Record = {"translated": False, "limit": None, "since": None, "match": None}
    forged(folder / "raw.pack", folder / "a.pack", VECTORS, lambda _records: vectors)
    return forged(folder / "a.pack", folder / "good.pack", SOURCES, lambda _records: [{**source, **options}])


def refusal(path: Path) -> str:
    with pytest.raises(AppError) as caught:
        checked(path)
    assert caught.value.message
    assert caught.value.hint
    return caught.value.code


def first(change: Change) -> Callable[[list[Record]], list[Record]]:
    def changed(records: list[Record]) -> list[Record]:
        change(records[0])
        return records

    return changed


def put(*path: Any, value: Any) -> Change:
    def change(record: Record) -> None:
        inner: Any = record
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return change


def test_the_pack_before_it_is_altered_is_good(good: Path) -> None:
    assert checked(good) == 2 + 1 + 1 + 1


HOSTILE_VALUES: dict[str, tuple[str, Change]] = {
    "a path for an id": (VIDEOS, put("id", value="../../etc/passwd")),
    "an id of another length": (VIDEOS, put("id", value="x" * 12)),
    "a file for an address": (VIDEOS, put("url", value="file:///etc/passwd")),
    "a script for an address": (VIDEOS, put("url", value="javascript:alert(1)//")),
    "another site": (VIDEOS, put("url", value="https://www.youtube.com.evil.example/watch?v=invented000")),
    "an option for an address": (VIDEOS, put("url", value="--script=/tmp/x.lua")),
    "other captions than the checksum's": (VIDEOS, put("track", "text", value=OTHER_CAPTIONS)),
    "base64 that is none": (VIDEOS, put("track", "base64", value="@@@")),
    "a kind of track that is none": (VIDEOS, put("track", "kind", value="'; DROP TABLE video; --")),
    "a number beyond 64 bits": (VIDEOS, put("duration_ms", value=10**40)),
    "a number below zero": (VIDEOS, put("duration_ms", value=-1)),
    "a number as text": (VIDEOS, put("duration_ms", value="1000")),
    "a truth value as a number": (VIDEOS, put("duration_ms", value=True)),
    "half of a character": (VIDEOS, put("title", value="\ud800")),
    "a very long title": (VIDEOS, put("title", value="가" * 10_000)),
    "a day that is none": (VIDEOS, put("published", value="2024-13-45")),
    "a list for a text": (VIDEOS, put("title", value=["a"])),
    "a text for a list": (VIDEOS, put("windows", value="a")),
    "one window twice": (VIDEOS, lambda record: record["windows"].append(record["windows"][0])),
    "a path for a window": (VIDEOS, put("windows", 0, "id", value="../x")),
    "a context of no window": (VIDEOS, put("contexts", 0, "window", value="00000000-0000-0000-0000-000000000000")),
    "a context's key that is none": (VIDEOS, put("contexts", 0, "key", value="x")),
    "a context from nowhere": (VIDEOS, put("contexts", 0, "scope", value="all")),
    "no contexts at all": (VIDEOS, lambda record: record.pop("contexts")),
    "an overview's key that is none": (VIDEOS, put("overviews", value={"../x": "a"})),
    "a summary without a text": (VIDEOS, put("summary", value={"model": "m"})),
    "a summary with markup for a number": (VIDEOS, put("summary", "ms", value="[red]")),
    "a heat that is no number": (VIDEOS, put("heatmap", value=[[0, 1, float("nan")]])),
    "a heat without end": (VIDEOS, put("heatmap", value=[[0, 1, 1e400]])),
    "a mark at no video": (MARKS, put("video", value="x")),
    "a mark's address elsewhere": (MARKS, put("url", value="https://evil.example/")),
    "a mark before the start": (MARKS, put("start_ms", value=-5)),
    "a source elsewhere": (SOURCES, put("url", value="https://evil.example/@neutit")),
    "a source that is a video": (SOURCES, put("url", value="https://www.youtube.com/watch?v=invented000")),
    "a tab that is none": (SOURCES, put("tabs", value=["../x"])),
    "a pattern that is none": (SOURCES, put("match", value="(((")),
    "a vector of no window": (VECTORS, put("window", value="00000000-0000-0000-0000-000000000000")),
    "a vector that is no number": (VECTORS, put("dense", "numbers", value=floats(1, 2, float("nan"))["numbers"])),
    "a vector without end": (VECTORS, put("dense", "numbers", value=floats(1, 2, float("inf"))["numbers"])),
    "a vector of nothing": (VECTORS, put("dense", "numbers", value="")),
    "a vector of zeros": (VECTORS, put("dense", "numbers", value=coded(bytes(12)))),
    "half a number": (VECTORS, put("dense", "numbers", value=coded(bytes(7)))),
    "numbers of 24 bits": (VECTORS, put("dense", "bits", value=24)),
    "two weights of one term": (VECTORS, put("sparse", value={"terms": coded(bytes(8)), **floats(1, 2)})),
    "tokens of another width": (VECTORS, put("tokens", value=TOKENS)),
    "an encoder with a path": (VECTORS, put("encoder", value="../../x y")),
}  # fmt: skip


@cases("name", HOSTILE_VALUES)
def test_a_hostile_value_is_refused(good: Path, tmp_path: Path, name: str) -> None:
    member, change = HOSTILE_VALUES[name]
    assert refusal(forged(good, tmp_path / "a.pack", member, first(change))) == "pack_damaged"


@cases("member", [VIDEOS, MARKS, SOURCES, VECTORS])
def test_a_record_that_stands_twice_is_refused(good: Path, tmp_path: Path, member: str) -> None:
    twice = forged(good, tmp_path / "a.pack", member, lambda records: [*records, records[0]])
    assert refusal(twice) == "pack_damaged"


def test_vectors_of_two_sizes_and_out_of_order_are_refused(good: Path, tmp_path: Path) -> None:
    videos = [json.loads(line) for line in members(good)[VIDEOS].splitlines()]
    later = videos[1]["windows"][0]["id"]
    wider = floats(1, 2, 2, 2)
    more = forged(good, tmp_path / "a.pack", VECTORS, lambda r: [*r, {**r[0], "window": later, "dense": wider}])
    assert refusal(more) == "pack_damaged"
    before = forged(good, tmp_path / "b.pack", VECTORS, lambda r: [{**r[0], "window": later}, *r])
    assert refusal(before) == "pack_damaged"


def manifest(path: Path, target: Path, **changes: Any) -> Path:
    content = members(path)
    return written(target, {**content, MANIFEST: json.dumps({**json.loads(content[MANIFEST]), **changes}).encode()})


def test_a_newer_pack_is_told_as_such(good: Path, tmp_path: Path) -> None:
    newer = manifest(good, tmp_path / "a.pack", version=3, members={"quite": "different"})
    assert refusal(newer) == "pack_newer"
    for version in (0, -1, "1", 1.5, None, 10**30):
        assert refusal(manifest(good, tmp_path / "a.pack", version=version)) == "pack_damaged"


def test_a_file_of_another_kind_is_told_as_such(good: Path, tmp_path: Path) -> None:
    assert refusal(manifest(good, tmp_path / "a.pack", format="else")) == "pack_foreign"
    assert refusal(written(tmp_path / "b.pack", {"a.txt": b"a"})) == "pack_foreign"
    for content in (b"", b"PK", b"SQLite format 3\0" + bytes(900), os.urandom(4_000)):
        (tmp_path / "c.pack").write_bytes(content)
        assert refusal(tmp_path / "c.pack") == "pack_foreign"


@cases("content", BROKEN_MANIFESTS)
def test_a_manifest_that_is_none_is_refused(good: Path, tmp_path: Path, content: bytes) -> None:
    assert refusal(written(tmp_path / "a.pack", {**members(good), MANIFEST: content})) == "pack_damaged"


def test_a_wrong_checksum_size_or_number_is_refused(good: Path, tmp_path: Path) -> None:
    sums = json.loads(members(good)[MANIFEST])["members"]
    for changes in ({"sha256": "0" * 64}, {"bytes": 1}, {"records": 7}, {"bytes": -1}, {"sha256": "x"}):
        wrong = {**sums, VIDEOS: {**sums[VIDEOS], **changes}}
        assert refusal(manifest(good, tmp_path / "a.pack", members=wrong)) == "pack_damaged"


def test_other_members_links_and_paths_are_refused(good: Path, tmp_path: Path) -> None:
    content = members(good)
    for name in ("../evil", "/etc/passwd", "C:\\evil", "videos.jsonl/", "evil"):
        assert refusal(written(tmp_path / "a.pack", {**content, name: b""})) == "pack_damaged"
    for name in (MEMBERS[0], MEMBERS[-1]):
        less = {each: raw for each, raw in content.items() if each != name}
        assert refusal(written(tmp_path / "a.pack", less)) == "pack_damaged"
    with zipfile.ZipFile(tmp_path / "b.pack", "w") as archive:
        for name, raw in content.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o120777 if name == MARKS else 0o600) << 16
            archive.writestr(entry, raw)
    assert refusal(tmp_path / "b.pack") == "pack_damaged"


def test_two_members_of_one_name_are_refused(good: Path, tmp_path: Path) -> None:
    content = members(good)
    with zipfile.ZipFile(tmp_path / "a.pack", "w") as archive:
        for name, raw in content.items():
            archive.writestr(name, raw)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(VIDEOS, content[VIDEOS])
    assert refusal(tmp_path / "a.pack") == "pack_damaged"


def test_other_compression_is_refused(good: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.pack", "w", zipfile.ZIP_LZMA) as archive:
        for name, raw in members(good).items():
            archive.writestr(name, raw)
    assert refusal(tmp_path / "a.pack") == "pack_damaged"


def test_a_bomb_is_refused_before_it_is_unpacked(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_file, "FREE_BYTES", 100_000)
    bomb = sealed(tmp_path / "a.pack", members(good), {MARKS: b" " * 4_000_000 + b"\n"})
    monkeypatch.setattr(pack_file.PackFile, "records", lambda *_: pytest.fail("it was read"))
    assert refusal(bomb) == "pack_damaged"
    manifest_bomb = written(tmp_path / "b.pack", {**members(good), MANIFEST: b" " * 2_000_000 + b"{}"})
    assert refusal(manifest_bomb) == "pack_damaged"


def test_a_line_without_end_is_refused(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit in (("MAX_LINE", 1_000), ("MAX_OTHER_LINE", 50)):
        monkeypatch.setattr(pack_file, name, limit)
        assert refusal(good) == "pack_damaged"
        monkeypatch.undo()
    mark = members(good)[MARKS].rstrip()
    unended = sealed(tmp_path / "a.pack", members(good), {MARKS: mark})
    sums = json.loads(members(unended)[MANIFEST])["members"]
    counted = manifest(unended, tmp_path / "b.pack", members={**sums, MARKS: {**sums[MARKS], "records": 1}})
    assert refusal(counted) == "pack_damaged"
    assert refusal(sealed(tmp_path / "a.pack", members(good), {MARKS: b"\n"})) == "pack_damaged"


@cases(
    "line", [b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1, "a": 1}', b'["a"]', b"{" * 9_000, b'{"a": ' + b"9" * 9_000]
)
def test_json_that_is_no_record_is_refused(line: bytes) -> None:
    with pytest.raises(kinds.FieldError, match="JSON"):
        kinds.parse_record(line)


@cases("values", [b"{}" + b",{}" * 60, b"0" + b",0" * 60])
def test_a_record_of_too_many_values_is_not_parsed(monkeypatch: pytest.MonkeyPatch, values: bytes) -> None:
    monkeypatch.setattr(kinds, "MAX_OBJECTS", 50)
    monkeypatch.setattr(kinds, "MAX_VALUES", 50)
    with pytest.raises(kinds.FieldError, match="JSON"):
        kinds.parse_record(b'{"a": [' + values + b"]}")


def test_a_truncated_pack_is_refused_wherever_it_ends(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    for end in range(0, len(whole) - 1, max(1, len(whole) // 40)):
        (tmp_path / "a.pack").write_bytes(whole[:end])
        assert refusal(tmp_path / "a.pack") in ("pack_foreign", "pack_damaged")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "pipe", tmp_path / "a\0b"):
        with failing("pack_unreadable", UsageError):
            checked(path)


@pytest.fixture
def receiver(tmp_path: Path, analyzer: Analyzer) -> Iterator[Place]:
    with closing(Place.at(tmp_path / "receiver", analyzer)) as place:
        yield place


def test_markup_sql_and_control_characters_are_text(good: Path, receiver: Place, tmp_path: Path) -> None:
    title = "'); DROP TABLE video; -- [red]빨강[/] <b>\x1b[31m\u202e"

    def change(video: Record) -> None:
        video.update(title=title, channel=title, chapters=[[0, title]], description=title)
        video["contexts"][0]["text"] = title

    record = first(change)
    unpack(receiver, forged(good, tmp_path / "a.pack", VIDEOS, record))
    video = receiver.library.videos_by_id("invented000")["invented000"]
    for text in (video.title, video.channel, video.chapters[0].title):
        assert text.startswith("'); DROP TABLE video; -- [red]빨강[/] <b>")
        assert "\x1b" not in text
        assert "\u202e" not in text
    shown = [receiver.library.details(video.id).description, *receiver.library.contexts.texts().values()]
    assert sum("DROP TABLE" in text for text in shown) == 2
    assert not any("\x1b" in text for text in shown)
    assert receiver.sound()


def test_times_in_the_future_win_against_nothing(good: Path, receiver: Place, tmp_path: Path) -> None:
    def later(video: Record) -> None:
        video["track"]["fetched_at"] = video["contexts"][0]["written_at"] = 2**39

    unpack(receiver, forged(good, tmp_path / "a.pack", VIDEOS, first(later)))
    track = receiver.library.track("invented000")
    assert track is not None
    assert track.fetched_at < 2**33
    assert all(each.written_at < 2**33 for each in receiver.library.contexts.of_video("invented000").values())


def test_a_context_cannot_take_the_place_of_anothers(good: Path, receiver: Place, tmp_path: Path) -> None:
    unpack(receiver, good)
    before = receiver.library.contexts.texts()
    stolen = json.loads(members(good)[VIDEOS].splitlines()[1])["contexts"][0]["key"]

    def steal(video: Record) -> None:
        free = {window["id"] for window in video["windows"]} - {each["window"] for each in video["contexts"]}
        video["contexts"] = [{**video["contexts"][0], "key": stolen, "window": min(free), "text": "가로챈 문맥"}]

    path = forged(good, tmp_path / "a.pack", VIDEOS, lambda records: first(steal)(records)[:1])
    path = forged(path, tmp_path / "b.pack", VECTORS, lambda _records: [])
    unpack(receiver, path)
    assert receiver.library.contexts.texts() == before
