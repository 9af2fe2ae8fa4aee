"""Notices are drawn whole, also over the edges of what they cover, and after that has changed."""

import ast
import gc
import re
import weakref
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widgets._toast import Toast

import subtitle_rag.tui
from subtitle_rag.base.domain.error_messages import SENTENCES
from subtitle_rag.base.i18n import _
from subtitle_rag.tui import textual_fixes
from subtitle_rag.tui.app import SubtitleApp
from tests.support.sources import tree
from tests.tui.conftest import MakeApp, library_of, press, running, scene, typed, until

WIDTHS = (60, 80, 99, 100, 121, 160)
ROWS = 400
"""As many as all notices of the app need at once."""
NOTICE = re.compile(r"notify\(|copy_text\(|_copied")
PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


def sentences() -> list[str]:
    """The message ids in all functions that show a notice."""
    ids: set[str] = set()
    for path in Path(subtitle_rag.tui.__file__).parent.rglob("*.py"):
        for function in ast.walk(tree(path)):
            if isinstance(function, ast.FunctionDef) and NOTICE.search(ast.unparse(function)):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"_", "n_"}:
                        ids |= {str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)}
    return sorted(ids)


def filled(id: str) -> str:
    """The sentence with a name in the place of each field."""
    return PLACEHOLDER.sub("느린 부엌의 소스", _(id))


def without_blanks(text: str) -> str:
    return "".join(text.split())


def drawn_toasts(app: SubtitleApp) -> list[str]:
    """The text of each notice that is in sight as it stands on the screen, without blanks."""
    compositor = app.screen._compositor
    strips = compositor.render_strips()
    return [
        without_blanks("".join(strips[y].crop(*widget.content_region.column_span).text for y in region.line_range))
        for widget, (region, clip) in compositor.visible_widgets.items()
        if isinstance(widget, Toast) and clip.contains_region(region)
    ]


@pytest.mark.campaign(part="app")
async def test_every_notice_is_whole_at_every_width(app_of: MakeApp) -> None:
    app = app_of("ko", scenes=[scene(n, text="소스에 찍어 먹는 치킨 " * 9) for n in range(1, 60)])
    async with running(app, "치킨", size=(160, ROWS), notifications=True) as (_app, pilot):
        assert len(sentences()) > 5
        notices = {("", shift + filled(id)) for id in sentences() for shift in ("", "a")}
        pairs = [(SENTENCES[key.removesuffix(".hint")], hint) for key, hint in SENTENCES.items() if ".hint" in key]
        longest = sorted(pairs, key=lambda two: cell_len(_(two[0]) + _(two[1])))[-12:]
        notices |= {(filled(title), filled(text)) for title, text in longest}
        for title, text in sorted(notices):
            app.notify(text, title=title, markup=False, timeout=600)
        await until(pilot, lambda: len(app.screen.query(Toast)) == len(notices), 10)
        expected = {without_blanks(title + text) for title, text in notices}
        for width in WIDTHS:
            await pilot.resize_terminal(width, ROWS)
            await until(pilot, lambda width=width: app.screen.size.width == width)  # type: ignore[misc]
            await pilot.pause()
            assert set(drawn_toasts(app)) == expected, width


@pytest.mark.parametrize("shift", ["", "a"])
async def test_a_change_under_a_notice_leaves_it_whole(app_of: MakeApp, shift: str) -> None:
    app = app_of("ko", scenes=[scene(n) for n in range(1, 60)])
    async with running(app, "치킨", size=(121, 40), notifications=True) as (_, pilot):
        text = shift + "링크를" * 40
        app.notify(text, markup=False, timeout=600)
        await until(pilot, lambda: app.screen.query(Toast), 10)
        await pilot.pause()
        toast = app.screen.query_one(Toast)
        screen = app.search_screen
        edge = screen.scenes.region.right
        assert toast.region.x < edge < toast.region.right
        compositor = screen._compositor
        compositor._dirty_regions.add(screen.scenes.region)
        update = compositor.render_partial_update()
        assert update is not None
        for y in toast.region.line_range:
            assert all(x2 >= toast.region.right for row, _x1, x2 in update.spans if row == y)
        assert drawn_toasts(app) == [text]


class Line(Strip):
    """A strip that can be referred to weakly."""


@pytest.mark.parametrize("cuts", [[], [2], [6], [2, 6], [6, 9], [7], [2, 4, 6, 9], [0, 6]])
def test_a_divided_strip_is_free_without_a_collection(cuts: list[int]) -> None:
    textual_fixes.activate()
    line = Line([Segment("치킨"), Segment(" a")])
    inside = [0, *(cut for cut in cuts if cut <= 6)]
    parts = [(part.text, part.cell_length) for part in line.divide(iter(cuts))]
    assert parts == [(line.crop(start, end).text, end - start) for start, end in pairwise(inside)]
    kept = weakref.ref(line)
    gc.disable()
    try:
        del line
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.campaign(part="app")
async def test_a_search_leaves_no_strips_to_the_garbage_collector(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene(n) for n in range(1, 30)]), "치킨", size=(120, 40)) as (_, pilot):
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for _row in range(12):
                await pilot.press("down")
            await typed(pilot, "치킨 소스")
            gc.collect()
            assert not [garbage for garbage in gc.garbage if isinstance(garbage, Strip)]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()


@pytest.mark.campaign(part="app")
async def test_a_closed_screen_goes_with_its_drawn_lines(app_of: MakeApp) -> None:
    """Neither the thread that read its rows keeps it, nor a cache of colors its lines."""
    async with running(app_of(scenes=[scene(n) for n in range(1, 30)]), size=(120, 40)) as (app, pilot):
        await press(pilot, "ctrl+l")
        screen = library_of(app)
        drawn = (screen, screen.tables.channels, screen.tables.videos)
        closed = [weakref.ref[object](screen), *(weakref.ref[object](widget._styles_cache) for widget in drawn)]
        del screen, drawn
        await press(pilot, "escape")
        assert app.screen is app.search_screen

        def is_gone() -> bool:
            gc.collect()
            return not any(each() for each in closed)

        await until(pilot, is_gone, 10)
