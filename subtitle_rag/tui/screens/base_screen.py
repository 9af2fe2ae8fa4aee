"""The base of all full screens."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding
from textual.screen import Screen

from subtitle_rag.i18n import _
from subtitle_rag.tui.threads import run_in_thread

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.message import Message

    from subtitle_rag.errors import AppError
    from subtitle_rag.tui.context import AppContext

T = TypeVar("T")

FOOTER_ORDER = {
    "app.help": 0,
    "library.remove": 2,
    "channel.settings": 2,
    "library.index": 3,
    "library.list": 3,
    "library.sample": 3,
    "library.switch": 3,
    "library.background": 4,
    "app.ask": 5,
    "library.sync": 6,
    "library.stop": 7,
    "library.undo": 8,
    "app.library": 9,
    "library.back": 10,
    "app.quit": 11,
}
"""Where keys stand in the footer, whose end is cut off on narrow terminals. The other keys have place 1."""


class BaseScreen(Screen[None]):
    """A screen whose footer speaks the user's language, with help first and the way out last.

    Bindings are class attributes, made before the language is known: their descriptions are message ids.
    """

    FOOTER_HIDDEN: ClassVar[frozenset[str]] = frozenset()
    """Ids of bindings that work here and have no room in the footer."""

    def __init__(self, context: "AppContext") -> None:
        super().__init__()
        self.context = context

    @property
    def active_bindings(self) -> "dict[str, ActiveBinding]":
        found = super().active_bindings.items()
        order = sorted(found, key=lambda item: FOOTER_ORDER.get(item[1].binding.id or "", 1))
        return {key: active._replace(binding=self._translate(active.binding)) for key, active in order}

    def run_in_thread(
        self,
        work: "Callable[[], T]",
        done: "Callable[[T], Message | None]",
        failed: "Callable[[AppError], Message | None]",
        *,
        group: str,
        exclusive: bool = False,
    ) -> None:
        """Run `work` in a thread that ends with the screen, and post here what `done` or `failed` makes of its end."""
        run_in_thread(self, work, done, failed, paths=self.context.settings.paths, group=group, exclusive=exclusive)

    def after_typing(self, act: Callable[..., object], *arguments: object) -> None:
        """Do this when the keys before this one have arrived: an input method delivers its last syllable and Enter in
        one breath, and the app acts on Enter before the field has the syllable."""
        (self.focused or self).call_later(self.call_later, act, *arguments)

    def _translate(self, binding: Binding) -> Binding:
        """Translate the binding. A hook: screens change here what their footer says."""
        description = _(binding.description) if binding.description else ""
        tooltip = _(binding.tooltip) if binding.tooltip else ""
        shown = binding.show and binding.id not in self.FOOTER_HIDDEN
        return replace(binding, description=description, tooltip=tooltip, show=shown)
