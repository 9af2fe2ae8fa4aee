"""The base of all full screens, and what they all do with a scene: play, link, mark, copy, export."""

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
    """Runs the commands of one screen; `BaseScreen.action_scene` names them."""

    def __init__(self, screen: Screen[None], context: AppContext) -> None:
        self._screen = screen
        self._context = context

    def run(self, command: str, scene: "Scene") -> None:
        """Run the command `scene('…')` of a key, or `play`. Raises KeyError if there is none of this name."""
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
        """Mark a scene, or open note and tag of a marked one."""
        mark = self._context.marks.scenes.mark_of(scene)
        if mark is None:
            self._context.marks.add(scene)
        else:
            self.edit(mark)

    def edit(self, mark: "Mark") -> None:
        """Open note and tag of a mark."""
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
        """Copy a line of a transcript with its source."""
        quote = quote_scene(line.video, line.at_ms, line.text)
        self._context.playback.copy_text(quote, _("Quote copied, with its source."))

    def export(self, sources: Sequence[ExportSource]) -> None:
        """Open the export of the sources that have scenes. Without any, say so."""
        if filled := [source for source in sources if source.scenes]:
            self._screen.app.push_screen(ExportScreen(self._context, filled))
        else:
            self._screen.app.notify(_("No scene is chosen yet."), markup=False)

    def marks_source(self) -> ExportSource:
        scenes = self._context.marks.scenes
        return ExportSource(_("Marks"), tuple(scenes.scene_of(mark) for mark in scenes.marks))


class BaseScreen(Screen[None]):
    """A screen with a footer in the user's language.

    Bindings are class attributes, made before the language is known: their texts are message ids.
    """

    FOOTER: ClassVar[str] = ""
    """Ids of the commands in the footer, at most seven, in the order that all footers have."""

    FIELD_FOOTER: ClassVar[str] = "scene.play screen.enter screen.back app.commands app.help app.quit"
    """The same while a field has the focus, which takes all letters."""

    OPENED_BY: ClassVar[str] = ""
    """The app's action that opens the page."""
    SHOWS_VIDEOS: ClassVar[bool] = False
    """A video can be chosen there, whose transcript opens by a key."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self.scene_actions = SceneActions(self, context)
        self._has_widgets = False
        self.run_in_thread = partial(run_in_thread, self)
        """Runs work in a thread that ends with the screen, and posts its message or that of its failure here."""

    def on_mount(self) -> None:
        """Mark the sample as what it is; Textual calls this beside the `on_mount` of a subclass."""
        self._has_widgets = True
        self.refresh_bindings()
        if self.context.settings.is_sample:
            sentence = _("Sample library: invented videos. {key} opens your own.").format(key=key("library.sample"))
            self.mount(Static(sentence, id="sample-mark", markup=False), before=0)

    @property
    def in_field(self) -> bool:
        """Whether letters are typed into a field."""
        return isinstance(self.focused, TextField)

    @property
    def footer_ids(self) -> list[str]:
        """Ids of the commands that the footer shows at this moment, as far as they can be run."""
        return (self.FIELD_FOOTER if self.in_field else self.FOOTER).split()

    def label(self, id: str) -> str:  # noqa: ARG002 - for subclasses
        """Return a word or two in the place of a command's own; empty: its own."""
        return ""

    @property
    def chosen_moment(self) -> VideoMoment | None:
        """The video that is chosen, and its time."""
        scene = self.find_scene()
        return VideoMoment(scene.video, scene.at_ms) if scene else None

    def find_scene(self) -> "Scene | None":
        """Return the scene for the keys of scenes. A screen with a list of scenes says so if none is chosen."""
        return None

    def action_scene(self, command: str) -> None:
        """Run a command of `SceneActions` on the chosen scene."""
        if scene := self.find_scene():
            self.scene_actions.run(command, scene)

    @on(events.TextSelected)
    def _text_selected(self) -> None:
        """Copy what the mouse has selected, on its release."""
        if text := self.get_selected_text():
            self.context.playback.copy_text(text, _("The selected text is copied."))

    def show_marks(self) -> None:
        """Redraw the marks, if the screen shows any: they were read or changed."""
        for scenes in self.query(SceneList):
            scenes.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return what `allows` does, and False before the screen has its widgets and when it closes.

        Textual asks then too: a key may follow at once, and the footer of the screen below asks for its own commands.
        """
        return self._has_widgets and self.is_attached and self.allows(action, parameters)

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - for subclasses
        """Return whether an action can be done; None if its key is shown and does nothing."""
        return True

    def action_back(self) -> None:
        self.dismiss()

    def action_copy(self) -> None:
        self.action_scene("copy_link")
