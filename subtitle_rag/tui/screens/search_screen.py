"""The first screen: the query keeps the focus, the scenes follow it, Enter plays the scene under the highlight."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.keys import bindings
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.preview_screen import PreviewScreen, make_preview
from subtitle_rag.tui.screens.search_page import PageContent, SearchPage
from subtitle_rag.tui.state import ExportSource, VideoMoment
from subtitle_rag.tui.widgets import (
    STAGE_BRIEFS,
    GroupedSceneList,
    JobBar,
    KeyBar,
    LineBar,
    ResultPane,
    SceneList,
    StageBar,
    TextField,
    TranscriptList,
    after_typing,
)

if TYPE_CHECKING:
    from textual.binding import Binding

    from subtitle_rag.tui.controllers import AppContext


class SearchScreen(PreviewScreen):
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#query"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background", "screen.back"})
    BINDINGS = bindings(
        "scene.play scene.play-with scene.copy scene.mark scene.export scene.copies",
        "scene.preview search.refine search.filter search.restore",
        "screen.switch screen.back",
        "list.down list.up list.page-down list.page-up",
    )
    FOOTER: ClassVar = {
        "scene.mark": N_("Mark"),
        "scene.export": N_("Export"),
        "screen.switch": N_("List"),
        "list.query": N_("Query"),
    }
    MEANINGS: ClassVar = {
        "scene.play": N_("search at once; play the scene when its results are shown"),
        "screen.switch": N_("query → list → transcript"),
        "screen.back": N_("transcript → list → query → empty query"),
    }

    def __init__(self, context: "AppContext") -> None:
        self.query_line = TextField(_("What was said in the scene?"), id="query")
        scenes = GroupedSceneList(lambda scene: context.marks.scenes.tag_of(scene))
        self.results = ResultPane(self.query_line, scenes, make_preview(context, scenes))
        super().__init__(context, self.results)
        self.page = SearchPage(context, self.results)
        self._selects_on_return = False
        """A page above the search has the focus: the query will be selected, so that typing replaces it."""

    def compose(self) -> ComposeResult:
        yield self.page
        yield JobBar()
        yield LineBar("other-run", "other_run_line")
        yield from (StageBar(kind, detailed=False) for kind in STAGE_BRIEFS)
        yield KeyBar()

    def on_mount(self) -> None:
        self.watch(self.page, "content", self._page_drawn)
        self.watch(self.app, "job", self.query_one(JobBar).show)

    def _page_drawn(self, content: PageContent) -> None:
        self.has_scenes = content == "scenes"
        self.query_one("#offer").set_class(content == "welcome", "-calm")

    def _translate(self, binding: "Binding") -> "Binding":
        """Name the key that leads to the list while letters are typed."""
        translation = super()._translate(binding)
        if binding.id != "screen.switch":
            return translation
        return replace(translation, show=translation.show and self.query_line.has_focus)

    @property
    def chosen_moment(self) -> VideoMoment | None:
        moment, result = super().chosen_moment, self.results.result
        return moment and moment._replace(query=result.lexical if result else None)

    @on(events.ScreenSuspend)
    def _left(self) -> None:
        self._selects_on_return = isinstance(self.app.screen, BaseScreen)

    @on(events.ScreenResume)
    def _returned(self) -> None:
        """Select the query behind a page: whoever comes back types the next one."""
        if self._selects_on_return and self.query_line.has_focus:
            self.query_line.select_all()
        self._selects_on_return = False

    def begin_query(self, text: str) -> None:
        """Put the beginning of a query into the field: the user types the rest."""
        self._selects_on_return = False
        self.query_line.replace_value(text)

    def take_query(self) -> str:
        """Take what is typed out of the field."""
        typed = self.query_line.value
        self.query_line.value = ""
        return typed

    # --- keys ---

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "restore_query":
            return self.page.can_restore
        if (action, parameters) == ("scene", ("copies",)):
            return bool((scene := self.scenes.value) and scene.copies)
        return super().allows(action, parameters)

    def action_restore_query(self) -> None:
        self.page.restore()

    def action_filter(self) -> None:
        self.page.choose_filters()

    def action_refine(self) -> None:
        after_typing(self, self.page.toggle_refinement)

    @on(TranscriptList.DoubleClicked)
    @on(SceneList.RowDoubleClicked)
    def action_play(self) -> None:
        after_typing(self, self._with_scene, "play")

    def action_scene(self, command: str) -> None:
        """Run the command. The choice of a player searches first, as Enter does; a copied link has its query stored."""
        if command == "choose_player":
            after_typing(self, self._with_scene, command)
        elif scene := self.find_scene():
            if command == "copy_link" and scene.jump_url:
                self.page.recent.note(self.query_line.typed)
            self.scene_actions.run(command, scene)

    def _with_scene(self, command: str) -> None:
        """Run the command on the scene under the highlight, or search first if the scenes are those of another text."""
        if scene := self.page.enter():
            self.scene_actions.run(command, scene)

    def action_export(self) -> None:
        """Export the scene, the results or the marks. In the transcript copy the line."""
        if line := self.preview.line_scene:
            self.scene_actions.copy_quote(line)
            return
        result = self.results.result if self.results.text is not None else None
        scene = self.scenes.value if result else None
        sources = (
            ExportSource(_("This scene"), (scene,) if scene else ()),
            ExportSource(_("Results"), result.scenes if result else (), self.results.text or ""),
            self.scene_actions.marks_source(),
        )
        self.scene_actions.export(sources)

    def action_back(self) -> None:
        if self.page.stop_refinement() or self.results.uncover() or self.results.leave_transcript():
            return
        if not self.query_line.has_focus:
            self.query_line.focus()
        elif not self.page.ready_queries.leave():
            self.query_line.value = ""

    def action_move(self, rows: int) -> None:
        queries, scenes = self.page.ready_queries, self.scenes
        if rows < 0 and queries.highlighted_choice is None and self.check_action("restore_query", ()):
            self.page.restore()
        elif queries.display:
            queries.move(rows)
        elif rows < 0 and scenes.has_focus and not scenes.cursor:
            self.query_line.focus()
        else:
            if rows > 0 and self.query_line.has_focus and self.has_scenes and not self.results.covers_list:
                scenes.focus()
            self.results.moving_rows.move(rows)

    @on(GroupedSceneList.SceneOpened)
    def _scene_opened(self) -> None:
        self.results.open_preview()
