"""Dialog to choose how to install search by meaning. Shows commands if the program cannot install."""

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, paragraphs
from subtitle_rag.tui.shared.dialogs.dialog import ListDialog, framed
from subtitle_rag.tui.shared.progress.model_lines import InstallWay, install_ways
from subtitle_rag.tui.shared.progress.offers import ModelDownload


class InstallScreen(ListDialog[str]):
    """Returns the name of the chosen way."""

    AUTO_FOCUS = "#ways"

    def __init__(self, offer: ModelDownload) -> None:
        super().__init__()
        self._offer = offer
        self.ways = install_ways(offer)

    def compose(self) -> ComposeResult:
        keys = _("{key} closes").format(key=key("screen.back"))
        if self.ways:
            keys = _("{take} installs · {close} not now").format(take=key("screen.enter"), close=key("screen.back"))
        with framed(VerticalScroll(id="install", can_focus=False), _("Search by meaning"), keys):
            yield Static(_("Finds scenes that say it in other words, and puts the best first."), markup=False)
            yield OptionList(*(Option(_row(way), id=way.name) for way in self.ways), id="ways", markup=False)
            yield Static(self._notes(), markup=False)

    def on_mount(self) -> None:
        self.rows.display = bool(self.ways)
        recommended = self._offer.recommended
        names = [way.name for way in self.ways]
        self.rows.highlighted = names.index(recommended.step.name) if recommended else 0

    def _notes(self) -> Content:
        offer = self._offer
        if not self.ways:
            by_hand = offer.steps[0].by_hand if offer.steps else offer.by_hand
            why = _("This copy of the program cannot install packages by itself.")
            return paragraphs((clean(f"{why} {by_hand}"),))
        rows: list[str | tuple[str, str]] = []
        if offer.through_ollama:
            rows.append(_("Ollama alone cannot rerank results; reranking needs packages."))
        elif offer.environment:
            sentence = _("Packages go only into this program's own environment, {path}.")
            rows.append(clean(sentence.format(path=offer.environment)))
        rows.append(_("You can stop at any time and resume later. Meanwhile, search for words works."))
        if offer.error is not None:
            rows.append(clean(f"! {offer.error.message} {offer.error.hint}"))
        return paragraphs(rows)

    @on(OptionList.OptionSelected)
    def action_take(self) -> None:
        option = self.rows.highlighted_option
        self.dismiss(option.id if option else None)


def _row(way: InstallWay) -> Content:
    """Return the title, sizes and benefit of a way."""
    lines = [Content.styled(way.title, "bold"), Content.styled(way.detail, MUTED)]
    if way.gain:
        lines.append(Content.styled(way.gain, MUTED))
    return Content("\n").join(lines)
