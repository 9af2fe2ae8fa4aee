"""How far work is, in numbers and in words."""

from dataclasses import replace

import pytest

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.progress import NOTABLE_S, Meter, Pace, Progress, progress_parts


class Clock:
    """The monotonic clock, which passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("subtitle_rag.base.domain.progress.time.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def add(pace: Pace, clock: Clock, *steps: tuple[float, int]) -> None:
    for seconds, count in steps:
        clock.now += seconds
        pace.add(count)


def test_a_rate_leaves_out_the_first_step_and_each_after_a_pause(clock: Clock) -> None:
    pace = Pace()
    add(pace, clock, (30, 8), (2, 8), (2, 8), (2, 8))
    assert (pace.rate, pace.left_s(100)) == (None, None)
    add(pace, clock, (2, 8))
    assert (pace.rate, pace.left_s(100)) == (4.0, 25.0)
    pace.pause()
    add(pace, clock, (500, 8), (2, 8))
    assert pace.rate == 4.0


def test_quick_work_has_no_rate(clock: Clock) -> None:
    pace = Pace()
    add(pace, clock, *[(0.1, 1)] * 9)
    assert pace.rate is None


def test_a_meter_counts_a_stage(clock: Clock) -> None:
    meter = Meter("contexts", 100)
    for _step in range(5):
        clock.now += 1
        progress = meter.advance(10, text="제목")
    assert progress == Progress("contexts", 50, 100, "제목", rate=10.0, left_s=5.0)
    assert meter.to(100).done == 100
    assert meter.advance(0, total=0).left_s is None


WRITING = Progress("contexts", 6_350, 9_412, "국수 삶는 날")


@pytest.mark.parametrize(
    ("progress", "parts"),
    [
        (WRITING, ["Contexts 6,350/9,412", "국수 삶는 날"]),
        (
            replace(WRITING, rate=2.1 / 60, left_s=87_540.0, text=""),
            ["Contexts 6,350/9,412", "2.1/min", "about 24 h 19 min left"],
        ),
        (
            replace(WRITING, rate=1.0, left_s=10.0, text=""),
            [*["Contexts 6,350/9,412", "1.0 windows/s", "less than a minute left"]],
        ),
        (
            Progress("pieces", 2, 32, activity="waiting for contexts"),
            ["Vectors of pieces 2/32", "waiting for contexts"],
        ),
        (Progress("listening", 62, 540, rate=3.0), ["Listening 1:02/9:00", "1 min of sound in 20 s"]),
        (Progress("models", 812_000_000, 4_560_000_000, "a", rate=2e6), ["Fetching 0.8/4.6 GB", "2.0 MB/s", "a"]),
        (Progress("sound", 3_000_000), ["Fetching sound 3.0/3.0 MB"]),
    ],
)
def test_the_most_important_part_comes_first(progress: Progress, parts: list[str]) -> None:
    assert progress_parts(progress) == parts


def test_a_request_is_told_with_its_time_once_it_takes_a_while(clock: Clock) -> None:
    reading = replace(WRITING, activity="reading 12,400 tokens", since=clock.now)
    assert progress_parts(reading) == ["Contexts 6,350/9,412", "국수 삶는 날"]
    clock.now += NOTABLE_S
    assert progress_parts(reading) == ["Contexts 6,350/9,412", "reading 12,400 tokens", "0:03", "국수 삶는 날"]


def test_in_korean() -> None:
    i18n.activate("ko")
    assert progress_parts(replace(WRITING, rate=10.0, text=""))[0] == "AI 장면 설명 6,350/9,412"
