"""The commands on a scene of any screen: its player, its link, its mark, copies and exports."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from subtitle_rag.i18n import _
from subtitle_rag.tui.state import ExportSource
from subtitle_rag.tui.text import quotes

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.library import Mark
    from subtitle_rag.retrieval import Scene
    from subtitle_rag.tui.context import AppContext


class SceneActions:
    """Runs the commands of one screen; `BaseScreen.action_scene` names them."""

    def __init__(self, screen: "Screen[None]", context: "AppContext") -> None:
        self._screen = screen
        self._context = context

    def run(self, command: str, scene: "Scene") -> None:
        """Run the command `scene('…')` of a key. Raises KeyError if there is none of this name."""
        {
            "choose_player": self._context.playback.find_players,
            "copy_link": self._context.playback.copy_scene_link,
            "copy_markdown": self._copy_markdown,
            "copy_quote": self.copy_quote,
            "mark": self._mark,
        }[command](scene)

    def _mark(self, scene: "Scene") -> None:
        """Mark a scene, or open note and tag of a marked one."""
        mark = self._context.marks.scenes.mark_of(scene)
        if mark is None:
            self._context.marks.add(scene)
        else:
            self.edit(mark)

    def edit(self, mark: "Mark") -> None:
        """Open note and tag of a mark."""
        from subtitle_rag.tui.dialogs import MarkScreen

        marks = self._context.marks
        dialog = MarkScreen(mark, marks.scenes.tags, save=partial(marks.edit, mark), remove=partial(marks.remove, mark))
        self._screen.app.push_screen(dialog)

    def _copy_markdown(self, scene: "Scene") -> None:
        mark = self._context.marks.scenes.mark_of(scene)
        self._context.playback.copy_markdown(scene, mark.note if mark else "", mark.tag if mark else "")

    def copy_quote(self, line: "Scene") -> None:
        """Copy a line of a transcript with its source."""
        quote = quotes.quote(line.video, line.at_ms, line.text)
        self._context.playback.copy_text(quote, _("Quote copied, with its source."))

    def export(self, sources: Sequence[ExportSource]) -> None:
        """Open the export of the sources that have scenes. Without any, say so."""
        from subtitle_rag.tui.dialogs import ExportScreen

        if filled := [source for source in sources if source.scenes]:
            self._screen.app.push_screen(ExportScreen(self._context, filled))
        else:
            self._screen.app.notify(_("No scene is chosen yet."), markup=False)

    def marks_source(self) -> ExportSource:
        """Return the marked scenes."""
        scenes = self._context.marks.scenes
        return ExportSource(_("Marks"), tuple(scenes.scene_of(mark) for mark in scenes.marks))
