"""Ctrl+O: the players for a scene, each with what it does."""

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
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import MUTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from subtitle_rag.tui.messages import PlayersFound

NAME_CELLS = 14
DIGITS = 9
"""Players with a digit of their own."""


class PlayerScreen(ModalScreen[str]):
    """Returns a player."""

    AUTO_FOCUS = "#players"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "player.play", "player.prefer", "player.close", "player.down", "player.up"
    )

    rows = getters.query_one("#players", OptionList)

    def __init__(self, message: "PlayersFound", *, prefer: "Callable[[str], object]") -> None:
        """`prefer` makes a player the default one."""
        super().__init__()
        self._prefer = prefer
        self._message = message
        self._default = message.default

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="player", can_focus=False) as page:
            page.border_title = Content(_("Player")).markup
            page.border_subtitle = Content(self._keys()).markup
            yield Static(self._about(), id="played", markup=False)
            yield OptionList(id="players", markup=False, compact=True)

    def on_mount(self) -> None:
        self._list()
        names = [name for name, _what in self._message.offers]
        self.rows.display = bool(names)
        self.rows.highlighted = names.index(self._default) if self._default in names else 0 if names else None

    def _keys(self) -> str:
        if not self._message.offers:
            return _("{key} closes").format(key=key("player.close"))
        text = _("{play} plays · {prefer} makes it the default · {close} closes")
        return text.format(play=key("player.play"), prefer=key("player.prefer"), close=key("player.close"))

    def _about(self) -> Content:
        """Return the scene and, without a screen for players, its link."""
        scene = self._message.scene
        title = Content.assemble((clock(scene.at_ms), "bold"), "  ", clean(scene.video.title))
        if self._message.offers:
            return title
        why = _("There is no screen to play on here. This link is copied:")
        return Content("\n").join([title, Content(""), Content(why), Content.styled(scene.jump_url or "", "bold")])

    def _list(self) -> None:
        at = self.rows.highlighted
        self.rows.clear_options()
        self.rows.add_options([Option(self._row(number)) for number in range(len(self._message.offers))])
        self.rows.highlighted = at

    def _row(self, number: int) -> Content:
        """Return its digit, its name, what it does, and a mark on the default one."""
        name, what = self._message.offers[number]
        digit = f"{number + 1}" if number < DIGITS else " "
        label = Content.styled(clean(name), "bold").truncate(NAME_CELLS, ellipsis=True, pad=True)
        default = "  ✓ " + _("default") if name == self._default else ""
        return Content.assemble(f" {digit}  ", label, " ", (what, MUTED), (default, "bold"))

    # --- keys ---

    @property
    def _chosen(self) -> str | None:
        at = self.rows.highlighted
        return self._message.offers[at][0] if at is not None and self._message.offers else None

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
        if self._message.offers:
            self.rows.highlighted = max(0, min(self.rows.option_count - 1, (self.rows.highlighted or 0) + rows))

    def on_key(self, event: "events.Key") -> None:
        """A digit plays at once."""
        if event.character and event.character in "123456789" and int(event.character) <= len(self._message.offers):
            event.stop()
            self.dismiss(self._message.offers[int(event.character) - 1][0])
