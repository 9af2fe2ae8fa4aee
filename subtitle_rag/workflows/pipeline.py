"""The stages of work on a library and its models, each a generator of events.

The command line and the app start stages here and show their events. To end a stage, close its generator or set `stop`
from another thread; committed work stays.
"""

import threading
import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import AppError, LlmError, UsageError
from subtitle_rag.base.domain.events import (
    ContextEvent,
    Found,
    IndexEvent,
    IndexReport,
    ListeningEvent,
    ModelEvent,
    ModelFetched,
    Resting,
    VectorEvent,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)
from subtitle_rag.base.domain.progress import Meter, Pace, Progress
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.base.installation.package_installer import require_extra
from subtitle_rag.library.app_state import LastSync, put_fetched_alternative, put_last_sync
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.sources import FollowedSource, SourceOptions
from subtitle_rag.listening.listening_plan import (
    ListeningEstimate,
    ListeningPlan,
    estimate_listening,
    plan_listening,
)
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import OLLAMA, hub_model, is_ollama
from subtitle_rag.workflows.requests import JobRequest
from subtitle_rag.youtube.fetcher import FetchRequest, RunOptions, followed_requests

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


def read_captions(
    runtime: "Runtime",
    request: JobRequest,
    source_options: SourceOptions | None = None,
    run_options: RunOptions | None = None,
    stop: threading.Event | None = None,
) -> Generator[IndexEvent, None, None]:
    """Read the files of a request, then fetch its sources. The last event is the `IndexReport` of both.

    Args:
        runtime: The open runtime.
        request: Files and sources.
        source_options: Which videos, and in which languages.
        run_options: Options of the run.
        stop: Ends the run from another thread.

    Yields:
        The events of both.

    Raises:
        The errors of `Indexer.index` and `Fetcher.run`.
    """
    options = source_options or SourceOptions(languages=runtime.settings.youtube.languages)
    runs = []
    if request.paths:
        files = runtime.indexer.index(
            request.paths, languages=options.languages, since=options.since, limit=options.limit
        )
        runs.append(files)
    if request.sources:
        requests = [FetchRequest(source, source_options) for source in request.sources]
        runs.append(runtime.fetcher(stop).run(requests, run_options))
    total, meter = IndexReport(), IndexMeter()
    for run in runs:
        with closing(run):
            for event in run:
                if isinstance(event, IndexReport):
                    total.add(event)
                else:
                    yield from meter.take(event)
    yield total


class IndexMeter:
    """Converts counts of videos and windows into progress."""

    def __init__(self) -> None:
        self._captions, self._windows = Meter("captions"), Meter("windows")
        self._videos = 0
        self._processed: set[str] = set()
        """Counted videos: a second track of a video may follow a failed one."""
        self._all_windows = 0
        """Windows of new and changed videos."""

    def take(self, event: IndexEvent) -> Iterator[IndexEvent]:
        """Yield the event and the progress from it; counts yield only progress."""
        if not isinstance(event, Found | WindowsIndexed):
            yield event
        match event:
            case Found(videos=videos):
                self._videos = videos
                yield self._captions.advance(0, videos)
            case VideoDone() | VideoFailed():
                if not isinstance(event, VideoDone) or event.change == "unchanged":
                    self._captions.pause()  # skipping takes no time
                else:
                    self._all_windows += event.windows
                self._processed.add(event.video)
                yield self._captions.to(len(self._processed), self._videos, event.title)
            case Resting():
                self._captions.pause()
            case WindowsIndexed(count=count):
                yield self._windows.advance(count, self._expected_windows)

    @property
    def _expected_windows(self) -> int:
        """Windows of the whole run, estimated for unread videos."""
        unread = max(0, self._videos - len(self._processed))
        return self._all_windows + round(unread * self._all_windows / max(1, len(self._processed)))


def run_request(
    runtime: "Runtime", request: JobRequest, stop: threading.Event | None = None
) -> Generator[IndexEvent, None, None]:
    """Read the files and sources of a request, or sync the followed sources.

    Raises the errors of `read_captions` and `sync_sources`.
    """
    if request.paths or request.sources:
        return read_captions(runtime, request, stop=stop)
    return sync_sources(runtime, stop=stop)


