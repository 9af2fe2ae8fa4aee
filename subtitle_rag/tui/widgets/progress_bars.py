"""The rows of progress bars in the library."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from subtitle_rag.tui.text import ROWS, stage_progress_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events
    from textual.content import Content

PADDING = 2
"""Horizontal padding of a row, by its style."""


class StageRows(Vertical):
    """The rows on the screen, each redrawn after a change; hidden without news."""

    def __init__(self) -> None:
        super().__init__(id="stages")
        self._contents: dict[str, Content] = {}
        self._width = 0
        self.display = False

    def compose(self) -> ComposeResult:
        for name in ROWS:
            row = Static(id=name, classes="row", markup=False)
            row.display = False
            yield row

    def on_mount(self) -> None:
        for name in ("job", "contexts", "vectors"):
            self.watch(self.app, name, self._update_rows, init=False)
        self._update_rows()

    def on_resize(self, event: "events.Resize") -> None:
        if event.size.width != self._width:
            self._update_rows()

    def _update_rows(self) -> None:
        app = self.app
        self._width = self.size.width
        contents: Mapping[str, Content] = stage_progress_rows(
            getattr(app, "job", None),
            getattr(app, "contexts", None),
            getattr(app, "vectors", None),
            self._width - PADDING,
        )
        self.display = bool(contents)
        for name in ROWS:
            content = contents.get(name)
            if content == self._contents.get(name):
                continue
            row = self.query_one(f"#{name}", Static)
            row.display = content is not None
            row.update(content or "")
        self._contents = dict(contents)
