"""The base of screens with a field, a list of scenes, and the preview of one of them. Tab goes from one to the next."""

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from textual import events, on

from subtitle_rag.domain import tidy
from subtitle_rag.i18n import _
from subtitle_rag.tui.screens.base_screen import FieldScreen
from subtitle_rag.tui.state import VideoMoment, read_surroundings
from subtitle_rag.tui.widgets import Preview, SceneList, TextField, after_typing

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import Binding
    from textual.widget import Widget

    from subtitle_rag.retrieval.search.scenes import Scene
    from subtitle_rag.tui.controllers import AppContext
    from subtitle_rag.tui.widgets import AnswerPane, ResultPane, TranscriptList


WIDE = 100
"""Columns from which there is room beside the list."""


class PreviewPlacement(Enum):
    """The values are classes of the style sheet."""

    BESIDE = "-beside"
    BELOW = "-below"
    OVER = "-over"
    """None by itself: a key opens the preview over the list."""


def choose_preview_room(width: int, height: int, *, beside_rows: int, below_rows: int) -> PreviewPlacement:
    """Return where the preview fits on a screen of this size: beside or below the list from these rows on."""
    if width >= WIDE:
        return PreviewPlacement.BESIDE if height >= beside_rows else PreviewPlacement.OVER
    return PreviewPlacement.BELOW if height >= below_rows else PreviewPlacement.OVER


class PreviewScreen(FieldScreen):
    """Gives the preview the room that the size of the screen leaves for it; a key shows and hides it.

    Keys act on the transcript of the preview while it has the focus, else on the list.
    """

    SHOWS_VIDEOS = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    BESIDE_ROWS: ClassVar[int] = 0
    """Rows that a wide screen needs for a preview beside its list."""
    BELOW_ROWS: ClassVar[int] = 30
    """Rows that a narrow screen needs for a preview below its list."""

    def __init__(self, context: "AppContext", field: TextField, pane: "AnswerPane | ResultPane") -> None:
        """`pane` has the list and the preview."""
        super().__init__(context)
        self.text_field, self.pane = field, pane
        self.preview, self.scenes = pane.preview, pane.scenes
        self.preview_layout = PreviewLayout(field, self.scenes, self.preview, self._arranged)

    @property
    def typed(self) -> str:
        """The text of the field, tidied."""
        return tidy(self.text_field.value)

    @property
    def chosen_moment(self) -> VideoMoment | None:
        scene = self.preview.line_scene or self.preview.scene
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def find_scene(self) -> "Scene | None":
        return self.pane.find_scene()

    def action_switch(self) -> None:
        self.preview_layout.focus_next()

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste into the list as one into the field."""
        self.text_field.take_paste(event.text)

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        width, height = event.size
        self.preview_layout.put(
            choose_preview_room(width, height, beside_rows=self.BESIDE_ROWS, below_rows=self.BELOW_ROWS)
        )

    def _arranged(self, room: PreviewPlacement, is_open: bool) -> None:
        self.update_classes({each.value: each is room for each in PreviewPlacement} | {"-preview": is_open})
        self.refresh_bindings()

    def action_toggle_preview(self) -> None:
        after_typing(self, self.preview_layout.toggle)

    def _translate(self, binding: "Binding") -> "Binding":
        """Name the key of the preview in the footer where the preview is not in sight by itself."""
        translation = super()._translate(binding)
        if binding.id != "scene.preview":
            return translation
        layout = self.preview_layout
        description = _("Close") if layout.covers_list else translation.description
        is_out_of_sight = layout.covers_list or not layout.is_open
        return replace(translation, description=description, show=translation.show and is_out_of_sight)


class PreviewLayout:
    """Gives the preview of a screen its room, which the user shows and hides."""

    def __init__(
        self,
        field: TextField,
        scenes: SceneList,
        preview: Preview,
        arranged: "Callable[[PreviewPlacement, bool], object]",
    ) -> None:
        """`arranged` is called with a new room, and whether the preview is open there."""
        self._field, self._scenes, self._preview = field, scenes, preview
        self._arranged = arranged
        self.room = PreviewPlacement.BESIDE
        self._is_open = {room: room is not PreviewPlacement.OVER for room in PreviewPlacement}
        """What the user chose for each room."""

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
        """Show or hide the preview. Without a scene it cannot lie over the list: say so."""
        if self.room is PreviewPlacement.OVER and not self.is_open and not self._preview.visible:
            self._preview.app.notify(_("No scene is chosen yet."), markup=False)
            return
        self.leave_transcript()
        self._is_open[self.room] = not self.is_open
        self._arrange()

    def uncover(self) -> bool:
        """Close the preview if it lies over the list, and return whether it did."""
        if covered := self.covers_list:
            self.toggle()
        return covered

    def _arrange(self) -> None:
        self._preview.display = self.is_open
        self._arranged(self.room, self.is_open)
        if self.covers_list and self._scenes.has_focus:
            self._field.focus()  # its arrow keys move through the same list

    @property
    def moving_rows(self) -> "SceneList | TranscriptList":
        """The rows that keys move through."""
        transcript = self._preview.transcript
        return transcript if transcript.has_focus else self._scenes

    def page(self, pages: int) -> None:
        """Move `pages` pages through these rows."""
        self.moving_rows.move(pages * self.moving_rows.page)

    def focus_next(self) -> None:
        """Go from the field to the list, to the transcript and back, as far as they are on the screen."""
        scenes, transcript = self._scenes, self._preview.transcript
        stops: list[Widget] = [self._field]
        # `is_on_screen` knows no covers
        if scenes.row_count and scenes.is_on_screen and not self.covers_list:
            stops.append(scenes)
        if transcript.row_count and transcript.is_on_screen:
            stops.append(transcript)
        at = next((at for at, stop in enumerate(stops) if stop.has_focus), -1)
        stops[(at + 1) % len(stops)].focus()

    def leave_transcript(self) -> bool:
        """Go back to the list, if the focus is in the transcript."""
        if in_transcript := self._preview.transcript.has_focus:
            (self._field if self.covers_list else self._scenes).focus()
        return in_transcript


def make_preview(context: "AppContext", scenes: SceneList) -> Preview:
    """Return a preview beside a list, with pictures if the settings want them."""
    runtime = context.runtime
    return Preview(
        scenes,
        lambda video_id, result: read_surroundings(runtime, video_id, result),
        (lambda scene: runtime.pictures.of(scene.video, scene.at_ms)) if context.settings.tui.pictures else None,
        show_times=context.show_times,
    )
