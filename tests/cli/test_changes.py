"""The commands that change the library, and what every command says when it cannot be used."""

import json
import os
import re
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from subtitle_rag.base.config import settings as config
from subtitle_rag.index import index_edge
from subtitle_rag.index.index_client import HostedIndex
from subtitle_rag.index.indexing import INTERACTIVE_TIMEOUT_S
from subtitle_rag.library import connection
from subtitle_rag.library.rows import Counts
from subtitle_rag.library.sources import Sources
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows import checks as doctor
from tests.support.commandline import Ran, Run
from tests.support.invented import caption_folder, end_hosts
from tests.support.reading import put

ID = "invented000"
QUERY = ("search", "국수를 먹었어요", "--json")


@pytest.fixture
def home(isolated_home: Path) -> Path:
    return isolated_home


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 3, minutes=2)


@pytest.fixture
def run(command: Run) -> Run:
    return command


@pytest.fixture
def indexed(run: Run, captions: Path) -> Run:
    """Runs commands on a library of three videos."""
    assert run("index", captions).code == 0
    return run


def scenes(found: Ran) -> list[tuple[str, object]]:
    return [(scene["scene"], pytest.approx(scene["score"], rel=1e-6)) for scene in found.result["scenes"]]


def test_index_says_what_came_of_it(run: Run, captions: Path) -> None:
    first = run("index", captions)
    assert (first.code, first.err) == (0, "")
    assert first.out.splitlines()[0] == "3 new videos, 0 changed, 0 unchanged, 0 failed"
    assert first.out.splitlines()[1].endswith(" windows became searchable.")
    second = run("index", captions)
    assert second.out == "0 new videos, 0 changed, 3 unchanged, 0 failed\n0 windows became searchable.\n"


def test_index_json(run: Run, captions: Path) -> None:
    result = run("index", captions, "--json").result
    windows = result["windows_indexed"]
    assert windows > 3
    assert result == {
        "videos": {"found": 3, "new": 3, "changed": 0, "unchanged": 0, "failed": 0},
        "windows_indexed": windows,
        "notices": [],
        "estimates": [],
        "cut_short": [],
        "library": {"videos": 3, "windows": windows},
        "contexts": None,
        "vectors": None,
    }


def test_index_jsonl_tells_every_event(run: Run, captions: Path) -> None:
    (captions / "broken [broken00001].ko.vtt").write_text("no captions")
    told = run("index", captions, "--jsonl")
    events = [json.loads(line) for line in told.out.splitlines()]
    assert told.code == 0
    begin = {"event": "progress", "stage": "captions", "done": 0, "total": 4, "text": ""}
    assert events[0] == begin
    assert [event["event"] for event in events].count("video_done") == 3
    (failed,) = [event for event in events if event["event"] == "video_failed"]
    assert set(failed) == {"event", "title", "code", "message", "hint", "video"}
    assert (failed["code"], failed["video"]) == ("not_captions", "broken00001")
    assert failed["message"] in told.err
    done = next(event for event in events if event["event"] == "video_done")
    assert set(done) == {"event", "video", "title", "change", "windows"}
    searchable = max(event["done"] for event in events if event.get("stage") == "windows")
    assert events[-1] == {
        "event": "report",
        "videos": {"found": 4, "new": 3, "changed": 0, "unchanged": 0, "failed": 1},
        "windows_indexed": searchable,
        "notices": [],
        "estimates": [],
        "cut_short": [],
    }


def test_some_failures_are_partial_and_all_are_an_error(run: Run, captions: Path) -> None:
    bad = captions / "broken [broken00001].ko.vtt"
    bad.write_text("WEBVTT\n\n")
    some = run("index", captions, "--json")
    assert (some.code, some.document["status"]) == (0, "partial")
    assert [(entry["code"], entry["video"]) for entry in some.document["errors"]] == [("no_cues", "broken00001")]
    every = run("index", bad, "--json")
    assert (every.code, every.document["status"]) == (1, "error")
    assert every.document["result"]["videos"]["failed"] == 1
    (failure,) = run("status", "--json").result["failures"]
    assert (failure["code"], failure["video"]) == ("no_cues", "broken00001")
    assert "without a single spoken line" in run("status").out
    assert "    !  broken00001" in run("list").out.replace("  !", "    !")


