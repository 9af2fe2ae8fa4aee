"""Ctrl+F: one field, and one list of what a search can be narrowed to. It gives back the text with what was chosen.

What would surprise: an input method delivers the last syllable and Enter in one breath, and the app would act on Enter
before the field has the syllable. So what keys do waits in the field's own queue.
"""

from datetime import date
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.i18n import _
from subtitle_rag.library.names import video_facets
from subtitle_rag.retrieval.query import tidy
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.messages import ActionFailed, OffersRead
from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.filter_options import MOST, FilterCatalogue, FilterOption, FilterOptions
from subtitle_rag.tui.state.query_filters import Chip
from subtitle_rag.tui.text.content import MUTED
from subtitle_rag.tui.threads import run_in_thread
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.tui.context import AppContext

NAME_CELLS = 11
NOTE_CELLS = 24


class FilterScreen(ModalScreen[str]):
    AUTO_FOCUS = "#wanted"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "filter.take",
        "filter.close",
        "filter.remove",
        "filter.next",
        "filter.previous",
        "filter.page-down",
        "filter.page-up",
    )

    line = getters.query_one("#wanted", TextField)
    rows = getters.query_one("#offers", OptionList)

    def __init__(self, context: "AppContext", text: str) -> None:
        """`text` is the query; it is given back, changed or not, when the screen is left."""
        super().__init__()
        self.context = context
        self._text = text
        self._catalogue: FilterCatalogue | None = None
        self._chips: tuple[Chip, ...] = ()
        self._taken: frozenset[str] = frozenset()
        """The ids of what the filters let pass already."""
        self._shown: list[Chip | FilterOption | None] = []
        """What the rows stand for; None clears all filters."""
        self._narrowed_by = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="narrow") as page:
            page.border_title = Content(_("Narrow the search")).markup
            said = _("{take} chooses · {remove} takes the last away · {close} closes")
            names = {name: key(f"filter.{name}") for name in ("take", "remove", "close")}
            page.border_subtitle = Content(said.format(**names)).markup
            yield TextField(_("kind, day, channel or title"), id="wanted")
            yield OptionList(id="offers", markup=False, compact=True)
            yield Static(id="rest", markup=False)

    def on_mount(self) -> None:
        self.rows.can_focus = False
        self._read()

    def on_resize(self) -> None:
        self.call_after_refresh(self._list)

    # --- what is offered ---

    def _read(self) -> None:
        run_in_thread(
            self,
            lambda: FilterCatalogue(video_facets(self.context.runtime.library)),
            OffersRead,
            self._reading_failed,
            paths=self.context.settings.paths,
            group="offers",
            exclusive=True,
        )

    def _reading_failed(self, error: "AppError") -> None:
        self.app.post_message(ActionFailed(error))

    @on(OffersRead)
    def _offers_read(self, message: OffersRead) -> None:
        self._catalogue = message.catalogue
        self._list()

    @on(Input.Changed, "#wanted")
    def _typed(self) -> None:
        self._list(first=True)

    def _list(self, *, first: bool = False) -> None:
        """Draw the rows; the highlight stays where it is, or goes to the `first`."""
        typed = self._narrowed_by = self.line.value
        chips = query_filters.of(self._text)
        if self._catalogue and (chips != self._chips or not self._taken):
            self._taken = self._catalogue.covered_ids(chips)
        self._chips = chips
        wanted = tidy(typed).casefold()
        fitting = [chip for chip in chips if wanted in query_filters.label(chip).casefold()]
        offers = (
            self._catalogue.options(typed, chips, self._taken, date.today())
            if self._catalogue
            else FilterOptions((), 0, 0)
        )
        clear = [None] if len(chips) > 1 and not typed else []
        at = 0 if first else self.rows.highlighted or 0
        self._shown = [*fitting, *clear, *offers.rows]
        self.rows.clear_options()
        cells = self.rows.scrollable_content_region.width - NAME_CELLS - NOTE_CELLS
        self.rows.add_options([Option(_row(one, max(1, cells))) for one in self._shown])
        self.rows.highlighted = min(at, len(self._shown) - 1) if self._shown else None
        self.query_one("#rest", Static).update(Content(self._rest(offers)))

    def _rest(self, offers: FilterOptions) -> str:
        """What is not on the list, and how to get there."""
        if self._catalogue is None:
            return _("Opening the library…")
        if not self._shown:
            return _("Nothing here is called so.")
        if max(offers.channels, offers.videos) > MOST:
            more = _("Only {n} channels and {n} videos are listed; type more of the name.")
            return more.format(n=MOST)
        return "" if self.line.value else _("Type a part of a title for videos, or a date such as 2026-05.")

    # --- keys ---

    def action_take(self) -> None:
        self.line.call_later(self._take)

    def action_erase(self) -> None:
        self.line.call_later(self._erase)

    @on(OptionList.OptionSelected)
    def _take(self) -> None:
        if self.line.value != self._narrowed_by:
            self._list(first=True)
        at = self.rows.highlighted
        if at is None:
            return
        chosen = self._shown[at]
        if chosen is None:
            self._text = query_filters.cleared(self._text)
        elif isinstance(chosen, Chip):
            self._text = query_filters.without(self._text, chosen)
        elif self._catalogue:
            self._text = query_filters.with_(self._text, self._catalogue.chip(chosen))
        self.dismiss(self._text)

    def _erase(self) -> None:
        if self.line.value:
            self.line.action_delete_left()
        elif self._chips:
            self._text = query_filters.without(self._text, self._chips[-1])
            self._list()

    def action_close(self) -> None:
        self.dismiss(self._text)

    def action_move(self, rows: int) -> None:
        if self._shown:
            self.rows.highlighted = max(0, min(len(self._shown) - 1, (self.rows.highlighted or 0) + rows))

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.rows.size.height - 1))


def _row(shown: Chip | FilterOption | None, cells: int) -> Content:
    """The sign of what is set, the filter's name, and in so many cells what it is narrowed to."""
    if shown is None:
        return Content.styled("✕ " + _("Take all filters away"), "bold")
    if isinstance(shown, Chip):
        name = Content.styled(f"✓ {query_filters.word(shown.name)}", "bold")
        said, note = Content.styled(clean(query_filters.value_text(shown)), "bold"), ""
    else:
        name = Content.styled(f"  {query_filters.word(shown.name)}", MUTED)
        said, note = Content(clean(shown.label)), shown.note
    name = name.pad_right(max(1, NAME_CELLS - name.cell_length))
    said = said.truncate(cells, ellipsis=True)
    return Content.assemble(name, said.pad_right(cells - said.cell_length), "  ", (clean(note), MUTED))
