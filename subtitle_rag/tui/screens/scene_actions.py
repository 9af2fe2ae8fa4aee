"""The commands on a scene of any screen: mark it, copy it as Markdown, export it."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from subtitle_rag.i18n import _
from subtitle_rag.tui.state.export_source import ExportSource

if TYPE_CHECKING:
    from textual.app import App

    from subtitle_rag.library.mark_store import Mark
    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.tui.context import AppContext


def mark(app: "App[Any]", context: "AppContext", scene: "Scene") -> None:
    """Mark a scene, or open note and tag of a marked one."""
    found = context.marks.scenes.mark_of(scene)
    if found is None:
        context.marks.add(scene)
    else:
        edit(app, context, found)


def edit(app: "App[Any]", context: "AppContext", mark: "Mark") -> None:
    """Open note and tag of a mark."""
    from subtitle_rag.tui.dialogs.mark_screen import MarkScreen

    marks = context.marks
    app.push_screen(
        MarkScreen(mark, marks.scenes.tags, save=partial(marks.edit, mark), remove=partial(marks.remove, mark))
    )


def copy_markdown(context: "AppContext", scene: "Scene") -> None:
    found = context.marks.scenes.mark_of(scene)
    context.playback.copy_markdown(scene, found.note if found else "", found.tag if found else "")


def export(app: "App[Any]", context: "AppContext", sources: Sequence[ExportSource]) -> None:
    """Open the export of these scenes, and of the marks."""
    from subtitle_rag.tui.dialogs.export_screen import ExportScreen

    app.push_screen(ExportScreen(context, [source for source in sources if source.scenes]))


def marks_source(context: "AppContext") -> ExportSource:
    """Return the marked scenes."""
    scenes = context.marks.scenes
    return ExportSource(_("Marks"), tuple(scenes.scene_of(mark) for mark in scenes.marks))
