"""Questions, their answers and citations, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from subtitle_rag.base.domain.answer_values import (
    Answer,
    AnswerRequest,
    Citation,
    Evidence,
    EvidenceKind,
    EvidenceSource,
)
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.tui.shared.spoken_lines import scene_of_lines

if TYPE_CHECKING:
    from subtitle_rag.library.answers import StoredAnswer
    from subtitle_rag.search.scenes import Scene

SIGNS = {"supported": "", "unsupported": "?", "unchecked": "–"}
"""Citation status → sign. The words missing for a "?" are under the answer."""


class CitationRef(NamedTuple):
    """A number on the page: a citation in an answer, or the row of its scene."""

    turn: int
    """Index of the turn."""
    number: int
    at: int | None
    """Index of the citation in the answer; None for the row."""


@dataclass(slots=True, eq=False)
class QuestionTurn:
    """A question on the screen, with its answer so far."""

    question: str
    evidence: Evidence | None = None
    text: str = ""
    answer: Answer | None = None
    error: AppError | None = None
    """Why there is no answer."""
    request: AnswerRequest | None = None
    """The request while the model reads it, before the first word of the answer."""
    request_s: float = 0.0
    """Reading time so far."""

    @property
    def ended(self) -> bool:
        return self.answer is not None or self.error is not None

    @property
    def failure(self) -> AppError | None:
        """Why there is no answer, or no complete one."""
        return self.error or (self.answer.error if self.answer else None)

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.answer.citations if self.answer else ()

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        return self.evidence.sources if self.evidence else ()

    def source(self, number: int) -> EvidenceSource | None:
        return next((source for source in self.sources if source.number == number), None)

    def best_ms(self, source: EvidenceSource) -> int:
        """Return the time of the source's first supported citation, or else of the question's best line."""
        of_scene = (citation for citation in self.citations if citation.number == source.number)
        at_ms = next((citation.at_ms for citation in of_scene if citation.status == "supported"), None)
        return source.at_ms if at_ms is None else at_ms

    def time_of(self, ref: CitationRef, source: EvidenceSource) -> int:
        """Return the time that a number of this turn jumps to."""
        at_ms = None if ref.at is None else self.citations[ref.at].at_ms
        return self.best_ms(source) if at_ms is None else at_ms

    def sign(self, source: EvidenceSource) -> str:
        """Return the worst sign among a scene's citations; empty for a scene without any."""
        signs = {SIGNS[citation.status] for citation in self.citations if citation.number == source.number}
        return next((sign for sign in (SIGNS["unsupported"], SIGNS["unchecked"]) if sign in signs), " ")

    def is_cited(self, source: EvidenceSource) -> bool:
        return any(citation.number == source.number for citation in self.citations)


def citation_refs(turns: Sequence[QuestionTurn]) -> list[CitationRef]:
    """Return all citations in reading order; the scene rows follow the last answer."""
    refs = [
        CitationRef(number, turn.citations[at].number, at)
        for number, turn in enumerate(turns)
        for at in sorted(range(len(turn.citations)), key=lambda at: turn.citations[at].span)
    ]
    last = listing_turn(turns)
    return refs if last is None else [*refs, *(CitationRef(last, each.number, None) for each in turns[last].sources)]


def listing_turn(turns: Sequence[QuestionTurn]) -> int | None:
    """Return the index of the turn with listed scenes: the last answered one that has any."""
    return next((at for at in reversed(range(len(turns))) if turns[at].sources and turns[at].ended), None)


def scene_of(source: EvidenceSource, at_ms: int) -> "Scene":
    """Return a source as a scene that jumps to `at_ms`."""
    scene = scene_of_lines(source.video, source.lines, at_ms, (source.start_ms, source.end_ms))
    return replace(scene, rank=source.number, id=source.scene, context=source.context)


def turn_of_answer(record: "StoredAnswer", videos: Mapping[str, Video]) -> QuestionTurn:
    """Return the turn of a stored answer; scenes of removed videos have only their text."""
    sources = tuple(
        EvidenceSource(
            number=source.number,
            scene=source.scene,
            video=videos.get(source.video) or Video(source.video, source.title, "", ""),
            start_ms=source.at_ms,
            end_ms=source.at_ms,
            at_ms=source.at_ms,
            lines=((source.at_ms, source.line),),
            text=source.line,
        )
        for source in record.sources
    )
    evidence = Evidence(cast("EvidenceKind", record.way), sources)
    answer = Answer(record.question, record.text, record.model, evidence, record.citations, unfounded=record.unfounded)
    return QuestionTurn(record.question, evidence, record.text, answer)
