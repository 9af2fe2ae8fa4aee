"""The explanation of a scene, if the preview has no room for it."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from subtitle_rag.i18n import _
from subtitle_rag.tui import keymap
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.text import explain_rows

if TYPE_CHECKING:
    from subtitle_rag.retrieval import Scene, SearchResult


class ExplainScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = bindings("explain.close")

    def __init__(self, scene: "Scene", result: "SearchResult", *, times: bool) -> None:
        super().__init__()
        self._explanation = scene, result, times

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="explain") as page:
            page.border_subtitle = Content(_("{key} closes").format(key=keymap.key("explain.close"))).markup
            yield Static(id="why", markup=False)

    def on_mount(self) -> None:
        self.query_one("#explain").focus()

    def on_resize(self) -> None:
        scene, result, times = self._explanation
        page, why = self.query_one("#explain"), self.query_one("#why", Static)
        self.call_after_refresh(
            lambda: why.update(Content("\n").join(explain_rows(scene, result, page.content_size.width, times=times)))
        )
