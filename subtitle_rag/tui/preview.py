"""The chosen scene beside the list."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.domain import clock
from subtitle_rag.i18n import _
from subtitle_rag.tui import text
from subtitle_rag.tui.scene_list import content

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene


class Preview(Vertical):
    """One scene: of which video it is, what a model wrote of it, and, apart from that, what is said in it."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="preview")
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="about")
        with VerticalScroll(id="context", can_focus=False):
            yield Static(id="written")
        with VerticalScroll(id="transcript", can_focus=False):
            yield Static(id="lines")

    def show(self, scene: "Scene | None") -> None:
        """A scene that is shown already stays where somebody has scrolled it to."""
        before, self._scene = self._scene, scene
        if _written(scene) != _written(before):
            self._draw_context()
        if scene is None or before is None or content(scene) != content(before):
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw_context(self) -> None:
        written = _written(self._scene)
        self.query_one("#context").display = bool(written)
        label = (_("Context") + "  ", "bold $text-accent")
        self.query_one("#written", Static).update(Content.assemble(label, (written, text.MUTED)))

    def _draw(self) -> None:
        about, lines = self.query_one("#about", Static), self.query_one("#lines", Static)
        scene = self._scene
        if scene is None:
            about.update("")
            lines.update("")
            return
        video = scene.video
        where = (text.clean(video.channel), video.published.isoformat() if video.published else "", clock(scene.at_ms))
        rows = [
            Content.styled(text.clean(video.title), "bold"),
            Content.styled(" · ".join(part for part in where if part), text.MUTED),
            Content.styled(scene.jump_url or _("no link"), text.MUTED),
        ]
        about.update(Content("\n").join(rows))
        transcript = self.query_one("#transcript", VerticalScroll)
        said, matched = text.transcript(scene, transcript.scrollable_content_region.width)
        lines.update(Content("\n").join(said))
        # the new lines have no height before the next layout
        self.call_after_refresh(
            transcript.scroll_to, y=max(0, matched - transcript.size.height // 3), animate=False, force=True
        )


def _written(scene: "Scene | None") -> str:
    """What a model wrote of it."""
    return text.clean(scene.context or "").strip() if scene else ""
