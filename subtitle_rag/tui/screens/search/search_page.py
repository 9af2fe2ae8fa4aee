"""The search: field, filters, and the scenes, or the empty-state page instead.

Enter in the field searches at once and moves to the scenes, where letters are commands. A Hangul input method delivers
the last syllable together with Enter, while the list still has the scenes of the previous text. So the focus moves when
the scenes match the text, and Enter in the list never plays a scene of another text.

Models reorder the scenes once or twice after the first result; the highlight stays on its scene.
"""

from typing import TYPE_CHECKING, Literal

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.widgets import Input

from subtitle_rag.base.domain.errors import AppError, BusyError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.search.query import offer_period
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.screens.search.empty_state_page import EmptyStatePage, ReadyQueryList, StartOffers
from subtitle_rag.tui.screens.search.filter_bar import FilterBar
from subtitle_rag.tui.screens.search.filter_screen import FilterScreen
from subtitle_rag.tui.screens.search.live_search import PAUSE_S, LiveSearch, RecentSearches
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.fields.text_field import QueryBar
from subtitle_rag.tui.shared.jobs.job_lines import job_brief
from subtitle_rag.tui.shared.messages import (
    AddressEntered,
    FurtherScenesFound,
    Jumped,
    LibraryOpened,
    ScenesFound,
    SearchFailed,
)
from subtitle_rag.tui.shared.progress.stage import StageName
from subtitle_rag.tui.shared.progress.status_bars import watch_stage
from subtitle_rag.tui.shared.query_filters import query_chips, transfer_filters, without_filter
from subtitle_rag.tui.shared.scenes.grouped_scenes import GroupedSceneList
from subtitle_rag.tui.shared.scenes.result_pane import ResultPane
from subtitle_rag.tui.shared.search_text import notice_line, result_note, result_title
from subtitle_rag.tui.shared.source_field import typed_url

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.search.scenes import Scene

PageContent = Literal["welcome", "scenes", "no scenes", "failure"]

UNFINISHED = ("bad_value", "empty_query", "unknown_value")
"""Failures that an unfinished query can cause; only their hint is shown."""


class ClearedQuery:
    """The last query that was cleared at once, not letter by letter."""

    def __init__(self) -> None:
        self.text = ""
        self._before = ""

    def note(self, value: str) -> None:
        """Note a change of the field."""
        if not value and len(self._before) > 1:
            self.text = self._before
        self._before = value


