"""Repair of a damaged library: a sound backup takes its place, the damaged file stays, and losses are named."""

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.library.backup import back_up, backups, quick_check
from subtitle_rag.library.recovery import Recovery, repair
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


def repaired(path: Path) -> Recovery:
    recovery = repair(path)
    assert recovery.problem
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return recovery


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.glob("library.db*") if not each.name.endswith(("-wal", "-shm")))


def test_a_sound_library_is_left_alone(backed_up: Path) -> None:
    before = backed_up.read_bytes()
    assert repair(backed_up) == Recovery("")
    assert backed_up.read_bytes() == before
    assert names(backed_up) == ["library.db"]


@pytest.mark.parametrize("table", ["window", "track", "video", "stage", "context", "sqlite_schema"])
def test_the_backup_takes_the_place_of_a_damaged_file_which_stays(backed_up: Path, table: str) -> None:
    before = dump(backed_up)
    if table == "sqlite_schema":
        overwrite(backed_up, 1, 4096)
    else:
        overwrite_page(backed_up, table)
    damaged = backed_up.read_bytes()
    recovery = repaired(backed_up)
    assert recovery.damaged is not None
    assert recovery.damaged.read_bytes() == damaged
    assert (recovery.backup, recovery.lost) == (backups(backed_up)[0], [])
    assert dump(backed_up) == before
    assert backed_up.stat().st_mode & 0o077 == 0
    assert names(backed_up) == ["library.db", recovery.damaged.name]


@pytest.mark.parametrize("table", ["window", "track"])
def test_what_came_after_the_backup_is_named(backed_up: Path, table: str) -> None:
    with closing(Library(backed_up)) as library:
        fill(library, range(VIDEOS, VIDEOS + 2))
    overwrite_page(backed_up, table)
    assert [(video.id, video.title) for video in repaired(backed_up).lost] == [
        ("video-00030", "국수 30"),
        ("video-00031", "국수 31"),
    ]
    with closing(Library(backed_up)) as library:
        assert library.counts().videos == VIDEOS


def test_a_hole_among_the_videos_hides_no_newer_ones(backed_up: Path) -> None:
    with closing(Library(backed_up)) as library:
        fill(library, range(VIDEOS, 400))
    with closing(sqlite3.connect(backed_up)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = db.execute("PRAGMA page_size").fetchone()
        leaves = [row[0] for row in db.execute("SELECT pageno FROM dbstat WHERE name = 'video' AND pagetype = 'leaf'")]
    overwrite(backed_up, leaves[len(leaves) // 2], size)
    lost = {video.id for video in repaired(backed_up).lost}
    assert {"video-00030", "video-00399"} <= lost
    assert 200 < len(lost) < 370


def test_a_value_that_sqlite_does_not_look_at_is_damage(backed_up: Path) -> None:
    with closing(sqlite3.connect(backed_up)) as db, db:
        db.execute("UPDATE window SET lines = replace(lines, '[', '{') WHERE ordinal = 7")
    assert quick_check(backed_up, indexes=True) == ""
    assert repaired(backed_up).problem == "window"


def test_a_column_whose_name_was_altered_is_damage(backed_up: Path) -> None:
    with closing(sqlite3.connect(backed_up)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = backed_up.read_bytes()
    assert raw.count(b"         format TEXT NOT NULL") == 1
    backed_up.write_bytes(raw.replace(b"         format TEXT NOT NULL", b"         bormat TEXT NOT NULL"))
    assert repaired(backed_up).problem == "no column track.format"


@pytest.mark.parametrize("content", [b"", b"no library\n" * 500, None], ids=["empty", "other", "gone"])
def test_a_lost_file_comes_from_the_backup(backed_up: Path, content: bytes | None) -> None:
    before = dump(backed_up)
    if content is None:
        backed_up.unlink()
    else:
        backed_up.write_bytes(content)
    recovery = repaired(backed_up)
    assert (recovery.backup, recovery.lost) == (backups(backed_up)[0], [])
    assert (recovery.damaged is None) == (content is None)
    assert dump(backed_up) == before


def cut(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes()[:5000])


def altered(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE window SET lines = '[' WHERE ordinal = 7")


def of_an_older_program(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as db:
        db.execute("PRAGMA user_version = 20")


@pytest.mark.parametrize("damage", [cut, altered, of_an_older_program])
def test_a_backup_that_cannot_be_used_is_passed_over(backed_up: Path, damage: Callable[[Path], None]) -> None:
    (good,) = backups(backed_up)
    newer = good.path.with_name("library-29991231-000000.db")
    shutil.copy(good.path, newer)
    damage(newer)
    backed_up.write_bytes(b"")
    assert repaired(backed_up).backup == good


@pytest.mark.parametrize("damage", [None, cut, altered, of_an_older_program])
def test_without_a_usable_backup_the_file_stays_as_it_is(
    backed_up: Path, damage: Callable[[Path], None] | None
) -> None:
    (copy,) = backups(backed_up)
    if damage is None:
        copy.path.unlink()
    else:
        damage(copy.path)
    overwrite_page(backed_up, "window")
    before = backed_up.read_bytes()
    with failing("library_unrecoverable"):
        repair(backed_up)
    assert backed_up.read_bytes() == before
    assert names(backed_up) == ["library.db"]


KILLED = """
import os, signal, sys
from pathlib import Path
from subtitle_rag.library import recovery
kill = lambda *_arguments: os.kill(os.getpid(), signal.SIGKILL)
module, _sign, name = sys.argv[2].rpartition(".")
setattr(recovery if not module else getattr(recovery, module), name, kill)
recovery.repair(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("at", ["shutil.copyfile", "os.fsync", "_move_aside", "os.link", "replace_path"])
def test_after_a_kill_anywhere_the_next_repair_ends_it(backed_up: Path, at: str) -> None:
    before = dump(backed_up)
    overwrite_page(backed_up, "window")
    damaged = backed_up.read_bytes()
    ended = subprocess.run([sys.executable, "-c", KILLED, str(backed_up), at], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    recovery = repaired(backed_up)
    assert dump(backed_up) == before
    assert recovery.damaged is not None
    assert recovery.damaged.read_bytes() == damaged
    assert not [name for name in names(backed_up) if name.endswith(".new")]


def damaged_at_random(path: Path, rng: random.Random) -> None:
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


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(s, marks=pytest.mark.campaign(part="damage")) for s in range(6, 200))]
)
def test_after_any_damage_there_is_a_sound_library(backed_up: Path, seed: int) -> None:
    before = dump(backed_up)
    damaged_at_random(backed_up, random.Random(seed))
    recovery = repair(backed_up)
    titles = {title for _id, _channel, title, *_rest in before["video"]}
    assert all(each.title in titles for each in recovery.lost)  # damage in an id makes it another video's
    if recovery.problem:
        assert dump(backed_up) == before
    with closing(Library(backed_up)) as library:
        for state in library.videos():
            library.windows_of(state.video.id)
            library.track(state.video.id)
