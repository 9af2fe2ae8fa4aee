"""Hours of work on one library, by chance: what one does with it and what kills it, and what may not grow meanwhile.

Each step draws from a generator of its own, made of seed and number, so that a seed repeats the same steps; moments of
`kill -9` depend on the machine, too.
"""

import gc
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.hosting.entry import host_entry
from subtitle_rag.base.log_file import MAX_BYTES
from subtitle_rag.library.backup import COUNT
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.stand_ins.youtube import Caption, Channel, Clip, StandIn
from tests.support.invented import came_true
from tests.support.processes import command_line
from tests.support.terminal import Terminal, memory

CHANNEL = "https://www.youtube.com/@느린부엌"
FILES, MINUTES, CLIPS = 16, 8, 8
"""The library at the start; it never has twice as much."""
QUERIES = 40
STALE_IDF = 0.25
"""Most by which a score may differ from a fresh index': the engine counts deleted windows in the frequencies of terms
until it cleans a segment."""
LINGER_S = 3.0
COMMAND_S = 180.0
"""Longest time of a command, on a machine that does much else."""
OLD_S = 10 * 86_400

SELF_MB = 64.0
"""Most that the long-lived process may hold more than after the warm-up: caches of windows, rows and regular
expressions come to 20 MB, a leak of 20 kB a search is found within an hour."""
HOST_MB = 128.0
"""The same of the index host: an engine holds segments beside their successors for a while."""
DESCRIPTORS = 24
"""More open files of a process than after the warm-up: the index has some for each segment, their number changes."""
KB_A_WINDOW = 3.0
"""How many times as much of the index folder a window may take as after the warm-up: deleted points wait for the
optimizer."""
WAL_MB = 16.0
"""SQLite checkpoints at 4 MB; readers can hold it up for one more command."""
HOME_MB = 160.0
"""Library, its copies and log together; none of them has 1 kB a window and version of a file."""

WORDS = {
    "place": ["시장", "바다", "골목", "부엌", "마당", "학교", "도서관", "정류장", "공원", "다리", "항구", "서점"],
    "person": ["할머니", "삼촌", "친구", "동생", "선생님", "이웃", "아저씨", "요리사", "기사님", "학생"],
    "thing": [
        "국수",
        "김밥",
        "만두",
        "우산",
        "자전거",
        "편지",
        "사진",
        "접시",
        "냄비",
        "장갑",
        "고양이",
        "의자",
        "간장",
        "참기름",
    ],
    "deed": ["샀어요", "팔았어요", "찾았어요", "잃어버렸어요", "고쳤어요", "닦았어요", "기다렸어요", "그렸어요"],
}
TEMPLATES = (
    "오늘은 {place}에서 {person} 한 분이 {thing} 하나를 {deed}",
    "{person} 생각이 나서 {place} 쪽으로 천천히 걸었어요",
    "그런데 {thing} 이야기를 하다가 {person} 얼굴이 밝아졌어요",
    "{place} 앞에 {thing} 두 개가 놓여 있었고 아무도 없었어요",
    "여기 {thing} 진짜 맛있다고 {person}께서 말씀하셨어요",
    "비가 와서 {place} 안에서 {thing} 정리를 했습니다",
)
CONFIGS = (
    "",
    'language = "ko"\n',
    'language = "en"\n',
)
SECTIONS = (
    "[search]\nlimit = 5\n",
    "[search]\nlimit = 50\nremember = false\n",
    '[tui]\ntheme = "nord"\n',
    "[player]\nlead_in = 5\n",
    "",
)
QUIET = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'
QUICK = "[youtube]\npause = 0\nrest = 1\n"
KEYS = ("\x1b[B", "\x1b[A", "\x1b[6~", "\x1b[5~", "\x1bOS", "\x1b", "\t", "\x1bOP", "\x1b[17~", "\r")
"""Arrows, pages, F4, Escape, Tab, F1, F6, Enter."""
OUTCOMES = (0, 1, 3)
"""Exit codes of commands that end by themselves: done, failed in words, busy."""


def sentence(rng: random.Random) -> str:
    return rng.choice(TEMPLATES).format(**{name: rng.choice(words) for name, words in WORDS.items()})


def query(rng: random.Random) -> str:
    return " ".join(rng.choices([*WORDS["place"], *WORDS["person"], *WORDS["thing"]], k=rng.randint(1, 3)))


