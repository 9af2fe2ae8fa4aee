"""The first screen: the query keeps the focus, the scenes follow it, Enter plays the scene under the highlight.

Enter has a rule of its own. An input method for Hangul delivers the last syllable and Enter in one breath, while the
scenes on the screen are still those of the text before. So Enter plays only scenes of the text in the field. Otherwise
it searches at once, and a second Enter plays.

Models improve the order of the scenes once or twice after the first result; the highlight stays on its scene.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.widgets import Input

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui import dialogs
from subtitle_rag.tui.keys import bindings
from subtitle_rag.tui.messages import (
    LibraryOpened,
    ScenesFound,
    SearchFailed,
)
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.live_search import LiveSearch, RecentSearches
from subtitle_rag.tui.screens.preview_screen import PreviewScreen, make_preview
from subtitle_rag.tui.screens.search_page import SearchPage
from subtitle_rag.tui.state import (
    ExportSource,
    ModelDownload,
    SearchPlace,
    SearchTrail,
    VideoMoment,
    clean,
    query_chips,
    transfer_filters,
    without_filter,
)
from subtitle_rag.tui.widgets import (
    STAGE_BRIEFS,
    EmptyStatePage,
    FilterBar,
    JobBar,
    KeyBar,
    LineBar,
    QueryBar,
    ReadyQueryList,
    ResultPane,
    SceneList,
    StageBar,
    TextField,
    TranscriptList,
    after_typing,
    watch_stage,
)

if TYPE_CHECKING:
    from textual.binding import Binding

    from subtitle_rag.tui.controllers import AppContext


class ClearedQuery:
    """The last query that was taken out of the field at once, and not letter by letter."""

    def __init__(self) -> None:
        self.text = ""
        self._before = ""

    def note(self, value: str) -> None:
        """Note a change of the field."""
        if not value and len(self._before) > 1:
            self.text = self._before
        self._before = value


class SearchScreen(PreviewScreen):
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#query"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background", "screen.back"})
    BINDINGS = bindings(
        "scene.play scene.play-with scene.copy scene.mark scene.export scene.copies",
        "scene.preview search.explain search.refine search.filter search.restore search.previous search.next",
        "screen.switch screen.back",
        "list.down list.up list.page-down list.page-up",
    )
    FOOTER: ClassVar = {
        "scene.mark": N_("Mark"),
        "scene.export": N_("Export"),
        "screen.switch": N_("List"),
        "list.query": N_("Query"),
    }
    MEANINGS: ClassVar = {
        "scene.play": N_("search at once; play the scene when its results are shown"),
        "screen.switch": N_("query → list → transcript"),
        "screen.back": N_("transcript → list → query → empty query"),
    }

    filter_bar = getters.query_one(FilterBar)

    def __init__(self, context: "AppContext") -> None:
        self.query_line = TextField(_("What was said in the scene?"), id="query")
        scenes = SceneList(lambda scene: context.marks.scenes.tag_of(scene))
        self.results = ResultPane(scenes, make_preview(context, scenes))
        super().__init__(context, self.query_line, self.results)
        self.query_bar = QueryBar(self.query_line)
        self.empty_state_page = EmptyStatePage()
        self.choices = self.empty_state_page.ready_queries
        self.live_search = LiveSearch(self, context, lambda: self.typed if self.page.is_usable else "")
        self.recent = RecentSearches(self, context, self._ready_queries_changed)
        self.page = SearchPage(
            context,
            self.query_bar,
            self.results,
            self.empty_state_page,
            self.live_search,
            self.recent,
            drawn=self._page_drawn,
        )
        self._cleared = ClearedQuery()
        self._trail = SearchTrail()
        self._selects_on_return = False
        """A page above the search has the focus: the query will be selected, so that typing replaces it."""
        self._immediate_query = ""
        """The query that another part put into the field, to be searched without a pause."""
        self._entered_query: str | None = None
        """The text of the last Enter: its failure is shown as a toast too."""

    def compose(self) -> ComposeResult:
        yield self.query_bar
        yield FilterBar()
        yield self.results
        yield self.empty_state_page
        yield JobBar()
        yield LineBar("other-run", "other_run_line")
        yield from (StageBar(kind, detailed=False) for kind in STAGE_BRIEFS)
        yield KeyBar()

    def on_mount(self) -> None:
        self.page.draw()
        self.watch(self.app, "job", self.query_one(JobBar).show)
        watch_stage(self, ModelDownload, lambda _offer: self.page.draw_scenes())

    def _translate(self, binding: "Binding") -> "Binding":
        """Name the key that leads to the list while letters are typed."""
        translation = super()._translate(binding)
        if binding.id != "screen.switch":
            return translation
        return replace(translation, show=translation.show and self.query_line.has_focus)

    def _page_drawn(self, has_scenes: bool) -> None:
        self.has_scenes = has_scenes
        self.query_one("#offer").set_class(self.page.is_idle, "-calm")

    # --- the query ---

    @on(Input.Changed, "#query")
    def _query_changed(self) -> None:
        self.preview_layout.uncover()
        self._cleared.note(self.query_line.value)
        if not self.typed and self.shown_place:
            self._trail.visit(self.shown_place)
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

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "restore_query":
            return self.page.is_open and not self.typed and bool(self._cleared.text)
        if (action, parameters) == ("scene", ("copies",)):
            return bool(self.scenes.scene and self.scenes.scene.copies)
        return super().allows(action, parameters)

    @property
    def shown_place(self) -> SearchPlace | None:
        """The search whose scenes are shown."""
        return self.results.place if self.page.is_open else None

    @property
    def place(self) -> SearchPlace | None:
        """The search in the field; None for an empty one, and while its scenes are still to come."""
        place = self.shown_place
        return place if place and place.query == self.typed else None

    def reopen(self, place: SearchPlace) -> None:
        """Begin with the search of the app's last run, unless something is typed already. Typing replaces it."""
        if not self.typed:
            self.go_to(place)
            self.query_line.select_all()

    def go_to(self, place: SearchPlace) -> None:
        self.results.return_to(place)
        self.search_for(place.query)

    def action_go(self, step: int) -> None:
        """Go back or forth among the searches."""
        place = self._trail.go(step, self.place)
        if place is not None:
            self.go_to(place)

    def action_restore_query(self) -> None:
        """Bring back the query that was cleared."""
        self.search_for(self._cleared.text)

    @on(events.ScreenSuspend)
    def _left(self) -> None:
        self._selects_on_return = isinstance(self.app.screen, BaseScreen)

    @on(events.ScreenResume)
    def _returned(self) -> None:
        """Select the query behind a page: whoever comes back types the next one."""
        if self._selects_on_return and self.query_line.has_focus:
            self.query_line.select_all()
        self._selects_on_return = False

    def begin_query(self, text: str) -> None:
        """Put the beginning of a query into the field: the user types the rest."""
        self._selects_on_return = False
        self.query_line.replace_value(text)

    def search_for(self, text: str) -> None:
        """Put a ready query into the field, and search it at once."""
        self.query_line.focus()
        self._immediate_query = text
        self.query_line.replace_value(text)

    # --- filters, which are words of the query ---

    @on(FilterBar.FilterRemoved)
    def _filter_removed(self, message: FilterBar.FilterRemoved) -> None:
        self.rewrite(without_filter(self.query_line.value, message.chip))

    @on(FilterBar.More)
    def action_filter(self) -> None:
        before = self.query_line.value

        def rewrite(after: str | None) -> None:
            # an input method may deliver a syllable after Ctrl+F: the field has it, `before` has not
            if after is not None and after != before:
                self.rewrite(transfer_filters(self.query_line.value, before, after))

        self.app.push_screen(dialogs.FilterScreen(self.context, before), rewrite)

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

    def _ready_queries_changed(self, text: str) -> None:
        self.page.draw_scenes()
        if text and text == self.typed:
            self.page.draw_notice()

    # --- results ---

    @property
    def chosen_moment(self) -> VideoMoment | None:
        moment, result = super().chosen_moment, self.results.result
        return moment and moment._replace(query=result.lexical if result else None)

    @on(ScenesFound)
    def _scenes_found(self, message: ScenesFound) -> None:
        if message.text != self.typed:  # its successor is on the way
            return
        message = self.context.removals.visible_scenes(message)
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
        self.page.draw()
        if not is_composing:
            self.page.draw_notice()
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
        if self.page.search_failed(message.error) and self._entered_query == message.text:
            self._entered_query = None
            self.context.app.tell(message.error)

    def search_again(self) -> None:
        """Search again as the library has changed, unless the user is typing."""
        if self.page.is_open and self.results.text == self.typed:
            self.live_search.search_now()

    # --- the library ---

    def library_opened(self, message: LibraryOpened) -> None:
        counts = message.counts
        changed = self.page.counts is not None and counts.searchable != self.page.counts.searchable
        if self.page.counts is None:
            self.recent.read()
        self.page.counts = counts
        self.page.news = message.new_videos, message.new_scenes
        self.page.error = None
        self.page.draw()
        if changed:
            self.search_again()

    def search_ready(self) -> None:
        self.page.error = None
        self.page.draw()
        self.live_search.search_now()
        self.live_search.load_models()

    def retry(self) -> None:
        if error := self.page.error:
            self.page.error = None
            self.page.draw_counter()
            self.context.opening.open(error)

    # --- keys ---

    @on(TranscriptList.DoubleClicked)
    @on(SceneList.RowDoubleClicked)
    def action_play(self) -> None:
        after_typing(self, self._with_scene, "play")

    def action_scene(self, command: str) -> None:
        """Run the command. The choice of a player searches first, as Enter does; a copied link has its query stored."""
        if command == "choose_player":
            after_typing(self, self._with_scene, command)
        elif scene := self.find_scene():
            if command == "copy_link" and scene.jump_url:
                self.recent.note(self.typed)
            self.scene_actions.run(command, scene)

    def _with_scene(self, command: str) -> None:
        """Run the command on the scene under the highlight, or search first if the scenes are those of another text."""
        if self.place:
            self._trail.visit(self.place)
        if line := self.preview.line_scene:
            self.scene_actions.run(command, line)
            return
        if self.choices.choose() or not self.typed:
            return
        self.recent.note(self.typed)
        if self.typed != self.results.text:
            self._entered_query = self.typed
            self.live_search.search_now()
        elif scene := self.scenes.scene:
            self.scene_actions.run(command, scene)

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
        if self.find_scene() and not self.preview.explain() and (explained := self.preview.explained):
            self.app.push_screen(dialogs.ExplainScreen(*explained, times=self.context.show_times))

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
        if rows < 0 and self.choices.highlighted_query is None and self.check_action("restore_query", ()):
            self.action_restore_query()
            return
        (self.choices if self.choices.display else self.preview_layout.moving_rows).move(rows)

    def action_page(self, pages: int) -> None:
        self.preview_layout.page(pages)


def _ends_in_half_syllable(text: str) -> bool:
    """Return whether an input method is at work on the last syllable."""
    return "ㄱ" <= text[-1:] <= "ㅣ"
