"""Help: the keys of a screen."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.commands import ENTER, HELP
from subtitle_rag.tui.keys.keymap import acts_of, commands_of, key, key_rows
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.dialogs.dialog import Dialog, framed
from subtitle_rag.tui.shared.fields.footer import KeyBar

KEY_CELLS = 20
"""Width of the key column."""

Row = tuple[str, str]


class HelpScreen(Dialog[None]):
    """The keys of the screen below, those in its footer first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ENTER,
        replace(HELP, action="take"),
    ]

    def __init__(self, about: Screen[Any]) -> None:
        """Show help for the screen `about`."""
        super().__init__()
        self._sections = list(_sections(about))
        self._in_field = isinstance(about.focused, Input)
        self._text = Static(id="keys", markup=False)
        closes = _("{key} closes").format(key=key("screen.back"))
        self._page = framed(VerticalScroll(self._text, id="help"), _("Help"), closes)

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        self._page.focus()

    def action_take(self) -> None:
        self.dismiss()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        width = self._page.scrollable_content_region.width
        self._text.update(Content("\n").join(_page(self._sections, width, in_field=self._in_field)))


def _sections(about: Screen[Any]) -> Iterator[tuple[str, list[Row]]]:
    """Yield titles and rows: keys in the footer, other keys of the screen, and global keys."""
    first = [hint.id for bar in about.query(KeyBar) for hint in bar.hints]
    nodes = [node for node in about.walk_children() if node.display]
    everywhere = commands_of(about.app)
    here: dict[str, Binding] = {}
    for node in (about, *nodes):
        here |= {id: binding for id, binding in commands_of(node).items() if id not in here}
    bindings = everywhere | here
    yield _("Here"), key_rows(bindings[id] for id in first)
    yield _("Also here"), key_rows(binding for id, binding in here.items() if id not in first)
    if about.query("#query, #question"):
        yield _("Query"), list(_query())
    paste = (_("paste an address"), _("channel, playlist or video on YouTube: its captions are fetched"))
    works = acts_of(about)
    others = (binding for id, binding in everywhere.items() if id in works and id not in {*here, *first})
    yield _("Everywhere"), [*key_rows(others), paste]


def _query() -> Iterator[Row]:
    yield _("chicken sauce"), _("scenes that meet these words best")
    yield _('"dip it in"'), _("with exactly these words, whatever the spaces")
    yield _("-advert"), _("without this word")
    yield _("channel:table"), _("of channels with this name")
    yield _("video:camping"), _("of videos with this in the title")
    yield _("after:2026-01-01"), _("published on this day or later")
    yield _("before:2026-05-31"), _("published on this day or earlier")
    yield _("kind:short"), _("only shorts; also: video, stream")


def _page(sections: Iterable[tuple[str, list[Row]]], width: int, *, in_field: bool) -> Iterator[Content]:
    for number, (title, rows) in enumerate(sections):
        yield Content.styled(title, "bold $focus")
        for keys, meaning in rows:
            yield from _row(keys, meaning, width)
        if in_field and number == 0:
            letters = _("In a field, letters are text; {key} leaves it.").format(key=key("screen.back"))
            yield from Content.styled(letters, MUTED).wrap(max(8, width))
        yield Content("")
    more = _("{key} finds every act by its name, those without a key too.").format(key=key("app.commands"))
    yield from Content.styled(more, MUTED).wrap(max(8, width))


def _row(keys: str, meaning: str, width: int) -> Iterator[Content]:
    head = Content("  ") + Content.styled(keys, "bold")
    room = KEY_CELLS + 2
    if width < 2 * room or head.cell_length >= room:
        yield head
        yield from (Content("    ") + line for line in Content(meaning).wrap(max(8, width - 4)))
        return
    for number, line in enumerate(Content(meaning).wrap(max(8, width - room))):
        first = head.pad_right(room - head.cell_length) if number == 0 else Content(" " * room)
        yield first + line.rstrip()
