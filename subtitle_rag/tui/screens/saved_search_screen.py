"""The saved searches, each with its new scenes since the last look, and the search on the screen, to save it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.i18n import _, n_
from subtitle_rag.saved_searches import save_search
from subtitle_rag.tui.keys import bindings, closed_by
from subtitle_rag.tui.messages import ActionFailed
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import clean, of_videos
from subtitle_rag.tui.text import MUTED, heading
from subtitle_rag.tui.widgets import KeyBar, Row, RowList

if TYPE_CHECKING:
    from subtitle_rag.library import SavedSearch
    from subtitle_rag.tui.controllers import AppContext

UNSAVED = "+"
"""The id of the row of the search on the screen. A saved one has its number among them."""
NARROWED = 8
"""Most videos to which a search is narrowed: each is a filter of the query."""


class SavedSearchScreen(BaseScreen):
    AUTO_FOCUS = "#saved"
    BINDINGS = bindings("saved.open saved.all saved.forget screen.back") + closed_by("app.saved")

    def __init__(self, context: "AppContext", query: str, open: Callable[[str], object]) -> None:
        """`query` is the search on the screen, which can be saved; `open` searches for a text."""
        super().__init__(context)
        self._query = query
        self._open = open
        self.rows: RowList[SavedSearch | None] = RowList("saved")
        """None is the search on the screen."""

    def compose(self) -> ComposeResult:
        yield Static(id="saved-title", markup=False)
        yield self.rows
        yield KeyBar()

    def on_mount(self) -> None:
        self.show_saved()

    def show_saved(self) -> None:
        """Read the saved searches: they were counted."""
        self._change(lambda: None)

    def _change(self, change: Callable[[], object], sentence: str = "") -> None:
        """Change the saved searches and list them."""

        def run() -> "list[SavedSearch]":
            change()
            return self.context.runtime.library.saved_searches.all()

        def take(searches: "list[SavedSearch]") -> None:
            self._list(searches)
            if sentence:
                self.context.app.notify(sentence, markup=False)
                self.context.opening.look_up()

        self.run_in_thread(run, ActionFailed, take=take, group="saved")

    def _list(self, searches: "list[SavedSearch]") -> None:
        is_unsaved = self._query and all(self._query != search.query for search in searches)
        values: dict[str, SavedSearch | None] = {UNSAVED: None} if is_unsaved else {}
        values |= {str(at): search for at, search in enumerate(searches)}
        with self.rows.prevent(RowList.Highlighted):
            self.rows.put(values, self._row)
            self.rows.cursor = self.rows.cursor or 0 if self.rows.row_count else None
        new = sum(search.new for search in searches)
        if not searches:
            note = _("No search is saved yet. Search for something, and save it here.")
        else:
            note = n_("{n} search", "{n} searches", len(searches))
            note += f" · {n_('{n} new scene', '{n} new scenes', new)}" if new else ""
        self.query_one("#saved-title", Static).update(heading(_("Saved searches"), note))
        self.refresh_bindings()

    def _row(self, search: "SavedSearch | None") -> Row:
        if search is None:
            return Content.styled(_("Save this search"), "bold"), Content.styled(f"  {clean(self._query)}", MUTED)
        news = n_("{n} new scene", "{n} new scenes", search.new) if search.new else ""
        name = Content(clean(search.name))
        query = "" if search.query == search.name else clean(search.query)
        return (name + Content.styled(f"   {news}", "bold") if news else name), Content.styled(f"  {query}", MUTED)

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("open_all", "forget"):
            return self.rows.value is not None
        if action == "open":
            return self.rows.row_count > 0
        return super().allows(action, parameters)

    @on(RowList.Highlighted)
    def _row_changed(self) -> None:
        self.refresh_bindings()

    @on(RowList.RowDoubleClicked)
    def action_open(self) -> None:
        """Show the new scenes of the search, or all without any; save the search on the screen."""
        if self.rows.cursor_key == UNSAVED:
            library, query = self.context.runtime.library, self._query
            self._change(
                lambda: save_search(library, query, query),
                _("Saved. From now on the first page tells its new scenes."),
            )
        elif search := self.rows.value:
            self._look(search, only_new=0 < len(search.videos) <= NARROWED)

    def action_open_all(self) -> None:
        if search := self.rows.value:
            self._look(search, only_new=False)

    def _look(self, search: "SavedSearch", *, only_new: bool) -> None:
        """Search for it, and note that its scenes are looked at."""
        library = self.context.runtime.library

        def run() -> str:
            videos = library.videos_by_id(*search.videos) if only_new else {}
            library.saved_searches.look(search.name)
            return of_videos(search.query, {id: video.title for id, video in videos.items()})

        def take(text: str) -> None:
            self.context.opening.look_up()
            self.dismiss()
            self._open(text)
            if only_new:
                sentence = _("Only videos with new scenes are shown: without their filter all are.")
                self.context.app.notify(sentence, markup=False)

        self.run_in_thread(run, ActionFailed, take=take, group="saved")

    def action_forget(self) -> None:
        if search := self.rows.value:
            forget = self.context.runtime.library.saved_searches.forget
            self._change(lambda: forget(search.name), _("Forgotten: {name}").format(name=clean(search.name)))
