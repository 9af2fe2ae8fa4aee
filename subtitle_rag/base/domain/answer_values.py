"""An answer with its evidence and citations, as events of the use case that writes it."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video, differs_in_language


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """A numbered scene as the answering model reads it."""

    number: int
    scene: str
    """The id of its window, or of the best of several."""
    video: Video
    start_ms: int
    end_ms: int
    at_ms: int
    """The start of the line that matches the question best."""
    lines: tuple[tuple[int, str], ...]
    """Each line's start and text."""
    text: str
    """The speech, surroundings included."""
    context: str | None = None

    def line(self, at_ms: int | None = None) -> str:
        """Return the text of the line at `at_ms` and the next one; the best line's without `at_ms`."""
        begin = self.at_ms if at_ms is None else at_ms
        at = next((at for at, (start, _text) in enumerate(self.lines) if start == begin), 0)
        return " ".join(text for _start, text in self.lines[at : at + 2])


class WordCount(NamedTuple):
    """How often captions say a word."""

    word: str
    videos: int
    places: int
    """Windows that say it."""


EvidenceKind = Literal["search", "transcript", "library", "map"]
"""The best scenes, all captions of a video or of several ones, or the contexts of all windows of a video."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sources of an answer, before its first word; a smaller one follows if the model had no room."""

    kind: EvidenceKind
    sources: tuple[EvidenceSource, ...]
    left_out: int = 0
    """Scenes beyond the model's room."""
    shortened: bool = False
    """Every line of a long video's map lost its middle."""
    tokens: int = 0
    """The estimated size of captions that are read whole."""
    cache_bytes: int = 0
    """The memory that the model's KV cache takes for them; 0 if unknown."""
    nameless: bool = False
    """The question is about a whole video but does not say which."""
    missing_sides: tuple[str, ...] = ()
    """The compared things of the question that no source names."""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The model reads a question's prompt; the first piece of the answer, or another request, ends that."""

    tokens: int
    """Estimated tokens that the model has not read for the question before."""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of the answer as it comes."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A number in an answer. Spans are [start, end) in its text."""

    number: int
    status: Literal["supported", "unsupported", "unchecked"]
    """`supported`: nothing of its claim is missing in the scene or said otherwise there. `unchecked`: it claims nothing
    that can be compared, or is in another language than the captions."""
    span: tuple[int, int]
    claim: tuple[int, int]
    missing: tuple[str, ...] = ()
    """Numbers and names of the claim that none of its scenes holds."""
    otherwise: tuple[str, ...] = ()
    """Words of the claim that its scenes say otherwise."""
    at_ms: int | None = None
    """The start of its scene's line nearest to the claim; None without a scene."""


@dataclass(frozen=True, slots=True)
class UnfoundedClaim:
    """A claim without a citation that none of the given scenes bears out."""

    claim: tuple[int, int]
    """Its span, [start, end) in the answer's text."""
    missing: tuple[str, ...] = ()
    """Its numbers and names that no scene holds."""
    otherwise: tuple[str, ...] = ()
    """Its words that the scenes say otherwise."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question's answer, complete or not; the last event."""

    question: str
    text: str
    model: str
    """Empty without a model."""
    evidence: Evidence
    citations: tuple[Citation, ...] = ()
    uncited: tuple[tuple[int, int], ...] = ()
    """Spans of claims without citations."""
    unfounded: tuple[UnfoundedClaim, ...] = ()
    """Claims that no scene bears out."""
    dropped: tuple[int, ...] = ()
    """Numbers of citations that were left out of the text, as no such scene was given."""
    repeated: int = 0
    """Sentences that were left out of the text, as it has them already."""
    recited: int = 0
    """Sentences that were left out of the text, as they are the model's instructions."""
    unsaid: tuple[str, ...] = ()
    """Words of the question that no scene has, if they are most of its words."""
    declined: bool = False
    """It says that the scenes do not hold the answer."""
    counts: tuple[WordCount, ...] = ()
    """How often captions say each word of the question, by its filters; given to the model with the question."""
    ending: Literal["whole", "cut", "loop", "stopped", "failed", "no_model", "no_scenes"] = "whole"
    """`cut` at the greatest length."""
    error: AppError | None = None
    """The failure, or the reason for having no model."""
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    """Tokens of the prompt in the server's cache; None if the server does not count them."""
    tokens: int = 0
    num_ctx: int = 0
    took_ms: dict[str, float] = field(default_factory=dict)
    """`scenes`, `first` (to the first word) and `answer`."""
    saved_id: int | None = None
    """Its id among the saved answers."""
    save_error: AppError | None = None
    """The reason for not saving it."""

    @property
    def is_in_other_language(self) -> bool:
        """Whether the answer is in another language than the question."""
        return differs_in_language(self.question, self.text)

    @property
    def grounded(self) -> bool:
        """Whether any citation is supported."""
        return any(citation.status == "supported" for citation in self.citations)


AnswerEvent = Evidence | AnswerRequest | AnswerPiece | Answer
