"""What the use cases report while they work. Faces render these; nothing else is told to a user during a run."""

from dataclasses import dataclass, field
from typing import Any, Literal

from subtitle_rag.domain import Video
from subtitle_rag.errors import AppError


@dataclass(frozen=True, slots=True)
class Found:
    """The videos that this run is about; the number grows while lists are still coming in."""

    videos: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A list named a video that is not in the library yet; it is due."""

    video: str
    title: str


@dataclass(frozen=True, slots=True)
class VideoDone:
    """A video's captions are in the library; the windows it has there."""

    video: str
    title: str
    change: Literal["new", "changed", "unchanged"]
    windows: int


@dataclass(frozen=True, slots=True)
class VideoFailed:
    """A video, or a file that should have been one, could not be taken in; the run goes on."""

    video: str
    title: str
    code: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resting:
    """YouTube, or the way there, refuses; nothing is asked for before `until` (Unix seconds).

    With `goes_on` the run waits and goes on by itself; else it ends here, and what is left stays due.
    """

    until: int
    code: str
    details: dict[str, Any]
    goes_on: bool


@dataclass(frozen=True, slots=True)
class WindowsIndexed:
    """`count` more windows became searchable."""

    count: int


@dataclass(frozen=True, slots=True)
class VideoRemoved:
    """A video left the library and the index."""

    video: str
    title: str


@dataclass(slots=True)
class IndexReport:
    """The sum of a run."""

    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    windows: int = 0
    """Windows that became searchable in this run."""
    failures: list[VideoFailed] = field(default_factory=list)
    blocked: Resting | None = None
    """Why the run ended before its work did."""

    def count(self, event: "IndexEvent") -> None:
        """Add what an event tells."""
        match event:
            case Found(videos=videos):
                self.found = videos
            case VideoDone(change=change):
                setattr(self, change, getattr(self, change) + 1)
            case VideoFailed():
                self.failed += 1
                self.failures.append(event)
            case WindowsIndexed(count=count):
                self.windows += count
            case Resting(goes_on=False):
                self.blocked = event

    def add(self, other: "IndexReport") -> None:
        """Add another run's sum."""
        self.found += other.found
        self.new += other.new
        self.changed += other.changed
        self.unchanged += other.unchanged
        self.failed += other.failed
        self.windows += other.windows
        self.failures += other.failures
        self.blocked = self.blocked or other.blocked


@dataclass(frozen=True, slots=True)
class ContextsDue:
    """What a run of the context writer is about."""

    videos: int
    windows: int


@dataclass(frozen=True, slots=True)
class ContextWritten:
    """A window was asked about; `text` is empty where nothing of the answer could be used."""

    video: str
    title: str
    window: str
    ordinal: int
    text: str
    suspect: bool
    """It names what stands nowhere in the video."""
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(frozen=True, slots=True)
class ContextFailed:
    """A window, or a video, that the model's server did not answer for; it stays due."""

    video: str
    title: str
    code: str
    details: dict[str, Any]


@dataclass(slots=True)
class ContextReport:
    """The sum of a run of the context writer."""

    written: int = 0
    empty: int = 0
    suspect: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    tokens: int = 0
    ms: int = 0
    """Of the model's own time; hosts side by side add up."""
    failures: list[ContextFailed] = field(default_factory=list)
    blocked: AppError | None = None
    """Why the run ended before its work did."""

    def count(self, event: "ContextEvent") -> None:
        """Add what an event tells."""
        match event:
            case ContextWritten():
                self.written += bool(event.text)
                self.empty += not event.text
                self.suspect += event.suspect
                self.prompt_tokens += event.prompt_tokens
                self.tokens += event.tokens
                self.ms += event.ms
            case ContextFailed():
                self.failed += 1
                self.failures.append(event)


@dataclass(frozen=True, slots=True)
class VectorsDue:
    """What a run of the vectors stage is about; told again where the number has changed."""

    windows: int
    """With those that it has made."""
    encoder: str


@dataclass(frozen=True, slots=True)
class VectorsMade:
    """`count` more windows have vectors of this encoder."""

    count: int
    encoder: str
    windows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VectorsWaiting:
    """All that is left waits for contexts that are about to be written, so that nothing is encoded twice."""

    windows: int


@dataclass(frozen=True, slots=True)
class EncoderActive:
    """From here on this encoder's vectors are searched; those of the one before are dropped when these are whole."""

    encoder: str


@dataclass(slots=True)
class VectorsReport:
    """The sum of a run of the vectors stage."""

    encoder: str
    made: int = 0
    left: int = 0
    """Windows that still lack this encoder's vectors."""
    waiting: int = 0
    """Those of them that wait for their contexts."""
    blocked: AppError | None = None
    """Why the run ended before its work did."""


@dataclass(frozen=True, slots=True)
class ModelFetching:
    """So many of a model's bytes are here, in this run's `file` the last of them."""

    name: str
    file: str
    done_bytes: int
    all_bytes: int


@dataclass(frozen=True, slots=True)
class ModelFetched:
    """A model is here, whole and verified."""

    name: str
    revision: str
    bytes: int
    fetched_bytes: int
    """That had to be fetched for it in this run."""


@dataclass(frozen=True, slots=True)
class PackagesAdvanced:
    """How far an installer has come with packages of this program."""

    step: Literal["resolving", "fetching", "installing"]
    package: str
    """The current one, as the installer names it."""
    done: int
    all: int
    """Packages to be brought; 0 until that is known."""


@dataclass(frozen=True, slots=True)
class PackagesInstalled:
    """The packages are here."""

    packages: tuple[str, ...]
    """`torch 2.13.0`: what was brought or changed."""


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


EvidenceKind = Literal["search", "transcript", "map"]
"""The best scenes, all captions of a video, or the contexts of all its windows."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sources of an answer, before its first word; a smaller one follows if the model had no room."""

    kind: EvidenceKind
    sources: tuple[EvidenceSource, ...]
    left_out: int = 0
    """Scenes beyond the model's room."""
    shortened: bool = False
    """Every line of a long video's map lost its middle."""
    nameless: bool = False
    """The question is about a whole video but does not say which."""


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of the answer as it comes."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A number in an answer. Spans are [start, end) in its text."""

    number: int
    status: Literal["supported", "unsupported", "unknown"]
    """`unknown`: the evidence has no scene of this number."""
    span: tuple[int, int]
    claim: tuple[int, int]
    missing: tuple[str, ...] = ()
    """Numbers and names of the claim that none of its scenes holds."""
    at_ms: int | None = None
    """The start of its scene's line nearest to the claim; None without a scene."""


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
    declined: bool = False
    """It says that the scenes do not hold the answer."""
    ending: Literal["whole", "cut", "stopped", "failed", "no_model", "no_scenes"] = "whole"
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
    def grounded(self) -> bool:
        """Whether any citation is supported."""
        return any(citation.status == "supported" for citation in self.citations)


AnswerEvent = Evidence | AnswerPiece | Answer
VectorEvent = VectorsDue | VectorsMade | VectorsWaiting | EncoderActive | VectorsReport
ModelEvent = ModelFetching | ModelFetched
PackagesEvent = PackagesAdvanced | PackagesInstalled
ContextEvent = ContextsDue | ContextWritten | ContextFailed | ContextReport
IndexEvent = Found | Listed | VideoDone | VideoFailed | Resting | WindowsIndexed | IndexReport
