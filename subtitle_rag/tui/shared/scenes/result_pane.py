"""The result of a search: its scenes, and the preview of the highlighted one if it fits."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget

from subtitle_rag.base.i18n import _
from subtitle_rag.korean.keyboard import key_sequence
from subtitle_rag.tui.keys.commands import CLOSE, in_widget
from subtitle_rag.tui.shared.fields.text_field import TextField
from subtitle_rag.tui.shared.scenes.grouped_scenes import GroupedSceneList
from subtitle_rag.tui.shared.scenes.preview import Preview
from subtitle_rag.tui.shared.scenes.scene_list import SceneList
from subtitle_rag.tui.shared.scenes.transcript_list import TranscriptList

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.search.searcher import SearchResult

WIDE = 100
"""Columns from which the preview fits next to the list."""
DEEPER = 4
"""Factor of the depth when further scenes are needed."""
FRAME_S = 0.02
"""Slightly more than one frame of Textual."""
DIM_S = 0.3
"""Delay before the scenes of an old query are dimmed."""


class ResultPane(Container):
    """Keys move from the field to the list and the preview's lines; the user shows and hides the preview."""

    BINDINGS: ClassVar[list[BindingType]] = [in_widget(CLOSE)]

    def __init__(self, field: TextField, scenes: GroupedSceneList, preview: Preview) -> None:
        """`field` is the field above: the focus moves from there to the list, and back."""
        super().__init__(scenes, preview, id="found")
        self.field, self.scenes, self.preview = field, scenes, preview
        self._is_beside = True
        """Whether the preview fits next to the list; otherwise a key opens it over the list."""
        self._is_open = {True: True, False: False}
        """The user's choice for each of the two layouts."""
        self.text: str | None = None
        """The query of the scenes. None before the first result, and for an empty query."""
        self.result: SearchResult | None = None
        self._answer: SearchResult | None = None
        """The result as the search returned it: the surroundings of its videos stay when further scenes arrive."""
        self._depth = 0
        """Windows per retriever in the latest search of all scenes."""
        self._user_choice: str | None = None
        """The row that the user moved the highlight to."""
        self._dim_timer: Timer | None = None

    def keeps_old_results(self, text: str, result: "SearchResult") -> bool:
        """Return whether to keep the scenes while the user types on, because the longer last word finds nothing."""
        before, words = (self.text or "").split(), text.split()
        if text == self.text or not before or len(before) != len(words) or not words[-1].isalnum():
            return False
        return key_sequence(text).startswith(key_sequence(self.text or "")) and self._has_more(result)

    def _has_more(self, result: "SearchResult") -> bool:
        return not result.scenes and self.scenes.row_count > 0

    def accepts(self, text: str, result: "SearchResult", *, is_composing: bool) -> bool:
        """Return whether a result replaces the one on screen.

        A result without scenes does not while an input method composes the last syllable, nor does an earlier stage of
        the same search.
        """
        if is_composing and self._has_more(result):
            return False
        return result.final or text != self.text or self.result is None or _stage(result) >= _stage(self.result)

    def show(self, text: str, result: "SearchResult") -> None:
        """Show the scenes. The highlight stays on its scene; for another query only if the user moved it there."""
        same = text == self.text
        keep = self.scenes.cursor_key if same else self._user_choice
        still = same and keep == self._user_choice
        self.text, self.result, self._answer = text, result, result
        self._depth = 0
        self.scenes.fill(result.scenes, keep, still=still, counts=result.scenes_by_video, fold=not same)
        self.show_preview()
        self.set_stale(False)

    def further_depth(self) -> int | None:
        """Return the depth of a search for further scenes, if there are any."""
        result = self.result
        if result is None or not result.final or not (result.more or result.is_cut):
            return None
        from subtitle_rag.search.searcher import DEPTH

        return DEEPER * self._depth if self._depth else DEPTH

    def extend(self, further: "SearchResult", depth: int) -> None:
        """Append the scenes of a search to this depth."""
        if self.result is None:
            return
        self._depth = depth
        latest = {scene.id: scene for scene in further.scenes}
        scenes = [latest.pop(scene.id, scene) for scene in self.result.scenes]
        scenes += latest.values()
        ranked = tuple(replace(scene, rank=rank) for rank, scene in enumerate(scenes, 1))
        counts = further.scenes_by_video
        self.result = replace(
            self.result, scenes=ranked, more=further.more, scenes_by_video=counts, is_cut=further.is_cut
        )
        self.scenes.fill(ranked, self.scenes.cursor_key, still=True, counts=counts)
        if scene := self.scenes.value:
            self.preview.show(scene, self._answer)

    def set_progress(self, progress: tuple[int, int] | None) -> None:
        """Record the progress of a refinement, or None at its end."""
        if self.result is not None and self.result.rerank_progress != progress:
            self.result = replace(self.result, rerank_progress=progress, final=progress is None)

    def clear(self) -> None:
        """Forget the result. The list keeps its rows, as a page without scenes covers it."""
        self.text = self.result = self._user_choice = None

    @work(group="chosen", exclusive=True, exit_on_error=False)
    async def show_preview(self) -> None:
        """Show the preview one frame after the list: a typing user looks at the list."""
        await asyncio.sleep(FRAME_S)
        scene = self.preview.scene if self.scenes.row_count else None
        self.preview.show(self.scenes.value or scene, self._answer, new=True)

    def find_scene(self) -> "Scene | None":
        scene = self.preview.line_scene or (self.scenes.value if self.text is not None else None)
        if scene is None:
            self.app.notify(_("No scene is chosen yet."), markup=False)
        return scene

    @on(SceneList.Highlighted)
    def _highlighted(self) -> None:
        self._user_choice = self.scenes.cursor_key or None
        if scene := self.scenes.value:
            self.preview.show(scene, self._answer)

    def set_stale(self, stale: bool) -> None:
        """Dim the scenes of an old query after `DIM_S`: dimming at every key would flicker and be slow."""
        if self._dim_timer:
            self._dim_timer.stop()
        self._dim_timer = self.set_timer(DIM_S, lambda: self.add_class("-stale")) if stale else None
        if not stale:
            self.remove_class("-stale")

    # --- the preview ---

    @property
    def is_open(self) -> bool:
        return self._is_open[self._is_beside]

    @property
    def covers_list(self) -> bool:
        return self.is_open and not self._is_beside

    def fit(self, width: int) -> None:
        """Lay out the preview for a screen of this width."""
        self._is_beside = width >= WIDE
        self._arrange()

    def toggle(self) -> None:
        """Show or hide the preview."""
        if not self._is_beside and not self.is_open:
            self.open_preview()
        elif not self.uncover():
            self._set_open(not self.is_open)

    def open_preview(self) -> None:
        """Show the preview and focus its lines; without a scene, show a message."""
        if not self.preview.visible:
            self.app.notify(_("No scene is chosen yet."), markup=False)
            return
        self._set_open(True)
        self.preview.transcript.focus()

    def uncover(self) -> bool:
        """Close a preview that covers the list, and return whether there was one."""
        if covered := self.covers_list:
            self._set_open(False)
        return covered

    def _set_open(self, is_open: bool) -> None:
        self._is_open[self._is_beside] = is_open
        self._arrange()

    def _arrange(self) -> None:
        transcript = self.preview.transcript
        if not self.is_open and transcript.has_focus:
            self.scenes.focus()
        self.preview.display = self.is_open
        self.set_class(not self._is_beside, "-over")
        self.refresh_bindings()
        if self.covers_list and self.scenes.has_focus:
            transcript.focus()

    @property
    def moving_rows(self) -> SceneList | TranscriptList:
        """The rows that keys move through."""
        transcript = self.preview.transcript
        return transcript if transcript.has_focus else self.scenes

    def focus_next(self) -> None:
        """Move the focus from the field to the list, the transcript and back, if they are visible."""
        scenes, transcript = self.scenes, self.preview.transcript
        stops: list[Widget] = [self.field]
        # `is_on_screen` ignores covering widgets.
        if scenes.row_count and scenes.is_on_screen and not self.covers_list:
            stops.append(scenes)
        if transcript.row_count and transcript.is_on_screen:
            stops.append(transcript)
        at = next((at for at, stop in enumerate(stops) if stop.has_focus), -1)
        stops[(at + 1) % len(stops)].focus()

    def leave_transcript(self) -> bool:
        """Move the focus from the transcript to the list, and return whether it did."""
        if in_transcript := self.preview.transcript.has_focus:
            self.scenes.focus()
        return in_transcript

    def action_close(self) -> None:
        """Go back from the transcript to the list. In the list, its own key folds a video."""
        if not self.uncover():
            self.leave_transcript()


def _stage(result: "SearchResult") -> tuple[bool, int]:
    """Return the stage of a search: later ones compare greater."""
    return result.reranked, len(result.retrievers)
