"""The scenes of a search, with the preview of the scene under the highlight."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal

from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList

if TYPE_CHECKING:
    from textual.timer import Timer

    from subtitle_rag.retrieval.search import SearchResult

FRAME_S = 0.02
"""More than Textual waits between two frames."""
DIM_S = 0.3
"""Time after a change of the query until its old scenes are dimmed."""


class ResultPane(Horizontal):
    scenes = getters.query_one(SceneList)
    preview = getters.query_one(Preview)

    def __init__(self, preview: Preview, *, after_preview: Callable[[], object]) -> None:
        """`after_preview` is called after the preview of new scenes was drawn."""
        super().__init__(id="found")
        self._preview = preview
        self._after_preview = after_preview
        self._result: SearchResult | None = None
        self._user_choice: str | None = None
        """The scene to which the user moved the highlight."""
        self._dim_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield SceneList()
        yield self._preview

    def show(self, result: "SearchResult", *, same_query: bool) -> None:
        """Show the scenes. The highlight stays on its scene, for the `same_query` even if the user did not move it."""
        scene = self.scenes.scene
        keep = scene.id if same_query and scene else self._user_choice
        self._result = result
        self.scenes.fill(result.scenes, keep)
        self.show_preview()
        self.set_stale(False)

    def clear(self) -> None:
        """Forget the result. The list keeps its rows, as a page without scenes covers it."""
        self._result = self._user_choice = None

    @work(group="chosen", exclusive=True, exit_on_error=False)
    async def show_preview(self) -> None:
        """Show the preview one frame after the list: whoever types looks at the list."""
        await asyncio.sleep(FRAME_S)
        self.preview.show(self.scenes.scene, self._result, new=True)
        self.call_after_refresh(self._after_preview)

    @on(SceneList.Highlighted)
    def _highlighted(self) -> None:
        self._user_choice = self.scenes.highlighted_id
        self.preview.show(self.scenes.scene, self._result)

    def set_stale(self, stale: bool) -> None:
        """Dim the scenes of an old query after `DIM_S`, as dimming at every key would flicker and be slow."""
        if self._dim_timer:
            self._dim_timer.stop()
        self._dim_timer = self.set_timer(DIM_S, lambda: self.add_class("-stale")) if stale else None
        if not stale:
            self.remove_class("-stale")