def sync_sources(
    runtime: "Runtime",
    sources: Iterable[FollowedSource] | None = None,
    *,
    patient: bool = True,
    retry: bool = False,
    stop: threading.Event | None = None,
) -> Generator[IndexEvent, None, None]:
    """Fetch new videos of some sources.

    Args:
        runtime: The open runtime.
        sources: Followed sources; None for all followed ones, plus due videos without a source.
        patient: Whether to wait during a pause.
        retry: Whether to retry failed videos now.
        stop: Ends the run from another thread.

    Yields:
        The events of the run; the last one is the `IndexReport`.

    Raises:
        The errors of `Fetcher.run`.
    """
    followed = runtime.library.sources.followed() if sources is None else sources
    options = RunOptions(patient=patient, retry=retry, include_due=sources is None)
    meter = IndexMeter()
    with closing(runtime.fetcher(stop).run(followed_requests(followed), options)) as run:
        for event in run:
            if isinstance(event, IndexReport) and sources is None:
                code = event.blocked.code if event.blocked else ""
                put_last_sync(runtime.library, LastSync(int(time.time()), event.new, event.failed, code))
            yield from meter.take(event)


def finish_windows(runtime: "Runtime") -> Generator[WindowsIndexed, None, None]:
    """Index the windows left by a killed run. Raises the errors of `Indexer.finish`."""
    yield from runtime.indexer.finish(is_interactive=True)


def catch_up(runtime: "Runtime") -> Generator[WindowsIndexed, None, None]:
    """Index the windows left by a killed run, and update the index of an older version.

    Raises the errors of `Indexer.finish`, `Indexer.recut` and `Runtime.renew_index`.
    """
    counts = runtime.library.counts()
    if counts.searchable < counts.windows or runtime.library.pending_index_deletes():
        yield from finish_windows(runtime)
    yield from runtime.indexer.recut()
    yield from runtime.renew_index()


def write_contexts(
    runtime: "Runtime",
    selection: WindowSelection | None = None,
    model: str | None = None,
    stop: threading.Event | None = None,
) -> Generator[ContextEvent, None, None]:
    """Write missing contexts with `model`, or with the configured one.

    Raises the errors of `Runtime.writer` and `Writer.run`.
    """
    with runtime.writer(model, stop) as writer:
        if not writer.stop.is_set():
            yield from writer.run(selection)


def write_vectors(
    runtime: "Runtime",
    selection: WindowSelection | None = None,
    *,
    patient: bool = True,
    stop: threading.Event | None = None,
) -> Generator[VectorEvent, None, None]:
    """Make missing vectors; with `patient`, wait for contexts in progress.

    Raises the errors of `Runtime.encoding` and `EncodingRun.run`.
    """
    yield from runtime.encoding(stop).run(selection, patient=patient)


SECONDS_A_CONTEXT = (1.5, 20.0)
"""Seconds per window assumed before any measurement: 3 to 8 billion weights on a GPU, and on a laptop's CPU."""


@dataclass(frozen=True, slots=True)
class ContextOffer:
    """Estimated cost of the missing contexts, for the user to confirm."""

    windows: int
    seconds: tuple[float, float]
    """Minimum and maximum time; equal once contexts have been timed on this computer."""

    @property
    def sentence(self) -> str:
        """The windows and the time, in words."""
        n = n_("{n} scene", "{n} scenes", self.windows, n=f"{self.windows:,}")
        least, most = (_duration(seconds) for seconds in self.seconds)
        if least == most:
            return _("{scenes}, about {time}").format(scenes=n, time=least)
        return _("{scenes}, {least} to {most} by the speed of this computer").format(scenes=n, least=least, most=most)


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return _("{n} min").format(n=minutes)
    return _("{n} h").format(n=round(minutes / 60))


def offer_contexts(runtime: "Runtime") -> ContextOffer | None:
    """Return the cost of the missing contexts; None if none is missing. Writes nothing.

    Raises the errors of `Runtime.llms` and `hosts_with`.
    """
    from subtitle_rag.models.ollama.llm_client import hosts_with

    stored = runtime.library.contexts
    windows = stored.counts().due
    if not windows:
        return None
    with runtime.llms() as hosts:
        digest = hosts_with(hosts, runtime.context_model)[0][1].digest
    mean_ms = stored.mean_ms(digest)
    least, most = SECONDS_A_CONTEXT if mean_ms is None else (mean_ms / 1000, mean_ms / 1000)
    return ContextOffer(windows, (windows * least, windows * most))


def answer_context_offer(runtime: "Runtime", *, wanted: bool) -> None:
    """Apply the user's answer, and save it in the config if possible."""
    answer = "always" if wanted else "never"
    runtime.settings = replace(runtime.settings, llm=replace(runtime.settings.llm, contexts=answer))
    use_setting(runtime, "llm", "contexts", answer)


