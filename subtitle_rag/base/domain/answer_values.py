"""Answers with evidence and citations; also the events of writing one."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video, differs_in_language


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """A numbered scene as given to the answering model."""

    number: int
    scene: str
    """Id of its window, or of the best one of several."""
    video: Video
    start_ms: int
    end_ms: int
    at_ms: int
    """Start of the line that matches the question best."""
    lines: tuple[tuple[int, str], ...]
    """Each line's start and text."""
    text: str
    """The speech, with the surrounding lines."""
    context: str | None = None

    def line(self, at_ms: int | None = None) -> str:
        """Return the text of the line at `at_ms` (default: the best line) and of the next one."""
        begin = self.at_ms if at_ms is None else at_ms
        at = next((at for at, (start, _text) in enumerate(self.lines) if start == begin), 0)
        return " ".join(text for _start, text in self.lines[at : at + 2])


class WordCount(NamedTuple):
    """How often a word occurs in the captions."""

    word: str
    videos: int
    places: int
    """Windows with the word."""


EvidenceKind = Literal["search", "transcript", "library", "map"]
"""The best scenes (`search`), all captions of one or several videos (`transcript`, `library`), or all contexts of a
video (`map`)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sources of an answer, sent before its first word. A smaller one follows if the prompt was too long."""

    kind: EvidenceKind
    sources: tuple[EvidenceSource, ...]
    left_out: int = 0
    """Scenes that did not fit into the prompt."""
    shortened: bool = False
    """Whether the lines of a long video's map were shortened in the middle."""
    tokens: int = 0
    """Estimated size of captions that are read whole."""
    cache_bytes: int = 0
    """Memory of the model's KV cache for them; 0 if unknown."""
    nameless: bool = False
    """Whether the question is about a whole video but does not say which."""
    missing_sides: tuple[str, ...] = ()
    """Sides of a comparison in the question that no source mentions."""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The model is reading the prompt, until the first piece of the answer or another request."""

    tokens: int
    """Estimated tokens of the prompt that are new to the model."""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered citation in an answer. Spans are [start, end) in the answer's text."""

    number: int
    status: Literal["supported", "unsupported", "unchecked"]
    """`supported`: the scene has the claim's numbers and names and contradicts no word. `unchecked`: the claim has
    nothing to compare, or is in another language than the captions."""
    span: tuple[int, int]
    claim: tuple[int, int]
    missing: tuple[str, ...] = ()
    """The claim's numbers and names that are in none of its scenes."""
    otherwise: tuple[str, ...] = ()
    """The claim's words that its scenes contradict."""
    at_ms: int | None = None
    """Start of the line in its scene that is nearest to the claim; None without a scene."""


@dataclass(frozen=True, slots=True)
class UnfoundedClaim:
    """A claim without a citation that no given scene supports."""

    claim: tuple[int, int]
    """Its span, [start, end) in the answer's text."""
    missing: tuple[str, ...] = ()
    """Its numbers and names that are in no scene."""
    otherwise: tuple[str, ...] = ()
    """Its words that the scenes contradict."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The complete or partial answer; the last event."""

    question: str
    text: str
    model: str
    """Empty without a model."""
    evidence: Evidence
    citations: tuple[Citation, ...] = ()
    uncited: tuple[tuple[int, int], ...] = ()
    """Spans of claims without citations."""
    unfounded: tuple[UnfoundedClaim, ...] = ()
    """Claims that no scene supports."""
    dropped: tuple[int, ...] = ()
    """Citation numbers without a scene, removed from the text."""
    repeated: int = 0
    """Number of repeated sentences, removed from the text."""
    recited: int = 0
    """Number of sentences from the model's instructions, removed from the text."""
    unsaid: tuple[str, ...] = ()
    """Words of the question that are in no scene, if they are most of its words."""
    declined: bool = False
    """Whether it says that the scenes do not contain the answer."""
    counts: tuple[WordCount, ...] = ()
    """How often each word of the question occurs in the filtered captions; given to the model with the question."""
    ending: Literal["whole", "cut", "loop", "stopped", "failed", "no_model", "no_scenes"] = "whole"
    """`cut`: at the maximum length."""
    error: AppError | None = None
    """The failure, or why there is no model."""
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    """Tokens of the prompt that were in the server's cache; None if the server does not say."""
    tokens: int = 0
    num_ctx: int = 0
    took_ms: dict[str, float] = field(default_factory=dict)
    """Times of `scenes`, `first` (until the first word) and `answer`."""
    saved_id: int | None = None
    """Its id among the saved answers."""
    save_error: AppError | None = None
    """Why it was not saved."""

    @property
    def is_in_other_language(self) -> bool:
        """Whether the answer is in another language than the question."""
        return differs_in_language(self.question, self.text)

    @property
    def grounded(self) -> bool:
        """Whether any citation is supported."""
        return any(citation.status == "supported" for citation in self.citations)


AnswerEvent = Evidence | AnswerRequest | AnswerPiece | Answer
