"""The base of screens with a field, a list of scenes, and the preview of one of them. Tab goes from one to the next."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on

from subtitle_rag.i18n import _
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.preview_layout import PreviewLayout
from subtitle_rag.tui.state.preview_room import WIDE, preview_room
from subtitle_rag.tui.state.spoken_lines import VideoMoment
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField, after_typing
from subtitle_rag.tui.widgets.transcript_list import TranscriptList

if TYPE_CHECKING:
    from textual.binding import Binding

    from subtitle_rag.tui.context import AppContext

TOGGLES = ("search.preview", "answer.preview")


class PreviewScreen(BaseScreen):
    """Gives the preview the room that the size of the screen leaves for it; a key shows and hides it.

    Keys act on the transcript of the preview while it has the focus, else on the list.
    """

    SHOWS_VIDEOS = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    BESIDE_ROWS: ClassVar[int] = 0
    """Rows that a wide screen needs for a preview beside its list."""
    BELOW_ROWS: ClassVar[int] = 30
    """Rows that a narrow screen needs for a preview below its list."""

    preview = getters.query_one(Preview)
    scene_list = getters.query_one(SceneList)
    text_field = getters.query_one(TextField)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self.preview_layout = PreviewLayout(self)

    @property
    def chosen_moment(self) -> VideoMoment | None:
        scene = self.preview.line_scene or self.preview.scene
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def action_switch(self) -> None:
        self.preview_layout.focus_next()

    def action_focus_query(self) -> None:
        self.text_field.focus()

    @on(SceneList.Typed)
    @on(TranscriptList.CharacterTyped)
    def _typed_in_rows(self, message: SceneList.Typed | TranscriptList.CharacterTyped) -> None:
        self.text_field.focus()
        self.text_field.insert_text_at_cursor(message.character)

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste into the list as one into the field."""
        self.text_field.take_paste(event.text)

    # --- the room of the preview ---

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        width, height = event.size
        self.preview_layout.put(preview_room(width, height, beside_rows=self.BESIDE_ROWS, below_rows=self.BELOW_ROWS))

    def action_toggle_preview(self) -> None:
        after_typing(self, self.preview_layout.toggle)

    def _translate(self, binding: "Binding") -> "Binding":
        """Name the key of the preview in the footer where the preview is not in sight by itself."""
        translation = super()._translate(binding)
        if binding.id not in TOGGLES:
            return translation
        layout = self.preview_layout
        description = _("Close") if layout.covers_list else translation.description
        return replace(translation, description=description, show=layout.covers_list or not layout.is_open)
