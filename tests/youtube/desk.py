"""A library, and runs that fill it from the stand-in of YouTube."""

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.events import IndexEvent, IndexReport, Resting, VideoDone, VideoFailed
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.library.rows import VideoState
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.search.query import parse_query as query
from subtitle_rag.youtube.fetcher import Fetcher, FetchRequest, RunOptions, followed_requests
from tests.stand_ins.youtube import QUICK as QUICK, Caption, Channel, Clip, StandIn
from tests.support.place import Place

OWNER = "a" * 22
HANDLE = "https://www.youtube.com/@느린부엌"
UPLOADS = f"UU{OWNER}"


def channel(*clips: Clip, **changes: Any) -> Channel:
    return Channel(f"UC{OWNER}", "@느린부엌", "느린 부엌", list(clips), **changes)


def clips(count: int, first: int = 0, **changes: Any) -> list[Clip]:
    return [clip(number, **changes) for number in range(first, first + count)]


def clip(number: int, **changes: Any) -> Clip:
    return Clip(**{"id": f"slowcook{number:03d}", "title": f"국수 삶기 {number}", **changes})


def silent(count: int, first: int = 0) -> list[Clip]:
    """Videos of which the list says that they are for members: they are listed, and cost nothing."""
    return clips(count, first, state="members_only")


def spoken(text: str) -> list[Caption]:
    """A track that says just this."""
    return [Caption(lines=((1_000, 4_000, text),))]


def fetched(videos: int, **lists: int) -> dict[str, int]:
    """The requests of so many new videos, and those of the lists that name them."""
    return {kind: count for kind in ("watch", "timedtext") if (count := videos)} | lists


class Clock(threading.Event):
    """A stop event that nobody sets: whoever waits for it finds the time gone by at once."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        if timeout:
            self.waits.append(timeout)
        return self.is_set()


@dataclass
class Desk:
    """`settings` hold for the next run; `stop` ends the one that is going on."""

    place: Place
    youtube: StandIn
    settings: YoutubeSettings = QUICK
    stop: threading.Event = field(default_factory=threading.Event)

    def events(self, *addresses: str, run_options: RunOptions | None = None, **options: Any) -> Iterator[IndexEvent]:
        requests = [FetchRequest(parse_address(address), SourceOptions(**options)) for address in addresses]
        return self.fetcher.run(requests, run_options)

    def run(self, *addresses: str, run_options: RunOptions | None = None, **options: Any) -> list[IndexEvent]:
        """A whole run; the stand-in's list of requests is that of this run alone."""
        self.youtube.clear()
        return list(self.events(*addresses, run_options=run_options, **options))

    def report(self, *addresses: str, run_options: RunOptions | None = None, **options: Any) -> IndexReport:
        return report(self.run(*addresses, run_options=run_options, **options))

    def sync(self, run_options: RunOptions | None = None) -> list[IndexEvent]:
        """What is new of all sources, and what is due."""
        self.youtube.clear()
        requests = followed_requests(self.place.library.sources.followed())
        return list(self.fetcher.run(requests, run_options or RunOptions(include_due=True)))

    @property
    def fetcher(self) -> Fetcher:
        return Fetcher(self.place.library, self.place.indexer, self.settings, self.stop)

    @property
    def asked(self) -> dict[str, int]:
        """The number of requests of each kind."""
        return dict(Counter(asked.kind for asked in self.youtube.asked()))

    @property
    def states(self) -> dict[str, str]:
        """How each video of the library stands: `done`, `due` or the code of its failure."""
        return {state.video.id: _state(state) for state in self.place.library.videos()}

    @property
    def done(self) -> set[str]:
        return {id for id, state in self.states.items() if state == "done"}

    def state(self, video_id: str) -> VideoState:
        return next(state for state in self.place.library.videos() if state.video.id == video_id)

    def found(self, text: str) -> set[str]:
        """The videos that a search finds."""
        return {scene.video.id for scene in self.place.searcher.search(query(text)).scenes}


def _state(state: VideoState) -> str:
    return "due" if state.due else state.failure or "done"


def report(events: list[IndexEvent]) -> IndexReport:
    last = events[-1]
    assert isinstance(last, IndexReport)
    return last


def changes(events: list[IndexEvent]) -> dict[str, str]:
    """What became of each video: `new`, `changed`, `unchanged` or the code of its failure."""
    told = [event for event in events if isinstance(event, VideoDone | VideoFailed)]
    return {event.video: event.change if isinstance(event, VideoDone) else event.code for event in told}


def rests(events: list[IndexEvent]) -> list[tuple[str, bool]]:
    """The code of each rest, and whether the run went on after it."""
    return [(event.code, event.goes_on) for event in events if isinstance(event, Resting)]
