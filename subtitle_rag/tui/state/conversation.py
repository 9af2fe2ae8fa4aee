"""Questions, their answers and the citations in them, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from subtitle_rag.domain import Line, Video
from subtitle_rag.errors import AppError
from subtitle_rag.events import Answer, Citation, Evidence, EvidenceKind, EvidenceSource
from subtitle_rag.retrieval.scenes import Scene

if TYPE_CHECKING:
    from subtitle_rag.library.answers import KeptAnswer

SIGNS = {"supported": "", "unsupported": "?", "unknown": "✗"}
"""Behind a citation; the words that go with it stand under the answer."""


class CitationRef(NamedTuple):
    """A citation: which question's, and which of its answer's."""

    turn: int
    at: int


@dataclass(slots=True, eq=False)
class QuestionTurn:
    """A question on the screen, and what has come of it so far."""

    question: str
    evidence: Evidence | None = None
    text: str = ""
    answer: Answer | None = None
    error: AppError | None = None
    """Why there is no answer at all."""

    @property
    def ended(self) -> bool:
        return self.answer is not None or self.error is not None

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.answer.citations if self.answer else ()

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        return self.evidence.sources if self.evidence else ()

    def source(self, number: int) -> EvidenceSource | None:
        return next((source for source in self.sources if source.number == number), None)

    @property
    def first_cited(self) -> int | None:
        """The scene that the first good citation names."""
        return next((one.number for one in self.citations if one.status == "supported"), None)

    def best_ms(self, source: EvidenceSource) -> int:
        """Where its first citation that is borne out leads; the question's own best line without one."""
        own = (one for one in self.citations if one.number == source.number and one.status == "supported")
        found = next(own, None)
        return source.at_ms if found is None or found.at_ms is None else found.at_ms

    def sign(self, source: EvidenceSource) -> str:
        """Whether the answer cites a scene, and whether that is borne out."""
        statuses = {one.status for one in self.citations if one.number == source.number}
        return "✓" if "supported" in statuses else SIGNS["unsupported"] if statuses else " "


def citation_refs(turns: Sequence[QuestionTurn]) -> list[CitationRef]:
    """All citations, in the order in which they are read."""
    return [
        CitationRef(number, at)
        for number, turn in enumerate(turns)
        for at in sorted(range(len(turn.citations)), key=lambda at: turn.citations[at].span)
    ]


def scene_of(source: EvidenceSource, at_ms: int) -> Scene:
    """A source as the rest of the app knows scenes, to be jumped to at `at_ms`."""
    offsets, offset = [], 0
    for start, text in source.lines:
        offsets.append(Line(offset, start))
        offset += len(text) + 1
    return Scene(
        rank=source.number,
        id=source.scene,
        video=source.video,
        start_ms=source.start_ms,
        end_ms=source.end_ms,
        text=" ".join(text for _start, text in source.lines),
        lines=tuple(offsets),
        highlights=(),
        at_ms=at_ms,
        score=0.0,
        scores={},
        context=source.context,
    )


def kept_turn(kept: "KeptAnswer", videos: Mapping[str, Video]) -> QuestionTurn:
    """A kept answer; of scenes whose video has left the library only the words are there."""
    sources = tuple(
        EvidenceSource(
            number=one.number,
            scene=one.scene,
            video=videos.get(one.video) or Video(one.video, one.title, "", ""),
            start_ms=one.at_ms,
            end_ms=one.at_ms,
            at_ms=one.at_ms,
            lines=((one.at_ms, one.line),),
            text=one.line,
        )
        for one in kept.sources
    )
    evidence = Evidence(cast("EvidenceKind", kept.way), sources)
    answer = Answer(kept.question, kept.text, kept.model, evidence, kept.citations)
    return QuestionTurn(kept.question, evidence, kept.text, answer)
