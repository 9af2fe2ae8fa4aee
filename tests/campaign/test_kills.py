"""kill -9 of each kind of work, at random moments and at named points; a line of figures a kind.

After each: the library's file is whole, no video is lost, what was searchable is found, and the same command finishes.
`SUBTITLE_RAG_KILLS` sets how many of each kind (2), `SUBTITLE_RAG_SEED` which moments.
"""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.stand_ins.qdrant import StandIn
from tests.support.heard import MODEL, use_reader, write_wav
from tests.support.invented import caption_folder, end_hosts
from tests.support.processes import command_line, needs_sigkill, start, windows_without_points
from tests.support.terminal import Terminal

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 2)
SEED = int(os.environ.get("SUBTITLE_RAG_SEED") or 19)
VIDEOS = 12
REMOVED = tuple(f"invented{number:03d}" for number in range(5))
QUERY = "국수를 먹었어요"

pytestmark = [
    pytest.mark.campaign(part="kills"),
    pytest.mark.hosts,
    needs_sigkill,
]

Point = Callable[[config.Paths], object]


@dataclass(frozen=True)
class Kind:
    """A kind of work: its command, points of its way, and which videos there are before and after it."""

    arguments: tuple[str, ...]
    points: Mapping[str, Point]
    before: int = VIDEOS
    after: int = VIDEOS
    repeats: tuple[int, ...] = (0,)
    """Exit codes of the same command after the kill: 2 where it names what it has removed already."""


def _wal(paths: config.Paths) -> bool:
    return Path(f"{paths.library}-wal").exists()


KINDS = {
    "index": Kind(
        ("index", "{captions}"),
        {
            "library": lambda paths: paths.library.exists(),
            "host": lambda paths: (paths.index / "host.json").exists(),
            "segments": lambda paths: (paths.index / "shard" / "segments").exists(),
        },
        before=0,
    ),
    "rebuild": Kind(
        ("rebuild",),
        {
            "stage": lambda paths: (paths.index / "next").exists(),
            "staged segments": lambda paths: (paths.index / "next" / "shard" / "segments").exists(),
            "complete": lambda paths: (paths.index / "next" / "complete").exists(),
        },
    ),
    "remove": Kind(
        ("remove", *REMOVED, "--yes"),
        {"log": _wal, "host": lambda paths: (paths.index / "host.json").exists()},
        after=VIDEOS - len(REMOVED),
        repeats=(0, 2),
    ),
    "backup": Kind(
        ("index", "{more}"),
        {
            "part": lambda paths: any((paths.data / "backups").glob("*.part*")),
            "log": lambda paths: any((paths.data / "backups").glob("*.part-*")),
        },
        after=VIDEOS + 1,
    ),
    "move": Kind(("rebuild",), {"log": _wal}),
    "listen": Kind(
        ("listen", "{film}", "--model", MODEL, "--yes"),
        {"windows without points": lambda paths: windows_without_points(paths.library)},
        after=VIDEOS + 1,
    ),
    "app": Kind((), {"log": _wal, "host": lambda paths: (paths.index / "host.json").exists()}),
}


@dataclass(frozen=True)
class Homes:
    """Homes to copy: one with the library, one with nothing."""

    full: Path
    captions: Path
    more: Path
    film: Path


@pytest.fixture(autouse=True)
def short_lived_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.2")
    use_reader(monkeypatch, tmp_path / "heard.log")


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    folder = tmp_path_factory.mktemp("kills")
    captions = caption_folder(folder / "captions", VIDEOS, minutes=6)
    film = write_wav(folder / "films" / "국수.wav")
    made = Homes(folder / "full", captions, folder / "more", film)
    caption_folder(made.more, 1, minutes=6, seed=8)
    for file in made.more.iterdir():
        file.rename(file.with_name("다른 영상 [another0000].ko.vtt"))
    configure(made.full)
    assert subprocess.run(command_line(made.full, "index", str(made.captions)), capture_output=True).returncode == 0
    end_hosts([config.Paths.under(made.full).index])
    return made


