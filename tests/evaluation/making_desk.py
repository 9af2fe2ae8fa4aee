"""A library of invented talks, and an Ollama that makes and judges questions about them."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.values import Line, Window
from subtitle_rag.evaluation.generate_questions import MakeEvent, MakeReport, make_questions
from subtitle_rag.evaluation.sampling import Candidate
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.models.ollama.llm_client import Llm
from tests.contexts.desk import talk
from tests.stand_ins.ollama import StandIn
from tests.support.invented import video
from tests.support.searchable import Searchable, video as talking

WRITER = "writer:q4"
JUDGE = "judge:q4"
CHANNELS = ("느린 부엌", "숲속 작업실")
SAID = "오늘은 시장에서 메밀가루를 두 봉지 샀고요 집에 와서 할머니와 같이 반죽을 했습니다 물은 조금만 넣어야 해요"


def library_of(folder: Path, analyzer: Analyzer, *, videos: int = 4, minutes: int = 7) -> Searchable:
    """Talks of two channels in turn, every minute a window of its own words."""
    talks = {
        talking(f"talk-{number}", f"{number}번째 영상 이야기", CHANNELS[number % 2]): talk(minutes, seed=number + 1)
        for number in range(videos)
    }
    return Searchable(folder, analyzer, talks)


@contextmanager
def opened_hosts(ollama: StandIn) -> Iterator[list[Llm]]:
    with closing(Llm(ollama.base, LlmSettings())) as host:
        yield [host]


def generate(
    talks: Searchable, ollama: StandIn, path: Path, count: int, **options: Any
) -> tuple[MakeReport, list[MakeEvent]]:
    """A whole run, and what it told on the way."""
    with opened_hosts(ollama) as hosts:
        *events, report = make_questions(talks.library, hosts, talks.analyzer, path, count, default=WRITER, **options)
    assert isinstance(report, MakeReport)
    return report, events


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def questions(path: Path) -> list[dict[str, Any]]:
    return [entry for entry in lines(path) if "query" in entry and "refused" not in entry]


def question_reply(question: str, answer: str = "메밀가루입니다.", quote: str = SAID[:20], **more: Any) -> str:
    """An answer under the schema of a question of one window."""
    return json.dumps({"question": question, "answer": answer, "evidence": quote, **more}, ensure_ascii=False)


def candidate(*texts: str, kind: str = "simple", title: str = "반죽하는 날 기록") -> Candidate:
    """Windows of three lines each, a second for every character."""
    windows = tuple(map(_window, range(len(texts)), texts))
    return Candidate(kind, windows, ((video("talk-1", title=title), "talk-1"),) * len(windows))


def _window(ordinal: int, text: str) -> Window:
    starts: Sequence[int] = [0, *(at + 1 for at, letter in enumerate(text) if letter == " ")][
        :: max(1, text.count(" ") // 3)
    ]
    at = ordinal * 120_000
    text_lines = tuple(Line(start, at + start * 1_000) for start in starts)
    return Window(f"talk-1/{ordinal}", "talk-1", ordinal, at, at + len(text) * 1_000, text, text_lines)