@dataclass(frozen=True, slots=True)
class ListeningOffer:
    """Estimated cost of a transcription, for the user to confirm."""

    plan: ListeningPlan
    estimate: ListeningEstimate
    model: str
    model_bytes: int
    """Bytes of the model to download; 0 if it is installed."""


def offer_listening(runtime: "Runtime", texts: Iterable[str]) -> ListeningOffer:
    """Return the cost of transcribing the videos named by `texts`, without starting it.

    Raises the errors of `plan_listening` and, except for a missing model, of `Runtime.listener`.
    """
    plan = plan_listening(runtime.library, texts)
    name = runtime.models.settings.speech
    if not plan.videos:  # needs no package and no model
        return ListeningOffer(plan, estimate_listening(runtime.library, (), name), name, 0)
    size = _missing_speech_bytes(runtime)
    model = name if size else runtime.listener().transcriber.model
    return ListeningOffer(plan, estimate_listening(runtime.library, plan.videos, model), name, size)


def _missing_speech_bytes(runtime: "Runtime") -> int:
    """Return the bytes of the configured speech model to download; 0 if it is installed, or a folder."""
    model = hub_model(runtime.models.settings.speech)
    if model is None:
        return 0
    require_extra(model.extra)
    try:
        runtime.listener()
    except AppError as error:
        if error.code != "model_missing":
            raise
        return round(model.disk_gb * 1e9)
    return 0


def fetch_speech_model(runtime: "Runtime", stop: threading.Event | None = None) -> Generator[ModelEvent, None, None]:
    """Download the configured speech model if it is missing. Raises the errors of `fetch_model`."""
    if _missing_speech_bytes(runtime):
        yield from fetch_model(runtime, runtime.models.settings.speech, stop)


def listen(
    runtime: "Runtime",
    video_ids: Collection[str] | None = None,
    model: str | None = None,
    *,
    stop: threading.Event | None = None,
) -> Generator[ListeningEvent, None, None]:
    """Transcribe all due videos, or the given ones. The last event is the `ListeningReport`.

    Raises the errors of `Runtime.listener` and `Listener.run`.
    """
    yield from runtime.listener(model, stop).run(video_ids)


def fetch_model(
    runtime: "Runtime", name: str, stop: threading.Event | None = None, *, only_missing: bool = False
) -> Generator[ModelEvent, None, None]:
    """Download a model: from the hub if the manifest has it, else through Ollama.

    If Ollama has no model of this name, tries its other names; the events have the actual one. The last event is
    `ModelFetched`. With `only_missing`, no registry is contacted if the model is installed.

    Raises the errors of `ModelStore.fetch`, of `require_extra`, and of `Llm.pull`.
    """
    if model := hub_model(name):
        require_extra(model.extra)
        yield from runtime.models.fetch(name, stop)
        return
    names = (name, *manifest.alternatives(name))
    for current, following in zip(names, (*names[1:], None), strict=True):
        try:
            yield from _pull(runtime, current, stop, only_missing=only_missing)
        except LlmError as error:
            if following is None or error.code != "unknown":
                raise
            continue
        if len(names) > 1:
            put_fetched_alternative(runtime.library, name, current if current != name else None)
        return


def _pull(
    runtime: "Runtime", name: str, stop: threading.Event | None, *, only_missing: bool
) -> Generator[ModelEvent, None, None]:
    """Pull a model on all hosts; an encoder only on the first one, which makes the vectors."""
    from subtitle_rag.models.neural.ollama_encoder import find_digest

    size, pulled = 0, name.removeprefix(OLLAMA)
    with runtime.llms() as hosts:
        for host in hosts[:1] if is_ollama(name) else hosts:
            if only_missing and find_digest(host, pulled) is not None:
                continue
            pace, done = Pace(), 0
            for step in host.pull(pulled, stop):
                size = max(size, step.total)
                pace.add(max(0, step.completed - done))
                done = step.completed
                yield Progress("models", done, step.total, name, rate=pace.rate, left_s=pace.left_s(step.total - done))
    yield ModelFetched(name, "", size, 0)


def use_setting(runtime: "Runtime", table: str, setting: str, value: str) -> str:
    """Write a setting into the config. If the file is read-only, return the lines to add by hand."""
    from subtitle_rag.base.config.template import write_setting

    is_written = False
    with suppress(UsageError):  # the folder is read-only
        is_written = write_setting(runtime.settings.paths.config, table, setting, value)
    return "" if is_written else f'[{table}] {setting} = "{value}"'
