"""Search while typing, and the queries to choose instead: recent searches and suggestions.

A key after a pause is searched at once; fast keys are debounced into one search at the end.

The scenes of `bm25` come first. With models, the query is encoded after a longer pause, and the scenes are reordered
once or twice.
"""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.base.i18n import _
from subtitle_rag.library.app_state import forget_searches, last_place, note_search, put_last_place, recent_searches
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.reranking import FULL
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.shared.messages import FurtherScenesFound, ScenesFound, SearchFailed
from subtitle_rag.tui.shared.scenes.video_groups import SHOWN
from subtitle_rag.tui.shared.spoken_lines import scene_of_line
from subtitle_rag.tui.threads import run_in_thread, to_app_error

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.search.searcher import SearchResult
    from subtitle_rag.search.suggestions import Suggestion

logger = logging.getLogger(__name__)

DEBOUNCE_S = 0.2
"""Longest pause between keys of one search; a Hangul syllable takes longer to type."""
ALL_OF = 4
"""More than the number of retrievers, so that `ALL_OF * depth` cuts nothing off."""
PAUSE_S = 0.3
"""Additional pause before models are used: half a word is not worth their time."""


class LiveSearch:
    """Runs searches in workers of its owner, and posts `ScenesFound` and `SearchFailed` to it."""

    def __init__(self, owner: Widget, context: AppContext) -> None:
        self._owner = owner
        self._context = context
        self._typed_at = -math.inf
        self._moved: AppError | None = None
        """The error of the last search if the index has moved."""
        self._further: Worker[object] | None = None
        """The running search for further scenes."""
        self._reported_codes: set[str] = set()
        """Codes of the failures shown already; each search repeats them."""

    def cancel(self) -> None:
        for group in ("debounce", "search", "further"):
            self._owner.workers.cancel_group(self._owner, group)

    def search_soon(self, query: str) -> None:
        """Search at once after a pause, else when fast typing ends."""
        before, self._typed_at = self._typed_at, time.monotonic()
        if self._typed_at - before > DEBOUNCE_S:
            self.search_now(query, pause=DEBOUNCE_S + PAUSE_S)
        else:
            # not a coroutine, which would stay unawaited if the app ended
            search = partial(self._search_later, query)
            self._owner.run_worker(search, group="debounce", exclusive=True, exit_on_error=False)  # type: ignore[arg-type]

    async def _search_later(self, query: str) -> None:
        await asyncio.sleep(DEBOUNCE_S)
        self.search_now(query, pause=PAUSE_S)

    def search_now(self, query: str, *, pause: float = 0.0, least: int = 0) -> None:
        """Search if searching is possible already; ask models only after a pause, in seconds.

        `least` is the number of scenes that the list has already.
        """
        self._owner.workers.cancel_group(self._owner, "debounce")
        if self._context.opening.ready:
            self._start(partial(self._search, query, pause, least))

    def search_further(self, query: str, depth: int, *, pause: float) -> None:
        """Search for all scenes in the best `depth` windows of each retriever, unless this is running already."""
        if self._further is None or self._further.is_finished or self._further.is_cancelled:
            search = partial(self._search_further, query, depth, pause)
            self._further = self._owner.run_worker(
                search, thread=True, group="further", exclusive=True, exit_on_error=False
            )

    def further_arrived(self) -> None:
        self._further = None

    def _search_further(self, query: str, depth: int, pause: float) -> None:
        worker = get_current_worker()
        time.sleep(pause)
        if worker.is_cancelled:
            return
        try:
            searcher = self._context.runtime.searcher
            # listed scenes keep their place, so only the others need an order, and they need no reranker
            result = searcher.search(parse_query(query), limit=ALL_OF * depth, rerank=False, depth=depth)
            message: Message = FurtherScenesFound(query, result, depth)
        except Exception as error:  # no failure may end the app
            message = SearchFailed(query, to_app_error(error))
        if not worker.is_cancelled:
            self._owner.post_message(message)

    def refine(self, query: str) -> None:
        """Rerank all candidates of the displayed query."""
        self.cancel()
        self._start(partial(self._refine, query))

    def _start(self, search: Callable[[], None]) -> None:
        self._owner.run_worker(search, thread=True, group="search", exclusive=True, exit_on_error=False)

    def _search(self, query: str, pause: float, least: int) -> None:
        for at, result in enumerate(self._stages(query, least=least)):
            self._owner.post_message(ScenesFound(query, result))
            if not (at or result.final):
                time.sleep(pause)

    def _refine(self, query: str) -> None:
        for result in self._stages(query, budget=FULL, refine=True):
            if result.final or result.rerank_progress:
                self._owner.post_message(ScenesFound(query, result))
            if result.final and not (result.reranked or result.missing):
                text = _("There is no reranker. Ctrl+G or subtitle-rag models get fetches one.")
                self._owner.call_later(partial(self._context.app.notify, text, markup=False))

    def _stages(self, query: str, *, least: int = 0, **options: Any) -> "Iterator[SearchResult]":
        """Yield the results of a query until the worker is cancelled. Posts a failure."""
        worker = get_current_worker()
        runtime, settings = self._context.runtime, self._context.settings
        try:
            searcher = runtime.searcher
            self._moved = runtime.moved_index()
            limit = max(least, settings.search.limit)
            options |= {"limit": limit, "per_video": SHOWN, "stop": lambda: worker.is_cancelled}
            for result in searcher.stages(parse_query(query), **options):
                if not worker.is_cancelled:
                    yield result
                if worker.is_cancelled:
                    return
        except Exception as error:  # no failure may end the app
            if not worker.is_cancelled:
                self._owner.post_message(SearchFailed(query, to_app_error(error)))

    def report_failures(self, result: "SearchResult") -> None:
        """Show each failure of a model or the index once."""
        errors = [error for _name, error in result.missing]
        for error in filter(None, (*errors, self._moved)):
            if error.code not in self._reported_codes:
                self._reported_codes.add(error.code)
                self._context.app.tell(error)

    def load_models(self) -> None:
        """Load the models in advance. Failures are only logged: the first search reports them."""
        self._owner.run_worker(self._load_models, thread=True, group="models", exclusive=True, exit_on_error=False)

    def _load_models(self) -> None:
        try:
            self._context.runtime.preload_neural()
        except (AppError, RuntimeError):
            logger.info("models were not loaded ahead", exc_info=True)


