"""Asks whether a channel or a playlist is to be removed."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.tui.state.removal import Removal


class RemoveScreen(ModalScreen[bool]):
    """Asks whether a channel or a playlist is meant to leave."""

    AUTO_FOCUS = "#remove"
    BINDINGS: ClassVar[list[BindingType]] = bindings("remove.keep", "remove.other")

    def __init__(self, removal: "Removal") -> None:
        super().__init__()
        self._removal = removal

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="removing", can_focus=False) as page:
            page.border_title = Content(_("Remove")).markup
            yield Static(self._told(), markup=False)
            with Horizontal(id="remove-buttons"):
                yield Button(Content(_("Remove")), variant="warning", id="remove", compact=True)
                yield Button(Content(_("Keep")), id="keep", compact=True)

    def _told(self) -> Content:
        removal = self._removal
        videos = n_("{n} video", "{n} videos", len(removal.videos)).format(n=f"{len(removal.videos):,}")
        windows = n_("{n} window", "{n} windows", removal.windows).format(n=f"{removal.windows:,}")
        contexts = n_("{n} context", "{n} contexts", removal.contexts).format(n=f"{removal.contexts:,}")
        rows = [Content.styled(clean(removal.target.name), "bold"), Content(" · ".join((videos, windows, contexts)))]
        if removal.contexts:
            rows.append(Content(_("! The contexts that a model has written go too.")))
        if removal.target.sources:
            rows.append(Content(_("It is no longer followed.")))
        rows.append(Content(_("For a minute, {key} brings it back.").format(key=key("library.undo"))))
        return Content("\n").join(rows)

    def action_other(self) -> None:
        self.focus_next()

    @on(Button.Pressed)
    def _pressed(self, message: Button.Pressed) -> None:
        self.dismiss(message.button.id == "remove")
