"""F1: the keys, from the bindings themselves, and how a query is written."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.text import MUTED


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,ㅂ,enter", "dismiss", N_("Close"), id="help.close"),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as page:
            page.border_title = Content(_("Help")).markup
            page.border_subtitle = Content(_("esc closes")).markup
            yield Static(Content("\n").join(_page()))

    def on_mount(self) -> None:
        self.query_one("#help").focus()


def _page() -> Iterator[Content]:
    yield from _table(
        _("Search"),
        (
            ("⏎", _("search at once; play the scene when its results are shown")),
            ("↑ ↓  PgUp PgDn", _("choose a scene, from the query too (also ctrl+n)")),
            ("ctrl+y", _("copy the link to the scene's second")),
            ("tab", _("query ⇄ list (in the list j k ㅓ ㅏ move)")),
            ("esc", _("list → query → empty query")),
        ),
    )
    yield from _table(
        _("Query"),
        (
            (_("chicken sauce"), _("scenes that meet these words best")),
            (_('"dip it in"'), _("with exactly these words, whatever the spaces")),
            (_("-advert"), _("without this word")),
            (_("channel:table"), _("of channels with this name")),
            (_("video:camping"), _("of videos with this in the title")),
            (_("after:2026-01-01"), _("published on this day or later")),
            (_("before:2026-05-31"), _("published on this day or earlier")),
        ),
    )
    yield from _answers()
    yield from _everywhere()
    yield Content.styled(_("Where the keyboard types Hangul, every key above works just the same."), MUTED)


def _answers() -> Iterator[Content]:
    yield from _table(
        _("Answers"),
        (
            ("f3", _("ask a question; in the answers: a new one, about other scenes")),
            ("⏎", _("ask, then ask further about the same scenes; play what is chosen")),
            ("↑ ↓", _("citations of the answer, and the seconds that they rest on")),
            ("f5", _("earlier answers: read again or delete")),
            ("esc", _("stop the answer; then back to the search")),
        ),
    )


def _everywhere() -> Iterator[Content]:
    yield from _table(
        _("Everywhere"),
        (
            ("f1", _("this help")),
            ("f4", _("library: videos, new captions")),
            (_("paste an address"), _("channel, playlist or video on YouTube: its captions are fetched")),
            ("ctrl+r", _("look for new videos, or go on with what was stopped")),
            ("ctrl+s", _("stop the job; what is done stays")),
            ("ctrl+t", _("pause what is made in the background, or go on with it")),
            ("ctrl+g", _("fetch the models for search by meaning, or stop that")),
            ("ctrl+p", _("all commands, themes")),
            ("ctrl+q", _("quit")),
        ),
    )


def _table(title: str, rows: tuple[tuple[str, str], ...]) -> Iterator[Content]:
    yield Content.styled(title, "bold $text-accent")
    for keys, meaning in rows:
        left = Content.styled(keys, "bold")
        yield Content("  ") + left.pad_right(max(1, 20 - left.cell_length)) + Content(meaning)
    yield Content("")