@dataclass(frozen=True)
class Level:
    """What is held at a moment: by the long-lived process, by the host, and on the disk."""

    self_mb: float
    host_mb: float
    self_files: int
    host_files: int
    processes: int
    folders: int
    log_mb: float
    wal_mb: float
    index_kb: float
    """A window."""
    home_mb: float

    def beyond(self, start: "Level") -> list[str]:
        """What is more than it may be, against the level after the warm-up."""
        limits = {
            "self_mb": start.self_mb + SELF_MB,
            "host_mb": start.host_mb + HOST_MB,
            "self_files": start.self_files + DESCRIPTORS,
            "host_files": start.host_files + DESCRIPTORS,
            "processes": start.processes,
            "folders": start.folders + 1,
            "log_mb": 2 * MAX_BYTES * 2 / 2**20,
            "wal_mb": WAL_MB,
            "index_kb": start.index_kb * KB_A_WINDOW,
            "home_mb": HOME_MB,
        }
        return [
            f"{name} {getattr(self, name):.1f} > {limit:.1f}"
            for name, limit in limits.items()
            if getattr(self, name) > limit
        ]


class Soak:
    """The library, the intent (what should be in it), and the steps."""

    def __init__(self, folder: Path, youtube: StandIn, seed: int, tell: Callable[[str], None]) -> None:
        self.home, self.captions, self.temp = folder / "home", folder / "captions", folder / "temp"
        self.folder, self.seed, self.tell = folder, seed, tell
        self.paths = config.Paths.under(self.home)
        self.files: dict[str, str] = {}
        """The word by which each video's current version is known."""
        self.clips: dict[str, str] = {}
        self.removed: set[str] = set()
        self.channel = Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", [])
        self.youtube = youtube
        self.step = 0
        self.counts: Counter[str] = Counter()
        self.journal: list[str] = []
        self._versions = 1_000_000
        self._runtime: Runtime | None = None
        self.stale = 0.0

    # ---- what is made up

    def _word(self) -> str:
        self._versions += 1
        return str(self._versions)

    def write_file(self, rng: random.Random, id: str) -> None:
        """Write the captions of a video, in a version that no other one equals."""
        word = self._word()
        cues = []
        for minute in range(MINUTES):
            text = f"{sentence(rng)} 그리고 {sentence(rng)} 번호는 {word}"
            start, end = (f"00:{at:02d}:00,000" for at in (minute, minute + 1))
            cues.append(f"{minute + 1}\n{start} --> {end}\n{text}\n")
        (self.captions / f"느린 하루 {id} [{id}].ko.srt").write_text("\n".join(cues), encoding="utf-8")
        self.files[id] = word

    def add_clip(self, rng: random.Random) -> None:
        word = self._word()
        lines = tuple((at * 60_000, at * 60_000 + 50_000, f"{sentence(rng)} 번호는 {word}") for at in range(MINUTES))
        id = f"clip{word}"
        self.channel.clips.insert(0, Clip(id, f"느린 부엌 {word}", [Caption(lines=lines)]))
        self.clips[id] = word

    def configure(self, rng: random.Random) -> None:
        self.paths.config.write_text(rng.choice(CONFIGS) + rng.choice(SECTIONS) + QUIET + QUICK, encoding="utf-8")

    # ---- the program

    def command(self, *arguments: str) -> list[str]:
        return command_line(self.home, *arguments)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        with (self.folder / "told").open("wb") as stderr:
            return subprocess.Popen(self.command(*arguments), stdout=subprocess.DEVNULL, stderr=stderr)

    def told(self) -> str:
        return (self.folder / "told").read_text(encoding="utf-8", errors="replace")

    def run(self, *arguments: str, codes: Sequence[int] = OUTCOMES) -> int:
        """Run a command to its end, while the long-lived process searches."""
        process = self.start(*arguments)
        deadline = time.monotonic() + COMMAND_S
        try:
            while process.poll() is None:
                assert time.monotonic() < deadline, f"{arguments[0]} does not end"
                self.search(random.Random(self._versions), 1)
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
        stderr = self.told()
        assert "Traceback" not in stderr, f"{arguments}: {stderr}"
        assert process.returncode in codes, f"{arguments} ended with {process.returncode}: {stderr}"
        return process.returncode

    @property
    def runtime(self) -> Runtime:
        """Of the long-lived process; it is never opened again."""
        if self._runtime is None:
            self._runtime = Runtime(config.load(self.home))
        return self._runtime

    def search(self, rng: random.Random, count: int) -> None:
        for _ in range(count):
            self.runtime.searcher.search(parse_query(query(rng)))
        self.counts["searches"] += count

    # ---- the steps

    def index(self, rng: random.Random) -> None:
        self._change_files(rng)
        self.run("index", str(self.captions))

    def _change_files(self, rng: random.Random) -> None:
        for id in rng.sample(sorted(self.files), min(3, len(self.files))):
            self.write_file(rng, id)
        for _ in range(rng.randint(1, 2) if len(self.files) < 2 * FILES else 0):
            self.write_file(rng, f"file{self._word()}")

    def sync(self, rng: random.Random) -> None:
        self._add_clips(rng)
        if rng.random() < 0.2:
            self.youtube.refuse("timedtext", 500, times=1)
        self.run("sync", "--no-wait")

    def _add_clips(self, rng: random.Random) -> None:
        for _ in range(rng.randint(1, 2) if len(self.clips) < 2 * CLIPS else 0):
            self.add_clip(rng)

    def searches(self, rng: random.Random) -> None:
        self.search(rng, 30)
        self.run("search", query(rng), "--json", codes=(0,))

    def _forget(self, rng: random.Random) -> str:
        """Take a video away where it came from; its id, which is to leave the library."""
        id = rng.choice(sorted({*self.files, *self.clips}))
        if id in self.files:
            next(self.captions.glob(f"*[[]{id}]*")).unlink()
            del self.files[id]
        else:
            self.channel.clips = [clip for clip in self.channel.clips if clip.id != id]
            del self.clips[id]
        self.removed.add(id)
        return id

    @property
    def can_forget(self) -> bool:
        return len(self.files) > FILES // 2 and len(self.clips) > CLIPS // 2

    def _known(self) -> set[str]:
        return {state.video.id for state in self.runtime.library.videos()}

    def remove(self, rng: random.Random) -> None:
        if self.can_forget:
            ids = {self._forget(rng) for _ in range(rng.randint(1, 2))} & self._known()
            if ids:  # what a killed run was to bring in has never come
                self.run("remove", *sorted(ids), "--yes", codes=(0, 3))

    def change_settings(self, rng: random.Random) -> None:
        self.configure(rng)
        self.run("config", codes=(0,))

    def rebuild(self, _: random.Random) -> None:
        self.run("rebuild", codes=(0,))

    def doctor(self, _: random.Random) -> None:
        self.run("doctor", "--offline", "--json")

    @contextmanager
    def app(self) -> Iterator[Terminal]:
        terminal = Terminal(self.command())
        with terminal:
            yield terminal

    def use_app(self, rng: random.Random, *, kill: bool = False) -> None:
        with self.app() as terminal:
            with suppress(SystemExit):
                if kill:
                    terminal.drain(rng.uniform(0.1, 6))
                    return
                terminal.painted()
                terminal.drain(0.5)
                for _ in range(3):
                    terminal.write(query(rng))
                    terminal.drain(0.7)
                    for key in rng.choices(KEYS[:4], k=4):
                        terminal.write(key)
                        terminal.drain(0.1)
                    terminal.write("\x15" if rng.random() < 0.5 else "\x1b")
                    terminal.drain(0.2)
                for key in rng.choices(KEYS[4:9], k=4):
                    terminal.write(key)
                    terminal.drain(0.3)
                deadline = time.monotonic() + 60
                while time.monotonic() < deadline:  # Ctrl+Q, again where a dialog asks
                    terminal.write("\x11")
                    terminal.drain(1.5)
                raise AssertionError("the app does not leave")
            if kill:
                raise AssertionError("the app ended before it was killed")

    def kill_app(self, rng: random.Random) -> None:
        self.use_app(rng, kill=True)

    def kill_command(self, rng: random.Random) -> None:
        """SIGKILL at a random moment, of the command and now and then of the host, too."""
        verb = rng.choice(("index", "sync", "remove", "rebuild", "search", "doctor"))
        arguments: dict[str, tuple[str, ...]] = {
            "index": (str(self.captions),),
            "sync": ("--no-wait",),
            "search": (query(rng),),
            "doctor": ("--offline",),
        }
        if verb == "index":
            self._change_files(rng)
        elif verb == "sync":
            self._add_clips(rng)
        elif verb == "remove":
            if not self.can_forget:
                return
            arguments["remove"] = (self._forget(rng), "--yes")
        process = self.start(verb, *arguments.get(verb, ()))
        try:
            with suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.05, 1.5))
                return
            if rng.random() < 0.4:
                self._kill_host()
        finally:
            process.kill()
            process.wait()
        self.counts["commands killed"] += 1

    def kill_host(self, rng: random.Random) -> None:
        self._kill_host()
        self.search(rng, 3)

    def _kill_host(self) -> None:
        entry = host_entry(self.paths.index)
        if entry:
            with suppress(ProcessLookupError):
                os.kill(entry["pid"], signal.SIGKILL)
                self.counts["hosts killed"] += 1

    @property
    def steps(self) -> dict[Callable[[random.Random], None], int]:
        """Each step and how often it comes."""
        return {
            self.index: 5,
            self.sync: 5,
            self.searches: 8,
            self.use_app: 3,
            self.remove: 3,
            self.change_settings: 2,
            self.rebuild: 1,
            self.doctor: 1,
            self.kill_command: 6,
            self.kill_app: 2,
            self.kill_host: 2,
        }

    def take_step(self) -> None:
        self.step += 1
        rng = random.Random(f"{self.seed}/{self.step}")
        steps = self.steps
        step = rng.choices(list(steps), list(steps.values()))[0]
        self.journal.append(f"{self.step} {step.__name__}")
        self.counts[step.__name__] += 1
        step(rng)

    # ---- the start and the checks

    def warm_up(self) -> None:
        """Fill the library, and do each thing once that keeps something for later."""
        rng = random.Random(f"{self.seed}/0")
        for folder in (self.home, self.captions, self.temp):
            folder.mkdir(parents=True)
        self.configure(rng)
        for number in range(FILES):
            self.write_file(rng, f"file{number:07d}")
        for _ in range(CLIPS):
            self.add_clip(rng)
        self.youtube.add(self.channel)
        first = subprocess.run(self.command("index", str(self.captions)), capture_output=True, check=False)
        assert first.returncode == 0, first.stderr
        self.run("index", CHANNEL, codes=(0,))
        self.search(rng, 150)
        self._change_files(rng)
        self.run("index", str(self.captions), codes=(0,))
        self.search(rng, 150)

    def settle(self) -> None:
        """Have every interrupted command done again, to its end."""
        self.youtube.forgive()
        self.run("index", str(self.captions), codes=(0,))
        self.run("sync", "--retry", codes=(0,))
        left = self.removed & self._known()
        if left:
            self.run("remove", *sorted(left), "--yes", codes=(0,))
        self.removed.clear()

    def check(self, start: Level | None = None) -> Level:
        """See that the library is what it should be and nothing is held that was not; the level."""
        self.settle()
        self._check_library()
        self._check_search()
        self._age_folders()
        self._kill_host()  # the next one's start sweeps
        self.search(random.Random(self.step), 50)
        level = self.level()
        beyond = level.beyond(start or level)
        assert not beyond, "; ".join(beyond)
        return level

    def _check_library(self) -> None:
        library = self.runtime.library
        with closing(sqlite3.connect(self.paths.library)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            windows = dict.fromkeys(self._known(), "")
            for id in windows:
                windows[id] = " ".join(window.text for window in library.windows_of(id))
        expected = {**self.files, **self.clips}
        assert set(windows) == set(expected), f"lost or left: {set(windows) ^ set(expected)}"
        wrong = [id for id, word in expected.items() if windows[id].count(word) < MINUTES - 1]
        assert not wrong, f"an old version is held of {wrong}"
        counts = library.counts()
        in_index = self.runtime.index.count()
        assert counts.windows == counts.searchable == in_index, f"{counts} and {in_index} in the index"
        assert len(list((self.paths.data / "backups").glob("*.db"))) <= COUNT

    def _check_search(self) -> None:
        """Compare with an index that `rebuild` makes of a copy, in a home of its own."""
        fresh = self.folder / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        paths = config.Paths.under(fresh)
        paths.data.mkdir(parents=True)
        shutil.copyfile(self.paths.config, paths.config)
        with closing(sqlite3.connect(self.paths.library)) as db, closing(sqlite3.connect(paths.library)) as copy:
            db.backup(copy)
        command = command_line(fresh, "rebuild")
        ended = subprocess.run(command, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr
        rng = random.Random(f"{self.seed}/queries")
        queries = [query(rng) for _ in range(QUERIES)]
        with Runtime(config.load(fresh)) as other:
            assert points(self.runtime) == points(other), "the index holds other vectors or payloads than a fresh one"
            self.stale = max(difference(self.runtime, other, text) for text in queries)
            self._kill_host()  # an index that is opened again counts the terms of what is there
            worst = max(queries, key=lambda text: difference(self.runtime, other, text))
            remainder = difference(self.runtime, other, worst)
        assert self.stale <= STALE_IDF, f"scores differ by {self.stale:.1%} from those of a fresh index"
        assert remainder < 1e-5, f"scores of {worst!r} differ by {remainder:.2%} also after the index was opened again"
        self.counts["compared"] += QUERIES
        entry = host_entry(paths.index)
        if entry:
            with suppress(ProcessLookupError):
                os.kill(entry["pid"], signal.SIGTERM)

    def _age_folders(self) -> None:
        """Make all temporary folders old enough to be swept, if nobody listens in them."""
        old = time.time() - OLD_S
        for folder in self.temp.iterdir():
            with suppress(FileNotFoundError):  # a host that ends takes its folder along
                os.utime(folder, (old, old))

    def processes(self) -> list[int]:
        """Those that this one has started, and theirs: they have its temporary folder in their environment."""
        mark, pids = f"TMPDIR={self.temp}".encode(), []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    pids.append(int(entry.name))
        return pids

    def level(self) -> Level:
        came_true(lambda: len(self.processes()) <= 1, 20 * LINGER_S)
        entry = host_entry(self.paths.index)
        assert entry, "no host runs for the long-lived process"
        gc.collect()
        sizes = {file: size(file) for file in self.home.rglob("*") if file.is_file()}
        windows = self.runtime.library.counts().windows
        index = sum(bytes for file, bytes in sizes.items() if self.paths.index in file.parents)
        log = sum(bytes for file, bytes in sizes.items() if self.paths.log in file.parents)
        return Level(
            memory(os.getpid())["RssAnon"],
            memory(entry["pid"])["RssAnon"],
            descriptors(os.getpid()),
            descriptors(entry["pid"]),
            len(self.processes()),
            len(list(self.temp.iterdir())),
            log / 2**20,
            size(Path(f"{self.paths.library}-wal")) / 2**20,
            index / 1024 / max(1, windows),
            (sum(sizes.values()) - index) / 2**20,
        )

    def line(self, level: Level, start: Level, seconds: float) -> str:
        counts = self.runtime.library.counts()
        return (
            f"soak {seconds / 60:5.1f} min, step {self.step}: "
            f"{counts.videos} videos, {counts.windows} windows = index = rebuilt, integrity ok, "
            f"{QUERIES} queries equal (within {self.stale:.1%} before the index was opened again) | "
            f"self {level.self_mb:.0f} MB ({level.self_mb - start.self_mb:+.0f}), "
            f"host {level.host_mb:.0f} MB ({level.host_mb - start.host_mb:+.0f}), "
            f"files {level.self_files}/{level.host_files} (from {start.self_files}/{start.host_files}), "
            f"processes {level.processes}, folders {level.folders} | "
            f"log {level.log_mb:.2f} MB, wal {level.wal_mb:.1f} MB, "
            f"index {level.index_kb:.1f} kB a window (from {start.index_kb:.1f}), home {level.home_mb:.1f} MB"
        )

    def last_line(self, seconds: float) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        return f"soak: seed {self.seed}, {seconds / 3600:.2f} hours, {self.step} steps: {counts}"

    def soak(self, hours: float) -> None:
        """Warm up, then work and check until the time is over."""
        self.warm_up()
        start = self.check()
        self.counts.clear()
        began = time.monotonic()
        self.tell(self.line(start, start, 0))
        every = min(300.0, hours * 3600 / 2)
        due, checked = began + every, 0
        try:
            while time.monotonic() < began + hours * 3600:
                self.take_step()
                if time.monotonic() > due:
                    self.tell(self.line(self.check(start), start, time.monotonic() - began))
                    due, checked = time.monotonic() + every, self.step
            if self.step > checked:
                self.tell(self.line(self.check(start), start, time.monotonic() - began))
        except BaseException:
            self.tell(f"soak: FAILED with seed {self.seed} at step {self.step}; before: {self.journal[-8:]}")
            raise
        finally:
            self.tell(self.last_line(time.monotonic() - began))

    def close(self) -> None:
        if self._runtime:
            self._runtime.close()
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def points(runtime: Runtime) -> dict[str, Any]:
    """All that the index holds."""
    points_by_id: dict[str, Any] = {}
    page = runtime.index.points()
    while page:
        points_by_id |= {point.id: point for point in page}
        page = runtime.index.points(page[-1].id)
    return points_by_id


def difference(ours: Runtime, theirs: Runtime, text: str) -> float:
    """By which share the scores of the first twenty differ at most; 1 where one of them is not found."""
    scores, expected = (
        {entry.window_id: entry.score for entry in runtime.searcher.rank(parse_query(text), depth=300)}
        for runtime in (ours, theirs)
    )
    first = sorted(expected, key=lambda window_id: -expected[window_id])[:20]
    return max((abs(scores.get(id, 0.0) / expected[id] - 1) for id in first), default=0.0)


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def size(file: Path) -> int:
    """What it takes of the disk: the engine's files have holes."""
    try:
        return file.stat().st_blocks * 512
    except FileNotFoundError:
        return 0
