"""Base class of full screens, and their common commands on scenes: play, link, mark, copy, export."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.screen import Screen
from textual.widgets import Static

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.dialogs.copies_screen import CopiesScreen
from subtitle_rag.tui.screens.dialogs.export_screen import ExportScreen
from subtitle_rag.tui.screens.dialogs.mark_screen import MarkScreen
from subtitle_rag.tui.shared.fields.text_field import TextField
from subtitle_rag.tui.shared.quotes import quote_scene
from subtitle_rag.tui.shared.scenes.export_source import ExportSource
from subtitle_rag.tui.shared.scenes.scene_list import SceneList
from subtitle_rag.tui.shared.spoken_lines import VideoMoment
from subtitle_rag.tui.threads import run_in_thread

if TYPE_CHECKING:
    from subtitle_rag.library.mark_store import Mark
    from subtitle_rag.search.scenes import Scene


class SceneActions:
    """The commands on scenes, for one screen."""

    def __init__(self, screen: Screen[None], context: AppContext) -> None:
        self._screen = screen
        self._context = context

    def run(self, command: str, scene: "Scene") -> None:
        """Run a command by the name in its action `scene('…')`, or `play`. Raises KeyError if it is unknown."""
        {
            "play": self._context.playback.play,
            "choose_player": self._context.playback.find_players,
            "copy_link": self._context.playback.copy_scene_link,
            "copy_markdown": self._copy_markdown,
            "copy_quote": self.copy_quote,
            "copies": self._choose_copy,
            "mark": self._mark,
        }[command](scene)

    def _mark(self, scene: "Scene") -> None:
        """Mark a scene. If it is marked already, edit its note and tag."""
        mark = self._context.marks.scenes.mark_of(scene)
        if mark is None:
            self._context.marks.add(scene)
        else:
            self.edit(mark)

    def edit(self, mark: "Mark") -> None:
        """Open the dialog for a mark's note and tag."""
        marks = self._context.marks
        save, remove = partial(marks.edit, mark), partial(marks.remove, mark)
        self._screen.app.push_screen(MarkScreen(mark, marks.scenes.tags, save=save, remove=remove))

    def _choose_copy(self, scene: "Scene") -> None:
        def play(copy: "Scene | None") -> None:
            if copy:
                self._context.playback.play(copy)

        if scene.copies:
            self._screen.app.push_screen(CopiesScreen(scene.copies), play)

    def _copy_markdown(self, scene: "Scene") -> None:
        mark = self._context.marks.scenes.mark_of(scene)
        self._context.playback.copy_markdown(scene, mark.note if mark else "", mark.tag if mark else "")

    def copy_quote(self, line: "Scene") -> None:
        """Copy a transcript line with its source."""
        quote = quote_scene(line.video, line.at_ms, line.text)
        self._context.playback.copy_text(quote, _("Quote copied, with its source."))

    def export(self, sources: Sequence[ExportSource]) -> None:
        """Open the export dialog for the sources with scenes."""
        if filled := [source for source in sources if source.scenes]:
            self._screen.app.push_screen(ExportScreen(self._context, filled))

    def marks_source(self) -> ExportSource:
        scenes = self._context.marks.scenes
        return ExportSource(_("Marks"), tuple(scenes.scene_of(mark) for mark in scenes.marks))


class BaseScreen(Screen[None]):
    """A full screen with a footer.

    Bindings are class attributes, created before the language is set, so their texts are message ids.
    """

    FOOTER: ClassVar[str] = ""
    """Ids of the commands in the footer, at most seven, in the order common to all footers."""

    FIELD_FOOTER: ClassVar[str] = "scene.play screen.enter screen.back app.commands app.help app.quit"
    """The same while a field has the focus and letters are text."""

    OPENED_BY: ClassVar[str] = ""
    """The app's action that opens the page."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self.scene_actions = SceneActions(self, context)
        self._has_widgets = False
        self.run_in_thread = partial(run_in_thread, self)
        """Runs work in a thread that is cancelled with the screen; see `threads.run_in_thread`."""

    def on_mount(self) -> None:
        """Label the sample library. Textual calls this in addition to a subclass's `on_mount`."""
        self._has_widgets = True
        self.refresh_bindings()
        if self.context.settings.is_sample:
            sentence = _("Sample library: invented videos. {key} opens your own.").format(key=key("library.sample"))
            self.mount(Static(sentence, id="sample-mark", markup=False), before=0)

    @property
    def shows_videos(self) -> bool:
        """Whether a video can be chosen, so that the keys for transcript and overview work."""
        return False

    @property
    def in_field(self) -> bool:
        """Whether a text field has the focus."""
        return isinstance(self.focused, TextField)

    @property
    def footer_ids(self) -> list[str]:
        """Ids of the commands in the footer at the moment; disabled ones are skipped."""
        return (self.FIELD_FOOTER if self.in_field else self.FOOTER).split()

    def label(self, id: str) -> str:  # noqa: ARG002 - for subclasses
        """Return another label for a command in the footer; empty for the default."""
        return ""

    @property
    def chosen_moment(self) -> VideoMoment | None:
        """The chosen video and time."""
        scene = self.find_scene()
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def find_scene(self) -> "Scene | None":
        """Return the scene that commands act on. A screen with a list shows a toast if none is chosen."""
        return None

    def action_scene(self, command: str) -> None:
        """Run a command of `SceneActions` on the chosen scene."""
        if scene := self.find_scene():
            self.scene_actions.run(command, scene)

    @on(events.TextSelected)
    def _text_selected(self) -> None:
        """Copy the text selected with the mouse, on release."""
        if text := self.get_selected_text():
            self.context.playback.copy_text(text, _("The selected text is copied."))

    def show_marks(self) -> None:
        """Redraw the marks after they were read or changed."""
        for scenes in self.query(SceneList):
            scenes.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return `allows`, or False while the screen is mounting or closing, when Textual may ask too."""
        return self._has_widgets and self.is_attached and self.allows(action, parameters)

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - for subclasses
        """Return whether an action is possible; None to show its key disabled."""
        return True

    def action_back(self) -> None:
        self.dismiss()

    def action_copy(self) -> None:
        self.action_scene("copy_link")
