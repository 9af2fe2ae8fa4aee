"""Dialog for a mark's note and tag."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.base.domain.values import clock, tidy
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.keys.commands import ENTER, command
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import mark_confirmation
from subtitle_rag.tui.shared.dialogs.dialog import Dialog, framed
from subtitle_rag.tui.shared.fields.text_field import TextField, after_typing

if TYPE_CHECKING:
    from subtitle_rag.library.mark_store import Mark

MOST_TAGS = 12
"""Most tags in the list."""


class MarkScreen(Dialog[None]):
    AUTO_FOCUS = "#mark-note"
    BINDINGS: ClassVar[list[BindingType]] = [
        ENTER,
        command("mark.remove", "ctrl+d", "remove", N_("Remove mark"), N_("remove the mark"), system=True),
    ]

    note = getters.query_one("#mark-note", TextField)
    tag = getters.query_one("#mark-tag", TextField)

    def __init__(
        self, mark: "Mark", tags: Sequence[str], *, save: Callable[[str, str], object], remove: Callable[[], object]
    ) -> None:
        """Edit a mark. `tags` are the existing tags; `save` is called with note and tag."""
        super().__init__()
        self._mark = mark
        self._tags = tags
        self._save = save
        self._remove = remove

    def compose(self) -> ComposeResult:
        mark = self._mark
        text = _("{save} saves · {remove} removes the mark · {close} closes")
        names = {"save": key("screen.enter"), "remove": key("mark.remove"), "close": key("screen.back")}
        with framed(Vertical(id="mark"), _("Mark"), text.format(**names)):
            title = Content.styled(clean(mark.line), "bold")
            where = Content.styled(" · ".join((clock(mark.at_ms), clean(mark.channel), clean(mark.title))), MUTED)
            yield Static(title, id="mark-line", markup=False)
            yield Static(where, id="mark-video", markup=False)
            for name, label, value in (("mark-note", _("Note"), mark.note), ("mark-tag", _("Tag"), mark.tag)):
                with Horizontal(classes="mark-field"):
                    yield Static(label, classes="label", markup=False)
                    field = TextField("", id=name)
                    field.value = value
                    yield field
            if self._tags:
                tags = " ".join(f"#{clean(tag)}" for tag in self._tags[:MOST_TAGS])
                yield Static(Content.styled(_("Tags: {tags}").format(tags=tags), MUTED), markup=False)

    def on_mount(self) -> None:
        """Dismiss the toasts: on a low screen, the one that names this dialog's key would cover its fields."""
        self.app.clear_notifications()

    def action_take(self) -> None:
        after_typing(self, self._take)

    def _take(self) -> None:
        self.dismiss()
        self._save(tidy(self.note.value), tidy(self.tag.value).removeprefix("#"))

    def action_remove(self) -> None:
        self.app.push_screen(ConfirmScreen(mark_confirmation(self._mark.line, self._mark.note), self._remove_mark))

    def _remove_mark(self) -> None:
        self.dismiss()
        self._remove()
