"""Events and reports of the use cases, which command line and app render."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import Progress


@dataclass(frozen=True, slots=True)
class Found:
    """The number of videos in this run, which grows while lists are read."""

    videos: int


@dataclass(frozen=True, slots=True)
class FetchEstimate:
    """Estimated videos and time to fetch a list, before its first video."""

    source: str
    """Name of the channel or playlist."""
    videos: int
    seconds: int
    """The time, from the pauses between videos."""
    at_most: bool
    """Whether the source's options may exclude some of the videos."""


@dataclass(frozen=True, slots=True)
class ListCutShort:
    """A list had fewer videos than YouTube's count, and no other list has the rest."""

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
    """A list has a video that is not in the library; it is due."""


@dataclass(frozen=True, slots=True)
class VideoDone(VideoEvent):
    """A video's captions and windows are in the library."""

    change: Literal["new", "changed", "unchanged"]
    windows: int


@dataclass(frozen=True, slots=True)
class VideoFailed(VideoEvent):
    """A video or file failed; the run continues."""

    code: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileNotice:
    """A notice about files or lists without a failure: skipped or empty ones, or an uncertain encoding."""

    code: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resting:
    """YouTube or the network refuses requests until `until` (Unix seconds).

    With `goes_on` the run waits and resumes; otherwise it ends, and the remaining videos stay due.
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
class Totals:
    """Base of totals that are added field by field; of two reasons for an end, the first stays."""

    def add(self, other: Self) -> None:
        for name in (each.name for each in fields(self)):
            total, more = getattr(self, name), getattr(other, name)
            setattr(self, name, (total or more) if name == "blocked" else total + more)


@dataclass(slots=True)
class Report(Totals):
    """Totals of a run over videos."""

    failed: int = 0
    failures: list[VideoFailed] = field(default_factory=list)
    blocked: AppError | Resting | None = None
    """The reason for an early end."""

    def count(self, event: object) -> None:
        if isinstance(event, VideoFailed):
            self.failed += 1
            self.failures.append(event)


@dataclass(slots=True)
class IndexReport(Report):
    """Totals of a run of indexing."""

    blocked: Resting | None = None
    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    windows: int = 0
    """Windows made searchable in this run."""
    notices: list[FileNotice] = field(default_factory=list)
    estimates: list[FetchEstimate] = field(default_factory=list)
    cut_short: list[ListCutShort] = field(default_factory=list)

    def count(self, event: object) -> None:
        Report.count(self, event)
        match event:
            case Found(videos=videos):
                self.found = videos
            case FetchEstimate():
                self.estimates.append(event)
            case ListCutShort():
                self.cut_short.append(event)
            case VideoDone(change=change):
                setattr(self, change, getattr(self, change) + 1)
            case FileNotice():
                self.notices.append(event)
            case WindowsIndexed(count=count):
                self.windows += count
            case Resting(goes_on=False):
                self.blocked = event


@dataclass(frozen=True, slots=True)
class ContextsDue:
    """The amount of work of a run of the context writer."""

    videos: int
    windows: int
    sections: int = 0
    """Summaries of sections of long videos, written before the windows."""
    by_other_prompts: int = 0
    """Windows with a context from another prompt, to be replaced."""
    seconds: int = 0
    """Expected time, from the model's contexts so far; 0 if unknown."""
    summaries: int = 0
    """Summaries of videos, each written after its video's windows; unknown for a run with a limit of windows."""


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
    """Whether it only retells its window."""
    left_out: bool
    """Whether it was rejected because it repeats another context or has names or numbers that are not in the video;
    `text` is then empty."""
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(frozen=True, slots=True)
class SummaryWritten(VideoEvent):
    """The model summarised a video; `text` is empty if its answers were unusable."""

    text: str
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(slots=True)
class ContextReport(Report):
    """Totals of a run of the context writer."""

    blocked: AppError | None = None
    written: int = 0
    empty: int = 0
    left_out: int = 0
    """Contexts rejected for repeating others, or for names or numbers that are not in the video."""
    suspect: int = 0
    summaries: int = 0
    empty_summaries: int = 0
    """Videos without a summary because the answers were unusable."""
    empty_overviews: int = 0
    """Sections without a summary, for the same reason."""
    prompt_tokens: int = 0
    tokens: int = 0
    ms: int = 0
    """Time of the model, summed over parallel hosts."""

    def count(self, event: object) -> None:
        Report.count(self, event)
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
        if isinstance(event, ContextWritten | SummaryWritten | OverviewWritten):
            self.prompt_tokens += event.prompt_tokens
            self.tokens += event.tokens
            self.ms += event.ms


@dataclass(slots=True)
class VectorsReport:
    """Totals of a run of the vectors stage."""

    encoder: str
    made: int = 0
    left: int = 0
    """Windows without this encoder's vectors."""
    waiting: int = 0
    """Windows that are waiting for their contexts."""
    failed: int = 0
    """Windows that the encoder failed on."""
    cut: int = 0
    """Windows truncated because their text was too long for the encoder."""
    pieces: int = 0
    """Windows whose pieces got vectors, which happens after all windows have their own."""
    pieces_left: int = 0
    """Windows whose pieces still need vectors, if the setting wants them."""
    blocked: AppError | None = None
    """The reason for an early end."""


@dataclass(frozen=True, slots=True)
class VideoHeard(VideoEvent):
    """A video was transcribed to its end and is searchable."""

    windows: int
    gap_ms: int
    """Length of the speech without text."""
    model: str


@dataclass(slots=True)
class ListeningReport(Report):
    """Totals of a transcription run."""

    blocked: AppError | None = None
    heard: int = 0
    """Videos."""
    windows: int = 0
    """Windows made searchable in this run."""
    sound_ms: int = 0
    """Length of the sound transcribed in this run."""
    gap_ms: int = 0
    """Length of the finished videos' speech without text."""
    seconds: float = 0.0
    """Time of transcription."""
    left: int = 0
    """Videos still to be transcribed."""

    def count(self, event: object) -> None:
        Report.count(self, event)
        if isinstance(event, VideoHeard):
            self.heard += 1
            self.windows += event.windows
            self.gap_ms += event.gap_ms


@dataclass(frozen=True, slots=True)
class ModelFetched:
    """A model is complete and verified."""

    name: str
    revision: str
    bytes: int
    fetched_bytes: int
    """Bytes downloaded in this run."""


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
