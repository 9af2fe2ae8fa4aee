"""The stages of work on a library, each a generator of events: every face starts them here, and draws what they yield.

Closing a generator ends its stage, as setting `stop` from another thread does; what was committed stays.
"""

import threading
from collections.abc import Collection, Generator, Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from subtitle_rag import fetching
from subtitle_rag.domain import ContextEvent, IndexEvent, IndexReport, VectorEvent
from subtitle_rag.library import FollowedSource, SourceOptions, WindowSelection
from subtitle_rag.requests import IndexRequest

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


def read_captions(
    runtime: "Runtime",
    request: IndexRequest,
    source_options: SourceOptions | None = None,
    run_options: fetching.RunOptions | None = None,
    stop: threading.Event | None = None,
) -> Generator[IndexEvent, None, None]:
    """Read the files of a request, then fetch its sources. The last event is the `IndexReport` of both.

    Raises the errors of `Indexer.index` and `Fetcher.run`.
    """
    options = source_options or SourceOptions()
    runs = []
    if request.paths:
        files = runtime.indexer.index(
            request.paths, languages=options.languages, since=options.since, limit=options.limit
        )
        runs.append(files)
    if request.sources:
        requests = [fetching.FetchRequest(source, source_options) for source in request.sources]
        runs.append(runtime.fetcher(stop).run(requests, run_options))
    total = IndexReport()
    for run in runs:
        with closing(run):
            for event in run:
                if isinstance(event, IndexReport):
                    total.add(event)
                else:
                    yield event
    yield total


def sync_sources(
    runtime: "Runtime",
    sources: Iterable[FollowedSource] | None = None,
    *,
    without: Collection[int] = (),
    patient: bool = True,
    retry: bool = False,
    stop: threading.Event | None = None,
) -> Generator[IndexEvent, None, None]:
    """Fetch what is new in these sources; None: in all that are followed, and the due videos of no source.

    `without` has the ids of sources to leave out. Raises the errors of `Fetcher.run`.
    """
    followed = runtime.library.sources.followed() if sources is None else sources
    requests = fetching.followed_requests(source for source in followed if source.id not in without)
    # a due video without a source may belong to one left out
    options = fetching.RunOptions(patient=patient, retry=retry, include_due=sources is None and not without)
    yield from runtime.fetcher(stop).run(requests, options)


def write_contexts(
    runtime: "Runtime",
    selection: WindowSelection | None = None,
    model: str | None = None,
    stop: threading.Event | None = None,
) -> Generator[ContextEvent, None, None]:
    """Write missing contexts by `model`, else by each channel's own.

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
    """Make missing vectors; with `patient`, wait for contexts in work.

    Raises the errors of `Runtime.encoding` and `EncodingRun.run`.
    """
    yield from runtime.encoding(stop).run(selection, patient=patient)
