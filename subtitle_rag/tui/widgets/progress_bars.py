"""The rows of progress bars in the library."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from subtitle_rag.tui.text.stage_rows import ROWS, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events
    from textual.content import Content

PADDING = 2
"""Of a row, by its style."""


class StageRows(Vertical):
    """The rows on the screen, each drawn only where it has changed; not there while there is nothing to tell."""

    def __init__(self) -> None:
        super().__init__(id="stages")
        self._told: dict[str, Content] = {}
        self._width = 0
        self.display = False

    def compose(self) -> ComposeResult:
        for name in ROWS:
            row = Static(id=name, classes="row", markup=False)
            row.display = False
            yield row

    def on_mount(self) -> None:
        for name in ("job", "contexts", "vectors"):
            self.watch(self.app, name, self._tell, init=False)
        self._tell()

    def on_resize(self, event: "events.Resize") -> None:
        if event.size.width != self._width:
            self._tell()

    def _tell(self) -> None:
        app = self.app
        self._width = self.size.width
        told: Mapping[str, Content] = rows(
            getattr(app, "job", None),
            getattr(app, "contexts", None),
            getattr(app, "vectors", None),
            self._width - PADDING,
        )
        self.display = bool(told)
        for name in ROWS:
            said = told.get(name)
            if said == self._told.get(name):
                continue
            row = self.query_one(f"#{name}", Static)
            row.display = said is not None
            row.update(said or "")
        self._told = dict(told)
