"""The parts that the screens are made of. They show what they are given and know nothing of the library."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.domain import clock
from subtitle_rag.i18n import N_, _
from subtitle_rag.tui import contexts, jobs, offer, text, vectors
from subtitle_rag.tui.field import pasted_address

if TYPE_CHECKING:
    from textual import events
    from textual.binding import ActiveBinding

    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.tui.background import Progress, Stage
    from subtitle_rag.tui.jobs import Job


TOLD: dict["Stage", tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "contexts": (contexts.line, contexts.brief),
    "vectors": (vectors.line, vectors.brief),
    "offer": (offer.line, offer.brief),
}
"""How each is told: as far as there is room, and in one line while it goes on."""
PLACES = {"app.help": 0, "app.quit": 2}
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

    def _spoken(self, binding: Binding) -> Binding:
        """The binding with its description translated."""
        description = _(binding.description) if binding.description else ""
        tooltip = _(binding.tooltip) if binding.tooltip else ""
        shown = binding.show and binding.id not in self.UNTOLD
        return replace(binding, description=description, tooltip=tooltip, show=shown)


class Line(Input):
    """A text field that steals no key of ours: ctrl+d, ctrl+k and the like of `Input` lose to priority bindings."""

    def __init__(self, placeholder: str, id: str) -> None:
        super().__init__(placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        # every repaint can make the window of an input method flicker
        self.cursor_blink = False

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


class SceneList(OptionList):
    """The scenes of a search. The keys that move it come from the screen, for the query has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,ㅓ", "cursor_down", N_("Down"), show=False, id="list.down"),
        Binding("k,ㅏ", "cursor_up", N_("Up"), show=False, id="list.up"),
        Binding("y,ㅛ", "screen.copy_link", N_("Copy link"), show=False, id="list.copy"),
        Binding("slash", "screen.focus_query", N_("Query"), show=False, id="list.query"),
    ]

    class Typed(Message):
        """A letter for the query was typed while the list had the focus."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self) -> None:
        super().__init__(id="scenes", markup=False, compact=True)
        self._scenes: dict[str, Scene] = {}

    def fill(self, scenes: Sequence["Scene"], keep: str | None) -> None:
        """Show other scenes; the highlight goes to the scene `keep` if it is among them, else to the top.

        Scenes that look as those before are not drawn anew. The list stays where it is scrolled to, as far as the
        highlight can be seen there.
        """
        before, self._scenes = self._scenes, {scene.id: scene for scene in scenes}
        at = list(self._scenes).index(keep) if keep in self._scenes else 0
        same = [_content(scene) for scene in before.values()] == [_content(scene) for scene in scenes]
        with self.prevent(OptionList.OptionHighlighted):
            if not same or list(before) != list(self._scenes):
                top = self.scroll_y
                self.clear_options()
                self.add_options([Option(text.row(scene), id=scene.id) for scene in scenes])
                self.scroll_to(y=top, animate=False, force=True, immediate=True)
            self.highlighted = at if scenes else None

    @property
    def scene(self) -> "Scene | None":
        """The highlighted scene."""
        option = self.highlighted_option
        return self._scenes.get(option.id or "") if option else None

    def move(self, rows: int) -> None:
        """Move the highlight, without running over the ends."""
        if self.option_count:
            self.highlighted = max(0, min(self.option_count - 1, (self.highlighted or 0) + rows))

    @property
    def page(self) -> int:
        """Scenes that fit."""
        return max(1, self.size.height // 2 - 1)

    def on_key(self, event: "events.Key") -> None:
        bound = {"j", "k", "y", "ㅓ", "ㅏ", "ㅛ", "/"}
        if event.is_printable and event.character and event.character not in bound:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))


class Preview(Vertical):
    """One scene: of which video it is, what a model wrote of it, and, apart from that, what is said in it."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="preview")
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="about")
        with VerticalScroll(id="context", can_focus=False):
            yield Static(id="written")
        with VerticalScroll(id="transcript", can_focus=False):
            yield Static(id="lines")

    def show(self, scene: "Scene | None") -> None:
        """A scene that is shown already stays where somebody has scrolled it to."""
        before, self._scene = self._scene, scene
        if _written(scene) != _written(before):
            self._draw_context()
        if scene is None or before is None or _content(scene) != _content(before):
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw_context(self) -> None:
        written = _written(self._scene)
        self.query_one("#context").display = bool(written)
        label = (_("Context") + "  ", "bold $text-accent")
        self.query_one("#written", Static).update(Content.assemble(label, (written, text.MUTED)))

    def _draw(self) -> None:
        about, lines = self.query_one("#about", Static), self.query_one("#lines", Static)
        scene = self._scene
        if scene is None:
            about.update("")
            lines.update("")
            return
        video = scene.video
        where = (text.clean(video.channel), video.published.isoformat() if video.published else "", clock(scene.at_ms))
        rows = [
            Content.styled(text.clean(video.title), "bold"),
            Content.styled(" · ".join(part for part in where if part), text.MUTED),
            Content.styled(scene.jump_url or _("no link"), text.MUTED),
        ]
        about.update(Content("\n").join(rows))
        transcript = self.query_one("#transcript", VerticalScroll)
        said, matched = text.transcript(scene, transcript.scrollable_content_region.width)
        lines.update(Content("\n").join(said))
        # the new lines have no height before the next layout
        self.call_after_refresh(
            transcript.scroll_to, y=max(0, matched - transcript.size.height // 3), animate=False, force=True
        )


def _content(scene: "Scene") -> tuple[object, ...]:
    return scene.video, scene.text, scene.lines, scene.highlights, scene.at_ms


def _written(scene: "Scene | None") -> str:
    """What a model wrote of it."""
    return text.clean(scene.context or "").strip() if scene else ""


class JobBar(Static):
    """The job in one line: the one that runs, or the one that can be gone on with; not there without either."""

    def __init__(self) -> None:
        super().__init__(id="job", markup=False)
        self.display = False

    def show(self, job: "Job | None") -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self.update(Content(text.clean(jobs.line(job))))


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
