"""Events and reports of the use cases; the faces render them."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.progress import Progress
from subtitle_rag.domain.values import Video, differs_in_language


@dataclass(frozen=True, slots=True)
class Found:
    """The videos of this run; the number grows while lists are read."""

    videos: int


@dataclass(frozen=True, slots=True)
class FetchEstimate:
    """About how many videos of a list are to be fetched, and how long that takes; told before the first of them."""

    source: str
    """Name of the channel or playlist."""
    videos: int
    seconds: int
    """By the pauses between videos."""
    at_most: bool
    """Some of the videos may be outside of the source's options."""


@dataclass(frozen=True, slots=True)
class ListCutShort:
    """A list ended before all videos that YouTube counts on it, and no other list has the rest."""

    url: str
    source: str
    """Name of the channel or playlist."""
    listed: int
    counted: int


@dataclass(frozen=True, slots=True)
class VideoEvent:
    """An event of one video."""

    video: str
    """Its id, or a file's path."""
    title: str


@dataclass(frozen=True, slots=True)
class Listed(VideoEvent):
    """A list has a video that the library lacks; it is due."""


@dataclass(frozen=True, slots=True)
class VideoDone(VideoEvent):
    """A video's captions and windows are in the library."""

    change: Literal["new", "changed", "unchanged"]
    windows: int


@dataclass(frozen=True, slots=True)
class VideoFailed(VideoEvent):
    """A video or file failed; the run goes on."""

    code: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileNotice:
    """Something to know of files and lists although nothing failed: those left out or empty, an uncertain encoding."""

    code: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resting:
    """YouTube or the network refuses; no request before `until` (Unix seconds).

    With `goes_on` the run waits and resumes; else it ends, and the remaining videos stay due.
    """

    until: int
    code: str
    details: dict[str, Any]
    goes_on: bool


@dataclass(frozen=True, slots=True)
class WindowsIndexed:
    """`count` more windows became searchable."""

    count: int


@dataclass(slots=True)
class IndexReport:
    """The sum of a run."""

    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    windows: int = 0
    """Windows made searchable in this run."""
    failures: list[VideoFailed] = field(default_factory=list)
    blocked: Resting | None = None
    """The reason for an early end."""
    notices: list[FileNotice] = field(default_factory=list)
    estimates: list[FetchEstimate] = field(default_factory=list)
    cut_short: list[ListCutShort] = field(default_factory=list)

    def count(self, event: "IndexEvent") -> None:
        match event:
            case Found(videos=videos):
                self.found = videos
            case FetchEstimate():
                self.estimates.append(event)
            case ListCutShort():
                self.cut_short.append(event)
            case VideoDone(change=change):
                setattr(self, change, getattr(self, change) + 1)
            case VideoFailed():
                self.failed += 1
                self.failures.append(event)
            case FileNotice():
                self.notices.append(event)
            case WindowsIndexed(count=count):
                self.windows += count
            case Resting(goes_on=False):
                self.blocked = event

    def add(self, report: "IndexReport") -> None:
        for each in fields(self):
            if each.name != "blocked":
                setattr(self, each.name, getattr(self, each.name) + getattr(report, each.name))
        self.blocked = self.blocked or report.blocked


@dataclass(frozen=True, slots=True)
class ContextsDue:
    """The scope of a run of the context writer."""

    videos: int
    windows: int
    sections: int = 0
    """Summaries of long videos' sections, which come before their windows."""
    by_other_prompts: int = 0
    """Windows with a context by another prompt, which counts until it is replaced."""
    seconds: int = 0
    """The expected time, by the model's contexts so far; 0 if unknown."""
    summaries: int = 0
    """Summaries of videos, each after its video's windows; not known for a run with a limit of windows."""