def configure(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_text('[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n', encoding="utf-8")


def module_of(arguments: tuple[str, ...]) -> str:
    """Return the module that runs a command: one of the tests where their reader listens."""
    return "tests.support.heard" if MODEL in arguments else "subtitle_rag"


def killed_at(home: Path, arguments: tuple[str, ...], seconds: float, point: Point | None) -> str:
    """Kill it, `seconds` after its start, or soon after it has reached the point; what came of that."""
    if not arguments:
        with Terminal(command_line(home)) as terminal, suppress(SystemExit):
            return _moment(home, seconds, point, lambda: bool(terminal.read(0.002)) or True)
        return "ended"
    process = start(home, *arguments, module=module_of(arguments))
    try:
        return _moment(home, seconds, point, lambda: process.poll() is None)
    finally:
        process.kill()
        process.wait()


def _moment(home: Path, seconds: float, point: Point | None, runs: Callable[[], bool]) -> str:
    paths, began = config.Paths.under(home), time.monotonic()
    while runs():
        since = time.monotonic() - began
        if point is None and since >= seconds:
            return "at random"
        if point is not None and point(paths):
            return "at a point"
        if since > 60:
            return "never there"
        time.sleep(0.001)
    return "ended"


def check(home: Path, kind: Kind, *, is_over: bool) -> None:
    """See that the file is whole and holds the videos of before or after; of after with `is_over`."""
    paths = config.Paths.under(home)
    if not paths.library.exists() or not paths.library.stat().st_size:
        assert not kind.before
        assert not is_over
        return
    for copy in (paths.library, *(paths.data / "backups").glob("*.db")):
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], copy.name
    with Runtime(config.load(home)) as runtime:
        counts = runtime.library.counts()
        least, most = sorted((kind.before, kind.after))
        assert least <= counts.videos <= most
        if is_over:
            assert counts.videos == kind.after
            assert counts.windows == counts.searchable == runtime.index.count()
            assert not runtime.library.pending_index_deletes()
            assert not runtime.library.contexts.unindexed()
        if counts.searchable:
            try:
                assert runtime.searcher.search(parse_query(QUERY)).scenes
            except AppError as error:
                # the config names the server already, and the index has not moved yet or is not whole
                if is_over or kind is not KINDS["move"] or error.code not in ("index_elsewhere", "index_damaged"):
                    raise


@pytest.mark.parametrize("name", KINDS)
def test_work_that_is_killed_is_finished_by_the_same_program(
    homes: Homes, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, rng, figures = KINDS[name], random.Random(f"{SEED}/{name}"), Counter[str]()
    began, length = time.monotonic(), 3.0
    for number in range(KILLS + 1):
        with StandIn() if name == "move" else nullcontext() as server:
            words = {"captions": homes.captions, "more": homes.more, "film": homes.film}
            arguments = tuple(word.format(**words) for word in kind.arguments)
            home = tmp_path / f"{name}{number}"  # what lingers of one kind of work writes into none of the next
            if kind.before:
                shutil.copytree(homes.full, home)
            else:
                configure(home)
            if server:
                with (home / "config.toml").open("a", encoding="utf-8") as file:
                    file.write(f'[qdrant]\nurl = "{server.base}"\n')
            if not number and arguments:  # how long it takes where nobody kills it
                started = time.monotonic()
                assert (
                    subprocess.run(
                        command_line(home, *arguments, module=module_of(arguments)), capture_output=True
                    ).returncode
                    == 0
                )
                length = time.monotonic() - started
            elif number:
                point = rng.choice([None, *kind.points]) if number > 1 or KILLS == 1 else None
                figures[killed_at(home, arguments, rng.uniform(0.05, length), kind.points.get(point or ""))] += 1
                check(home, kind, is_over=False)
                if arguments:
                    again = subprocess.run(
                        command_line(home, *arguments, module=module_of(arguments)), capture_output=True
                    )
                    assert again.returncode in kind.repeats, f"seed {SEED}, kill {number} ({point}): {again.stderr!r}"
            check(home, kind, is_over=True)
            end_hosts([config.Paths.under(home).index])
            shutil.rmtree(home)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(figures.items()))
    with capsys.disabled():
        took = time.monotonic() - began
        sys.stdout.write(f"\nkill {name}: seed {SEED}, {KILLS} kills ({counts}), {took:.0f} s: whole, finished\n")
    assert sum(figures.values()) == KILLS
