"""A library of 100,000 windows, made by the commands of the program from generated captions."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.hosting.entry import host_entry
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.support.invented import WORDS, end_hosts
from tests.support.processes import command_line
from tests.support.terminal import memory

pytestmark = [pytest.mark.campaign(part="scale"), pytest.mark.hosts]

VIDEOS, MINUTES = 1_000, 100
WINDOWS = VIDEOS * MINUTES
SEARCHES = 2_000
WARM = 300
"""Searches before memory is first read: Kiwi, the pages of the index and the caches have come by then."""
GROWTH_MB = 40.0
"""Most that a process may hold more after the searches than before; a leak of 20 kB a search is found."""
ANIMALS = ("코끼리", "기린", "하마", "펭귄", "수달", "오소리", "두루미", "고슴도치", "너구리", "사슴")
THINGS = ("피아노", "바이올린", "트럼펫", "하모니카", "아코디언", "가야금", "장구", "플루트", "첼로", "오르간")


@dataclass(frozen=True)
class Planted:
    """A scene that only one window of all holds, and where."""

    video: str
    minute: int
    query: str


def planted() -> list[Planted]:
    """A hundred of them, each with a pair of words that no other window has."""
    rng = random.Random(1)
    pairs = [f"{animal} {thing}" for animal in ANIMALS for thing in THINGS]
    videos = rng.sample(range(VIDEOS), len(pairs))
    return [Planted(identifier(video), rng.randrange(MINUTES), pair) for video, pair in zip(videos, pairs, strict=True)]


def identifier(number: int) -> str:
    return f"scale{number:06d}"


def sentence(animal: str, thing: str) -> str:
    """That the animal plays the instrument, with the particles that go with their last letters."""
    closed = [(ord(word[-1]) - ord("가")) % 28 != 0 for word in (animal, thing)]
    return f"{animal}{'이' if closed[0] else '가'} {thing}{'을' if closed[1] else '를'} 연주해요"


def captions(folder: Path) -> Path:
    """A file for each video: a cue of 60 seconds is a window."""
    scenes = {(scene.video, scene.minute): scene.query for scene in planted()}
    rng = random.Random(2)
    folder.mkdir()
    for number in range(VIDEOS):
        video = identifier(number)
        cues = []
        for minute in range(MINUTES):
            animal, _, thing = scenes.get((video, minute), "").partition(" ")
            text = sentence(animal, thing) if animal else " ".join(rng.choices(WORDS, k=8))
            start, end = (f"{at // 60:02d}:{at % 60:02d}:00,000" for at in (minute, minute + 1))
            cues.append(f"{minute + 1}\n{start} --> {end}\n{text}\n")
        (folder / f"영상 {number} [{video}].ko.srt").write_text("\n".join(cues), encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Home:
    """A home whose library the command line has filled."""

    folder: Path

    def run(self, *arguments: str) -> Any:
        command = command_line(self.folder, *arguments, "--json")
        environment = {**os.environ, "SUBTITLE_RAG_HOST_LINGER": "60", config.HOSTS_VARIABLE: ""}
        ended = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment, check=True)
        return json.loads(ended.stdout)["result"]

    @property
    def index(self) -> Path:
        return config.Paths.under(self.folder).index

    def host(self) -> int:
        entry = host_entry(self.index)
        assert entry
        return int(entry["pid"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("scale")
    made = Home(folder / "home")
    made.folder.mkdir()
    (made.folder / "config.toml").write_text('[models]\nencoder = ""\nreranker = ""\n')
    made.run("index", str(captions(folder / "captions")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "60")
        yield made
    end_hosts([made.index])


def contents(home: Home) -> tuple[int, ...]:
    """How many videos, failures, windows, searchable ones, and points."""
    with Runtime(config.load(home.folder)) as runtime:
        counts = runtime.library.counts()
        return counts.videos, counts.failed, counts.windows, counts.searchable, runtime.index.count()


def first_scenes(home: Home) -> list[tuple[str, int]]:
    """Where the first scene of each planted one's query is: video and minute."""
    with Runtime(config.load(home.folder)) as runtime:
        first = [runtime.searcher.search(parse_query(scene.query)).scenes[0] for scene in planted()]
    return [(scene.video.id, scene.at_ms // 60_000) for scene in first]


WHOLE = (VIDEOS, 0, WINDOWS, WINDOWS, WINDOWS)
PLANTED = [(scene.video, scene.minute) for scene in planted()]


def test_all_windows_are_searchable_and_planted_scenes_found(home: Home) -> None:
    assert contents(home) == WHOLE
    assert first_scenes(home) == PLANTED


def test_memory_does_not_grow_over_many_searches(home: Home) -> None:
    rng = random.Random(3)
    with Runtime(config.load(home.folder)) as runtime:

        def search(count: int) -> None:
            for _search in range(count):
                assert runtime.searcher.search(parse_query(" ".join(rng.choices(WORDS, k=rng.randint(1, 4)))))

        search(WARM)
        processes = (home.host(), os.getpid())
        before = [memory(pid)["RssAnon"] for pid in processes]
        search(SEARCHES)
        after = [memory(pid)["RssAnon"] for pid in processes]
    grown = [now - then for then, now in zip(before, after, strict=True)]
    assert max(grown) < GROWTH_MB, f"host and client grew by {grown} MB from {before} MB"


def test_a_rebuild_finds_the_same(home: Home) -> None:
    assert home.run("rebuild")["windows_indexed"] == WINDOWS
    assert contents(home) == WHOLE
    assert first_scenes(home) == PLANTED
