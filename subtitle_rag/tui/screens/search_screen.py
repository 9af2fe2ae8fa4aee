"""The first screen: the query keeps the focus, the scenes follow it, Enter plays the scene under the highlight.

Enter has a rule of its own. An input method for Hangul delivers the last syllable and Enter in one breath, while the
scenes on the screen are still those of the text before. So Enter plays only scenes of the text in the field. Otherwise
it searches at once, and a second Enter plays.

Models improve the order of the scenes once or twice after the first result; the highlight stays on its scene.
"""

from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.widgets import Input

from subtitle_rag.domain import BusyError, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.tui.keys import bindings
from subtitle_rag.tui.messages import (
    AddressGiven,
    LibraryRetried,
    RecentsRead,
    ScenesFound,
    SearchFailed,
    SuggestionsMade,
)
from subtitle_rag.tui.screens.live_search import LiveSearch, RecentSearches
from subtitle_rag.tui.screens.preview_screen import PreviewScreen, make_preview
from subtitle_rag.tui.state import STAGES, ExportSource, clean, query_chips, transfer_filters, without_filter
from subtitle_rag.tui.text import describe_result, unknown_words_line
from subtitle_rag.tui.widgets import (
    CalmPage,
    FilterBar,
    JobBar,
    KeyBar,
    QueryBar,
    ReadyQueryList,
    ResultPane,
    SceneList,
    StageBar,
    TextField,
    TranscriptList,
    after_typing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.domain import AppError
    from subtitle_rag.library import Counts
    from subtitle_rag.retrieval import Scene
    from subtitle_rag.tui.context import AppContext

UNFINISHED = ("bad_filter", "empty_query", "only_exclusions", "unknown_kind")
"""Failures of a query that is not typed to its end: only the hint is shown."""


class SearchScreen(PreviewScreen):
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#query"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background"})
    BINDINGS = bindings(
        "scene.play",
        "scene.play-with",
        "scene.copy",
        "scene.mark",
        "scene.export",
        "search.preview",
        "search.explain",
        "search.refine",
        "search.switch",
        "search.back",
        "list.next",
        "list.previous",
        "list.page-down",
        "list.page-up",
        "library.retry",
        "search.filter",
    )

    query_line = getters.query_one("#query", TextField)
    query_bar = getters.query_one(QueryBar)
    filter_bar = getters.query_one(FilterBar)
    choices = getters.query_one(ReadyQueryList)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self.live_search = LiveSearch(self, context, lambda: self.typed if self.page.is_usable else "")
        self.recent = RecentSearches(self, context)
        self.results = ResultPane(
            SceneList(lambda scene: context.marks.scenes.tag_of(scene)),
            make_preview(context),
            after_preview=context.collect_garbage,
        )
        self.page = SearchPage(self)
        self._immediate_query = ""
        """The query that another part put into the field, to be searched without a pause."""
        self._entered_query: str | None = None
        """The text of the last Enter: its failure is shown as a toast too."""

    def compose(self) -> ComposeResult:
        yield QueryBar(TextField(_("What was said in the scene?"), id="query"))
        yield FilterBar()
        yield self.results
        yield CalmPage()
        yield JobBar()
        yield from (StageBar(stage, detailed=False) for stage in STAGES)
        yield KeyBar()

    def on_mount(self) -> None:
        self.page.draw()
        self.watch(self.app, "job", self.query_one(JobBar).show)
        for bar in self.query(StageBar):
            self.watch(self.app, bar.stage, bar.show)
        self.watch(self.app, "offer", self.page.draw_scenes, init=False)

    # --- the query ---

    @on(Input.Changed, "#query")
    def _query_changed(self) -> None:
        self.preview_layout.uncover()
        self._search_typed()
        self.filter_bar.show(query_chips(self.query_line.value))
        self.choices.leave()  # Enter must not take a query that the user typed past
        if self.typed and self.typed == self._immediate_query:
            self.live_search.search_now()
        self._immediate_query = ""

    def _search_typed(self) -> None:
        if self.typed and self.typed == self._entered_query:  # Enter came before this message
            return
        self._entered_query = None
        self.query_bar.set_hint("")
        self.query_line.replacement = ""
        self.live_search.cancel()
        self.recent.cancel()
        if not self.typed:
            self.results.clear()
            self.page.draw()
            self.preview.show(None)
        elif self.typed == self.results.text:
            self.results.set_progress(None)  # the typing before has ended a refinement
            self.results.set_stale(False)
            self.results.show_preview()
            if self.results.result and not self.results.result.final:
                self.live_search.search_soon()
        else:
            self.preview.hold()
            self.results.set_stale(True)
            self.live_search.search_soon()

    def search_for(self, text: str) -> None:
        """Put a ready query into the field, and search it at once."""
        self.query_line.focus()
        self._immediate_query = text
        self.query_line.replace_value(text)

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        self.app.post_message(AddressGiven(message.address))

    # --- filters, which are words of the query ---

    @on(FilterBar.FilterRemoved)
    def _filter_removed(self, message: FilterBar.FilterRemoved) -> None:
        self.rewrite(without_filter(self.query_line.value, message.chip))

    @on(FilterBar.More)
    def action_filter(self) -> None:
        from subtitle_rag.tui.dialogs import FilterScreen

        before = self.query_line.value

        def rewrite(after: str | None) -> None:
            # an input method may deliver a syllable after Ctrl+F: the field has it, `before` has not
            if after is not None:
                self.rewrite(transfer_filters(self.query_line.value, before, after))

        self.app.push_screen(FilterScreen(self.context, before), rewrite)

    def rewrite(self, text: str | None) -> None:
        """Search for a text with other filters."""
        self.query_line.focus()
        if text is not None and text != self.typed:
            self.search_for(text)

    # --- ready queries ---

    @on(ReadyQueryList.QueryChosen)
    def _ready_query_chosen(self, message: ReadyQueryList.QueryChosen) -> None:
        self.search_for(message.query)
        self.recent.note(message.query)

    @on(RecentsRead)
    @on(SuggestionsMade)
    def _ready_queries_changed(self, message: RecentsRead | SuggestionsMade) -> None:
        self.recent.update(message)
        self.page.draw_scenes()
        if isinstance(message, SuggestionsMade) and message.text == self.typed:
            self.page.draw_unknown_words()

    # --- results ---

    @on(ScenesFound)
    def _scenes_found(self, message: ScenesFound) -> None:
        if message.text != self.typed:  # its successor is on the way
            return
        message = self.context.removals.visible_scenes(message)
        is_composing = _ends_in_half_syllable(message.text) and self._entered_query != message.text
        if not self.results.accepts(message.text, message.result, is_composing=is_composing):
            return
        if self._entered_query != message.text and self.results.outlasts(message.text, message.result):
            sentence = _("No scene for “{query}”. These are for “{shown}”.")
            self.query_bar.set_hint(sentence.format(query=clean(message.text), shown=clean(self.results.text or "")))
            return
        self.results.show(message.text, message.result)
        self.query_bar.set_hint("")
        self.page.draw()
        if not is_composing:
            self.page.draw_unknown_words()
        self.recent.suggest(message)
        self.live_search.report_failures(message.result)

    def action_refine(self) -> None:
        after_typing(self, self.page.toggle_refinement)

    def show_again(self) -> None:
        """Show the result without the videos that are being removed."""
        if self.results.result and self.results.text is not None and self.page.is_open:
            self._scenes_found(ScenesFound(self.results.text, self.results.result))

    @on(SearchFailed)
    def _search_failed(self, message: SearchFailed) -> None:
        if message.text != self.typed:
            return
        error = message.error
        if not isinstance(error, UsageError | BusyError) and error.code != "unexpected":
            self.page.fail(error)
            return
        self.query_bar.set_hint(error.hint if error.code in UNFINISHED else error.message)
        if self._entered_query == message.text:
            self._entered_query = None
            self.context.app.tell(error)

    def search_again(self) -> None:
        """Search again as the library has changed, unless the user is typing."""
        if self.page.is_open and self.results.text == self.typed:
            self.live_search.search_now()

    # --- the library ---

    def library_opened(self, counts: "Counts") -> None:
        if not self.page.is_open:
            return
        changed = self.page.counts is not None and counts.searchable != self.page.counts.searchable
        if self.page.counts is None:
            self.recent.read()
        self.page.counts = counts
        self.page.error = None
        self.page.draw()
        if changed:
            self.search_again()

    def search_ready(self) -> None:
        self.page.error = None
        self.page.draw()
        self.live_search.search_now()
        self.live_search.load_models()

    def action_retry(self) -> None:
        if self.page.error:
            self.page.error = None
            self.page.draw_counter()
            self.app.post_message(LibraryRetried())

    # --- keys ---

    @on(TranscriptList.DoubleClicked)
    @on(SceneList.RowDoubleClicked)
    def action_play(self) -> None:
        after_typing(self, self._with_scene, self.context.playback.play)

    def action_scene(self, command: str) -> None:
        """Run the command. The choice of a player searches first, as Enter does; a copied link has its query stored."""
        if command == "choose_player":
            after_typing(self, self._with_scene, self.context.playback.find_players)
        elif scene := self.find_scene():
            if command == "copy_link" and scene.jump_url:
                self.recent.note(self.typed)
            self.scene_actions.run(command, scene)

    def _with_scene(self, act: "Callable[[Scene], object]") -> None:
        """Call `act` with the scene under the highlight, or search first if the scenes are those of another text."""
        if line := self.preview.line_scene:
            act(line)
            return
        if self.choices.choose() or not self.typed:
            return
        self.recent.note(self.typed)
        if self.typed != self.results.text:
            self._entered_query = self.typed
            self.live_search.search_now()
        elif scene := self.scenes.scene:
            act(scene)

    def find_scene(self) -> "Scene | None":
        """Return the scene under the highlight, or the line under the cursor of the transcript. Without one, say so."""
        if line := self.preview.line_scene:
            return line
        scene = self.scenes.scene if self.results.text is not None else None
        if scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return scene

    def action_export(self) -> None:
        """Export the scene, the results or the marks. In the transcript copy the line."""
        if line := self.preview.line_scene:
            self.scene_actions.copy_quote(line)
            return
        result = self.results.result if self.results.text is not None else None
        scene = self.scenes.scene if result else None
        sources = (
            ExportSource(_("This scene"), (scene,) if scene else ()),
            ExportSource(_("Results"), result.scenes if result else (), self.results.text or ""),
            self.scene_actions.marks_source(),
        )
        self.scene_actions.export(sources)

    def action_explain(self) -> None:
        from subtitle_rag.tui.dialogs import ExplainScreen

        if self.find_scene() and not self.preview.explain() and (explained := self.preview.explained):
            self.app.push_screen(ExplainScreen(*explained, times=self.context.show_times))

    @on(SceneList.RowClicked)
    def _row_clicked(self) -> None:
        self.query_line.focus()

    def action_back(self) -> None:
        if self.page.stop_refinement() or self.preview_layout.uncover() or self.preview_layout.leave_transcript():
            return
        if not self.query_line.has_focus:
            self.query_line.focus()
        elif not self.choices.leave():
            self.query_line.value = ""

    def action_move(self, rows: int) -> None:
        (self.choices if self.choices.display else self.preview_layout.moving_rows).move(rows)

    def action_page(self, pages: int) -> None:
        self.preview_layout.page(pages)


class SearchPage:
    """Draws the state of the library and of the last search on a screen."""

    def __init__(self, screen: SearchScreen) -> None:
        self._screen = screen
        self._results = screen.results
        self.counts: Counts | None = None
        self.error: AppError | None = None
        """Why the library cannot be used."""

    @property
    def is_open(self) -> bool:
        """False while the app ends: the widgets of the screen are no more."""
        return bool(self._screen.query("#query"))

    @property
    def is_usable(self) -> bool:
        return self.is_open and self.error is None

    @property
    def is_idle(self) -> bool:
        """Whether the calm page shows a usable library without a query."""
        return self._results.text is None and self.error is None

    def fail(self, error: "AppError") -> None:
        """Show why the library cannot be used, in the place of all scenes."""
        self.error = error
        self._results.clear()
        self.draw()

    def draw(self) -> None:
        self.draw_counter()
        self.draw_scenes()

    def draw_counter(self) -> None:
        counter = self._screen.query_bar.counter
        if result := self._results.result:
            counter.say(describe_result(result, self.counts, show_times=self._screen.context.show_times))
        else:
            ready = self._screen.context.can_search() or self.error
            counter.say("" if ready else _("getting ready…"))

    def draw_unknown_words(self) -> None:
        """Show under the field the words that the library does not have, and offer another query for them."""
        result, suggestions = self._results.result, self._screen.recent.suggested(self._results.text or "")
        first = suggestions[0] if suggestions and result and result.scenes else None
        self._screen.query_line.replacement = first.query if first else ""
        self._screen.query_bar.set_hint(unknown_words_line(result, first) if result else "")

    def draw_scenes(self) -> None:
        """Show the calm page if there are no scenes, else the scenes."""
        if not self.is_open:
            return
        calm_page, results = self._screen.query_one(CalmPage), self._results
        was_shown = calm_page.display
        if self.error:
            calm_page.show_failure(self.error)
        elif results.text is None:
            app = self._screen.context.app
            calm_page.show_welcome(self.counts, app.offer, app.contexts, self._screen.recent.queries)
        elif results.scenes.row_count:
            calm_page.hide()
        else:
            calm_page.show_no_scenes(results.text, self.counts, self._screen.recent.suggested(results.text))
        self._screen.has_scenes = not calm_page.display
        if was_shown or calm_page.display:
            results.display = not calm_page.display
            self._screen.query_one("#offer").set_class(self.is_idle, "-calm")

    def toggle_refinement(self) -> None:
        """Have the reranker read all candidates of the query, behind the scenes on the screen, or stop it."""
        if self.stop_refinement():
            return
        query = self._screen.live_search.query()
        if query and query == self._results.text and self._results.scenes.row_count:
            self._results.set_progress((0, 0))
            self.draw_counter()
            self._screen.live_search.refine(query)
        else:
            self._screen.context.app.notify(_("There are no scenes to refine yet."), markup=False)

    def stop_refinement(self) -> bool:
        """Stop the refinement and keep the order so far. Return False if none was running."""
        if self._results.result is None or self._results.result.rerank_progress is None:
            return False
        self._screen.live_search.cancel()
        self._results.set_progress(None)
        self.draw_counter()
        return True


def _ends_in_half_syllable(text: str) -> bool:
    """Return whether an input method is at work on the last syllable."""
    return "ㄱ" <= text[-1:] <= "ㅣ"
