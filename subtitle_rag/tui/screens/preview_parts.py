"""Makes the preview of a screen."""

from typing import TYPE_CHECKING

from subtitle_rag.tui.state.scene_surroundings import read_surroundings
from subtitle_rag.tui.widgets.preview import Preview

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.tui.context import AppContext


def make_preview(context: "AppContext", screen: "Screen[None]") -> Preview:
    """Return a preview, with pictures if the settings want them and the terminal can draw them."""
    runtime = context.runtime
    pictures = context.settings.tui.pictures and not (screen.app.no_color or screen.app.is_web)
    return Preview(
        lambda video_id, result: read_surroundings(runtime, video_id, result),
        (lambda scene: runtime.pictures.of(scene.video, scene.at_ms)) if pictures else None,
        show_times=context.show_times,
    )
