"""The first screen: the query keeps the focus, the scenes follow it, Enter jumps.

What would surprise is the Enter rule. Whoever types Hangul ends the last syllable and presses Enter in one breath, and
the results on the screen are still those of the text before. So Enter plays only what answers the text in the box;
otherwise it searches, at once, and a second Enter plays.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Footer, Input, OptionList, Static
from textual.worker import get_current_worker

from subtitle_rag.errors import AppError, BusyError, UsageError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.retrieval.query import parse, tidy
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.field import pasted_address
from subtitle_rag.tui.messages import ScenesFound, SearchFailed
from subtitle_rag.tui.text import MUTED
from subtitle_rag.tui.widgets import ContextBar, JobBar, Line, Page, Preview, SceneList, paragraphs

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.tui.app import SubtitleApp

DEBOUNCE_S = 0.2
QUIET = ("bad_filter", "empty_query", "only_exclusions")
"""Failures of a query that is not finished yet: what to type next is told, and nothing else."""


class SearchScreen(Page):
    app: "SubtitleApp"

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#query"
    UNTOLD = frozenset({"library.sync", "library.contexts"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "play", N_("Play"), priority=True, id="scene.play"),
        Binding("ctrl+y", "copy_link", N_("Copy link"), priority=True, id="scene.copy"),
        Binding("tab", "switch", N_("List/query"), priority=True, id="search.switch"),
        Binding("escape", "back", N_("Back"), show=False, priority=True, id="search.back"),
        Binding("down,ctrl+n", "move(1)", N_("Down"), show=False, priority=True, id="list.next"),
        Binding("up", "move(-1)", N_("Up"), show=False, priority=True, id="list.previous"),
        Binding("pagedown", "page(1)", N_("Page down"), show=False, priority=True, id="list.page-down"),
        Binding("pageup", "page(-1)", N_("Page up"), show=False, priority=True, id="list.page-up"),
        Binding("ctrl+r", "retry", N_("Try again"), show=False, priority=True, id="library.retry"),
    ]

    query_line = getters.query_one("#query", Line)
    scenes = getters.query_one(SceneList)
    preview = getters.query_one(Preview)
    counter = getters.query_one("#counter", Static)
    notice = getters.query_one("#notice", Static)

    def __init__(self) -> None:
        super().__init__()
        self.shown: str | None = None
        """The text that the scenes on the screen answer; None before the first answer and for an empty query."""
        self._answer: ScenesFound | None = None
        self.counts: Counts | None = None
        self._failed: AppError | None = None
        self._chosen: str | None = None
        """The scene that the user moved to; the highlight stays with it."""
        self._asked: str | None = None
        """The text for which Enter was pressed: its failure is told aloud."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static("❯", id="prompt")
            yield Line(_("What was said in the scene?"), id="query")
            yield Static(id="counter", markup=False)
        with Horizontal(id="found"):
            yield SceneList()
            yield Preview()
        with VerticalScroll(id="calm", can_focus=False):
            yield Static(id="notice", markup=False)
        yield JobBar()
        yield ContextBar(whole=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._show_counter()
        self._show_notice()
        self.watch(self.app, "job", self.query_one(JobBar).show)
        self.watch(self.app, "contexts", self.query_one(ContextBar).show)

    # --- what is typed ---

    @property
    def typed(self) -> str:
        return tidy(self.query_line.value)

    @on(Input.Changed, "#query")
    def _query_changed(self) -> None:
        self._asked = None
        self._hint(None)
        if not self.typed:
            self._cancel()
            self.shown = self._chosen = self._answer = None
            self._show_counter()
            self._show_notice()
        elif self.typed == self.shown:
            self._cancel()
            self._stale(False)
        else:
            self._stale(True)
            self._search_soon()

    @on(Line.AddressPasted)
    def _address_pasted(self, message: Line.AddressPasted) -> None:
        self.app.open_library(message.address)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted while the list has the focus."""
        if address := pasted_address(event.text):
            self.app.open_library(address)
        else:
            self.query_line.put(event.text)

    def _cancel(self) -> None:
        self.workers.cancel_group(self, "debounce")
        self.workers.cancel_group(self, "search")

    @work(group="debounce", exclusive=True, exit_on_error=False)
    async def _search_soon(self) -> None:
        await asyncio.sleep(DEBOUNCE_S)
        self.search_now()

    def search_now(self) -> None:
        """Search what is typed, as soon as searching is possible."""
        self.workers.cancel_group(self, "debounce")
        if self.typed and self.app.ready and self._failed is None:
            self._search(self.typed)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False)
    def _search(self, typed: str) -> None:
        worker = get_current_worker()
        message: ScenesFound | SearchFailed
        settings = self.app.settings
        try:
            searcher = self.app.runtime.searcher
            message = ScenesFound(typed, searcher.search(parse(typed), limit=settings.search.limit))
        except Exception as error:  # whatever a door throws, the app stays up
            message = SearchFailed(typed, told(error, settings.paths))
        if not worker.is_cancelled:
            self.post_message(message)

    # --- what is found ---

    @on(ScenesFound)
    def _scenes_found(self, message: ScenesFound) -> None:
        if message.text != self.typed:  # its successor is on the way
            return
        again = message.text == self.shown
        current = self.scenes.scene
        keep = current.id if again and current else self._chosen
        self.shown, self._answer = message.text, message
        self.scenes.fill(message.result.scenes, keep)
        self.preview.show(self.scenes.scene)
        self._stale(False)
        self._hint(None)
        self._show_counter()
        self._show_notice()

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
            self.app.tell(error)

    def library_opened(self, counts: "Counts") -> None:
        grown = self.counts is not None and counts.searchable != self.counts.searchable
        self.counts = counts
        self._failed = None
        self._show_counter()
        self._show_notice()
        if grown:
            self.search_again()

    def search_again(self) -> None:
        """The scenes on the screen may be others now."""
        if self.shown == self.typed:  # whoever is typing gets an answer soon anyway
            self.search_now()

    @property
    def failed(self) -> bool:
        """The library cannot be used."""
        return self._failed is not None

    def search_ready(self) -> None:
        self._failed = None
        self._show_counter()
        self._show_notice()
        self.search_now()

    def library_failed(self, error: AppError) -> None:
        self._failed = error
        self.shown = self._answer = None
        self._show_counter()
        self._show_notice()

    # --- what is shown ---

    def _stale(self, stale: bool) -> None:
        self.query_one("#found").set_class(stale, "-stale")

    def _hint(self, error: AppError | None) -> None:
        """Say under the query what keeps it from being searched."""
        top = self.query_one("#top")
        if error is None:
            top.border_subtitle = None
        else:
            said = error.hint if error.code in QUIET else error.message
            top.border_subtitle = Content(f"! {said}").markup

    def _show_counter(self) -> None:
        if self._answer:
            said = self._counted(self._answer.result)
        elif self.app.ready or self._failed:
            said = ""
        else:
            said = _("getting ready…")
        self.counter.update(Content(said))

    def _counted(self, result: "SearchResult") -> str:
        scenes = len(result.scenes)
        said = n_("{n} scene", "{n} scenes", scenes).format(n=f"{scenes}+" if result.more else f"{scenes}")
        if self.app.show_times:
            said += f" {sum(result.took_ms.values()):.0f}ms"
        if part := self._searched():
            said += " · " + _("{done}/{all} videos").format(done=part[0], all=part[1])
        return said

    def _searched(self) -> tuple[int, int] | None:
        """How many videos can be searched, and how many it will be, while some are still to be fetched."""
        if not self.counts or not self.counts.due:
            return None
        coming = self.counts.videos - self.counts.failed
        return coming - self.counts.due, coming

    def _show_notice(self) -> None:
        """A calm page in the place of the scenes, where there are none to show."""
        rows = self._notice()
        self.query_one("#calm").display = bool(rows)
        self.query_one("#found").display = not rows
        self.notice.update(paragraphs(rows))

    def _notice(self) -> list[str | tuple[str, str]]:
        if self._failed:
            retry = _("ctrl+r tries again, ctrl+q leaves.")
            return [(f"! {self._failed.message}", "bold"), "", self._failed.hint, "", (retry, MUTED)]
        if self.shown is None:
            return self._welcome()
        if self.scenes.option_count:
            return []
        rows: list[str | tuple[str, str]] = [
            (_("No scene for “{query}”.").format(query=self.shown), "bold"),
            "",
            _("· Try fewer or shorter words, just as they would be spoken."),
        ]
        rows[1:1] = self._so_far()
        try:
            query = parse(self.shown)
        except UsageError:
            return rows
        if query.channels or query.videos or query.after or query.before or query.excluded or query.phrases:
            rows.append(_("· Take away a filter, a quotation mark or a -word."))
        else:
            rows.append(_("· Try another spelling, or another word for the same thing."))
        return rows

    def _welcome(self) -> list[str | tuple[str, str]]:
        counts = self.counts
        if counts is None:
            return [(_("Opening the library…"), MUTED)]
        sizes = _("Videos {videos} · Windows {windows}").format(videos=counts.videos, windows=f"{counts.windows:,}")
        rows: list[str | tuple[str, str]] = [(sizes, "bold"), ""]
        if so_far := self._so_far():
            rows += [*so_far, ""]
        elif counts.searchable < counts.windows:
            part = _("Only {done} of {all} windows can be searched yet.")
            rows += [part.format(done=f"{counts.searchable:,}", all=f"{counts.windows:,}"), ""]
        rows += [
            _("Type what you remember of a scene, for example: chicken dipped in sauce"),
            (_('Exactly these words: "in quotes" · without: -word · channel: · after:2026-01-01'), MUTED),
        ]
        return rows

    def _so_far(self) -> list[str | tuple[str, str]]:
        part = self._searched()
        if not part:
            return []
        return [_("{done} of {all} videos are searched so far.").format(done=f"{part[0]:,}", all=f"{part[1]:,}")]

    # --- keys ---

    def action_play(self) -> None:
        if not self.typed:
            return
        if self.typed != self.shown:
            self._asked = self.typed
            self.search_now()
            return
        if scene := self.scenes.scene:
            self.app.jump(scene)

    def action_copy_link(self) -> None:
        scene = self.scenes.scene if self.shown is not None else None
        if scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        elif scene.jump_url is None:
            self.app.tell(UsageError("no_link", video=scene.video.title))
        else:
            self.app.copy_link(scene.jump_url)

    def action_switch(self) -> None:
        if self.query_line.has_focus and self.scenes.display and self.scenes.option_count:
            self.scenes.focus()
        else:
            self.action_focus_query()

    def action_focus_query(self) -> None:
        self.query_line.focus()

    def action_back(self) -> None:
        if not self.query_line.has_focus:
            self.action_focus_query()
        else:
            self.query_line.value = ""

    def action_move(self, rows: int) -> None:
        self.scenes.move(rows)

    def action_page(self, pages: int) -> None:
        self.scenes.move(pages * self.scenes.page)

    def action_retry(self) -> None:
        if self._failed:
            self._failed = None
            self._show_counter()
            self.app.reopen()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        scene = self.scenes.scene
        self._chosen = scene.id if scene else None
        self.preview.show(scene)

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        # Enter is bound above: only the mouse selects, and a click alone must not start a player
        self.action_focus_query()

    @on(SceneList.Typed)
    def _typed_in_list(self, message: SceneList.Typed) -> None:
        self.action_focus_query()
        self.query_line.insert_text_at_cursor(message.character)
