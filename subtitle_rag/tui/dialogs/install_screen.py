"""Asks before packages for search by meaning are installed; a copy that cannot do so names the commands."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.i18n import _
from subtitle_rag.tui.dialogs.dialog import ListDialog, framed
from subtitle_rag.tui.keys import bindings, closed_by, key
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import MUTED, install_ways, paragraphs

if TYPE_CHECKING:
    from subtitle_rag.tui.state import ModelDownload
    from subtitle_rag.tui.text import InstallWay


class InstallScreen(ListDialog[str]):
    """Returns the name of a row."""

    AUTO_FOCUS = "#ways"
    BINDINGS = bindings("install.take screen.back list.down list.up") + closed_by("models.fetch")

    def __init__(self, offer: "ModelDownload") -> None:
        super().__init__()
        self._offer = offer
        self._ways = install_ways(offer)

    def compose(self) -> ComposeResult:
        with framed(VerticalScroll(id="install", can_focus=False), _("Search by meaning"), self._keys()):
            yield Static(self._about(), markup=False)
            rows = [Option(_row(each), id=each.name) for each in self._ways]
            yield OptionList(*rows, id="ways", markup=False)

    def on_mount(self) -> None:
        self.rows.display = bool(self._ways)
        self.rows.highlighted = 0

    def _about(self) -> Content:
        gain = _("Scenes are found that say it in other words, and the most fitting ones come first.")
        offer = self._offer
        through_ollama = _("With Ollama alone, nothing puts the most fitting scenes first; that needs packages.")
        notes = [through_ollama] if offer.through_ollama else []
        if offer.has_gpu and offer.full:
            notes.append(_("This computer has a graphics processor: the full step is fast on it."))
        by_hand = offer.light.by_hand if offer.light else offer.full.by_hand if offer.full else offer.by_hand
        if by_hand:
            why = _("This copy of the program cannot install packages by itself.")
            return paragraphs((gain, *notes, clean(f"{why} {by_hand}")))
        sentence = _(
            "Packages go only into this program's own environment, {path}; those already there stay as they are."
        )
        rest = _("You can stop at any time and resume later. Meanwhile, search for words works.")
        environment = [clean(sentence.format(path=offer.environment))] if offer.environment else []
        rows = [gain, *notes, *environment, rest]
        if offer.error is not None:
            rows.append(clean(f"! {offer.error.message} {offer.error.hint}"))
        return paragraphs(rows)

    def _keys(self) -> str:
        if not self._ways:
            return _("{key} closes").format(key=key("screen.back"))
        return _("{take} installs · {close} not now").format(take=key("install.take"), close=key("screen.back"))

    def action_take(self) -> None:
        row = self.rows.highlighted_option
        if row is not None or not self._ways:
            self.dismiss(row.id if row else None)

    def action_move(self, rows: int) -> None:
        """Move, and from the last way to the first."""
        (self.rows.action_cursor_down if rows > 0 else self.rows.action_cursor_up)()


def _row(row: "InstallWay") -> Content:
    lines = [(row.title, "bold"), (row.detail, MUTED), *([(row.gain, MUTED)] if row.gain else [])]
    return paragraphs(tuple(lines))
