"""A search whose filters can be seen, chosen and taken away. Its text is the only place where they stand."""

from typing import ClassVar

from textual import getters, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from subtitle_rag.i18n import N_
from subtitle_rag.tui.screens.recent_searches import ReadySearches
from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.widgets.filter_bar import FilterBar


class FilteredSearch(ReadySearches):
    """Whoever derives from it has a `FilterBar` under the query."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+f",
            "filter",
            N_("Filter"),
            show=False,
            priority=True,
            tooltip=N_("filters: channels, videos, days, kinds; a click on one takes it away"),
            id="search.filter",
        ),
    ]

    filter_bar = getters.query_one(FilterBar)

    @property
    def filtered(self) -> bool:
        return bool(query_filters.of(self.query_line.value))

    @on(Input.Changed, "#query")
    def _filters_changed(self) -> None:
        self.filter_bar.show(query_filters.of(self.query_line.value))

    @on(FilterBar.Removed)
    def _filter_removed(self, message: FilterBar.Removed) -> None:
        self.rewrite(query_filters.without(self.query_line.value, message.chip))

    @on(FilterBar.More)
    def action_filter(self) -> None:
        from subtitle_rag.tui.dialogs.filter_screen import FilterScreen

        self.app.push_screen(FilterScreen(self.context, self.query_line.value), self.rewrite)

    def clear_filters(self) -> None:
        self.rewrite(query_filters.cleared(self.query_line.value))

    def rewrite(self, text: str | None) -> None:
        """Put a text with other filters in the box, and search it at once."""
        self.query_line.focus()
        if text is not None and text != self.typed:
            self.search_for(text)
