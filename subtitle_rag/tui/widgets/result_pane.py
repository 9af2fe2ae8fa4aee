"""The result of a search: its scenes, with the preview of the scene under the highlight."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work

from subtitle_rag.i18n import _
from subtitle_rag.retrieval.korean.keyboard import key_sequence
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.preview_pane import PreviewPane
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from textual.timer import Timer

    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.retrieval.search.scenes import Scene

FRAME_S = 0.02
"""More than Textual waits between two frames."""
DIM_S = 0.3
"""Time after a change of the query until its old scenes are dimmed."""


class ResultPane(PreviewPane):
    def __init__(self, field: TextField, scenes: SceneList, preview: Preview) -> None:
        super().__init__(scenes, preview, field=field, scenes=scenes, preview=preview, id="found")
        self.text: str | None = None
        """The query of the scenes. None before the first result, and for an empty query."""
        self.result: SearchResult | None = None
        self._user_choice: str | None = None
        """The scene to which the user moved the highlight."""
        self._dim_timer: Timer | None = None

    def keeps_old_results(self, text: str, result: "SearchResult") -> bool:
        """Return whether the scenes stay while the user types on, as nothing is found for the longer last word."""
        before, words = (self.text or "").split(), text.split()
        if text == self.text or not before or len(before) != len(words) or not words[-1].isalnum():
            return False
        return key_sequence(text).startswith(key_sequence(self.text or "")) and self._has_more(result)

    def _has_more(self, result: "SearchResult") -> bool:
        return not result.scenes and self.scenes.row_count > 0

    def accepts(self, text: str, result: "SearchResult", *, is_composing: bool) -> bool:
        """Return whether a result is to replace the one on the screen.

        A result without scenes does not, while an input method is at work on the last syllable. Nor does an earlier
        stage of the same search.
        """
        if is_composing and self._has_more(result):
            return False
        return result.final or text != self.text or self.result is None or _stage(result) >= _stage(self.result)

    def show(self, text: str, result: "SearchResult") -> None:
        """Show the scenes. The highlight stays on its scene; for another query only if the user moved it there."""
        scene = self.scenes.value
        keep = scene.id if text == self.text and scene else self._user_choice
        still = text == self.text and keep is not None and keep == self._user_choice
        self.text, self.result = text, result
        self.scenes.fill(result.scenes, keep, still=still)
        self.show_preview()
        self.set_stale(False)

    def set_progress(self, progress: tuple[int, int] | None) -> None:
        """Note the progress of a refinement, or None for its end."""
        if self.result is not None and self.result.rerank_progress != progress:
            self.result = replace(self.result, rerank_progress=progress, final=progress is None)

    def clear(self) -> None:
        """Forget the result. The list keeps its rows, as a page without scenes covers it."""
        self.text = self.result = self._user_choice = None

    @work(group="chosen", exclusive=True, exit_on_error=False)
    async def show_preview(self) -> None:
        """Show the preview one frame after the list: whoever types looks at the list."""
        await asyncio.sleep(FRAME_S)
        self.preview.show(self.scenes.value, self.result, new=True)

    def find_scene(self) -> "Scene | None":
        scene = self.preview.line_scene or (self.scenes.value if self.text is not None else None)
        if scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return scene

    @on(SceneList.Highlighted)
    def _highlighted(self) -> None:
        self._user_choice = self.scenes.cursor_key or None
        self.preview.show(self.scenes.value, self.result)

    def set_stale(self, stale: bool) -> None:
        """Dim the scenes of an old query after `DIM_S`, as dimming at every key would flicker and be slow."""
        if self._dim_timer:
            self._dim_timer.stop()
        self._dim_timer = self.set_timer(DIM_S, lambda: self.add_class("-stale")) if stale else None
        if not stale:
            self.remove_class("-stale")


def _stage(result: "SearchResult") -> tuple[bool, int]:
    """Return how far the search has come: its later stages compare greater."""
    return result.reranked, len(result.retrievers)
