"""Events and reports of the use cases; the faces render them."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import Progress


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
