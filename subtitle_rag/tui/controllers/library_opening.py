"""Opens the library and its index in a thread, and recounts the library after changes."""

import logging
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import UNUSABLE_INDEX, AppError, BusyError
from subtitle_rag.library.app_state import LAST_LOOK, new_videos
from subtitle_rag.search.query import parse_query
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.shared.messages import (
    IndexGrown,
    LibraryChanged,
    LibraryFailed,
    LibraryOpened,
    NotRemembered,
    SearchReady,
)
from subtitle_rag.tui.shared.progress.offers import find_download
from subtitle_rag.workflows import sample_library

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)
WARM_UP = "장면"
"""Query of a first search that loads the analyzer's model and the vocabulary (about a second)."""


class LibraryOpening:
    """Posts `LibraryOpened` and `SearchReady` in this order, or `LibraryFailed`."""

    def __init__(self, app: AppPort, runtime: "Runtime") -> None:
        self._app = app
        self._runtime = runtime
        self.ready = False
        """Whether library and index are open. Set by the handler of `SearchReady`."""
        self._has_begun = False
        self._new_videos = 0
        self._stop = threading.Event()

    def begin(self) -> None:
        """Open the library, unless that has begun."""
        if not self._has_begun:
            self.open()

    def open(self, before: AppError | None = None) -> None:
        """Open the library. If the error `before` says that the index is unusable, rebuild it first."""
        self._has_begun = True
        work = self._rebuild if before and before.code in UNUSABLE_INDEX else self._open
        self._app.run_in_thread(work, LibraryFailed, group="open", exclusive=True)

    def halt(self) -> None:
        """Stop building the index; the next start begins again."""
        self._stop.set()

    def _rebuild(self) -> SearchReady:
        windows, all_windows = 0, self._runtime.library.counts().windows
        with closing(self._runtime.rebuilder().rebuild()) as events:
            for event in events:
                windows += event.count
                self._app.post_message(IndexGrown(windows, all_windows))
                if self._stop.is_set():
                    raise AppError("interrupted")
        return self._open()

    def _open(self) -> SearchReady:
        from subtitle_rag.workflows.lock_holder import other_run_sentence

        if self._runtime.settings.is_sample:
            sample_library.fill(self._runtime)
        self._new_videos = new_videos(self._runtime.library)
        self._app.post_message(self._count())
        next(self._runtime.searcher.stages(parse_query(WARM_UP), limit=1))
        return SearchReady(other_run_sentence(self._runtime.library))

    def catch_up(self) -> None:
        """Index in the background what a killed run or an older version has left unindexed."""
        self._app.run_in_thread(self._catch_up, NotRemembered, group="catch up", exclusive=True)

    def _catch_up(self) -> LibraryChanged | None:
        from subtitle_rag.workflows import pipeline

        made = 0
        try:
            with closing(pipeline.catch_up(self._runtime)) as events:
                for event in events:
                    made += event.count
                    if self._stop.is_set():
                        return None
        except BusyError:
            logger.info("what is left waits for another run", exc_info=True)
        return LibraryChanged() if made else None

    def note_look(self) -> None:
        """Store the time from which the app's next run counts new videos."""
        self._app.run_in_thread(
            lambda: self._runtime.library.database.put_setting(LAST_LOOK, str(int(time.time()))),
            NotRemembered,
            group="look",
            exclusive=True,
        )

    def look_up(self) -> None:
        """Recount the library and check again for missing packages and models. Posts `LibraryOpened`."""
        self._app.run_in_thread(self._count, LibraryFailed, group="count", exclusive=True)

    def _count(self) -> LibraryOpened:
        library = self._runtime.library
        followed = len(library.sources.followed())
        return LibraryOpened(library.counts(), followed, find_download(self._runtime), self._new_videos)
