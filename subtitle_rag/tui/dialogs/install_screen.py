"""Asks before packages for search by meaning are installed; a copy that cannot do so names the commands."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.i18n import _
from subtitle_rag.tui.dialogs.dialog import Dialog, framed
from subtitle_rag.tui.keys import bindings, key
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import MUTED, install_way, paragraphs

if TYPE_CHECKING:
    from subtitle_rag.tui.state import ModelDownload


class InstallScreen(Dialog[str]):
    """Returns the name of the way, if the user agrees to it."""

    BINDINGS = bindings("screen.enter screen.back")

    def __init__(self, offer: "ModelDownload") -> None:
        super().__init__()
        self._offer = offer
        self.way = install_way(offer)

    def compose(self) -> ComposeResult:
        keys = _("{key} closes").format(key=key("screen.back"))
        if self.way:
            keys = _("{take} installs · {close} not now").format(take=key("screen.enter"), close=key("screen.back"))
        with framed(VerticalScroll(id="install", can_focus=False), _("Search by meaning"), keys):
            yield Static(self._about(), markup=False)

    def _about(self) -> Content:
        gain = _("Finds scenes that say it in other words, and puts the best first.")
        offer, way = self._offer, self.way
        if way is None:
            by_hand = offer.light.by_hand if offer.light else offer.full.by_hand if offer.full else offer.by_hand
            why = _("This copy of the program cannot install packages by itself.")
            return paragraphs((gain, clean(f"{why} {by_hand}")))
        rows: list[str | tuple[str, str]] = [gain, (way.title, "bold"), (way.detail, MUTED)]
        if way.gain:
            rows.append((way.gain, MUTED))
        if offer.through_ollama:
            rows.append(_("Ollama alone cannot rerank results; reranking needs packages."))
        elif offer.environment:
            sentence = _("Packages go only into this program's own environment, {path}.")
            rows.append(clean(sentence.format(path=offer.environment)))
        rows.append(_("You can stop at any time and resume later. Meanwhile, search for words works."))
        if offer.error is not None:
            rows.append(clean(f"! {offer.error.message} {offer.error.hint}"))
        return paragraphs(rows)

    def action_take(self) -> None:
        self.dismiss(self.way.name if self.way else None)
