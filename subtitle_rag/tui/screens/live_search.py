"""What is typed into the query, searched as it is typed, and the answers on their way.

A key after a quiet moment is searched at once; of keys in quick succession the last one is, when they have ended.

The scenes that `bm25` finds are there at once. Where there are models, the query is encoded when nothing has been typed
for a moment longer, and the same scenes come in a better order once or twice.
"""

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING

from textual import events, getters, on, work
from textual.worker import get_current_worker

from subtitle_rag.errors import AppError
from subtitle_rag.retrieval.query import parse, tidy
from subtitle_rag.tui.messages import AddressGiven, ScenesFound, SearchFailed
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state.source_field import pasted_address
from subtitle_rag.tui.threads import to_app_error
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from subtitle_rag.tui.context import AppContext

logger = logging.getLogger(__name__)

DEBOUNCE_S = 0.2
"""Keys that follow each other more quickly than this are one search; a syllable of Hangul takes longer to type."""
PAUSE_S = 0.3
"""How much longer nothing is typed before models are asked: half a word is not worth their time."""


class LiveSearch(BaseScreen):
    """A screen with a query; whoever derives from it shows what `ScenesFound` and `SearchFailed` bring."""

    query_line = getters.query_one("#query", TextField)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._typed_at = -math.inf

    @property
    def failed(self) -> bool:
        """The library cannot be used."""
        return False

    @property
    def typed(self) -> str:
        return tidy(self.query_line.value)

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        self.app.post_message(AddressGiven(message.address))

    def on_paste(self, event: events.Paste) -> None:
        """Pasted while the list has the focus."""
        if address := pasted_address(event.text):
            self.app.post_message(AddressGiven(address))
        else:
            self.query_line.put(event.text)

    def cancel(self) -> None:
        self.workers.cancel_group(self, "debounce")
        self.workers.cancel_group(self, "search")

    def search_soon(self) -> None:
        """Search what is typed: at once, or when whoever is typing quickly comes to an end."""
        before, self._typed_at = self._typed_at, time.monotonic()
        if self._typed_at - before > DEBOUNCE_S:
            self.search_now(pause=DEBOUNCE_S + PAUSE_S)
        else:
            self._search_later()

    @work(group="debounce", exclusive=True, exit_on_error=False)
    async def _search_later(self) -> None:
        await asyncio.sleep(DEBOUNCE_S)
        self.search_now(pause=PAUSE_S)

    def search_now(self, *, pause: float = 0.0) -> None:
        """Search what is typed, as soon as searching is possible; ask models only after a pause, in seconds."""
        self.workers.cancel_group(self, "debounce")
        if self.typed and self.context.can_search() and not self.failed:
            self._search(self.typed, pause)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False)
    def _search(self, typed: str, pause: float) -> None:
        worker = get_current_worker()
        settings = self.context.settings

        def stopped() -> bool:
            return worker.is_cancelled

        try:
            searcher = self.context.runtime.searcher
            stages = searcher.stages(parse(typed), limit=settings.search.limit, stop=stopped)
            for at, result in enumerate(stages):
                if stopped():
                    return
                self.post_message(ScenesFound(typed, result))
                if not (at or result.final):
                    time.sleep(pause)
                if stopped():
                    return
        except Exception as error:  # whatever a door throws, the app stays up
            if not stopped():
                self.post_message(SearchFailed(typed, to_app_error(error, settings.paths)))

    @work(thread=True, group="models", exclusive=True, exit_on_error=False)
    def load_models(self) -> None:
        """A hint: the search that needs them meets the failure, if there is one."""
        try:
            self.context.runtime.preload_neural()
        except (AppError, RuntimeError):
            logger.info("models were not loaded ahead", exc_info=True)
