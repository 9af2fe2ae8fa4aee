"""Choice of filters, with a field to narrow the list. Returns the query with the new filters.

An input method sends its last syllable together with Enter, and the app receives Enter before the field has the
syllable. So key actions wait in the field's own queue.
"""

from datetime import date
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.search.filter_options import MOST, FilterCatalogue, FilterOption, FilterOptions
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.dialogs.dialog import ListDialog, framed
from subtitle_rag.tui.shared.fields.text_field import TextField
from subtitle_rag.tui.shared.messages import ActionFailed
from subtitle_rag.tui.shared.query_filters import (
    Chip,
    filter_label,
    filter_value_text,
    filter_word,
    query_chips,
    with_filter,
    without_filter,
    without_filters,
)
from subtitle_rag.tui.threads import run_in_thread

ERASE = "backspace"
"""Key that removes the last filter while the field is empty."""
NAME_CELLS = 11
NOTE_CELLS = 24
"""Most cells of a note; on a narrow screen value and note have half of the width each."""


class FilterScreen(ListDialog[str]):
    AUTO_FOCUS = "#wanted"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(ERASE, "erase", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]

    line = getters.query_one("#wanted", TextField)

    def __init__(self, context: AppContext, text: str) -> None:
        """`text` is the query; it is returned even if unchanged."""
        super().__init__()
        self.context = context
        self._text = text
        self._catalogue: FilterCatalogue | None = None
        self._chips: tuple[Chip, ...] = ()
        self._covered_ids: frozenset[str] = frozenset()
        """Ids of rows that the query's filters already cover."""
        self._row_values: list[Chip | FilterOption | None] = []
        """Values of the rows; None clears all filters."""
        self._narrowed_by = ""

    def compose(self) -> ComposeResult:
        text = _("{take} chooses · {remove} takes the last away · {close} closes")
        names = {"take": key("screen.enter"), "remove": keymap.key_text(ERASE), "close": key("screen.back")}
        with framed(Vertical(id="narrow"), _("Narrow the search"), text.format(**names)):
            yield TextField(_("kind, day, channel or title"), id="wanted")
            yield OptionList(id="offers", markup=False, compact=True)
            yield Static(id="rest", markup=False)

    def on_mount(self) -> None:
        from subtitle_rag.library.names import video_facets

        self.rows.can_focus = False
        run_in_thread(
            self,
            lambda: FilterCatalogue(video_facets(self.context.runtime.library)),
            ActionFailed,
            take=self._show_offers,
            group="offers",
        )

    def on_resize(self) -> None:
        self.call_after_refresh(self._list)

    def _show_offers(self, catalogue: FilterCatalogue) -> None:
        self._catalogue = catalogue
        self._list()

    @on(Input.Changed, "#wanted")
    def _typed(self) -> None:
        self._list(first=True)

    def _list(self, *, first: bool = False) -> None:
        """Draw the rows; the highlight keeps its row, or goes to `first`."""
        typed = self._narrowed_by = self.line.value
        chips = query_chips(self._text)
        if self._catalogue and (chips != self._chips or not self._covered_ids):
            self._covered_ids = self._catalogue.covered_ids(chips)
        self._chips = chips
        needle = tidy(typed).casefold()
        matches = [chip for chip in chips if needle in filter_label(chip).casefold()]
        offers = FilterOptions((), 0, 0)
        if self._catalogue:
            offers = self._catalogue.options(typed, chips, self._covered_ids, date.today())
        clear = [None] if len(chips) > 1 and not typed else []
        at = 0 if first else self.rows.highlighted or 0
        self._row_values = [*matches, *clear, *offers.rows]
        self.rows.clear_options()
        room = self.rows.scrollable_content_region.width - NAME_CELLS
        cells = max(1, room - NOTE_CELLS, room // 2)
        self.rows.add_options([_row(value, cells) for value in self._row_values])
        self.rows.highlighted = at
        self.query_one("#rest", Static).update(Content(self._rest(offers)))

    def _rest(self, offers: FilterOptions) -> str:
        """Return a hint about filters missing from the list."""
        if self._catalogue is None:
            return _("Opening the library…")
        if self._catalogue.is_empty:
            return _("The library is empty.")
        if not self._row_values:
            return _("No matches.")
        if max(offers.channels, offers.videos) > MOST:
            more = _("Only {n} channels and {n} videos are listed; type more of the name.")
            return more.format(n=MOST)
        return "" if self.line.value else _("Type a part of a title for videos, or a date such as 2026-05.")

    def action_take(self) -> None:
        self.line.call_later(self._take)

    def action_erase(self) -> None:
        self.line.call_later(self._erase)

    @on(OptionList.OptionSelected)
    def _take(self) -> None:
        if self.line.value != self._narrowed_by:
            self._list(first=True)
        if self.rows.highlighted is None:
            return
        value = self._row_values[self.rows.highlighted]
        if value is None:
            self._text = without_filters(self._text)
        elif isinstance(value, Chip):
            self._text = without_filter(self._text, value)
        elif self._catalogue:
            self._text = with_filter(self._text, self._catalogue.chip(value))
        self.dismiss(self._text)

    def _erase(self) -> None:
        if self.line.value:
            self.line.action_delete_left()
        elif self._chips:
            self._text = without_filter(self._text, self._chips[-1])
            self._list()

    def action_back(self) -> None:
        self.dismiss(self._text)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.rows.size.height - 1))


def _row(value: Chip | FilterOption | None, cells: int) -> Content:
    """Return a sign for an active filter, its name, its value in `cells` cells, and a note."""
    if value is None:
        return Content.styled("✕ " + _("Remove all filters"), "bold")
    if isinstance(value, Chip):
        name = Content.styled(f"✓ {filter_word(value.name)}", "bold")
        label, note = Content.styled(clean(filter_value_text(value)), "bold"), ""
    else:
        name = Content.styled(f"  {filter_word(value.name)}", MUTED)
        label, note = Content(clean(value.label)), value.note
    name = name.pad_right(max(1, NAME_CELLS - name.cell_length))
    label = label.truncate(cells, ellipsis=True)
    return Content.assemble(name, label.pad_right(cells - label.cell_length), "  ", (clean(note), MUTED))