class RecentSearches:
    """Reads and stores recent searches and the last place, and finds suggestions, in workers of its owner.

    A search is stored when the user presses Enter or acts on its scenes, not while typing.
    """

    def __init__(self, owner: Widget, context: AppContext, changed: Callable[[str], object]) -> None:
        """Call `changed` after new suggestions with their query, and after new searches with an empty string."""
        self._owner = owner
        self._context = context
        self._changed = changed
        self.queries: list[str] = []
        """Recent searches, newest first."""
        self.examples: Sequence[str] = ()
        """Searches that find something, for users without recent ones."""
        self.last_place: Scene | None = None
        """The last place played."""
        self._suggested: tuple[str, list[Suggestion]] | None = None
        """A query and its suggestions."""
        self._writing = threading.Lock()

    def read(self) -> None:
        """Read the offers of the start page."""
        remembers = self._context.settings.search.remember
        if remembers:
            self._change(recent_searches)
        library = self._context.runtime.library
        run_in_thread(
            self._owner,
            lambda: last_place(library) if remembers else None,
            lambda _error: None,
            take=self._take_place,
            group="place",
        )

    def read_examples(self) -> None:
        """Read the example searches, once they can find something."""
        if self.queries or self.examples:
            return
        run_in_thread(self._owner, self._find_examples, lambda _error: None, take=self._take_examples, group="examples")

    def _find_examples(self) -> Sequence[str]:
        from subtitle_rag.answers.content_overview import example_queries
        from subtitle_rag.workflows.sample_library import EXAMPLES

        return EXAMPLES if self._context.settings.is_sample else example_queries(self._context.runtime.library)

    def _take_examples(self, examples: Sequence[str]) -> None:
        self.examples = examples
        self._changed("")

    def _take_place(self, place: tuple[Video, int] | None) -> None:
        self.last_place = scene_of_line(*place, "") if place else None
        self._changed("")

    def note_place(self, scene: "Scene") -> None:
        """Store the played scene as the last place."""
        if not self._context.settings.search.remember:
            return
        library = self._context.runtime.library
        self.last_place = scene
        run_in_thread(
            self._owner,
            lambda: put_last_place(library, scene.video.id, scene.at_ms),
            lambda _error: None,
            take=self._changed_place,
            group="place",
        )

    def _changed_place(self, _none: object) -> None:
        self._changed("")

    def note(self, text: str) -> None:
        def note(library: "Library") -> list[str]:
            parse_query(text)  # raises for incomplete filters, which are not stored
            return note_search(library, text)

        if text and self._context.settings.search.remember:
            self._change(note)

    def forget(self) -> None:
        def forget(library: "Library") -> list[str]:
            forget_searches(library)
            return []

        self.last_place = None
        self._change(forget)

    def _change(self, change: "Callable[[Library], list[str]]") -> None:
        self._owner.run_worker(partial(self._write, change), thread=True, group="recents", exit_on_error=False)

    def _write(self, change: "Callable[[Library], list[str]]") -> None:
        try:
            library = self._context.runtime.library
            with self._writing:  # in order, so that no older list replaces a newer one
                self._owner.call_later(self._take_recents, change(library))
        except Exception as error:  # searching works without the list
            to_app_error(error)

    def suggest(self, message: ScenesFound) -> None:
        """Find similar queries if this one has no scenes, or if none of its words occur in the library."""
        text = message.text
        if message.result.final and not (message.result.scenes and message.result.has_known_word):
            run_in_thread(
                self._owner,
                partial(self._suggestions, text),
                lambda _error: None,
                take=partial(self._take_suggestions, text),
                group="suggest",
                exclusive=True,
            )

    def _suggestions(self, text: str) -> "list[Suggestion]":
        from subtitle_rag.search.suggestions import suggest_queries

        runtime, worker = self._context.runtime, get_current_worker()
        try:
            return suggest_queries(runtime.searcher, runtime.library, text, lambda: worker.is_cancelled)
        except Exception as error:  # general tips are shown instead
            to_app_error(error)
            return []

    def cancel(self) -> None:
        self._owner.workers.cancel_group(self._owner, "suggest")

    def _take_recents(self, queries: list[str]) -> None:
        self.queries = queries
        self._changed("")

    def _take_suggestions(self, text: str, suggestions: "list[Suggestion]") -> None:
        self._suggested = text, suggestions
        self._changed(text)

    def suggested(self, text: str) -> "list[Suggestion] | None":
        """Return the suggestions for a query. None until they are known."""
        return self._suggested[1] if self._suggested and self._suggested[0] == text else None
