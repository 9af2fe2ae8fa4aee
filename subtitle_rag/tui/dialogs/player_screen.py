"""Ctrl+O: the players that can play a scene here, each with what it does with it."""

from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.domain import clock
from subtitle_rag.i18n import _
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from subtitle_rag.tui.messages import PlayersFound

NAME_CELLS = 14
DIGITS = 9
"""Players that a digit reaches."""


class PlayerScreen(ModalScreen[str]):
    """Gives back the player that was chosen."""

    AUTO_FOCUS = "#players"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "player.play", "player.prefer", "player.close", "player.down", "player.up"
    )

    rows = getters.query_one("#players", OptionList)

    def __init__(self, found: "PlayersFound", *, prefer: "Callable[[str], object]") -> None:
        """`prefer` is given the player that is to be used from here on."""
        super().__init__()
        self._prefer = prefer
        self._found = found
        self._default = found.default

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="player", can_focus=False) as page:
            page.border_title = Content(_("Player")).markup
            page.border_subtitle = Content(self._keys()).markup
            yield Static(self._about(), id="played", markup=False)
            yield OptionList(id="players", markup=False, compact=True)

    def on_mount(self) -> None:
        self._list()
        names = [name for name, _what in self._found.offers]
        self.rows.display = bool(names)
        self.rows.highlighted = names.index(self._default) if self._default in names else 0 if names else None

    def _keys(self) -> str:
        if not self._found.offers:
            return _("{key} closes").format(key=key("player.close"))
        said = _("{play} plays · {prefer} uses it from here on · {close} closes")
        return said.format(play=key("player.play"), prefer=key("player.prefer"), close=key("player.close"))

    def _about(self) -> Content:
        """The scene and, where nothing can be played, its link."""
        scene = self._found.scene
        said = Content.assemble((clock(scene.at_ms), "bold"), "  ", clean(scene.video.title))
        if self._found.offers:
            return said
        why = _("There is no screen to play on here. This link is copied:")
        return Content("\n").join([said, Content(""), Content(why), Content.styled(scene.jump_url or "", "bold")])

    def _list(self) -> None:
        at = self.rows.highlighted
        self.rows.clear_options()
        self.rows.add_options([Option(self._row(number)) for number in range(len(self._found.offers))])
        self.rows.highlighted = at

    def _row(self, number: int) -> Content:
        """Its digit, its name, what it does, and whether it is the one that plays without being chosen."""
        name, what = self._found.offers[number]
        digit = f"{number + 1}" if number < DIGITS else " "
        called = Content.styled(clean(name), "bold").truncate(NAME_CELLS, ellipsis=True, pad=True)
        default = "  ✓ " + _("default") if name == self._default else ""
        return Content.assemble(f" {digit}  ", called, " ", (what, MUTED), (default, "bold"))

    # --- keys ---

    @property
    def _chosen(self) -> str | None:
        at = self.rows.highlighted
        return self._found.offers[at][0] if at is not None and self._found.offers else None

    def action_take(self) -> None:
        self.dismiss(self._chosen)

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.action_take()

    def action_prefer(self) -> None:
        if self._chosen and self._chosen != self._default:
            self._default = self._chosen
            self._list()
            self._prefer(self._chosen)

    def action_move(self, rows: int) -> None:
        if self._found.offers:
            self.rows.highlighted = max(0, min(self.rows.option_count - 1, (self.rows.highlighted or 0) + rows))

    def on_key(self, event: "events.Key") -> None:
        """A digit plays at once."""
        if event.character and event.character in "123456789" and int(event.character) <= len(self._found.offers):
            event.stop()
            self.dismiss(self._found.offers[int(event.character) - 1][0])