def test_a_folder_without_captions_is_a_wrong_request(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused = run("index", tmp_path / "empty", "--json")
    assert (refused.code, refused.failure) == (2, "no_caption_files")


def test_what_is_left_out_of_a_folder_is_counted_with_the_way_on(run: Run, captions: Path) -> None:
    for name in ("한 편.sup", "두 편.sup", "묶음.zip"):
        (captions / name).write_bytes(b"")
    some = run("index", captions, "--json")
    assert [(each["code"], each["files"]) for each in some.result["notices"]] == [
        ("left_out_formats", {"sup": 2}),
        ("left_out_archives", {"zip": 1}),
    ]
    assert "Left out: sup 2. Their captions are pictures" in some.err
    assert "Subtitle Edit" in some.err
    assert "3 files left out" in run("index", captions).out


def test_a_dry_run_shows_videos_and_what_is_left_out_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    for name in ("1.ko.srt", "1.en.srt", "2.ko.srt", "묶음.zip"):
        put(tmp_path / "모음", name)
    planned = run("index", "--dry-run", tmp_path / "모음", "--json")
    assert [(each["title"], Path(each["file"]).name) for each in planned.result["preview"]] == [
        ("1", "1.ko.srt"),
        ("2", "2.ko.srt"),
    ]
    assert [(each["code"], each["files"]) for each in planned.result["notices"]] == [
        ("left_out_archives", {"zip": 1}),
        ("left_out_tracks", {"srt": 1}),
    ]
    assert "taken: 1.en.srt." in planned.err
    assert (
        "2 videos would be read; nothing was written. 2 files left out"
        in run("index", "--dry-run", tmp_path / "모음").out
    )
    assert run("status", "--json").result["videos"] == 0
    refused = run("index", "--dry-run", "@channel")
    assert refused.code == 2


def test_a_folder_of_what_is_not_read_names_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "영화.sup").write_bytes(b"")
    refused = run("index", tmp_path, "--json")
    assert (refused.code, refused.failure) == (2, "left_out_formats")


@pytest.mark.campaign(part="flows")
def test_files_that_are_gone_are_told(run: Run, captions: Path) -> None:
    file = captions / "국수.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:02,000\n국수를 삶아요\n", encoding="utf-8")
    run("index", file)
    assert run("status", "--json").result["gone"] == []
    file.unlink()
    (gone,) = run("status", "--json").result["gone"]
    assert (gone["title"], gone["source"]) == ("국수", str(file))
    assert f"The file of 국수 is gone: {file}." in run("status").out
    with Runtime(config.load()) as runtime:
        check = doctor.probe("files", runtime)
    assert (check.severity, str(file) in check.message) == ("warning", True)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_told(run: Run, captions: Path) -> None:
    captions.chmod(0)
    try:
        told = run("index", captions, "--json")
    finally:
        captions.chmod(0o700)
    assert told.code == 1
    assert [entry["code"] for entry in told.document["errors"]] == ["unreadable"]


def test_remove_forgets_a_video(indexed: Run) -> None:
    assert scenes(indexed(*QUERY, "--video", ID))
    result = indexed("remove", ID, "--yes", "--json").result
    assert result == {"removed": [{"id": ID, "title": "영상 0"}], "unfollowed": []}
    assert ID not in indexed("list").out
    refused = indexed(*QUERY, "--video", ID)
    assert (refused.code, refused.failure) == (2, "unknown")


def test_remove_forgets_a_channel_by_its_name(indexed: Run) -> None:
    removed = indexed("remove", "captions", "--yes")
    assert removed.out.splitlines() == ["Removed: 영상 0", "Removed: 영상 1", "Removed: 영상 2"]
    assert indexed("status", "--json").result["windows"] == 0
    assert scenes(indexed(*QUERY)) == []


