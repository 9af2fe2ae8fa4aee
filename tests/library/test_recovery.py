"""Recovery of a damaged library: what can be read is not lost, the damaged file stays, and losses are listed."""

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from subtitle_rag.domain import AppError
from subtitle_rag.library.backup import back_up, backups, quick_check
from subtitle_rag.library.connection import backup_folder
from subtitle_rag.library.recovery import CACHES, Recovery, recover
from subtitle_rag.library.store import Library
from tests.library.damage import overwrite, overwrite_page
from tests.support.failures import failing
from tests.support.invented import RULE, analysis, dump, track, video, windows

VIDEOS = 30


def fill(library: Library, numbers: range) -> None:
    for number in numbers:
        id = f"video-{number:05d}"
        own = windows(id, 40)
        library.put_video(video(id, title=f"국수 {number}"), track(id.encode() * 50), own, RULE)
        library.put_indexed("kiwi-1", {each.id: ("source", analysis("국수", "먹")) for each in own})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a library and its backup."""
    path = tmp_path_factory.mktemp("made") / "library.db"
    with closing(Library(path)) as library:
        fill(library, range(VIDEOS))
        back_up(library.database)
    return path.parent


@pytest.fixture
def backed_up(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data")) / "library.db"


@pytest.fixture
def path(backed_up: Path) -> Path:
    """A library without a backup."""
    shutil.rmtree(backup_folder(backed_up))
    return backed_up


def rows(path: Path) -> dict[str, list[str]]:
    """All rows but those that follow from others."""
    return {table: sorted(repr(row) for row in values) for table, values in dump(path).items() if table not in CACHES}


def repaired(path: Path) -> Recovery:
    recovery = recover(path)
    assert recovery.problem
    assert quick_check(path) == ""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return recovery


def test_a_sound_library_is_left_alone(path: Path) -> None:
    before = path.read_bytes()
    assert recover(path) == Recovery("")
    assert path.read_bytes() == before
    assert not [each for each in path.parent.iterdir() if "damaged" in each.name]


@pytest.mark.parametrize("table", ["window", "track", "video", "stage", "context"])
def test_a_lost_table_comes_from_the_backup(backed_up: Path, table: str) -> None:
    before = rows(backed_up)
    overwrite_page(backed_up, table)
    damaged = backed_up.read_bytes()
    recovery = repaired(backed_up)
    assert recovery.damaged is not None
    assert recovery.damaged.read_bytes() == damaged
    assert recovery.lost == []
    after = rows(backed_up)
    if table in ("window", "track"):  # windows are cut again by the next run
        after["setting"] = before["setting"]
        with closing(Library(backed_up)) as library:
            assert len(library.stale(RULE)) == VIDEOS
            assert library.counts().windows == VIDEOS * 40
        del after["window"], before["window"]
    assert after == before


def test_what_was_written_after_the_backup_is_read_from_the_damaged_file(backed_up: Path) -> None:
    with closing(Library(backed_up)) as library:
        fill(library, range(VIDEOS, VIDEOS + 2))
    overwrite_page(backed_up, "window")
    recovery = repaired(backed_up)
    with closing(Library(backed_up)) as library:
        assert library.counts().videos == VIDEOS + 2
        assert library.track(f"video-{VIDEOS:05d}") is not None
        # their windows are lost, and cut again from their captions
        assert {f"video-{VIDEOS:05d}", f"video-{VIDEOS + 1:05d}"} <= set(library.stale(RULE))
    assert recovery.restored["window"] == VIDEOS * 40


def test_without_a_backup_what_can_be_read_is_kept_and_the_rest_listed(path: Path) -> None:
    overwrite_page(path, "track")
    recovery = repaired(path)
    assert recovery.backup is None
    assert [lost.title for lost in recovery.lost] == sorted(f"국수 {number}" for number in range(VIDEOS))
    with closing(Library(path)) as library:
        assert library.counts().windows == VIDEOS * 40  # they are still found
        assert set(library.sources.due(0, all_failed=True)) == {f"video-{number:05d}" for number in range(VIDEOS)}


@pytest.mark.parametrize("content", [b"", b"no library\n" * 500, None], ids=["empty", "other", "gone"])
def test_a_lost_file_comes_from_the_backup_whole(backed_up: Path, content: bytes | None) -> None:
    before = rows(backed_up)
    if content is None:
        backed_up.unlink()
    else:
        backed_up.write_bytes(content)
    recovery = repaired(backed_up)
    assert recovery.backup == backups(backed_up)[0]
    assert rows(backed_up)["track"] == before["track"]
    assert rows(backed_up)["window"]


def test_a_damaged_backup_is_passed_over(backed_up: Path) -> None:
    (good,) = backups(backed_up)
    newer = good.path.with_name("library-29991231-000000.db")
    newer.write_bytes(good.path.read_bytes()[:5000])
    backed_up.write_bytes(b"")
    assert repaired(backed_up).backup == good


def test_a_file_that_is_no_library_stays_where_it_is(path: Path) -> None:
    path.write_bytes(b"no library\n" * 500)
    with failing("library_unrecoverable"):
        recover(path)
    assert path.read_bytes() == b"no library\n" * 500
    assert [each.name for each in path.parent.iterdir()] == ["library.db"]


def damaged_at_random(path: Path, rng: random.Random) -> str:
    size = 4096
    pages = path.stat().st_size // size
    kind = rng.choice(["pages", "bits", "cut", "zeros"])
    if kind == "cut":
        with path.open("r+b") as file:
            file.truncate(rng.randrange(path.stat().st_size))
    elif kind == "bits":
        raw = bytearray(path.read_bytes())
        for _flip in range(rng.randint(1, 40)):
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
    else:
        for _page in range(rng.randint(1, 6)):
            overwrite(path, rng.randint(1, pages), size, b"\0" if kind == "zeros" else rng.randbytes(size))
    return kind


def tracks(path: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT video_id, raw FROM track"))


@pytest.mark.parametrize("alone", [True, False])
def test_a_column_whose_name_was_altered_comes_from_the_backup(backed_up: Path, alone: bool) -> None:
    before = tracks(backed_up)
    with closing(sqlite3.connect(backed_up)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not alone:
        overwrite_page(backed_up, "window")
    raw = backed_up.read_bytes()
    assert raw.count(b"         format TEXT NOT NULL") == 1
    backed_up.write_bytes(raw.replace(b"         format TEXT NOT NULL", b"         bormat TEXT NOT NULL"))
    if alone:
        assert quick_check(backed_up) == "no column track.format"
    recovery = repaired(backed_up)
    assert tracks(backed_up) == before
    assert (recovery.read["track"], recovery.restored["track"], recovery.lost) == (0, VIDEOS, [])


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(s, marks=pytest.mark.campaign(part="damage")) for s in range(6, 200))]
)
def test_after_any_damage_there_is_a_sound_library(backed_up: Path, seed: int) -> None:
    before = tracks(backed_up)
    kind = damaged_at_random(backed_up, random.Random(seed))
    with suppress(AppError):
        recovery = recover(backed_up)
        if recovery.problem:
            assert tracks(backed_up).keys() == before.keys(), (kind, seed)
            assert recovery.lost == []
    assert quick_check(backed_up) == ""
    with closing(Library(backed_up)) as library:
        for state in library.videos():
            library.windows_of(state.video.id)
            library.track(state.video.id)


def test_many_rows_around_a_hole_are_read(path: Path) -> None:
    """One leaf of a large table costs its own rows alone."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = db.execute("PRAGMA page_size").fetchone()
        leaves = [row[0] for row in db.execute("SELECT pageno FROM dbstat WHERE name = 'window' AND pagetype = 'leaf'")]
    overwrite(path, leaves[len(leaves) // 2], size)
    recovery = repaired(path)
    assert VIDEOS * 40 - 100 < recovery.read["window"] < VIDEOS * 40
