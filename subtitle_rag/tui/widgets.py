"""The parts that the screens are made of. They show what they are given and know nothing of the library."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.highlighter import Highlighter
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widgets import Input, Static

from subtitle_rag.i18n import _
from subtitle_rag.tui import contexts, extractor_update, jobs, offer, text, vectors
from subtitle_rag.tui.field import pasted_address
from subtitle_rag.tui.text import visible

if TYPE_CHECKING:
    from rich.text import Text
    from textual import events
    from textual.binding import ActiveBinding

    from subtitle_rag.tui.background import Progress, Stage
    from subtitle_rag.tui.jobs import Job


TOLD: dict["Stage", tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "contexts": (contexts.line, contexts.brief),
    "vectors": (vectors.line, vectors.brief),
    "offer": (offer.line, offer.brief),
    "update": (extractor_update.line, extractor_update.line),
}
"""How each is told: as far as there is room, and in one line while it goes on."""
PLACES = {"app.help": 0, "library.back": 2, "app.quit": 3}
"""Where keys stand in the footer, whose end is cut off on narrow terminals."""


class Page(Screen[None]):
    """A screen whose footer speaks the user's language, with help first and the way out last.

    Bindings are class attributes, made before the language is known: their descriptions are message ids.
    """

    UNTOLD: ClassVar[frozenset[str]] = frozenset()
    """Ids of bindings that work here and have no room in the footer."""

    @property
    def active_bindings(self) -> "dict[str, ActiveBinding]":
        found = super().active_bindings.items()
        order = sorted(found, key=lambda item: PLACES.get(item[1].binding.id or "", 1))
        return {key: active._replace(binding=self._spoken(active.binding)) for key, active in order}

    def after_typing(self, act: Callable[..., object], *arguments: object) -> None:
        """Do this when the keys before this one have arrived: an input method delivers its last syllable and Enter in
        one breath, and the app acts on Enter before the field has the syllable."""
        (self.focused or self).call_later(self.call_later, act, *arguments)

    def _spoken(self, binding: Binding) -> Binding:
        """The binding with its description translated."""
        description = _(binding.description) if binding.description else ""
        tooltip = _(binding.tooltip) if binding.tooltip else ""
        shown = binding.show and binding.id not in self.UNTOLD
        return replace(binding, description=description, tooltip=tooltip, show=shown)


class Visible(Highlighter):
    def highlight(self, text: "Text") -> None:
        text.plain = visible(text.plain)


class Line(Input):
    """A text field that steals no key of ours: ctrl+d, ctrl+k and the like of `Input` lose to priority bindings."""

    virtual_size = Reactive(Size(0, 0))
    """No key lays the screen out anew: the field is as wide as its place, whatever stands in it."""

    def __init__(self, placeholder: str, id: str) -> None:
        super().__init__(placeholder=placeholder, id=id, compact=True, select_on_focus=False, highlighter=Visible())
        # every repaint can make the window of an input method flicker
        self.cursor_blink = False

    def on_resize(self) -> None:
        """There is more or less room: the cursor stays in sight."""
        cursor = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(cursor, 0, 1, 1), animate=False, force=True)

    class AddressPasted(Message):
        """An address on the web was pasted, which is neither a query nor a part of what stands in the field."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    def _on_paste(self, event: "events.Paste") -> None:
        if address := pasted_address(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.AddressPasted(address))

    def put(self, text: str) -> None:
        """What was pasted somewhere else on the screen."""
        self.focus()
        self.insert_text_at_cursor(next(iter(text.strip().splitlines()), ""))


class Counter(Static):
    """A line as wide as what it says; nothing is laid out anew while that width stays."""

    def __init__(self) -> None:
        super().__init__(id="counter", markup=False)
        self._said = Content()

    def say(self, text: str) -> None:
        before, self._said = self._said, Content(text)
        if self._said != before:
            self.update(self._said, layout=self._said.cell_length != before.cell_length)


class JobBar(Static):
    """The job in one line: the one that runs, or the one that can be gone on with; not there without either."""

    def __init__(self) -> None:
        super().__init__(id="job", markup=False)
        self.display = False

    def show(self, job: "Job | None") -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self.update(Content(text.clean(jobs.line(job))), layout=False)  # one line, as wide as the screen


class StageBar(Static):
    """What is done in the background, in a line or two; with `whole=False` only while it is done, in one."""

    def __init__(self, stage: "Stage", *, whole: bool = True) -> None:
        super().__init__(id=stage, classes="stage", markup=False)
        self.stage = stage
        self._whole = whole

    def show(self, progress: "Progress | None") -> None:
        said = ""
        line, brief = TOLD[self.stage]
        if progress and self._whole:
            said = line(progress)
        elif progress and progress.state == "working":
            said = brief(progress)
        self.set_class(bool(said), "-shown")
        self.update(Content(said))


def paragraphs(rows: Iterable[str | tuple[str, str]]) -> Content:
    """Lines of plain text, each with its style."""
    return Content("\n").join(Content(row) if isinstance(row, str) else Content.styled(*row) for row in rows)