def test_remove_asks_first(indexed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    answers = iter(["n", "y"])
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return next(answers)

    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    assert indexed("marks", "add", f"{ID}@0:01").code == 0
    declined = indexed("remove", ID)
    assert (declined.code, declined.out) == (0, "")
    assert re.fullmatch(r"영상 0: 1 video, \d+ windows, 1 mark will be removed. Remove\? \[y/N\]: ", asked[0])
    assert ID in indexed("list").out
    assert indexed("remove", ID).code == 0
    assert ID not in indexed("list").out


def test_rebuild_makes_the_same_index(indexed: Run, captions: Path) -> None:
    before = scenes(indexed(*QUERY))
    windows = indexed("status", "--json").result["windows"]
    shutil.rmtree(captions)
    assert indexed("rebuild", "--json").result == {"windows_indexed": windows, "vectors_kept": 0}
    assert scenes(indexed(*QUERY)) == before
    assert indexed("rebuild").out == f"{windows} windows became searchable.\n"


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize("ended", [True, False], ids=["ended host", "running host"])
def test_a_lost_index_is_told_and_rebuilt(indexed: Run, home: Path, ended: bool) -> None:
    before = scenes(indexed(*QUERY))
    index = home / "data" / "index"
    if ended:
        end_hosts([index])
    index.rename(home / "behind its back")
    for arguments in (QUERY, ("index", home / "behind its back", "--json"), ("remove", ID, "--yes", "--json")):
        lost = indexed(*arguments)
        assert (lost.code, lost.failure) == (1, "index_damaged")
        assert "subtitle-rag rebuild" in lost.err
    assert indexed("doctor", "--offline", "--json").code == 1
    assert indexed("rebuild").code == 0
    assert scenes(indexed(*QUERY)) == before
    end_hosts([home / "behind its back"])


def test_an_indexer_at_work_makes_no_index_look_damaged(
    indexed: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a video's windows out of the library, then out of the index: between two counts of ours, here."""
    with Runtime(config.load()) as runtime:
        known = runtime.library.counts()
        left = replace(known, searchable=known.searchable - 1)
        counted = iter([known, left])
        monkeypatch.setattr(Library, "counts", lambda _library: next(counted))
        monkeypatch.setattr(HostedIndex, "count", lambda _index: left.searchable)
        assert runtime.index is runtime.host


@pytest.mark.parametrize(
    "arguments", [("index", "."), ("rebuild",), ("remove", ID, "--yes")], ids=lambda given: given[0]
)
def test_a_library_that_is_being_indexed_is_busy(
    indexed: Run, home: Path, captions: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(captions)
    with FileLock(home / "data" / "library.lock"):
        busy = indexed(*arguments, "--json")
        assert (busy.code, busy.failure) == (3, "busy")
        assert scenes(indexed(*QUERY))  # searching goes on
    assert indexed(*arguments).code == 0


def test_a_library_that_is_held_is_tried_again_later(indexed: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 20)
    held = sqlite3.connect(home / "data" / "library.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    locked = indexed("remove", ID, "--yes", "--json")
    held.close()
    assert (locked.code, locked.failure) == (3, "locked")


@pytest.mark.parametrize(
    "arguments",
    [("search", "국수"), ("list",), ("status",), ("show", "국수"), ("index", "."), ("rebuild",)],
    ids=lambda a: a[0],
)
def test_a_damaged_library_is_told(
    run: Run, home: Path, captions: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(captions)
    (home / "data").mkdir(parents=True, exist_ok=True)  # the case before may still start its host, under the same path
    (home / "data" / "library.db").write_bytes(b"no library" * 1000)
    damaged = run(*arguments, "--json")
    assert (damaged.code, damaged.failure) == (1, "library_damaged")


def test_a_place_that_cannot_be_written_is_told(run: Run, home: Path) -> None:
    (home / "data").write_text("in the way")
    barred = run("list", "--json")
    assert (barred.code, barred.failure) == (3, "library_readonly")


@pytest.mark.parametrize("arguments", [["list"], ["search", "국수"], []], ids=str)
def test_a_bad_config_is_told(run: Run, home: Path, arguments: list[str]) -> None:
    (home / "config.toml").write_text("[search]\nlimits = 3\n")
    refused = run(*arguments, "--json")
    assert refused.code == 2
    if arguments:
        assert refused.failure == "bad_config"
        assert "search.limits" in refused.err
    assert run("--help").code == 0


def test_what_nobody_expected_goes_to_the_log(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def counts(_library: Library) -> Counts:
        raise RuntimeError("nobody expected this")

    monkeypatch.setattr(Library, "counts", counts)
    for place in (["--home", str(home)], [f"--home={home}"], []):
        failed = run(*place, "status", "--json")
        assert (failed.code, failed.failure) == (1, "unexpected")
        assert "Traceback" not in failed.err
    log = (home / "log" / "cli.log").read_text()
    assert log.count("| RuntimeError\n") == log.count(" in counts: raise RuntimeError(") == 3


def test_an_interruption_ends_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def counts(_library: Library) -> Counts:
        raise KeyboardInterrupt

    monkeypatch.setattr(Library, "counts", counts)
    stopped = run("status")
    assert (stopped.code, stopped.out) == (130, "")
    assert stopped.err.strip().startswith("! Interrupted.")


class KillError(BaseException):
    """Stands for the end of the process: nothing behind it is done."""


def killed(monkeypatch: pytest.MonkeyPatch, target: type, method: str) -> pytest.MonkeyPatch:
    def end(*_arguments: object, **_options: object) -> None:
        raise KillError

    monkeypatch.setattr(target, method, end)
    return monkeypatch


@pytest.mark.parametrize(
    ("target", "method"),
    [(Library, "remove_videos"), (HostedIndex, "delete_videos"), (Library, "finish_purge"), (Sources, "unfollow")],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("name", [ID, "captions"])
def test_the_same_command_finishes_a_removal(
    indexed: Run, monkeypatch: pytest.MonkeyPatch, target: type, method: str, name: str
) -> None:
    with monkeypatch.context() as patch:
        killed(patch, target, method)
        with pytest.raises(KillError):
            indexed("remove", name, "--yes")
    again = indexed("remove", name, "--yes")
    expected = ["Removed: 영상 0"] if name == ID else [f"Removed: 영상 {n}" for n in range(3)]
    assert (again.code, again.out.splitlines()) == (0, expected)
    with Runtime(config.load()) as runtime:
        assert not runtime.library.pending_index_deletes()
        assert runtime.index.count() == runtime.library.counts().windows
    assert indexed("remove", name, "--yes", "--json").failure == "unknown"


def test_a_removal_needs_no_space(indexed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_edge, "SPARE_BYTES", 2**62)
    assert indexed("remove", ID, "--yes").out == "Removed: 영상 0\n"
    rebuilt = indexed("rebuild", "--json")
    assert (rebuilt.code, rebuilt.failure) == (3, "disk_short")
    assert indexed(*QUERY).code == 0


def killed_removal(indexed: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with monkeypatch.context() as patch:
        killed(patch, HostedIndex, "delete_videos")
        with pytest.raises(KillError):
            indexed("remove", name, "--yes")


def declined(indexed: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> Ran:
    with monkeypatch.context() as patch:
        patch.setattr(sys.stdin, "isatty", lambda: True)
        patch.setattr("click.termui.visible_prompt_func", lambda _prompt: "n")
        return indexed("remove", name)


def test_declining_waits_for_no_other_process(indexed: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FileLock(home / "data" / "library.lock"):
        began = time.monotonic()
        answer = declined(indexed, monkeypatch, ID)
    assert (answer.code, answer.out) == (0, "")
    assert "Nothing was removed." in answer.err
    assert time.monotonic() - began < INTERACTIVE_TIMEOUT_S
    assert indexed("status", "--json").result["videos"] == 3


def test_another_removal_keeps_the_note_of_a_killed_one(
    indexed: Run, captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_removal(indexed, monkeypatch, "captions")
    indexed("index", captions / "영상 1 [invented001].ko.vtt")
    assert indexed("remove", "invented001", "--yes").out == "Removed: 영상 1\n"
    again = indexed("remove", "captions", "--yes")
    assert again.out.splitlines() == ["Removed: 영상 0", "Removed: 영상 2"]


@pytest.mark.parametrize(("part", "count"), [("apti", 3), ("영상 2", 1)])
def test_a_part_of_a_name_is_enough(indexed: Run, part: str, count: int) -> None:
    assert len(indexed("remove", part, "--yes", "--json").result["removed"]) == count


def test_a_part_of_several_names_removes_nothing(indexed: Run) -> None:
    refused = indexed("remove", "영상", "--yes", "--json")
    assert (refused.code, refused.failure) == (2, "several_named")
    assert "영상 0, 영상 1, 영상 2" in refused.err
    assert indexed("status", "--json").result["videos"] == 3


def test_declining_keeps_the_note_of_a_killed_removal(indexed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_removal(indexed, monkeypatch, "captions")
    assert declined(indexed, monkeypatch, "captions").code == 0
    again = indexed("remove", "captions", "--yes")
    assert again.out.splitlines() == ["Removed: 영상 0", "Removed: 영상 1", "Removed: 영상 2"]
