"""The base of panes with a list of scenes and the preview of one of them, in the room that the screen has for it."""

from enum import Enum
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Container
from textual.widget import Widget

from subtitle_rag.i18n import _
from subtitle_rag.tui.widgets.preview import Preview
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField
from subtitle_rag.tui.widgets.transcript_list import TranscriptList

if TYPE_CHECKING:
    from subtitle_rag.retrieval.search.scenes import Scene


WIDE = 100
"""Columns from which there is room beside the list."""


class PreviewPlacement(Enum):
    """The values are classes of the style sheet."""

    BESIDE = "-beside"
    OVER = "-over"
    """None by itself: a key opens the preview in the place of the list."""


def choose_preview_room(width: int, height: int, *, beside_rows: int) -> PreviewPlacement:
    """Return where the preview fits on a screen of this size: beside the list from these rows on."""
    return PreviewPlacement.BESIDE if width >= WIDE and height >= beside_rows else PreviewPlacement.OVER


class PreviewPane(Container):
    """Gives the preview its room, which the user shows and hides. Keys go from the field to the list and the lines."""

    def __init__(self, *children: Widget, field: TextField, scenes: SceneList, preview: Preview, id: str) -> None:
        """`field` is the one above: the focus goes from there to the list, and back."""
        super().__init__(*children, id=id)
        self.field, self.scenes, self.preview = field, scenes, preview
        self.room = PreviewPlacement.BESIDE
        self._is_open = {room: room is not PreviewPlacement.OVER for room in PreviewPlacement}
        """What the user chose for each room."""

    def find_scene(self) -> "Scene | None":
        """Return the line under the cursor of the transcript, or the chosen scene. Without one, say so."""
        raise NotImplementedError

    @property
    def is_open(self) -> bool:
        return self._is_open[self.room]

    @property
    def covers_list(self) -> bool:
        return self.room is PreviewPlacement.OVER and self.is_open

    def put(self, room: PreviewPlacement) -> None:
        self.room = room
        self._arrange()

    def toggle(self) -> None:
        """Show or hide the preview."""
        if self.room is PreviewPlacement.OVER and not self.is_open:
            self.open_preview()
        elif not self.uncover():
            self._set_open(not self.is_open)

    def open_preview(self) -> None:
        """Go to the lines of the preview, and show it. Without a scene, say so."""
        if not self.preview.visible:
            self.app.notify(_("No scene is chosen yet."), markup=False)
            return
        self._set_open(True)
        self.preview.transcript.focus()

    def uncover(self) -> bool:
        """Bring the list back from under the preview, and return whether it was there."""
        if covered := self.covers_list:
            self._set_open(False)
        return covered

    def _set_open(self, is_open: bool) -> None:
        self._is_open[self.room] = is_open
        self._arrange()

    def _arrange(self) -> None:
        transcript = self.preview.transcript
        if not self.is_open and transcript.has_focus:
            self.scenes.focus()
        self.preview.display = self.is_open
        self.update_classes({each.value: each is self.room for each in PreviewPlacement} | {"-preview": self.is_open})
        self.refresh_bindings()
        if self.covers_list and self.scenes.has_focus:
            transcript.focus()

    @property
    def moving_rows(self) -> SceneList | TranscriptList:
        """The rows that keys move through."""
        transcript = self.preview.transcript
        return transcript if transcript.has_focus else self.scenes

    def page(self, pages: int) -> None:
        """Move `pages` pages through these rows."""
        self.moving_rows.move(pages * self.moving_rows.page)

    def focus_next(self) -> None:
        """Go from the field to the list, to the transcript and back, as far as they are on the screen."""
        scenes, transcript = self.scenes, self.preview.transcript
        stops: list[Widget] = [self.field]
        # `is_on_screen` knows no covers
        if scenes.row_count and scenes.is_on_screen and not self.covers_list:
            stops.append(scenes)
        if transcript.row_count and transcript.is_on_screen:
            stops.append(transcript)
        at = next((at for at, stop in enumerate(stops) if stop.has_focus), -1)
        stops[(at + 1) % len(stops)].focus()

    def leave_transcript(self) -> bool:
        """Go back to the list, if the focus is in the transcript."""
        if in_transcript := self.preview.transcript.has_focus:
            self.scenes.focus()
        return in_transcript

    @on(TranscriptList.Left)
    def _transcript_left(self) -> None:
        if not self.uncover():
            self.leave_transcript()
