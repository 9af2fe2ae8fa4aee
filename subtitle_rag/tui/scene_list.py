"""The scenes of a search as a list."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from subtitle_rag.i18n import N_
from subtitle_rag.tui import text

if TYPE_CHECKING:
    from textual import events

    from subtitle_rag.retrieval.scenes import Scene


class SceneList(OptionList):
    """The scenes of a search. The keys that move it come from the screen, for the query has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,ㅓ", "cursor_down", N_("Down"), show=False, id="list.down"),
        Binding("k,ㅏ", "cursor_up", N_("Up"), show=False, id="list.up"),
        Binding("y,ㅛ", "screen.copy_link", N_("Copy link"), show=False, id="list.copy"),
        Binding("slash", "screen.focus_query", N_("Query"), show=False, id="list.query"),
    ]

    class Typed(Message):
        """A letter for the query was typed while the list had the focus."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self) -> None:
        super().__init__(id="scenes", markup=False, compact=True)
        self._scenes: dict[str, Scene] = {}

    def fill(self, scenes: Sequence["Scene"], keep: str | None) -> None:
        """Show other scenes; the highlight goes to the scene `keep` if it is among them, else to the top.

        Scenes that look as those before are not drawn anew. The list stays where it is scrolled to, as far as the
        highlight can be seen there.
        """
        before, self._scenes = self._scenes, {scene.id: scene for scene in scenes}
        at = list(self._scenes).index(keep) if keep in self._scenes else 0
        same = [content(scene) for scene in before.values()] == [content(scene) for scene in scenes]
        with self.prevent(OptionList.OptionHighlighted):
            if not same or list(before) != list(self._scenes):
                top = self.scroll_y
                self.clear_options()
                self.add_options([Option(text.row(scene), id=scene.id) for scene in scenes])
                self.scroll_to(y=top, animate=False, force=True, immediate=True)
            self.highlighted = at if scenes else None

    @property
    def scene(self) -> "Scene | None":
        """The highlighted scene."""
        option = self.highlighted_option
        return self._scenes.get(option.id or "") if option else None

    def move(self, rows: int) -> None:
        """Move the highlight, without running over the ends."""
        if self.option_count:
            self.highlighted = max(0, min(self.option_count - 1, (self.highlighted or 0) + rows))

    @property
    def page(self) -> int:
        """Scenes that fit."""
        return max(1, self.size.height // 2 - 1)

    def on_key(self, event: "events.Key") -> None:
        bound = {"j", "k", "y", "ㅓ", "ㅏ", "ㅛ", "/"}
        if event.is_printable and event.character and event.character not in bound:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))


def content(scene: "Scene") -> tuple[object, ...]:
    """What a scene looks like: two that agree in it need not be drawn anew."""
    return scene.video, scene.text, scene.lines, scene.highlights, scene.at_ms
