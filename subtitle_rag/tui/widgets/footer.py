"""The last line of a screen: its keys and their actions. Where not all fit, the least important ones are left out.

Textual's own footer has a widget for each key and rebuilds all of them with every move of the focus: a third of the
cost of a key press here. This one is a line of text.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from subtitle_rag.tui.keys import COMMANDS, IMPORTANCE, keymap

if TYPE_CHECKING:
    from textual import events
    from textual.binding import ActiveBinding
    from textual.screen import Screen


class KeyHint(NamedTuple):
    key: str
    key_label: str
    description: str
    tooltip: str
    enabled: bool
    importance: int = IMPORTANCE

    @property
    def cells(self) -> int:
        return cell_len(self.key_label) + cell_len(self.description) + 3


def fitting(hints: Sequence[KeyHint], width: int) -> list[KeyHint]:
    """Return the hints that fit into `width` cells, in their order.

    The most important are taken first, of equal ones the first. One that is too long leaves its room to shorter ones.
    """
    fit: set[int] = set()
    for at in sorted(range(len(hints)), key=lambda at: -hints[at].importance):
        if hints[at].cells <= width:
            width -= hints[at].cells
            fit.add(at)
    return [hint for at, hint in enumerate(hints) if at in fit]


def _best_key(id: str, active: "Mapping[str, ActiveBinding]") -> str:
    """Return the letter of a command, where letters are commands, else its first key in force."""
    letter = keymap.letter(id)
    return letter if letter is not None and letter in active and active[letter].binding.id == id else keymap.keys(id)[0]


class KeyBar(Widget, can_focus=False):
    """The enabled keys of the screen that fit, clickable."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--description", "key-bar--hover"}
    DEFAULT_CSS = """
    KeyBar {
        dock: bottom;
        height: 1;
        text-wrap: nowrap;
        color: $footer-foreground;
        background: $footer-background;
        .key-bar--key {
            color: $footer-key-foreground;
            background: $footer-key-background;
            text-style: bold;
        }
        .key-bar--description {
            color: $footer-description-foreground;
            background: $footer-description-background;
        }
        .key-bar--hover {
            background: $block-hover-background;
        }
    }
    """

    hints: reactive[tuple[KeyHint, ...]] = reactive(())
    hovered: reactive[KeyHint | None] = reactive(None)

    def on_mount(self) -> None:
        self._is_look_up_due = False
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: "Screen[object]") -> None:
        """Look up the keys once for all changes of one refresh."""
        if screen.app.app_focus and self.is_attached and screen is self.screen and not self._is_look_up_due:
            self._is_look_up_due = True
            self.call_after_refresh(self._look_up)

    def _look_up(self) -> None:
        """Read the bindings: of each action the letter or else the first key of its command, if that works here."""
        self._is_look_up_due = False
        if not self.is_attached:  # the screen was closed meanwhile
            return
        hints: dict[str, KeyHint] = {}
        active = self.screen.active_bindings
        for _node, binding, enabled, tooltip in active.values():
            command = COMMANDS.get(binding.id or "")
            best = "" if command is None else _best_key(command.id, active)
            if binding.show and (binding.key == best or binding.action not in hints):
                key_label = self.app.get_key_display(binding)
                importance = command.importance if command else IMPORTANCE
                hint = KeyHint(binding.key, key_label, binding.description, tooltip, enabled, importance)
                hints[binding.action] = hint
        self.hints = tuple(hints.values())

    @property
    def shown_hints(self) -> list[KeyHint]:
        return fitting(self.hints, self.size.width)

    def render(self) -> Text:
        key_style = self.get_component_rich_style("key-bar--key")
        description_style = self.get_component_rich_style("key-bar--description")
        line = Text(no_wrap=True, end="")
        for hint in self.shown_hints:
            style = self.rich_style
            if hint is self.hovered:
                style += self.get_component_rich_style("key-bar--hover", partial=True)
            label = Text.assemble((f" {hint.key_label} ", key_style), (f"{hint.description} ", description_style))
            label.stylize_before(style)
            if not hint.enabled:
                label.stylize("dim")
            line.append_text(label)
        return line

    def hint_at(self, x: int) -> KeyHint | None:
        for hint in self.shown_hints:
            if x < hint.cells:
                return hint
            x -= hint.cells
        return None

    def watch_hovered(self, hint: KeyHint | None) -> None:
        self.tooltip = hint.tooltip if hint and hint.tooltip else None

    def on_mouse_move(self, event: "events.MouseMove") -> None:
        self.hovered = self.hint_at(event.x)

    def on_leave(self) -> None:
        self.hovered = None

    def on_mouse_down(self, event: "events.MouseDown") -> None:
        hint = self.hint_at(event.x)
        if hint is None:
            return
        if hint.enabled:
            self.app.simulate_key(hint.key)
        else:
            self.app.bell()
