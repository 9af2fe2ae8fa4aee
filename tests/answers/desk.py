"""Where questions are answered: a searchable library in this process, and an Ollama that answers."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from subtitle_rag.answers.answer import Answerer, Conversation
from subtitle_rag.answers.gathering import AnswerOptions, Gatherer
from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.answer_values import (
    Answer,
    AnswerEvent,
    AnswerPiece,
    AnswerRequest,
    Evidence,
    EvidenceSource,
)
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Line, Video
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.scenes import Scene
from tests.contexts.desk import talk
from tests.stand_ins.ollama import Asked, StandIn
from tests.support.invented import context
from tests.support.place import Place
from tests.support.searchable import Minutes, put_talk, video

NAME = "answer:q4"
SEARCH = AnswerOptions(whole=False)
"""The best scenes, also of a library that is short enough to be read whole."""
KIMCHI = ["오늘은 김장을 합니다", "배추가 40포기예요", "소금은 여덟 바가지 넣습니다"]
SAUCE = ["청귤 간장 소스를 찍어 먹어요", "이 소스가 제일 맛있어요"]
QUESTION = "김장 배추 몇 포기 했어?"


@dataclass
class Desk:
    """A library, and an Ollama."""

    place: Place
    ollama: StandIn

    def put(self, one: Video, minutes: Minutes) -> None:
        """Take in a video and make it searchable."""
        self.put_all({one: minutes})

    def put_all(self, videos: Mapping[Video, Minutes]) -> None:
        for one, minutes in videos.items():
            put_talk(self.place.library, one, minutes)
        for _made in self.place.indexer.finish():
            pass

    def put_contexts(self, video_id: str, texts: Sequence[str]) -> None:
        """As if a model had written them, for the first windows of a video."""
        for window, text in zip(self.place.library.windows_of(video_id), texts, strict=False):
            self.place.library.contexts.put(context(window.id, video_id, text))

    @contextmanager
    def answerer(
        self, *, model: str = NAME, servers: Iterable[StandIn] | None = None, remember: bool = False
    ) -> Iterator[Answerer]:
        gatherer = Gatherer(self.place.library, self.place.searcher, self.place.analyzer)
        bases = [server.base for server in ((self.ollama,) if servers is None else servers)]
        hosts = [Llm(base, LlmSettings()) for base in bases]
        try:
            yield Answerer(gatherer, hosts, model, remember=remember)
        finally:
            for host in hosts:
                host.close()

    def ask(
        self, question: str, *, model: str = NAME, options: AnswerOptions | None = None, videos: tuple[str, ...] = ()
    ) -> "Told":
        """A question by itself."""
        with self.answerer(model=model) as answerer:
            return told(answerer.conversation(options), question, videos=videos)

    def chats(self) -> list[Asked]:
        return self.ollama.asked("chat")


@dataclass
class Told:
    """The events of one question."""

    events: list[AnswerEvent]

    @property
    def answer(self) -> Answer:
        last = self.events[-1]
        assert isinstance(last, Answer)
        return last

    @property
    def evidence(self) -> list[Evidence]:
        return [event for event in self.events if isinstance(event, Evidence)]

    @property
    def requests(self) -> list[AnswerRequest]:
        return [event for event in self.events if isinstance(event, AnswerRequest)]

    @property
    def streamed(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, AnswerPiece))

    @property
    def texts(self) -> list[str]:
        """What the model was given, by number."""
        return [source.text for source in self.answer.evidence.sources]


def told(
    talk: Conversation, question: str, *, videos: tuple[str, ...] = (), stop: threading.Event | None = None
) -> Told:
    query = parse_query(question)
    return Told(list(talk.ask(replace(query, videos=videos or query.videos), stop)))


def failure(told: Told) -> str:
    """The code of what kept a model from answering."""
    assert isinstance(told.answer.error, AppError)
    assert told.answer.error.message
    return told.answer.error.code


def scene(
    number: int,
    text: str = "",
    *,
    of: str = "",
    start: int = 0,
    before: str = "",
    after: str = "",
    context: str | None = None,
    title: str = "",
) -> Scene:
    """A scene of one minute, of one line a sentence; `of` names its video, else it has one of its own."""
    said = text or f"{number}번째 장면의 말"
    name = of or f"video-{number:05d}"
    lines, offset = [], 0
    for at, part in enumerate(said.split(". ")):
        lines.append(Line(offset, start + 6_000 * at))
        offset += len(part) + 2
    return Scene(
        rank=number,
        id=f"scene-{number}",
        video=video(name, title or f"{name} 영상"),
        start_ms=start,
        end_ms=start + 60_000,
        text=said,
        lines=tuple(lines),
        highlights=(),
        at_ms=start,
        score=1 / number,
        scores={},
        overlap_before=before,
        overlap_after=after,
        context=context,
    )


def source(number: int, text: str, *, context: str | None = None, title: str = "영상") -> EvidenceSource:
    lines = tuple((6_000 * at, part) for at, part in enumerate(text.split(". ")))
    return EvidenceSource(number, f"scene-{number}", video("video-00001", title), 0, 60_000, 0, lines, text, context)


def fill(desk: Desk, count: int = 4) -> None:
    """Some videos of three minutes; the first two say something."""
    said = [KIMCHI, SAUCE, *[[]] * (count - 2)][:count]
    talks = [[first, *talk(2, seed=number + 1)] for number, first in enumerate(said)]
    desk.put_all({video(f"video-{number:05d}", f"영상 {number}"): minutes for number, minutes in enumerate(talks)})


def put_long(desk: Desk, numbers: Iterable[int]) -> None:
    """Videos of scenes that are as wordy as windows may be; none says what another one does."""
    desk.put_all({video(f"video-{number:05d}"): _long_minutes(number) for number in numbers})


def _long_minutes(video_number: int) -> Minutes:
    first = "".join(f"소스{number} " for number in range(45))
    counts = [[200 * video_number + 20 * line + number for number in range(17)] for line in range(8)]
    others = ["".join(f"말을 {count:04d}번 합니다 " for count in line) for line in counts]
    return [[first, *others], *talk(1, seed=video_number + 1)]


def system(desk: Desk, at: int = -1) -> str:
    return str(desk.chats()[at].messages[0]["content"])
