"""The base of screens with a field, a list of scenes, and the preview of one of them. Tab goes from one to the next."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on

from subtitle_rag.i18n import _
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state.preview_room import WIDE, PreviewRoom, preview_room
from subtitle_rag.tui.state.spoken_lines import VideoMoment
from subtitle_rag.tui.text import quotes
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField
from subtitle_rag.tui.widgets.transcript_list import TranscriptList

if TYPE_CHECKING:
    from textual.binding import Binding
    from textual.widget import Widget

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
        self.room = PreviewRoom.BESIDE
        self._is_shown = {room: room is not PreviewRoom.OVER for room in PreviewRoom}
        """What the user chose for each room."""

    @property
    def moving_rows(self) -> SceneList | TranscriptList:
        """The rows that keys move through."""
        transcript = self.preview.transcript
        return transcript if transcript.has_focus else self.scene_list

    @property
    def chosen_moment(self) -> VideoMoment | None:
        scene = self.preview.line_scene or self.preview.scene
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def action_switch(self) -> None:
        """Go from the field to the list, to the transcript and back, as far as they are on the screen."""
        stops: list[Widget] = [self.text_field]
        for rows, count in (
            (self.scene_list, self.scene_list.row_count),
            (self.preview.transcript, self.preview.transcript.line_count),
        ):
            if count and rows.is_on_screen:
                stops.append(rows)
        at = stops.index(self.focused) if self.focused in stops else -1
        stops[(at + 1) % len(stops)].focus()

    def leave_transcript(self) -> bool:
        """Go back to the list, if the focus is in the transcript."""
        if in_transcript := self.preview.transcript.has_focus:
            self.scene_list.focus()
        return in_transcript

    def action_focus_query(self) -> None:
        self.text_field.focus()

    def action_copy_quote(self) -> None:
        if scene := self.preview.line_scene:
            quote = quotes.quote(scene.video, scene.at_ms, scene.text)
            self.context.playback.copy_text(quote, _("Quote copied, with its source."))

    @on(SceneList.Typed)
    @on(TranscriptList.CharacterTyped)
    def _typed_in_rows(self, message: SceneList.Typed | TranscriptList.CharacterTyped) -> None:
        self.text_field.focus()
        self.text_field.insert_text_at_cursor(message.character)

    # --- the room of the preview ---

    @property
    def is_covered(self) -> bool:
        """Whether the preview lies over the list."""
        return self.room is PreviewRoom.OVER and self._is_shown[self.room]

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        width, height = event.size
        self.room = preview_room(width, height, beside_rows=self.BESIDE_ROWS, below_rows=self.BELOW_ROWS)
        self._place_preview()

    def action_toggle_preview(self) -> None:
        self.after_typing(self._toggle_preview)

    def _toggle_preview(self) -> None:
        if self.room is PreviewRoom.OVER and not self.is_covered and not self.preview.visible:
            self.app.notify(_("No scene is chosen yet."), markup=False)
            return
        self.leave_transcript()
        self._is_shown[self.room] = not self._is_shown[self.room]
        self._place_preview()

    def uncover(self) -> bool:
        """Close the preview if it lies over the list, and return whether it did."""
        if not self.is_covered:
            return False
        self._toggle_preview()
        return True

    def _place_preview(self) -> None:
        is_shown = self._is_shown[self.room]
        self.preview.display = is_shown
        self.update_classes({room.value: room is self.room for room in PreviewRoom} | {"-preview": is_shown})
        self.refresh_bindings()

    def _translate(self, binding: "Binding") -> "Binding":
        """Name the key of the preview in the footer where the preview is not in sight by itself."""
        translation = super()._translate(binding)
        if binding.id not in TOGGLES:
            return translation
        description = _("Close") if self.is_covered else translation.description
        return replace(translation, description=description, show=self.is_covered or not self._is_shown[self.room])