class SearchPage(Vertical):
    content: var[PageContent] = var("welcome")
    """The content below the field."""

    filter_bar = getters.query_one(FilterBar)

    def __init__(self, context: AppContext, results: ResultPane) -> None:
        super().__init__(id="search")
        self.context = context
        self.results = results
        self.query_line = results.field
        self.query_bar = QueryBar(self.query_line, _("Find"))
        self.empty_state_page = EmptyStatePage()
        self.ready_queries = self.empty_state_page.ready_queries
        self.live_search = LiveSearch(self, context)
        self.recent = RecentSearches(self, context, self._ready_queries_changed)
        self.counts: Counts | None = None
        self.error: AppError | None = None
        """Why the library is unusable."""
        self._new_videos = 0
        """Videos since the app was last opened."""
        self._cleared = ClearedQuery()
        self._immediate_query = ""
        """A query that the program put into the field, to be searched without a pause."""
        self._entered_query: str | None = None
        """The text at the last Enter, whose failure is also shown as a toast."""

    def compose(self) -> ComposeResult:
        yield self.query_bar
        yield FilterBar()
        yield self.results
        yield self.empty_state_page

    def on_mount(self) -> None:
        self.draw()
        names: tuple[StageName, ...] = ("contexts", "offer")
        for name in names:
            watch_stage(self, name, lambda _stage: self._draw_start())
        self.watch(self.app, "other_run_line", self._draw_start, init=False)

    @property
    def is_open(self) -> bool:
        """Whether the screen still has its widgets, which the app's exit removes."""
        return self.query_bar.is_attached

    @property
    def is_usable(self) -> bool:
        return self.is_open and self.error is None

    @property
    def is_idle(self) -> bool:
        """Whether the library is usable and has no query."""
        return self.results.text is None and self.error is None

    # --- the query ---

    @property
    def typed(self) -> str:
        return self.query_line.typed

    @on(Input.Changed, "#query")
    def _query_changed(self) -> None:
        self.results.uncover()
        self._cleared.note(self.query_line.value)
        self._search_typed()
        self.filter_bar.show(query_chips(self.query_line.value))
        self.ready_queries.leave()  # Enter must not take a ready query after further typing
        if self.typed and self.typed == self._immediate_query:
            self.search_now()
        self._immediate_query = ""

    def _search_typed(self) -> None:
        if self.typed and self.typed == self._entered_query:  # Enter has searched already
            return
        self._entered_query = None
        self.query_bar.set_hint("")
        self.query_line.replacement = ""
        self.live_search.cancel()
        self.recent.cancel()
        preview = self.results.preview
        if not self.typed:
            self.results.clear()
            self.draw()
            preview.show(None)
        elif self.typed == self.results.text:
            self.results.set_progress(None)  # typing has ended the refinement
            self.results.set_stale(False)
            self.results.show_preview()
            if self.results.result and not self.results.result.final:
                self._search_soon()
        else:
            preview.hold()
            self.results.set_stale(True)
            self._search_soon()

    def _search_soon(self) -> None:
        if self.is_usable:
            self.live_search.search_soon(self.typed)

    def search_now(self) -> None:
        """Search for the field's text without a pause."""
        if self.is_usable and self.typed:
            self.live_search.search_now(self.typed)

    def search_for(self, text: str) -> None:
        """Put a ready query into the field and search at once."""
        self.query_line.focus()
        self._immediate_query = text
        self.query_line.replace_value(text)

    def enter(self) -> None:
        """Take the chosen ready query, or go to the scenes once they match the field's text."""
        if self.ready_queries.choose() or not self.typed:
            return
        if address := typed_url(self.typed):
            self.query_line.value = ""
            self.context.app.post_message(AddressEntered(address))
            return
        self.recent.note(self.typed)
        if self.typed == self.results.text:
            self._go_to_scenes()
            return
        self._entered_query = self.typed
        self.search_now()

    def _go_to_scenes(self) -> None:
        if self.results.scenes.row_count and self.query_line.has_focus:
            self.results.scenes.focus()

    def chosen_scene(self) -> "Scene | None":
        """Return the chosen line or scene, or expand the chosen video. If the list is outdated, search instead."""
        if line := self.results.preview.line_scene:
            return line
        if self.typed == self.results.text:
            self.recent.note(self.typed)
            return None if self.results.scenes.open_rest() else self.results.scenes.value
        self._entered_query = self.typed
        self.search_now()
        return None

    @property
    def can_restore(self) -> bool:
        """Whether the field is empty and a cleared query can be restored."""
        return self.is_open and not self.typed and bool(self._cleared.text)

    def restore(self) -> None:
        """Restore the cleared query."""
        self.search_for(self._cleared.text)

    # --- filters ---

    @on(FilterBar.FilterRemoved)
    def _filter_removed(self, message: FilterBar.FilterRemoved) -> None:
        self.rewrite(without_filter(self.query_line.value, message.chip))

    @on(FilterBar.More)
    def choose_filters(self) -> None:
        before = self.query_line.value

        def rewrite(after: str | None) -> None:
            # a syllable may arrive after Ctrl+F: it is in the field, but not in `before`
            if after is not None and after != before:
                self.rewrite(transfer_filters(self.query_line.value, before, after))

        self.app.push_screen(FilterScreen(self.context, before), rewrite)

    def rewrite(self, text: str) -> None:
        """Replace the query by one with other filters, and search."""
        self.query_line.focus()
        if text != self.typed:
            self.search_for(text)

    # --- ready queries ---

    @on(ReadyQueryList.QueryChosen)
    def _ready_query_chosen(self, message: ReadyQueryList.QueryChosen) -> None:
        self.search_for(message.query)
        self.recent.note(message.query)

    @on(ReadyQueryList.PlaceChosen)
    def _place_chosen(self, message: ReadyQueryList.PlaceChosen) -> None:
        self.context.playback.play(message.scene)

    def _ready_queries_changed(self, text: str) -> None:
        self.draw_scenes()
        self.screen.refresh_bindings()  # the footer depends on the ready queries
        if text and text == self.typed:
            self._draw_notice()

    # --- results ---

    @on(ScenesFound)
    def _scenes_found(self, message: ScenesFound) -> None:
        if message.text != self.typed:  # outdated: another search is running
            return
        is_composing = _ends_in_half_syllable(message.text) and self._entered_query != message.text
        if not self.results.accepts(message.text, message.result, is_composing=is_composing):
            return
        if self._entered_query != message.text and self.results.keeps_old_results(message.text, message.result):
            sentence = _("No scene for “{query}”. These are for “{shown}”.")
            self.query_bar.set_hint(sentence.format(query=clean(message.text), shown=clean(self.results.text or "")))
            return
        self.results.show(message.text, message.result)
        self.context.runtime.shown_windows = tuple(scene.id for scene in message.result.scenes)
        self.query_bar.set_hint("")
        self.draw()
        if self._entered_query == message.text:
            self._go_to_scenes()
        if not is_composing:
            self._draw_notice()
        self.recent.suggest(message)
        self.live_search.report_failures(message.result)

    @on(GroupedSceneList.EndNear)
    def _end_near(self, message: GroupedSceneList.EndNear) -> None:
        if self.typed == self.results.text and (depth := self.results.further_depth()):
            self.live_search.search_further(self.typed, depth, pause=0.0 if message.by_user else PAUSE_S)

    @on(FurtherScenesFound)
    def _further_found(self, message: FurtherScenesFound) -> None:
        self.live_search.further_arrived()
        if message.text == self.results.text:
            self.results.extend(message.result, message.depth)
            self._draw_counter()

    @on(SearchFailed)
    def _search_failed(self, message: SearchFailed) -> None:
        """Show the failure under the field, or instead of the scenes if the library is unusable."""
        error = message.error
        if message.text != self.typed:
            return
        if not isinstance(error, UsageError | BusyError) and error.code != "unexpected":
            self.fail(error)
            return
        self.query_bar.set_hint(error.hint if error.code in UNFINISHED else error.message)
        if self._entered_query == message.text:
            self._entered_query = None
            self.context.app.tell(error)

    def search_again(self) -> None:
        """Search again after the library has changed, unless the user is typing."""
        if self.is_open and self.is_usable and self.typed and self.results.text == self.typed:
            self.live_search.search_now(self.typed, least=len(self.results.result.scenes) if self.results.result else 0)

    def toggle_refinement(self) -> None:
        """Start or stop reranking all candidates of the query."""
        if self.stop_refinement():
            return
        if self.is_usable and self.typed and self.typed == self.results.text and self.results.scenes.row_count:
            self.results.set_progress((0, 0))
            self._draw_counter()
            self.live_search.refine(self.typed)
        else:
            self.context.app.notify(_("There are no scenes to refine yet."), markup=False)

    def stop_refinement(self) -> bool:
        """Stop the refinement, keeping the order. Return False if none was running."""
        if self.results.result is None or self.results.result.rerank_progress is None:
            return False
        self.live_search.cancel()
        self.results.set_progress(None)
        self._draw_counter()
        return True

    # --- the library ---

    def library_opened(self, message: LibraryOpened) -> None:
        counts = message.counts
        changed = self.counts is not None and counts.searchable != self.counts.searchable
        if self.counts is None:
            self.recent.read()
        self.counts = counts
        self._new_videos = message.new_videos
        self.error = None
        self.draw()
        if changed:
            self.search_again()

    def search_ready(self) -> None:
        self.error = None
        self.draw()
        self.search_now()
        self.live_search.load_models()
        self.recent.read_examples()

    def fail(self, error: AppError) -> None:
        """Show why the library is unusable, instead of the scenes."""
        self.error = error
        self.results.clear()
        self.draw()

    def retry(self) -> None:
        """Try again to open the library."""
        if error := self.error:
            self.error = None
            self._draw_counter()
            self.context.opening.open(error)

    # --- drawing ---

    def draw(self) -> None:
        self._draw_counter()
        self.draw_scenes()

    def _draw_counter(self) -> None:
        counter = self.query_bar.counter
        if result := self.results.result:
            counter.say("")
            label_panel(self.results.scenes, result_title(result), result_note(result, self.counts))
        else:
            ready = self.context.opening.ready or self.error
            counter.say("" if ready else _("getting ready…"))

    def draw_index(self, windows: int, all_windows: int) -> None:
        """Show how many windows of the library a new index has."""
        count = f"{windows:,}/{all_windows:,}"
        self.query_bar.counter.say(_("new index: {count} windows").format(count=count))

    def _draw_notice(self) -> None:
        """Show a notice about the search under the field; → takes the query or date filter that it suggests."""
        result, suggestions = self.results.result, self.recent.suggested(self.results.text or "")
        first = suggestions[0] if suggestions and result and result.scenes else None
        period = offer_period(result.query.raw) if result and first is None else None
        offer = first or period
        self.query_line.replacement = offer.query if offer else ""
        self.query_bar.set_hint(notice_line(result, first, period) if result else "")

    @property
    def _indexing(self) -> str:
        """The running indexing, here or in another window."""
        app = self.context.app
        return app.other_run_line or (job_brief(app.job) if app.job and not app.job.ended else "")

    def note_place(self, message: Jumped) -> None:
        self.recent.note_place(message.scene)

    def _draw_start(self) -> None:
        """Redraw the start page if it is visible."""
        if self.content != "scenes":
            self.draw_scenes()

    def draw_scenes(self) -> None:
        """Show the scenes, or the empty-state page if there are none."""
        if not self.is_open:
            return
        page, results = self.empty_state_page, self.results
        content: PageContent = "scenes"
        if self.error:
            content = "failure"
            page.show_failure(self.error)
        elif results.text is None:
            content = "welcome"
            recent = self.recent
            offers = StartOffers(recent.queries, recent.examples, recent.last_place, self._new_videos, self._indexing)
            page.show_welcome(self.counts, self.context.app.stages, offers)
        elif results.scenes.row_count:
            page.hide()
        else:
            content = "no scenes"
            page.show_no_scenes(results.text, self.counts, self.recent.suggested(results.text), self._indexing)
        results.display = content == "scenes"
        self.content = content


def _ends_in_half_syllable(text: str) -> bool:
    """Return whether the last syllable is still being composed."""
    return "ㄱ" <= text[-1:] <= "ㅣ"
