"""A library of invented talks in this process, and an Ollama that writes its contexts."""

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import ContextEvent, ContextReport, ContextWritten, VideoFailed
from subtitle_rag.base.domain.values import Video, Window
from subtitle_rag.contexts.writer import Writer
from subtitle_rag.library.context_store import Context, WindowSelection
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.scenes import Scene
from tests.stand_ins.ollama import Asked, StandIn
from tests.support.invented import WORDS
from tests.support.place import Place
from tests.support.searchable import LINES, Minutes, put_talk, video

NAME = "writer:q4"


def talk(minutes: int, *, seed: int = 1, words: int = 4) -> Minutes:
    """A talk of so many minutes, each of which says a number that no other one says."""
    rng = random.Random(seed)
    said = [[" ".join(rng.choices(WORDS, k=words)) for _line in range(LINES)] for _minute in range(minutes)]
    for number, lines in enumerate(said):
        lines[0] = f"{100 * seed + number}번째 이야기"
    return said


@dataclass
class Desk:
    """Where contexts are written; `events` are those of the last run."""

    place: Place
    ollama: StandIn
    events: list[ContextEvent] = field(default_factory=list)

    def put(
        self, id: str, minutes: Minutes, *, published: str | None = None, channel: str = "느린 부엌"
    ) -> list[Window]:
        """Take in a talk and make it searchable."""
        return self.put_video(video(id, f"{id} 국수 이야기", channel, published), minutes)

    def put_video(self, one: Video, minutes: Minutes) -> list[Window]:
        self.put_captions(one, minutes)
        for _made in self.place.indexer.finish():
            pass
        return self.place.library.windows_of(one.id)

    def put_captions(self, one: Video, minutes: Minutes) -> None:
        """Only into the library: not searchable yet."""
        put_talk(self.place.library, one, minutes)

    @contextmanager
    def writer(
        self,
        *servers: StandIn,
        model: str = NAME,
        stop: threading.Event | None = None,
        pause: float = 0,
        **options: Any,
    ) -> Iterator[Writer]:
        with ExitStack() as opened:
            bases = [server.base for server in servers or (self.ollama,)]
            hosts = [opened.enter_context(closing(Llm(base, LlmSettings()))) for base in bases]
            stop = stop or threading.Event()
            options = {"analyzer": self.place.analyzer, "pause": pause, **options}
            yield Writer(self.place.library, self.place.indexer, hosts, model, stop, **options)

    def write(
        self, chosen: WindowSelection | None = None, *, servers: Sequence[StandIn] = (), **options: Any
    ) -> ContextReport:
        """A whole run, and its sum; `options` are those of `writer` and `Writer`."""
        with self.writer(*servers, **options) as writer:
            self.events = list(writer.run(chosen))
        report = self.events[-1]
        assert isinstance(report, ContextReport)
        return report

    @property
    def written(self) -> list[ContextWritten]:
        return [event for event in self.events if isinstance(event, ContextWritten)]

    @property
    def failed(self) -> list[VideoFailed]:
        return [event for event in self.events if isinstance(event, VideoFailed)]

    def search(self, query: str) -> tuple[Scene, ...]:
        return self.place.searcher.search(parse_query(query)).scenes

    def contexts(self, *ids: str) -> list[Context]:
        """Those of all videos, or of some, in their windows' order."""
        library = self.place.library
        videos = ids or [state.video.id for state in library.videos()]
        kept = [(library.contexts.of_video(id), library.windows_of(id)) for id in videos]
        return [own[window.id] for own, windows in kept for window in windows if window.id in own]

    def chats(self) -> list[Asked]:
        return self.ollama.asked("chat")


@contextmanager
def meanwhile(task: Callable[[], object]) -> Iterator[None]:
    """In another thread, which has ended when this ends."""
    thread = threading.Thread(target=task)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def windows_asked(requests: Sequence[Asked]) -> list[str]:
    """The captions of the window that each request was about, without those for an overview."""
    asked = [request.messages[-1]["content"] for request in requests]
    return [text.partition("<구간>\n")[2].partition("\n</구간>")[0] for text in asked if "<구간>" in text]


def beginnings(texts: Iterable[str]) -> list[str]:
    """As much as stays of long windows, which lose their middle."""
    return [text[:20] for text in texts]


def blocked(report: ContextReport) -> str:
    """The code of what ended a run early."""
    assert isinstance(report.blocked, AppError)
    assert report.blocked.message
    return report.blocked.code
