"""The page of help over a screen."""

from collections.abc import Iterable, Iterator

from textual.actions import parse as parse_action
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Static

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.dialogs.dialog import Dialog, framed
from subtitle_rag.tui.keys import bindings, closed_by, key, keymap
from subtitle_rag.tui.text import MUTED, key_rows

KEY_CELLS = 20
"""Width of the column with the keys."""
TITLES = {
    "SearchScreen": N_("Search"),
    "LibraryScreen": N_("Library"),
    "AnswerScreen": N_("Answers"),
    "RecentAnswers": N_("Earlier answers"),
    "MarksScreen": N_("Marks"),
    "TranscriptScreen": N_("Transcript"),
    "OverviewScreen": N_("Overview"),
    "RowList": N_("In the list"),
    "TranscriptList": N_("In the lines of the transcript"),
    "ChannelTable": N_("Channels"),
    "VideoTable": N_("Videos"),
    "ChecksScreen": N_("Checks"),
}
"""Titles of screens and widgets by the names of their classes."""

Row = tuple[str, str]


class HelpScreen(Dialog[None]):
    """The keys of the screen below, redrawn for each width."""

    BINDINGS = bindings("screen.back page.close") + closed_by("app.help")

    def __init__(self, about: Screen[object]) -> None:
        """`about` is the screen below."""
        super().__init__()
        self._sections = list(_sections(about))
        self._text = Static(id="keys", markup=False)
        closes = _("{key} closes").format(key=key("screen.back"))
        self._page = framed(VerticalScroll(self._text, id="help"), _("Help"), closes)

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        self._page.focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        width = self._page.scrollable_content_region.width
        self._text.update(Content("\n").join(_page(self._sections, width)))


def _sections(about: Screen[object]) -> Iterator[tuple[str, list[Row]]]:
    focused = about.focused or about
    path: list[DOMNode] = [node for node in focused.ancestors_with_self if not isinstance(node, App)]
    rest = [node for node in about.walk_children() if node not in path]
    kinds: set[type[DOMNode]] = set()
    listed_ids: set[str] = set()
    for kind in map(type, (*path, *rest)):
        rows = key_rows(kind, listed_ids=listed_ids) if kind not in kinds else []
        kinds.add(kind)
        listed_ids.update(binding.id or "" for binding in keymap.declared_by(kind))
        if rows:
            yield _title(kind), rows
    if about.query("#query, #question"):
        yield _("Query"), list(_query())
    everywhere = (_("paste an address"), _("channel, playlist or video on YouTube: its captions are fetched"))
    yield _("Everywhere"), [*key_rows(type(about.app), _replaced_keys(about.app, kinds)), everywhere]


def _replaced_keys(app: App[object], kinds: Iterable[type[DOMNode]]) -> set[str]:
    """Return the keys that open a screen elsewhere, where these classes have them for their own."""
    page_keys = {
        name for kind in kinds for binding in keymap.declared_by(kind) for name in keymap.keys(binding.id or "")
    }
    replaced: set[str] = set()
    for binding in keymap.declared_by(type(app)):
        _namespace, action, parameters = parse_action(binding.action)
        if (id := binding.id or "").startswith("app.") and not app.check_action(action, parameters):
            names = set(keymap.keys(id))
            replaced |= names if page_keys & names else set()
    return replaced


def _title(kind: type[DOMNode]) -> str:
    title = next((TITLES[k.__name__] for k in kind.__mro__ if k.__name__ in TITLES), "")
    return _(title) if title else _("Here")


def _query() -> Iterator[Row]:
    yield _("chicken sauce"), _("scenes that meet these words best")
    yield _('"dip it in"'), _("with exactly these words, whatever the spaces")
    yield _("-advert"), _("without this word")
    yield _("channel:table"), _("of channels with this name")
    yield _("video:camping"), _("of videos with this in the title")
    yield _("after:2026-01-01"), _("published on this day or later")
    yield _("before:2026-05-31"), _("published on this day or earlier")
    yield _("kind:short"), _("only shorts; also: video, stream")


def _page(sections: Iterable[tuple[str, list[Row]]], width: int) -> Iterator[Content]:
    for title, rows in sections:
        yield Content.styled(title, "bold $focus")
        for keys, meaning in rows:
            yield from _row(keys, meaning, width)
        yield Content("")
    hangul = _("In Hangul input mode all keys above work the same.")
    yield from Content.styled(hangul, MUTED).wrap(max(8, width))


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
