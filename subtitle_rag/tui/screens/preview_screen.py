"""The base of screens with a field, a list of scenes, and the preview of one of them. Tab goes from one to the next."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on

from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state.spoken_lines import VideoMoment, read_surroundings
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.preview_pane import WIDE, PreviewPane, choose_preview_room
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import after_typing

if TYPE_CHECKING:
    from subtitle_rag.retrieval.search.scenes import Scene


class PreviewScreen(BaseScreen):
    """Gives the preview the room that the size of the screen leaves for it; a key shows and hides it.

    Keys act on the transcript of the preview while it has the focus, else on the list.
    """

    SHOWS_VIDEOS = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    BESIDE_ROWS: ClassVar[int] = 0
    """Rows that a wide screen needs for a preview beside its list."""

    def __init__(self, context: AppContext, pane: PreviewPane) -> None:
        """`pane` has the list and the preview."""
        super().__init__(context)
        self.pane, self.text_field = pane, pane.field
        self.preview, self.scenes = pane.preview, pane.scenes

    @property
    def chosen_moment(self) -> VideoMoment | None:
        scene = self.preview.line_scene or self.preview.scene
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def find_scene(self) -> "Scene | None":
        return self.pane.find_scene()

    def action_switch(self) -> None:
        self.pane.focus_next()

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        width, height = event.size
        self.pane.put(choose_preview_room(width, height, beside_rows=self.BESIDE_ROWS))

    def action_toggle_preview(self) -> None:
        after_typing(self, self.pane.toggle)


def make_preview(context: AppContext, scenes: SceneList) -> Preview:
    """Return a preview beside a list."""
    return Preview(scenes, partial(read_surroundings, context.runtime))
