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
    """Apply all workarounds; screens opened later use them.

    - Notices keep their wide characters, and undecodable input becomes U+FFFD.
    - Style rules are hashed by identity in C. Styling a widget looks up all rules: a sixth of the app's CPU time.
    - Strips hold no reference cycles. They caused six of seven objects that a search left to the garbage collector.
    - The drawn lines and the screens of closed screens are freed.
    """
    setattr(Strip, "divide", _divided)  # noqa: B010 - mypy takes `self` for another argument
    setattr(StylesCache, "get_inner_outer", staticmethod(_inner_and_outer_style))  # noqa: B010 - not a cached function
    setattr(Worker, "_run_threaded", _run_in_context)  # noqa: B010 - mypy takes `self` for another argument
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    setattr(textual.screen, "Compositor", WholeTextCompositor)  # noqa: B010 - mypy takes it for a type
    setattr(textual.screen, "key_to_character", _character_of)  # noqa: B010 - mypy takes it for a type
    if sys.platform != "win32":  # Windows consoles send characters, not bytes
        import termios

        from textual.drivers import linux_driver

        setattr(linux_driver, "getincrementaldecoder", _lenient_decoder)  # noqa: B010 - mypy takes it for a type
        # Textual flushes typed keys on exit, but another app may open next and needs them
        setattr(linux_driver, "termios", SimpleNamespace(**vars(termios) | {"tcflush": lambda *_: None}))  # noqa: B010


_NAMES = {short: name for name, short in KEY_NAME_REPLACEMENTS.items()}


def _character_of(key: str) -> str | None:
    """Return the character of a key, even if Textual's name for it differs from Unicode's.

    Textual's function does not know `slash`, so a field would miss `/` if it is also a command's key.
    """
    return key_to_character(_NAMES.get(key, key))


def _lenient_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a decoder that accepts any bytes.

    Textual's is strict: one byte that is not UTF-8 (a terminal set to EUC-KR, a torn paste) ends its input thread, and
    no key works afterwards.
    """
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


_divide_by_cuts = Strip.divide


def _divided(strip: Strip, cuts: Iterable[int]) -> Sequence[Strip]:
    """Divide a strip. Leaves an undivided one uncached, which in Textual creates a strip that refers to itself."""
    inside = [cut for cut in cuts if cut <= strip.cell_length]
    return [strip] if inside == [strip.cell_length] else _divide_by_cuts(strip, inside)


@lru_cache(1024)
def _inner_and_outer_style(base_background: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles inside and outside a border.

    Textual's method caches with `self` in the key, which keeps the lines of the last 1,024 widgets in memory, even of
    closed screens.
    """
    return Style(background=base_background + background), Style(background=base_background)


_run_in_thread_context = Worker._run_threaded


async def _run_in_context(worker: Worker[Any]) -> Any:
    """Run a worker's function in a thread, with its own context.

    Textual sets the worker in the thread's own context, so each idle thread keeps its last screen in memory, with all
    rows.
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

    Textual does so when the value changes next (`Reactive._check_watchers`), which may be a day later. Until then a
    closed screen with thousands of rows would stay in memory.
    """
    for watchers in getattr(watched, "__watchers", {}).values():
        watchers[:] = [(node, callback) for node, callback in watchers if not node._closing]


class WholeTextCompositor(Compositor):
    """A compositor that draws notices and tooltips without cuts.

    Textual cuts each line at the edges of all widgets, even covered ones. A cut through a wide character turns it into
    two blanks, so a notice over a list and its preview lost syllables.
    """

    @property
    def cover_regions(self) -> list[Region]:
        """Visible regions of notices and tooltips."""
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
        """Fill the chops front to back, including widgets whose edge is not cut because a notice covers it."""
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
        """Redraw a notice whole if the update overlaps it; the update's edge could split a character."""
        for cover in self.cover_regions:
            if any(cover.overlaps(dirty) for dirty in self._dirty_regions):
                self._dirty_regions.add(cover)
        return super().render_partial_update()
