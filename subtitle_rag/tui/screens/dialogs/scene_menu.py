"""The context menu of a scene."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.dialogs.dialog import ListDialog, framed

KEY_CELLS = 10


class SceneMenu(ListDialog[str]):
    """Returns the id of a command."""

    AUTO_FOCUS = "#menu-rows"

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__()
        self._ids = ids

    def compose(self) -> ComposeResult:
        keys = _("{key} closes").format(key=key("screen.back"))
        with framed(VerticalScroll(id="menu", can_focus=False), _("This scene"), keys):
            yield OptionList(*(Option(_row(id), id=id) for id in self._ids), id="menu-rows", markup=False, compact=True)

    @on(OptionList.OptionSelected)
    def action_take(self) -> None:
        option = self.rows.highlighted_option
        self.dismiss(option.id if option else None)


def _row(id: str) -> Content:
    """Return a command's key and sentence."""
    keys = next(map(keymap.key_text, keymap.keys(id)), "")
    label = Content.styled(keys, "bold").truncate(KEY_CELLS, pad=True)
    return Content.assemble(" ", label, _(COMMANDS[id].description))
