"""Progress on stderr, while a command works; nothing where stderr is no terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from subtitle_rag.base.domain.progress import Progress, progress_parts
from subtitle_rag.base.output import say
from subtitle_rag.base.terminal_text import fitting_text, line_text

Report = TypeVar("Report")
SHORTEST_BAR, LONGEST_BAR = 8, 40
"""Cells of a bar: an eighth of the line, so that the text beside it has room."""


class _Parts:
    """As many parts of a label as a column or line has cells for, as rich draws it."""

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = [line_text(part) for part in parts]

    def __rich_measure__(self, _console: Any, _options: Any) -> Any:
        from rich.cells import cell_len
        from rich.measure import Measurement

        return Measurement(cell_len(self._parts[0]), cell_len("  ".join(self._parts)))

    def __rich_console__(self, _console: Any, options: Any) -> Iterator[Any]:
        from rich.cells import cell_len
        from rich.text import Text

        text, room = fitting_text(self._parts, options.max_width, cell_len), options.max_width
        if cell_len(text) > room and " " in text:  # whole words, for no number may be cut
            text = f"{fitting_text(text.split(' '), room - 1, cell_len, between=' ')}…"
        yield Text(text, no_wrap=True, overflow="ellipsis")


@contextmanager
def notes(parts: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Show on stderr what `parts` returns, asked each second, until the block ends; only if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live

    def line() -> _Parts:
        return _Parts(parts())

    with Live(get_renderable=line, console=Console(stderr=True), refresh_per_second=1, transient=True):
        yield


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Yield what draws progress as a line with a bar; the windows of an index run have one of their own."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bars, ProgressColumn, TaskID

    class Label(ProgressColumn):
        def render(self, task: Any) -> _Parts:
            progress = task.fields["progress"]
            return _Parts(progress_parts(progress) if progress else [""])

    console = Console(stderr=True)
    length = max(SHORTEST_BAR, min(LONGEST_BAR, console.width // 8))
    bars = Bars(Label(), BarColumn(length), console=console, disable=not sys.stderr.isatty(), transient=True)
    lines: dict[bool, TaskID] = {}
    start = bars.add_task("", total=None, progress=None)  # a bar that moves while hosts start and lists are read

    def show(progress: Progress) -> None:
        if not lines:
            bars.remove_task(start)
        line, total = progress.stage == "windows", progress.total or None
        if line not in lines:
            lines[line] = bars.add_task("", progress=progress)
        bars.update(lines[line], completed=progress.done, total=total, progress=progress)

    with bars:
        yield show


def follow(
    kind: type[Report],
    events: Iterable[Any],
    tell: Callable[[Any], object] = lambda _event: None,
    *,
    jsonl: bool = False,
    prelude: str = "",
) -> Report:
    """Run the events under a bar, and return the last one, a `kind`. `tell` gets those that are no progress.

    With `jsonl` each event is written as a line of JSON. `prelude` is said once the work has begun.
    """
    from subtitle_rag.base.event_json import event_line

    event = None
    with progress_bar() as show:
        for event in events:
            if prelude:
                say(prelude)
                prelude = ""
            if isinstance(event, Progress):
                show(event)
            elif not isinstance(event, kind):
                tell(event)
            if jsonl:
                event_line(event)
    assert isinstance(event, kind)
    return event
