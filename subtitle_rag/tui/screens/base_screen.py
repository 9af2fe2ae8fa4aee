"""The base of all full screens."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Static

from subtitle_rag.i18n import _
from subtitle_rag.tui.commands import COMMANDS
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.screens.scene_actions import SceneActions
from subtitle_rag.tui.threads import run_in_thread
from subtitle_rag.tui.widgets import SceneList

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import ActiveBinding
    from textual.message import Message

    from subtitle_rag.domain import AppError
    from subtitle_rag.retrieval import Scene
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.state import VideoMoment

FOOTER_ORDER = {
    "app.help": 0,
    "library.remove": 2,
    "channel.settings": 2,
    "library.index": 3,
    "library.list": 3,
    "library.sample": 3,
    "library.switch": 3,
    "library.background": 4,
    "app.ask": 5,
    "library.sync": 6,
    "library.stop": 7,
    "library.undo": 8,
    "app.library": 9,
    "library.back": 10,
    "app.transcript": 10,
    "app.quit": 11,
}
"""Order of the keys in the footer. All others have 1."""


class BaseScreen(Screen[None]):
    """A screen with a footer in the user's language: help first, the way out last.

    Bindings are class attributes, made before the language is known: their descriptions are message ids.
    """

    FOOTER_HIDDEN: ClassVar[frozenset[str]] = frozenset()
    """Ids of bindings without room in the footer."""

    IS_FORM: ClassVar[bool] = False
    """The screen saves what is typed there."""

    SHOWS_VIDEOS: ClassVar[bool] = False
    """A video can be chosen there, whose transcript opens by a key."""

    HAS_MARKS_KEY: ClassVar[bool] = False
    """The screen uses the key of the marks for a command of its own."""

    has_scenes: reactive[bool] = reactive(True, bindings=True)
    """Whether the footer names the commands that need a scene."""

    def __init__(self, context: "AppContext") -> None:
        super().__init__()
        self.context = context
        self.scene_actions = SceneActions(self, context)

    def on_mount(self) -> None:
        """Mark the sample as what it is; Textual calls this beside the `on_mount` of a subclass."""
        if self.context.settings.is_sample:
            sentence = _("Sample library: invented videos. {key} opens your own.").format(key=key("library.sample"))
            self.mount(Static(sentence, id="sample-mark", markup=False), before=0)

    @property
    def active_bindings(self) -> "dict[str, ActiveBinding]":
        bindings = super().active_bindings.items()
        order = sorted(bindings, key=lambda item: FOOTER_ORDER.get(item[1].binding.id or "", 1))
        return {key: active._replace(binding=self._translate(active.binding)) for key, active in order}

    def run_in_thread(
        self,
        work: "Callable[[], Message | None]",
        failed: "Callable[[AppError], Message | None]",
        *,
        group: str,
        exclusive: bool = False,
    ) -> None:
        """Run `work` in a thread that ends with the screen, and post its message or that of `failed` here."""
        run_in_thread(self, work, failed, paths=self.context.settings.paths, group=group, exclusive=exclusive)

    @property
    def chosen_moment(self) -> "VideoMoment | None":
        """The video that is chosen, and its time."""
        return None

    def find_scene(self) -> "Scene | None":
        """Return the scene for the keys of scenes. A screen with a list of scenes says so if none is chosen."""
        return None

    def action_scene(self, command: str) -> None:
        """Run a command of `SceneActions` on the chosen scene."""
        if scene := self.find_scene():
            self.scene_actions.run(command, scene)

    def show_marks(self) -> None:
        """Draw the marks anew, if the screen shows any: they were read or changed."""
        for scenes in self.query(SceneList):
            scenes.show_marks()

    def can_leave(self) -> bool:
        """Return whether the screen can be closed. A form with changes says so first, and then returns True."""
        return True

    def _translate(self, binding: Binding) -> Binding:
        """Translate the binding. Screens override this to change their footer."""
        description = _(binding.description) if binding.description else ""
        tooltip = _(binding.tooltip) if binding.tooltip else ""
        command = COMMANDS.get(binding.id or "")
        is_useful = self.has_scenes or command is None or not command.needs_scene
        show = binding.show and is_useful and binding.id not in self.FOOTER_HIDDEN
        if binding.id == "library.sample" and self.context.settings.is_sample:
            description = _("Your library")
        return replace(binding, description=description, tooltip=tooltip, show=show)
