"""The base of all full screens."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.screen import Screen

from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from textual.binding import ActiveBinding

    from subtitle_rag.tui.context import AppContext

FOOTER_ORDER = {
    "app.help": 0,
    "library.index": 2,
    "library.list": 2,
    "library.sample": 2,
    "library.switch": 2,
    "library.background": 3,
    "app.ask": 4,
    "library.sync": 5,
    "library.stop": 6,
    "library.undo": 7,
    "app.library": 8,
    "library.back": 9,
    "app.quit": 10,
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
        return {key: active._replace(binding=self._spoken(active.binding)) for key, active in order}

    def after_typing(self, act: Callable[..., object], *arguments: object) -> None:
        """Do this when the keys before this one have arrived: an input method delivers its last syllable and Enter in
        one breath, and the app acts on Enter before the field has the syllable."""
        (self.focused or self).call_later(self.call_later, act, *arguments)

    def _spoken(self, binding: Binding) -> Binding:
        """The binding with its description translated."""
        description = _(binding.description) if binding.description else ""
        tooltip = _(binding.tooltip) if binding.tooltip else ""
        shown = binding.show and binding.id not in self.FOOTER_HIDDEN
        return replace(binding, description=description, tooltip=tooltip, show=shown)
