"""kill -9 at random moments of a run over YouTube's stand-in; the next run goes on where that one was.

`SUBTITLE_RAG_KILLS` sets the number of moments (5).
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.stand_ins.youtube import Caption, Channel, Clip, StandIn
from tests.support.invented import end_hosts
from tests.support.processes import Process, kill_when, needs_sigkill, start

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 5)
VIDEOS = 250
CHANNEL = "https://www.youtube.com/@느린부엌"
SETTINGS = "[youtube]\npause = 0\n"

pytestmark = [
    pytest.mark.campaign(part="kills"),
    pytest.mark.hosts,
    needs_sigkill,
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")
    folder = tmp_path / "home"
    paths = config.Paths.under(folder)
    paths.config.parent.mkdir(parents=True)
    paths.config.write_text(SETTINGS)
    yield folder
    end_hosts([paths.index])


def channel(videos: int) -> Channel:
    """Each of its videos says a number that no other one says."""
    made = [
        Clip(f"slowcook{number:03d}", f"국수 {number}", [Caption(lines=((0, 900, f"비밀번호는 {7_000 + number}"),))])
        for number in range(videos)
    ]
    return Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", made)


def start_index(youtube: StandIn, home: Path) -> Process:
    return start(home, "index", CHANNEL, variables=youtube.environment(home))


def found(runtime: Runtime, number: int) -> list[str]:
    result = runtime.searcher.search(parse_query(f'"{7_000 + number}"'))
    return [scene.video.id for scene in result.scenes]


def again(youtube: StandIn, kind: str) -> int:
    """How many requests of this kind were for a video that had been asked for."""
    counts = Counter(asked.video for asked in youtube.asked(kind))
    return sum(count - 1 for count in counts.values())


def test_a_run_killed_five_times_fetches_every_video_and_none_twice(youtube: StandIn, home: Path) -> None:
    made = channel(VIDEOS)
    youtube.add(made)
    rng = random.Random(KILLS)
    moments = sorted(rng.sample(range(10, 2 * VIDEOS - 30), KILLS))
    for moment in moments:
        has_asked = lambda moment=moment: youtube.count() >= moment  # noqa: E731
        assert kill_when(start_index(youtube, home), has_asked, rng.uniform(0, 0.03))
    assert start_index(youtube, home).wait() == 0
    assert {asked.video for asked in youtube.asked("watch")} == {clip.id for clip in made.clips}
    assert again(youtube, "watch") <= KILLS
    assert again(youtube, "timedtext") <= again(youtube, "watch")
    with Runtime(config.load(home)) as runtime:
        counts = runtime.library.counts()
        assert (counts.videos, counts.due, counts.failed) == (VIDEOS, 0, 0)
        assert counts.windows == counts.searchable == runtime.index.count() == VIDEOS
        for number, clip in enumerate(made.clips):
            assert found(runtime, number) == [clip.id]
    youtube.clear()
    assert start_index(youtube, home).wait() == 0
    assert [asked.kind for asked in youtube.requests] == ["playlist"]


def test_a_run_killed_at_the_thirteenth_of_twenty_goes_on_with_it(youtube: StandIn, home: Path) -> None:
    youtube.add(channel(20))
    hold = youtube.hold("watch", after=12)
    assert kill_when(start_index(youtube, home), hold.arrived.is_set)
    hold.release()
    with Runtime(config.load(home)) as runtime:
        assert [found(runtime, number) for number in range(12)] == [[f"slowcook{number:03d}"] for number in range(12)]
        assert found(runtime, 12) == []
    youtube.clear()
    assert start_index(youtube, home).wait() == 0
    assert [asked.video for asked in youtube.asked("watch")] == [f"slowcook{number:03d}" for number in range(12, 20)]
    with Runtime(config.load(home)) as runtime:
        assert runtime.library.counts().searchable == 20