@dataclass(frozen=True, slots=True)
class OverviewWritten(VideoEvent):
    """The model summarised a section of a long video; `section` of its `sections` are stored.

    `text` is empty if its answers were unusable.
    """

    section: int
    sections: int
    text: str
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(frozen=True, slots=True)
class ContextWritten(VideoEvent):
    """The model answered for a window; `text` is empty if its answer was unusable."""

    window: str
    ordinal: int
    text: str
    suspect: bool
    """It retells its window."""
    left_out: bool
    """It repeats another window's, or has names or numbers that the video lacks: `text` is empty."""
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(frozen=True, slots=True)
class SummaryWritten(VideoEvent):
    """The model was asked for a video's summary; `text` is empty if its answers were unusable."""

    text: str
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(slots=True)
class ContextReport:
    """The sum of a run of the context writer."""

    written: int = 0
    empty: int = 0
    left_out: int = 0
    """Contexts that repeat others or name what the video does not."""
    suspect: int = 0
    failed: int = 0
    summaries: int = 0
    empty_summaries: int = 0
    """Videos that stay without a summary: nothing of the answers could be used."""
    empty_overviews: int = 0
    """Sections of long videos that stay without one, for the same reason."""
    prompt_tokens: int = 0
    tokens: int = 0
    ms: int = 0
    """The model's own time; parallel hosts add up."""
    failures: list[VideoFailed] = field(default_factory=list)
    blocked: AppError | None = None
    """The reason for an early end."""

    def count(self, event: "ContextEvent") -> None:
        match event:
            case ContextWritten():
                self.written += bool(event.text)
                self.empty += not (event.text or event.left_out)
                self.left_out += event.left_out
                self.suspect += event.suspect
            case SummaryWritten():
                self.summaries += bool(event.text)
                self.empty_summaries += not event.text
            case OverviewWritten():
                self.empty_overviews += not event.text
            case VideoFailed():
                self.failed += 1
                self.failures.append(event)
        if isinstance(event, ContextWritten | SummaryWritten | OverviewWritten):
            self.prompt_tokens += event.prompt_tokens
            self.tokens += event.tokens
            self.ms += event.ms


@dataclass(slots=True)
class VectorsReport:
    """The sum of a run of the vectors stage."""

    encoder: str
    made: int = 0
    left: int = 0
    """Windows without this encoder's vectors."""
    waiting: int = 0
    """Windows that wait for their contexts."""
    failed: int = 0
    """Windows that the encoder cannot read."""
    cut: int = 0
    """Windows whose text was too long for the encoder and lost its end."""
    pieces: int = 0
    """Windows whose pieces got vectors; these come after all windows have their own."""
    pieces_left: int = 0
    """Windows without vectors of their pieces, where such are wanted."""
    blocked: AppError | None = None
    """The reason for an early end."""

    def add(self, windows: int, *, pieces: bool) -> None:
        """Count windows that got vectors, or vectors of their pieces."""
        if pieces:
            self.pieces += windows
        else:
            self.made += windows


@dataclass(frozen=True, slots=True)
class VideoHeard(VideoEvent):
    """A video's sound is heard to its end, and its captions are searchable."""

    windows: int
    gap_ms: int
    """Sound of which nothing can be shown."""
    model: str


@dataclass(slots=True)
class ListeningReport:
    """The sum of a run that listened."""

    heard: int = 0
    """Videos."""
    failed: int = 0
    windows: int = 0
    """Windows made searchable in this run."""
    sound_ms: int = 0
    """Sound that this run has heard."""
    gap_ms: int = 0
    """Sound of the finished videos of which nothing can be shown."""
    seconds: float = 0.0
    """Time that hearing took."""
    left: int = 0
    """Videos that are still to be listened to."""
    failures: list[VideoFailed] = field(default_factory=list)
    blocked: AppError | None = None
    """The reason for an early end."""

    def count(self, event: "ListeningEvent") -> None:
        match event:
            case VideoHeard():
                self.heard += 1
                self.windows += event.windows
                self.gap_ms += event.gap_ms
            case VideoFailed():
                self.failed += 1
                self.failures.append(event)


@dataclass(frozen=True, slots=True)
class ModelFetched:
    """A model is complete and verified."""

    name: str
    revision: str
    bytes: int
    fetched_bytes: int
    """Bytes of this run's downloads."""


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
VectorEvent = Progress | VectorsReport
ModelEvent = Progress | ModelFetched
ListeningEvent = Progress | VideoHeard | VideoFailed | ListeningReport
ContextEvent = Progress | ContextsDue | OverviewWritten | ContextWritten | SummaryWritten | VideoFailed | ContextReport
IndexEvent = (
    Progress
    | Found
    | FetchEstimate
    | ListCutShort
    | Listed
    | VideoDone
    | VideoFailed
    | FileNotice
    | Resting
    | WindowsIndexed
    | IndexReport
)
