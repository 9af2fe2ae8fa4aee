"""kill -9 at random moments of writing contexts, and Ollama going away; the next run goes on where that one was.

`SUBTITLE_RAG_KILLS` sets the number of moments (4).
"""

import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag import config
from subtitle_rag.retrieval.query import parse
from subtitle_rag.runtime import Runtime
from tests.invented import end_hosts
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.stand_ins.ollama_models import Json

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 4)
NAME = "writer:q4"
VIDEOS, MINUTES = 5, 10
WINDOWS = VIDEOS * MINUTES

pytestmark = [
    pytest.mark.campaign(part="kills"),
    pytest.mark.hosts,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's"),
]


def guest(number: int) -> int:
    """Whom only the context of a window names."""
    return 90_000 + number


def context(sent: Json) -> Turn:
    """Says who is in the window: what its captions do not."""
    found = re.search(r"암호는 (\d+)", sent["messages"][-1]["content"])
    assert found is not None
    return Turn(f"{guest(int(found[1]))}호 손님이 국수를 삶아 먹는 장면입니다.", pace=0.002)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(Model(NAME, behaviour=context))
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        yield server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library of windows each of which says a number that no other one says."""
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")
    folder, captions = tmp_path / "home", tmp_path / "captions"
    captions.mkdir()
    for video in range(VIDEOS):
        cues = []
        for minute in range(MINUTES):
            times = f"00:{2 * minute:02d}:00,000 --> 00:{2 * minute + 1:02d}:00,000"
            cues.append(f"{minute + 1}\n{times}\n오늘의 암호는 {7_000 + video * MINUTES + minute} 입니다\n")
        (captions / f"국수 {video}.ko.srt").write_text("\n".join(cues), encoding="utf-8")
    with Runtime(config.load(folder)) as runtime:
        for _event in runtime.indexer.index([captions]):
            pass
        assert runtime.library.counts().searchable == WINDOWS
    yield folder
    end_hosts([config.Paths.under(folder).index])


def start(home: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "subtitle_rag", "--home", str(home), "contexts", "write", "--model", NAME],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_at(ollama: StandIn, home: Path, chats: int, delay: float, *, server_too: bool) -> bool:
    """Whether the run was still at work when it was killed, `delay` seconds after so many requests in all."""
    process = start(home)
    try:
        while ollama.count("chat") < chats and process.poll() is None:
            time.sleep(0.002)
        time.sleep(delay)
        if server_too:
            ollama.stop()
        return process.poll() is None
    finally:
        process.kill()
        process.wait()
        ollama.start()


def asked_again(ollama: StandIn) -> int:
    """How many requests were about a window that had been asked about."""
    counts = Counter(asked.messages[-1]["content"] for asked in ollama.asked("chat"))
    return sum(count - 1 for count in counts.values())


def stored(home: Path) -> int:
    with Runtime(config.load(home)) as runtime:
        return runtime.library.contexts.counts().written


def test_a_run_killed_again_and_again_loses_a_context_at_most_each_time(ollama: StandIn, home: Path) -> None:
    rng = random.Random(KILLS)
    moments = sorted(rng.sample(range(3, WINDOWS - 5), KILLS))
    killed = 0
    for number, moment in enumerate(moments):
        delay = rng.uniform(0, 0.05)
        killed += kill_at(ollama, home, moment, delay, server_too=number % 2 == 1)
        answered = sum(asked.outcome == "answered" for asked in ollama.asked("chat"))
        assert answered - stored(home) <= killed
    assert killed == KILLS
    assert start(home).wait() == 0
    assert asked_again(ollama) <= KILLS
    assert stored(home) == WINDOWS
    with Runtime(config.load(home)) as runtime:
        assert runtime.library.contexts.unindexed() == {}
        for state in runtime.library.videos():
            for window in runtime.library.windows_of(state.video.id):
                said = int(window.text.split()[2])
                best = runtime.searcher.rank(parse(str(guest(said))))[0]
                assert best.window_id == window.id
    ollama.clear()
    assert start(home).wait() == 0
    assert ollama.count("chat") == 0


def test_what_was_stored_and_not_yet_searchable_is_taken_in_by_the_next_run(ollama: StandIn, home: Path) -> None:
    with Runtime(config.load(home)) as runtime:
        lock = runtime.indexer._working()  # as if another indexer were at work: contexts are stored, and no more
        with lock:
            process = start(home)
            while stored(home) < 3 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.wait()
        late = sum(map(len, runtime.library.contexts.unindexed().values()))
        assert late >= 3
    assert start(home).wait() == 0
    with Runtime(config.load(home)) as runtime:
        assert runtime.library.contexts.unindexed() == {}
        assert runtime.searcher.rank(parse(str(guest(7_000))))
