"""Dialog to choose a player for a scene."""

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.dialogs.dialog import ListDialog, framed
from subtitle_rag.tui.shared.messages import PlayersFound

NAME_CELLS = 14
DIGITS = 9
"""Players with a digit key."""


class PlayerScreen(ListDialog[str]):
    """Returns the chosen player."""

    AUTO_FOCUS = "#players"

    def __init__(self, message: PlayersFound) -> None:
        """Offer the players of `message`."""
        super().__init__()
        self._scene = message.scene
        self._offers = message.offers
        self._default = message.default

    def compose(self) -> ComposeResult:
        with framed(VerticalScroll(id="player", can_focus=False), _("Player"), self._keys()):
            yield Static(self._about(), id="played", markup=False)
            yield OptionList(id="players", markup=False, compact=True)

    def on_mount(self) -> None:
        self.rows.add_options([self._row(number) for number in range(len(self._offers))])
        names = [name for name, _what in self._offers]
        self.rows.display = bool(names)
        self.rows.highlighted = names.index(self._default) if self._default in names else 0

    def _keys(self) -> str:
        if not self._offers:
            return _("{key} closes").format(key=key("screen.back"))
        return _("{play} plays · {close} closes").format(play=key("screen.enter"), close=key("screen.back"))

    def _about(self) -> Content:
        """Return the scene, with its link if there is no display for players."""
        scene = self._scene
        title = Content.assemble((clock(scene.at_ms), "bold"), "  ", clean(scene.video.title))
        if self._offers:
            return title
        why = _("There is no screen to play on here. This link is copied:")
        return Content.assemble(title, f"\n\n{why}\n", (scene.jump_url or "", "bold"))

    def _row(self, number: int) -> Content:
        """Return a player's digit, name and abilities, and a mark if it is the default."""
        name, what = self._offers[number]
        digit = f"{number + 1}" if number < DIGITS else " "
        label = Content.styled(clean(name), "bold").truncate(NAME_CELLS, ellipsis=True, pad=True)
        default = "  ✓ " + _("default") if name == self._default else ""
        return Content.assemble(f" {digit}  ", label, " ", (what, MUTED), (default, "bold"))

    @property
    def _chosen(self) -> str | None:
        at = self.rows.highlighted
        return None if at is None else self._offers[at][0]

    @on(OptionList.OptionSelected)
    def action_take(self) -> None:
        self.dismiss(self._chosen)

    def on_key(self, event: events.Key) -> None:
        """Play at once when a digit is pressed."""
        if event.character and event.character in "123456789" and int(event.character) <= len(self._offers):
            event.stop()
            self.dismiss(self._offers[int(event.character) - 1][0])
