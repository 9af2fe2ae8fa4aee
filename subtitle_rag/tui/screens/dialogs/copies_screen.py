"""Dialog to play one of a scene's copies in other videos."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, TIME_CELLS, channel_and_date
from subtitle_rag.tui.shared.dialogs.dialog import ListDialog, framed

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene


class CopiesScreen(ListDialog["Scene"]):
    """Returns the chosen copy."""

    AUTO_FOCUS = "#copy-rows"

    def __init__(self, copies: "Sequence[Scene]") -> None:
        super().__init__()
        self._copies = copies

    def compose(self) -> ComposeResult:
        keys = _("{play} plays · {close} closes").format(play=key("screen.enter"), close=key("screen.back"))
        with framed(VerticalScroll(id="copies", can_focus=False), _("Said in other videos, too"), keys):
            yield OptionList(*(Option(_row(copy)) for copy in self._copies), id="copy-rows", markup=False, compact=True)

    @on(OptionList.OptionSelected)
    def action_take(self) -> None:
        at = self.rows.highlighted
        self.dismiss(None if at is None else self._copies[at])


def _row(copy: "Scene") -> Content:
    """Return time and title, and a second line that distinguishes videos with the same title."""
    start = clock(copy.at_ms).rjust(TIME_CELLS)
    about = Content.styled(channel_and_date(copy.video), MUTED)
    return Content.assemble((start, "bold"), "  ", clean(copy.video.title), "\n", " " * (TIME_CELLS + 2), about)
