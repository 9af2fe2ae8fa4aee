"""Works around faults of Textual 8.2.8."""

import asyncio
import codecs
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context
from functools import lru_cache, partial
from inspect import iscoroutinefunction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import textual.screen
from textual._compositor import ChopsUpdate, Compositor
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.css.model import RuleSet
from textual.dom import DOMNode
from textual.geometry import Region
from textual.keys import KEY_NAME_REPLACEMENTS, key_to_character
from textual.strip import Strip
from textual.style import Style
from textual.widgets._toast import Toast
from textual.widgets._tooltip import Tooltip
from textual.worker import Worker, active_worker


def activate() -> None:
    """Have later screens draw notices whole, and input decoded with U+FFFD for each byte that cannot be read.

    Rules are hashed by identity as before, without a call of Python: each widget that is styled looks all of them up,
    which was a sixth of the app's processor time. Strips do not wait for the garbage collector: six of seven objects of
    a search's garbage were theirs. Drawn lines and screens go once they are closed.
    """
    setattr(Strip, "divide", _divided)  # noqa: B010 - mypy takes `self` for another argument
    setattr(StylesCache, "get_inner_outer", staticmethod(_inner_and_outer_style))  # noqa: B010 - it is another kind
    setattr(Worker, "_run_threaded", _run_in_context)  # noqa: B010 - mypy takes `self` for another argument
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    setattr(textual.screen, "Compositor", WholeTextCompositor)  # noqa: B010 - mypy takes it for a type
    setattr(textual.screen, "key_to_character", _character_of)  # noqa: B010 - mypy takes it for a type
    if sys.platform != "win32":  # a Windows console sends characters
        import termios

        from textual.drivers import linux_driver

        setattr(linux_driver, "getincrementaldecoder", _lenient_decoder)  # noqa: B010 - mypy takes it for a type
        # it throws away what is typed while the app ends, though another one opens in its place
        setattr(linux_driver, "termios", SimpleNamespace(**vars(termios) | {"tcflush": lambda *_: None}))  # noqa: B010


_NAMES = {short: name for name, short in KEY_NAME_REPLACEMENTS.items()}


def _character_of(key: str) -> str | None:
    """Return the character of a key, also of one that Textual calls otherwise than Unicode does.

    Textual's own knows no slash, so a field did not get it where it is a command's key as well.
    """
    return key_to_character(_NAMES.get(key, key))


def _lenient_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a decoder for any bytes.

    Textual's own is strict: one byte that is not UTF-8, of a terminal set to EUC-KR or a torn paste, ends its input
    thread, and no key works afterwards.
    """
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


_divide_by_cuts = Strip.divide


def _divided(strip: Strip, cuts: Iterable[int]) -> Sequence[Strip]:
    """Divide a strip, without a cache where it stays whole: Textual's own then has the strip refer to itself."""
    inside = [cut for cut in cuts if cut <= strip.cell_length]
    return [strip] if inside == [strip.cell_length] else _divide_by_cuts(strip, inside)


@lru_cache(1024)
def _inner_and_outer_style(base_background: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles within and around a border.

    Textual's own takes the widget's drawn lines for a part of the cache's key: the lines of the last 1,024 widgets
    stayed in memory, those of closed screens too.
    """
    return Style(background=base_background + background), Style(background=base_background)


_run_in_thread_context = Worker._run_threaded


async def _run_in_context(worker: Worker[Any]) -> Any:
    """Run a worker's function in a thread, in a context of its own.

    Textual's own sets the worker in the context of the thread, which waits for the next one: each thread kept the last
    screen that it had worked for, with all its rows.
    """
    work = worker._work
    if not callable(work) or iscoroutinefunction(work):
        return await _run_in_thread_context(worker)

    def run() -> Any:
        active_worker.set(worker)
        return work()

    return await asyncio.get_running_loop().run_in_executor(None, Context().run, run)


def forget_closed(watched: DOMNode) -> None:
    """Remove the watchers of closed widgets from reactive values.

    Textual removes them at the next change of the value (`Reactive._check_watchers`). Some values change once a day:
    until then a closed screen with thousands of rows would stay in memory.
    """
    for watchers in getattr(watched, "__watchers", {}).values():
        watchers[:] = [(node, callback) for node, callback in watchers if not node._closing]


class WholeTextCompositor(Compositor):
    """A compositor in which only the edges of notices and tooltips themselves divide them.

    Textual's own divides each line at the edges of all its widgets, those under others too. Where such an edge crosses
    the second cell of a wide character, the character becomes two blanks: over a list with a preview, a notice lost
    syllables.
    """

    @property
    def cover_regions(self) -> list[Region]:
        """The visible parts of notices and tooltips."""
        return [
            region.intersection(clip)
            for widget, (region, clip) in self.visible_widgets.items()
            if isinstance(widget, Toast | Tooltip)
        ]

    @property
    def cuts(self) -> list[list[int]]:
        if self._cuts is None:
            cuts, covers = super().cuts, self.cover_regions
            for cover in covers:
                for y in cover.line_range:
                    edges = {edge for each in covers if y in each.line_range for edge in each.column_span}
                    cuts[y] = [cut for cut in cuts[y] if cut in edges or not cover.x < cut < cover.right]
            self._cuts = cuts
        return self._cuts

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        """Fill the chops front to back, also for widgets whose edge is no cut: theirs is under a notice."""
        if not self.cover_regions:
            return super()._render_chops(crop, is_rendered_line)
        cuts = self.cuts
        chops: list[dict[int, Strip | None]] = [dict.fromkeys(line[:-1]) for line in cuts]
        for region, clip, strips in self._get_renders(crop):
            visible_region = region.intersection(clip)
            for y, strip in zip(visible_region.line_range, strips, strict=False):
                if is_rendered_line(y):
                    inside = [cut for cut in cuts[y] if visible_region.x <= cut <= visible_region.right]
                    for start, end in pairwise(inside):
                        if chops[y][start] is None:
                            chops[y][start] = strip.crop(start - visible_region.x, end - visible_region.x)
        return cast("Sequence[Mapping[int, Strip]]", chops)

    def render_partial_update(self) -> ChopsUpdate | None:
        """Draw a notice whole too if what changed is partly under it: the update would end within a character."""
        for cover in self.cover_regions:
            if any(cover.overlaps(dirty) for dirty in self._dirty_regions):
                self._dirty_regions.add(cover)
        return super().render_partial_update()
