"""Where the preview of a screen lies, and how the keys move between the field, the list and the preview."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import _
from subtitle_rag.tui.state.preview_room import PreviewRoom
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

    from subtitle_rag.tui.widgets.transcript_list import TranscriptList


class PreviewLayout:
    """Gives the preview of a screen its room, which the user shows and hides."""

    def __init__(self, screen: "Screen[None]") -> None:
        self._screen = screen
        self.room = PreviewRoom.BESIDE
        self._is_open = {room: room is not PreviewRoom.OVER for room in PreviewRoom}
        """What the user chose for each room."""

    @property
    def _scenes(self) -> SceneList:
        return self._screen.query_one(SceneList)

    @property
    def _preview(self) -> Preview:
        return self._screen.query_one(Preview)

    @property
    def is_open(self) -> bool:
        return self._is_open[self.room]

    @property
    def covers_list(self) -> bool:
        return self.room is PreviewRoom.OVER and self.is_open

    def put(self, room: PreviewRoom) -> None:
        self.room = room
        self._arrange()
        self._keep_focus_visible()

    def toggle(self) -> None:
        """Show or hide the preview. Without a scene it cannot lie over the list: say so."""
        if self.room is PreviewRoom.OVER and not self.is_open and not self._preview.visible:
            self._screen.app.notify(_("No scene is chosen yet."), markup=False)
            return
        self.leave_transcript()
        self._is_open[self.room] = not self.is_open
        self._arrange()
        self._keep_focus_visible()

    def uncover(self) -> bool:
        """Close the preview if it lies over the list, and return whether it did."""
        if covered := self.covers_list:
            self.toggle()
        return covered

    def _arrange(self) -> None:
        self._preview.display = self.is_open
        self._screen.update_classes(
            {room.value: room is self.room for room in PreviewRoom} | {"-preview": self.is_open}
        )
        self._screen.refresh_bindings()

    # --- focus ---

    def _keep_focus_visible(self) -> None:
        """Go from a list that the preview covers to the field, whose arrow keys move through the same list."""
        if self.covers_list and self._scenes.has_focus:
            self._screen.query_one(TextField).focus()

    @property
    def moving_rows(self) -> "SceneList | TranscriptList":
        """The rows that keys move through."""
        return self._preview.transcript if self._preview.transcript.has_focus else self._scenes

    def focus_next(self) -> None:
        """Go from the field to the list, to the transcript and back, as far as they are on the screen."""
        stops: list[Widget] = [self._screen.query_one(TextField)]
        for rows, count in (
            (self._scenes, self._scenes.row_count),
            (self._preview.transcript, self._preview.transcript.line_count),
        ):
            is_covered = rows is self._scenes and self.covers_list  # `is_on_screen` knows no covers
            if count and rows.is_on_screen and not is_covered:
                stops.append(rows)
        at = stops.index(self._screen.focused) if self._screen.focused in stops else -1
        stops[(at + 1) % len(stops)].focus()

    def leave_transcript(self) -> bool:
        """Go back to the list, if the focus is in the transcript."""
        if in_transcript := self._preview.transcript.has_focus:
            (self._screen.query_one(TextField) if self.covers_list else self._scenes).focus()
        return in_transcript
