"""Progress of all use cases: the value that they yield, its rate, and its text for terminal and app."""

import time
from dataclasses import dataclass, replace
from typing import Literal

from subtitle_rag.base.domain.values import byte_size, clock, sizes
from subtitle_rag.base.i18n import N_, _

SHORTEST_RATE_S = 1.0
"""Seconds of work before the rate is shown."""
NOTABLE_S = 3
"""Seconds before the state of a request is shown, which would flicker with a fast model."""

ProgressStage = Literal[
    "captions",
    "windows",
    "contexts",
    "vectors",
    "pieces",
    "listening",
    "sound",
    "models",
    "packages",
    "clips",
    "questions",
    "answers",
    "judgements",
]
COUNTS: dict[ProgressStage, str] = {
    "captions": N_("Videos {done}/{all}"),
    "windows": N_("Windows {done}/{all}"),
    "contexts": N_("Contexts {done}/{all}"),
    "vectors": N_("Vectors {done}/{all}"),
    "pieces": N_("Vectors of pieces {done}/{all}"),
    "listening": N_("Listening {done}/{all}"),
    "sound": N_("Fetching sound {size}"),
    "models": N_("Fetching {size}"),
    "packages": N_("Installing search by meaning"),
    "clips": N_("Clips {done}/{all}"),
    "questions": N_("Questions {done}/{all}"),
    "answers": N_("Answers {done}/{all}"),
    "judgements": N_("Judgements {done}/{all}"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a stage. Each value replaces the previous one."""

    stage: ProgressStage
    done: int = 0
    """Windows; seconds of sound for `listening`, bytes for `sound` and `models`."""
    total: int = 0
    """0 if unknown."""
    text: str = ""
    """The current video or model."""
    activity: str = ""
    """What a model is doing, or what the stage is waiting for."""
    since: float | None = None
    """Start of the activity on the monotonic clock."""
    rate: float | None = None
    """Units per second; None until known."""
    left_s: float | None = None


class Pace:
    """Measures the rate of work. Skips the first step after a pause, during which a model may load."""

    def __init__(self, steps: int = 4) -> None:
        """Measure from `steps` timed steps on."""
        self._least, self._steps = steps, 0
        self._done, self._seconds = 0, 0.0
        self._at: float | None = None

    def start(self) -> None:
        """Begin timing the next step."""
        self._at = time.monotonic()

    def pause(self) -> None:
        """Do not time the next step."""
        self._at = None

    def add(self, count: int = 1) -> None:
        """Count a finished step."""
        now = time.monotonic()
        if self._at is not None:
            self._steps += 1
            self._done += count
            self._seconds += now - self._at
        self._at = now

    @property
    def rate(self) -> float | None:
        """Units per second; None until known."""
        is_known = self._steps >= self._least and self._seconds >= SHORTEST_RATE_S and self._done
        return self._done / self._seconds if is_known else None

    def left_s(self, count: int) -> float | None:
        """Return the expected seconds for `count` more units."""
        rate = self.rate
        return max(0, count) / rate if rate else None


class Meter:
    """Counts the work of one stage, and measures its rate."""

    def __init__(self, stage: ProgressStage, total: int = 0) -> None:
        self._progress = Progress(stage, total=total)
        self._pace = Pace()

    def pause(self) -> None:
        """Do not time the next step."""
        self._pace.pause()

    def to(self, done: int, total: int | None = None, text: str = "") -> Progress:
        """Set the amount done and return the progress."""
        total = self._progress.total if total is None else total
        self._pace.add(done - self._progress.done)
        rate, left_s = self._pace.rate, self._pace.left_s(total - done) if total else None
        self._progress = replace(self._progress, done=done, total=total, text=text, rate=rate, left_s=left_s)
        return self._progress

    def advance(self, count: int = 1, total: int | None = None, text: str = "") -> Progress:
        """Add to the amount done and return the progress."""
        return self.to(self._progress.done + count, total, text)


def progress_counts(progress: Progress) -> str:
    """Return the done and total amounts as text."""
    done, total = progress.done, progress.total
    if progress.stage in ("sound", "models"):
        return _(COUNTS[progress.stage]).format(size=sizes(done, total or done))
    if progress.stage in ("listening", "clips"):
        return _(COUNTS[progress.stage]).format(done=clock(done * 1000), all=clock(total * 1000))
    return _(COUNTS[progress.stage]).format(done=f"{done:,}", all=f"{total:,}")


def progress_parts(progress: Progress) -> list[str]:
    """Return counts, rate, remaining time and current item, most important first."""
    parts = [progress_counts(progress)]
    elapsed_s = 0.0 if progress.since is None else time.monotonic() - progress.since
    if progress.activity and (progress.since is None or elapsed_s >= NOTABLE_S):
        parts.append(progress.activity)
        parts += [clock(round(elapsed_s * 1000))] if progress.since is not None else []
    if progress.rate and (rate := _rate_text(progress.stage, progress.rate)):
        parts.append(rate)
    if progress.left_s is not None and progress.done < progress.total:
        parts.append(remaining(progress.left_s))
    return [*parts, progress.text] if progress.text else parts


def _rate_text(stage: ProgressStage, rate: float) -> str:
    if stage in ("sound", "models"):
        return _("{rate}/s").format(rate=byte_size(rate))
    if stage == "listening":
        return pace_text(rate)
    if stage == "captions":
        return _("{rate} videos/min").format(rate=round(rate * 60) or f"{rate * 60:.1f}")
    if stage in ("clips", "questions", "answers", "judgements"):
        return ""
    if rate >= 1:
        return _("{rate} windows/s").format(rate=f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}")
    return _("{rate}/min").format(rate=f"{rate * 60:.1f}")


def remaining(seconds: float) -> str:
    """Return the remaining time in minutes, or hours."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 60:
        return _("about {minutes} min left").format(minutes=minutes)
    return _("about {hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def duration_text(ms: int) -> str:
    """Return a duration in its two largest units: `1 h 20 min`, `1 min 20 s`, `8 s`."""
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{h} h {m} min").format(h=hours, m=minutes)
    if minutes and seconds:
        return _("{m} min {s} s").format(m=minutes, s=seconds)
    return _("{m} min").format(m=minutes) if minutes else _("{s} s").format(s=seconds)


def pace_text(pace: float) -> str:
    """Return the time for a minute of sound. `pace` is in seconds of sound per second."""
    return _("1 min of sound in {time}").format(time=duration_text(max(1000, round(60_000 / max(pace, 0.01)))))
