"""The last line of a screen: at most seven available commands with their keys, in the same order everywhere.

Textual's footer has a widget per key and rebuilds them with every move of the focus: a third of the cost of a key press
here. This one is a line of text.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol, cast

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import ActiveBinding
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from subtitle_rag.base.i18n import _

MOST = 7
"""Most hints of a footer."""
NEEDED = ("app.help", "screen.back")
"""Commands that a narrow footer keeps longest, besides its first one."""


class FooterOwner(Protocol):
    """A screen with a footer."""

    @property
    def footer_ids(self) -> Sequence[str]:
        """Ids of the commands for the footer at this moment, if they are available."""
        ...

    def label(self, id: str) -> str:
        """Return a command's name here, in a word or two; empty for its usual name."""
        ...


class KeyHint(NamedTuple):
    id: str
    key: str
    key_label: str
    description: str
    tooltip: str
    enabled: bool

    @property
    def cells(self) -> int:
        return cell_len(self.key_label) + cell_len(self.description) + 3


def fitting(hints: Sequence[KeyHint], width: int) -> list[KeyHint]:
    """Return the hints that fit into `width` cells, in order: the last are dropped first, except for `NEEDED` ones."""
    fit = list(hints)
    while fit and sum(hint.cells for hint in fit) > width:
        fit.remove(next((hint for hint in reversed(fit[1:]) if hint.id not in NEEDED), fit[-1]))
    return fit


class KeyBar(Widget, can_focus=False):
    """The screen's available keys, as many as fit, clickable."""

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
        self.watch(self.screen, "stack_updates", self._dialogs_changed, init=False)

    def _dialogs_changed(self) -> None:
        self.refresh()

    def _bindings_changed(self, screen: Screen[object]) -> None:
        """Look up the keys once for all changes of one refresh."""
        if screen.app.app_focus and self.is_attached and screen is self.screen and not self._is_look_up_due:
            self._is_look_up_due = True
            self.call_after_refresh(self._look_up)

    def _look_up(self) -> None:
        """Collect the screen's available commands, each with its first key that works here."""
        self._is_look_up_due = False
        if not self.is_attached:  # the screen was closed meanwhile
            return
        screen = cast("FooterOwner", self.screen)
        active: dict[str, tuple[str, ActiveBinding]] = {}
        for key, each in self.screen.active_bindings.items():
            active.setdefault(each.binding.id or "", (key, each))
        hints: list[KeyHint] = []
        for key, each in (active[id] for id in screen.footer_ids if id in active):
            id, binding = each.binding.id or "", each.binding
            words = screen.label(id) or _(binding.description), _(binding.tooltip)
            hints.append(KeyHint(id, key, self.app.get_key_display(binding.with_key(key)), *words, each.enabled))
        self.hints = tuple(hints[:MOST])

    @property
    def shown_hints(self) -> list[KeyHint]:
        """The hints that fit; none under a dialog, where the page's keys do not work."""
        return fitting(self.hints, self.size.width) if self.screen.is_active else []

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

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = self.hint_at(event.x)

    def on_leave(self) -> None:
        self.hovered = None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        hint = self.hint_at(event.x)
        if hint is None:
            return
        if hint.enabled:
            self.app.simulate_key(hint.key)
        else:
            self.app.bell()
