"""The base of screens with a field, a list of scenes, and the preview of one of them. Tab goes from one to the next."""

from typing import TYPE_CHECKING

from textual import getters, on

from subtitle_rag.i18n import _
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state.transcript import VideoMoment
from subtitle_rag.tui.text import quotes
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField
from subtitle_rag.tui.widgets.transcript_list import TranscriptList

if TYPE_CHECKING:
    from textual.widget import Widget


class PreviewScreen(BaseScreen):
    """Keys act on the transcript of the preview while it has the focus, else on the list."""

    SHOWS_VIDEOS = True

    preview = getters.query_one(Preview)
    scene_list = getters.query_one(SceneList)
    text_field = getters.query_one(TextField)

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
    @on(TranscriptList.Typed)
    def _typed_in_rows(self, message: SceneList.Typed | TranscriptList.Typed) -> None:
        self.text_field.focus()
        self.text_field.insert_text_at_cursor(message.character)
