"""The first screen: the query keeps the focus, the scenes follow it, Enter jumps.

What would surprise is the Enter rule. Whoever types Hangul ends the last syllable and presses Enter in one breath, and
the results on the screen are still those of the text before. So Enter plays only what answers the text in the box;
otherwise it searches, at once, and a second Enter plays.

The list is put in a better order once or twice where there are models; the highlight stays on its scene.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from subtitle_rag.errors import AppError, BusyError, UsageError
from subtitle_rag.i18n import _, n_
from subtitle_rag.retrieval.query import tidy
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.messages import (
    AddressGiven,
    LibraryRetried,
    RecentsRead,
    ScenesFound,
    SearchFailed,
    SuggestionsMade,
)
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.live_search import LiveSearch
from subtitle_rag.tui.screens.preview_parts import make_preview, pictures_shown
from subtitle_rag.tui.screens.recent_searches import RecentSearches
from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.source_field import pasted_address
from subtitle_rag.tui.state.stage_progress import STAGES
from subtitle_rag.tui.text import empty_states
from subtitle_rag.tui.text.content import paragraphs
from subtitle_rag.tui.widgets.filter_bar import FilterBar
from subtitle_rag.tui.widgets.footer import KeyBar
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.ready_queries import ReadyQuery, ReadyQueryList, of_suggestion
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.status_bars import Counter, JobBar, StageBar
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from subtitle_rag.library.rows import Counts
    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.tui.context import AppContext

QUIET = ("bad_filter", "empty_query", "only_exclusions", "unknown_kind")
"""Failures of a query that is not finished yet: what to type next is told, and nothing else."""

RECENTS = 8
"""Last searches on the calm page."""
FRAME_S = 0.02
"""More than Textual waits between two frames."""
DIM_S = 0.3
"""How long scenes stand undimmed after the text was changed."""


class SearchScreen(BaseScreen):
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#query"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background"})
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "scene.play",
        "scene.play-with",
        "scene.copy",
        "search.explain",
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
    filter_bar = getters.query_one(FilterBar)
    choices = getters.query_one(ReadyQueryList)

    scenes = getters.query_one(SceneList)
    preview = getters.query_one(Preview)
    counter = getters.query_one(Counter)
    notice = getters.query_one("#notice", Static)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self.search = LiveSearch(self, context, self._searchable_query)
        self.recent = RecentSearches(self, context)
        self._at_once = ""
        """What is put in the box and searched without a wait."""
        self.shown: str | None = None
        """The text that the scenes on the screen answer; None before the first answer and for an empty query."""
        self._answer: ScenesFound | None = None
        self.counts: Counts | None = None
        self._failed: AppError | None = None
        self._chosen: str | None = None
        """The scene that the user moved to; the highlight stays with it."""
        self._asked: str | None = None
        """The text for which Enter was pressed: its failure is told aloud."""
        self._dimming: Timer | None = None
        self._told: set[str] = set()
        """Codes of the failures of models that were told already: every search meets them again."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static("❯", id="prompt")
            yield TextField(_("What was said in the scene?"), id="query")
            yield Counter()
        yield FilterBar()
        with Horizontal(id="found"):
            yield SceneList()
            yield make_preview(self.context, pictures=pictures_shown(self.context, self))
        with VerticalScroll(id="calm", can_focus=False):
            yield Static(id="notice", markup=False)
            yield ReadyQueryList()
            yield Static(id="tips", markup=False)
        yield JobBar()
        yield from (StageBar(stage, whole=False) for stage in STAGES)
        yield KeyBar()

    def on_mount(self) -> None:
        self._show_state()
        self.watch(self.app, "job", self.query_one(JobBar).show)
        for bar in self.query(StageBar):
            self.watch(self.app, bar.stage, bar.show)
        self.watch(self.app, "offer", self._offer_changed, init=False)

    def prefill(self, text: str) -> None:
        """Put a text in the box, to be typed on."""
        self.query_line.value = text
        self.query_line.cursor_position = len(text)

    # --- what is typed ---

    def _searchable_query(self) -> str:
        return "" if self.failed or not self.query("#query") else self.typed  # without the field the app is ending

    @property
    def typed(self) -> str:
        return tidy(self.query_line.value)

    @on(Input.Changed, "#query")
    def _query_changed(self) -> None:
        self._search_typed()
        self.filter_bar.show(query_filters.of(self.query_line.value))
        self.choices.leave()  # Enter must not take what somebody typed past
        if self.typed and self.typed == self._at_once:
            self.search_now()
        self._at_once = ""

    def _search_typed(self) -> None:
        if self.typed and self.typed == self._asked:  # Enter was quicker than this message
            return
        self._asked = None
        self._hint(None)
        self.cancel()
        if not self.typed:
            self.shown = self._chosen = self._answer = None
            self._show_state()
            self.preview.show(None)
        elif self.typed == self.shown:
            self._stale(False)
            self._show_chosen()
            if self._answer and not self._answer.result.final:
                self.search.search_soon()
        else:
            self.preview.hold()
            self._stale(True)
            self.search.search_soon()

    def cancel(self) -> None:
        self.search.cancel()
        self.recent.cancel()

    def search_now(self) -> None:
        if self.query("#query"):  # else the app is ending
            self.search.search_now()

    def search_for(self, text: str) -> None:
        """Put a ready query in the box and search it at once."""
        self.query_line.focus()
        self._at_once = text
        self.prefill(text)

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        self.app.post_message(AddressGiven(message.address))

    def on_paste(self, event: events.Paste) -> None:
        """Pasted while the list has the focus."""
        if address := pasted_address(event.text):
            self.app.post_message(AddressGiven(address))
        else:
            self.query_line.put(event.text)

    # --- filters, whose only place is the text of the query ---

    @property
    def filtered(self) -> bool:
        return bool(query_filters.of(self.query_line.value))

    @on(FilterBar.FilterRemoved)
    def _filter_removed(self, message: FilterBar.FilterRemoved) -> None:
        self._rewrite(query_filters.without(self.query_line.value, message.chip))

    @on(FilterBar.More)
    def action_filter(self) -> None:
        from subtitle_rag.tui.dialogs.filter_screen import FilterScreen

        self.app.push_screen(FilterScreen(self.context, self.query_line.value), self._rewrite)

    def clear_filters(self) -> None:
        self._rewrite(query_filters.cleared(self.query_line.value))

    def _rewrite(self, text: str | None) -> None:
        """Put a text with other filters in the box, and search it at once."""
        self.query_line.focus()
        if text is not None and text != self.typed:
            self.search_for(text)

    # --- ready queries ---

    def take(self, text: str) -> None:
        """Search for what somebody chose from the list."""
        self.search_for(text)
        self.recent.note(text)

    @on(ReadyQueryList.QueryChosen)
    def _choice_clicked(self, message: ReadyQueryList.QueryChosen) -> None:
        self.take(message.query)

    @on(RecentsRead)
    def _recents_read(self, message: RecentsRead) -> None:
        self.recent.queries = message.recents
        self._show_choices_anew()

    @on(SuggestionsMade)
    def _suggestions_made(self, message: SuggestionsMade) -> None:
        self.recent.suggestions_made(message)
        self._show_choices_anew()

    def _show_choices_anew(self) -> None:
        if self.query(ReadyQueryList):  # else the app is ending
            self._show_notice()

    def _show_choices(self) -> None:
        """Under what the calm page says of the text that is shown, or of an empty query."""
        text = self.shown
        if text is None:
            offered, tips = [ReadyQuery(query) for query in self.recent.queries[:RECENTS]], []
        else:
            near = self.recent.suggested(text) or []
            offered = [of_suggestion(one) for one in near]
            tips = empty_states.tips(text, len(near)) if near else []
        self.choices.fill(() if self.failed else offered)
        self.query_one("#tips", Static).update(paragraphs(tips))

    # --- what is found ---

    @on(ScenesFound)
    def _scenes_found(self, message: ScenesFound) -> None:
        if message.text != self.typed:  # its successor is on the way
            return
        message = self.context.removals.visible_scenes(message)
        again = message.text == self.shown
        if again and self._answer and _worse(message.result, self._answer.result):
            return
        current = self.scenes.scene
        keep = current.id if again and current else self._chosen
        self.shown, self._answer = message.text, message
        self.scenes.fill(message.result.scenes, keep)
        self._show_chosen()
        self._stale(False)
        self._hint(None)
        self._show_state()
        self.recent.suggest(message)
        trouble = self.context.runtime.degraded_reason
        for error in (*(error for _name, error in message.result.missing), *([trouble] if trouble else [])):
            if error.code not in self._told:
                self._told.add(error.code)
                self.context.app.tell(error)

    @work(group="chosen", exclusive=True, exit_on_error=False)
    async def _show_chosen(self) -> None:
        """In a frame after that of the list, which is what somebody who types looks at."""
        await asyncio.sleep(FRAME_S)
        self.preview.show(self.scenes.scene, self._answer.result if self._answer else None, new=True)
        self.call_after_refresh(self.context.collect_garbage)

    def show_again(self) -> None:
        """Videos are about to leave."""
        if self._answer and self.query("#query"):  # else the app is ending
            self._scenes_found(self._answer)

    @on(SearchFailed)
    def _search_failed(self, message: SearchFailed) -> None:
        if message.text != self.typed:
            return
        error = message.error
        if not isinstance(error, UsageError | BusyError) and error.code != "unexpected":
            self.library_failed(error)
            return
        self._hint(error)
        if self._asked == message.text:
            self._asked = None
            self.context.app.tell(error)

    def library_opened(self, counts: "Counts") -> None:
        if not self.query("#query"):  # the app is ending
            return
        grown = self.counts is not None and counts.searchable != self.counts.searchable
        if self.counts is None:
            self.recent.read()
        self.counts = counts
        self._failed = None
        self._show_state()
        if grown:
            self.search_again()

    def search_again(self) -> None:
        """The scenes on the screen may be others now."""
        if not self.query("#query"):  # the app is ending
            return
        if self.shown == self.typed:  # whoever is typing gets an answer soon anyway
            self.search_now()

    @property
    def failed(self) -> bool:
        """The library cannot be used."""
        return self._failed is not None

    def search_ready(self) -> None:
        self._failed = None
        self._show_state()
        self.search_now()
        self.search.load_models()

    def library_failed(self, error: AppError) -> None:
        self._failed = error
        self.shown = self._answer = None
        self._show_state()

    # --- what is shown ---

    def _stale(self, stale: bool) -> None:
        """Dim the scenes of an earlier text, unless the answer is there in a moment: at every key that would flicker,
        and take as long as the search."""
        if self._dimming:
            self._dimming.stop()
        found = self.query_one("#found")
        self._dimming = self.set_timer(DIM_S, lambda: found.add_class("-stale")) if stale else None
        if not stale:
            found.remove_class("-stale")

    def _hint(self, error: AppError | None) -> None:
        """Say under the query what keeps it from being searched."""
        top = self.query_one("#top")
        if error is None:
            if top.border_subtitle is not None:  # each change of it draws the line anew
                top.border_subtitle = None
        else:
            said = error.hint if error.code in QUIET else error.message
            top.border_subtitle = Content(f"! {clean(said)}").markup

    def _show_state(self) -> None:
        self._show_counter()
        self._show_notice()

    def _show_counter(self) -> None:
        if self._answer:
            said = self._counted(self._answer.result)
        elif self.context.can_search() or self._failed:
            said = ""
        else:
            said = _("getting ready…")
        self.counter.say(said)

    def _counted(self, result: "SearchResult") -> str:
        scenes = len(result.scenes)
        said = n_("{n} scene", "{n} scenes", scenes).format(n=f"{scenes}+" if result.more else f"{scenes}")
        if stage := _stage(result):
            said += f" {stage}"
        if self.context.show_times:
            said += f" {sum(result.took_ms.values()):.0f}ms"
        if part := empty_states.searchable_videos(self.counts):
            said += " · " + _("{done}/{all} videos").format(done=part[0], all=part[1])
        return said

    @property
    def idle(self) -> bool:
        """The calm page stands there, of a library that can be used and of which nothing is asked."""
        return self.shown is None and not self.failed

    def _offer_changed(self) -> None:
        if self.idle:
            self._show_notice()

    def _show_notice(self) -> None:
        """A calm page in the place of the scenes, where there are none to show."""
        rows, page = self._notice(), self.query_one("#calm")
        if not rows and not page.display:
            return
        page.display = bool(rows)
        self.query_one("#found").display = not rows
        self.query_one("#offer").set_class(self.idle, "-calm")
        if not rows:
            self.choices.fill(())
            return
        self.notice.update(paragraphs(rows))
        self._show_choices()

    @property
    def _words_alone(self) -> bool:
        """Neither models nor contexts, which the settings want, have a part in searches yet."""
        contexts = self.context.app.contexts
        return self.context.app.offer is not None and not (contexts and contexts.done)

    def _notice(self) -> empty_states.Rows:
        if self._failed:
            return empty_states.failure(self._failed)
        if self.shown is None:
            return empty_states.welcome(
                self.counts, self.context.app.offer, words_alone=self._words_alone, recents=bool(self.recent.queries)
            )
        return (
            []
            if self.scenes.row_count
            else empty_states.no_scenes(self.shown, self.counts, self.recent.suggested(self.shown))
        )

    # --- keys ---

    def action_play(self) -> None:
        self.after_typing(self._with_scene, self.context.playback.play)

    def action_choose_player(self) -> None:
        self.after_typing(self._with_scene, self.context.playback.find_players)

    def _with_scene(self, act: "Callable[[Scene], object]") -> None:
        """Do this with the chosen scene of the text in the box; search for it first where that is not done."""
        if ready := self.choices.chosen:
            self.take(ready)
            return
        if not self.typed:
            return
        self.recent.note(self.typed)
        if self.typed != self.shown:
            self._asked = self.typed
            self.search_now()
            return
        if scene := self.scenes.scene:
            act(scene)

    def action_copy_link(self) -> None:
        scene = self.scenes.scene if self.shown is not None else None
        if scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        elif scene.jump_url is None:
            self.context.app.tell(UsageError("no_link", video=scene.video.title))
        else:
            self.recent.note(self.typed)
            self.context.playback.copy_link(scene.jump_url)

    def action_explain(self) -> None:
        if self.shown is None or self.scenes.scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        else:
            self.preview.explain()

    def action_switch(self) -> None:
        if self.query_line.has_focus and self.scenes.display and self.scenes.row_count:
            self.scenes.focus()
        else:
            self.action_focus_query()

    def action_focus_query(self) -> None:
        self.query_line.focus()

    def action_back(self) -> None:
        if not self.query_line.has_focus:
            self.action_focus_query()
        elif not self.choices.leave():
            self.query_line.value = ""

    def action_move(self, rows: int) -> None:
        (self.choices if self.choices.display else self.scenes).move(rows)

    def action_page(self, pages: int) -> None:
        self.scenes.move(pages * self.scenes.page)

    def action_retry(self) -> None:
        if self._failed:
            self._failed = None
            self._show_counter()
            self.app.post_message(LibraryRetried())

    @on(Preview.ExplanationFolded)
    def _explain_on_page(self, message: Preview.ExplanationFolded) -> None:
        from subtitle_rag.tui.dialogs.explain_screen import ExplainScreen

        self.app.push_screen(ExplainScreen(message.scene, message.result, times=self.context.show_times))

    @on(SceneList.Highlighted)
    def _highlighted(self) -> None:
        self._chosen = self.scenes.chosen
        self.preview.show(self.scenes.scene, self._answer.result if self._answer else None)

    @on(SceneList.RowClicked)
    def _clicked(self) -> None:
        self.action_focus_query()  # a click alone must not start a player

    @on(SceneList.Typed)
    def _typed_in_list(self, message: SceneList.Typed) -> None:
        self.action_focus_query()
        self.query_line.insert_text_at_cursor(message.character)


def _worse(new: "SearchResult", shown: "SearchResult") -> bool:
    """Whether an order on the way is one that the scenes on the screen have left behind."""
    return not new.final and (new.reranked, len(new.retrievers)) < (shown.reranked, len(shown.retrievers))


def _stage(result: "SearchResult") -> str:
    """How far the order of the scenes has come, in a few cells; nothing where words alone are searched."""
    said = ""
    if result.reranked:
        said = _("+reranked")
    elif len(result.retrievers) > 1:
        said = _("+meaning")
    if result.missing:
        said = f"{said} !"
    elif not result.final:
        said = f"{said} …"
    return said.strip()
