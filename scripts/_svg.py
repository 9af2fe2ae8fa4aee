"""Screens of the app as SVG, for any fonts: Rich's own export counts letters, and a Hangul syllable takes two cells.

Each run of one kind of letters is a `<text>`, stretched over exactly its cells. Nothing is loaded from elsewhere, and
films move by CSS alone: GitHub shows a README's pictures without scripts and fonts of their own.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from textual.app import App
from textual.widgets import Input

CELL, LINE, BASE = 12, 24, 19
"""Width and height of a cell, and the base line in it, in pixels."""
MARGIN, TITLE = 10, 36
"""Around the cells, and above them for the buttons of a window."""
BACKGROUND = ColorTriplet(18, 18, 18)
STYLE = (
    "text{font:20px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "text.w{font:22px D2Coding,'Noto Sans Mono CJK KR','Noto Sans CJK KR','Apple SD Gothic Neo','Malgun Gothic',"
    "NanumGothic,monospace,sans-serif}"
    "text.b{font-weight:700}text.i{font-style:italic}"
)
REDUCED = "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"
WORDS = re.compile(r"\S+(?: \S+)*")


class Shape(NamedTuple):
    """A piece of a screen; backgrounds are drawn below every text."""

    is_text: bool
    markup: str


Screen = tuple[Shape, ...]


@dataclass(frozen=True)
class Frame:
    """A screen of a film."""

    screen: Screen
    seconds: float


def screen_of(app: App[object]) -> Screen:
    """Return the screen of the app."""
    return tuple(_shapes(_rows(app)))


def composing(app: App[object], preedit: str) -> Screen:
    """Return the screen while a syllable is composed: a terminal draws it over the cursor, underlined.

    A field that is empty so far is drawn without its placeholder, as it is once the syllable is there.
    """
    x, y = app.cursor_position
    rows = _rows(app)
    if isinstance(field := app.focused, Input) and not field.value:
        end = field.content_region.right
        rows[y][x:end] = [(" ", style) for _letter, style in rows[y][x:end]]
    behind = rows[y][x + 1][1] if x + 1 < len(rows[y]) else Style()
    style = behind + Style(underline=True, reverse=False)
    rows[y][x : x + 2] = [(preedit, style), ("", style)]
    return tuple(_shapes(rows))


def _rows(app: App[object]) -> list[list[tuple[str, Style]]]:
    """Return the cells of the screen: a wide character is followed by an empty one."""
    console = Console(
        width=app.size.width,
        height=app.size.height,
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    update = app.screen._compositor.render_update(full=True)  # as App.export_screenshot of Textual 8.2.8 does
    assert update is not None
    rows = []
    for line in Segment.split_lines(Segment.filter_control(console.render(update))):
        cells: list[tuple[str, Style]] = []
        for text, style, _control in line:
            for letter in text:
                width = cell_len(letter)
                if width == 0 and cells:  # a combining mark
                    before = next(at for at in reversed(range(len(cells))) if cells[at][0])
                    cells[before] = (cells[before][0] + letter, cells[before][1])
                cells += [(letter if at == 0 else "", style or Style()) for at in range(width)]
        rows.append(cells)
    return rows


def _shapes(rows: Sequence[Sequence[tuple[str, Style]]]) -> Iterator[Shape]:
    for y, cells in enumerate(rows):
        x = 0
        for style, group in groupby(cells, key=lambda cell: cell[1]):
            letters = [letter for letter, _style in group]
            yield from _run(letters, style, x, y)
            x += len(letters)


def _run(letters: Sequence[str], style: Style, x: int, y: int) -> Iterator[Shape]:
    ink, paper = _colours(style)
    if paper != BACKGROUND:
        yield _rectangle(x, y * LINE, len(letters), LINE, paper)
    for at, text in _texts(letters):
        yield _text(text, style, ink, x + at, y)
    if style.underline:
        yield _rectangle(x, y * LINE + BASE + 3, len(letters), 1.5, ink)
    if style.strike:
        yield _rectangle(x, y * LINE + BASE - 6, len(letters), 1.5, ink)


def _texts(letters: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Split into runs of one kind: words of Hangul, words of ASCII, and other signs one by one or repeated."""

    def kind(at: int) -> str:
        letter = letters[at] or letters[at - 1]
        if letter.isascii():
            return "ascii"
        return "wide" if cell_len(letter) == 2 else letter

    for name, group in groupby(range(len(letters)), key=kind):
        places = list(group)
        if name != "ascii":
            yield places[0], "".join(letters[at] for at in places)
            continue
        text = "".join(letters[at] for at in places)
        for match in WORDS.finditer(text):
            yield places[0] + match.start(), match[0]


def _text(text: str, style: Style, ink: ColorTriplet, x: int, y: int) -> Shape:
    width = cell_len(text)
    classes = [name for name, on in (("w", cell_len(text[0]) == 2), ("b", style.bold), ("i", style.italic)) if on]
    named = f' class="{" ".join(classes)}"' if classes else ""
    return Shape(
        True,
        f'<text{named} x="{x * CELL}" y="{y * LINE + BASE}" fill="{ink.hex}" textLength="{width * CELL}"'
        f' lengthAdjust="spacingAndGlyphs">{escape(text)}</text>',
    )


def _rectangle(x: int, top: float, cells: int, height: float, colour: ColorTriplet) -> Shape:
    place = f'x="{x * CELL}" y="{top:g}" width="{cells * CELL}" height="{height:g}"'
    return Shape(False, f'<rect {place} fill="{colour.hex}"/>')


def _colours(style: Style) -> tuple[ColorTriplet, ColorTriplet]:
    """Return the colours of ink and paper."""
    ink = _colour(style.color, ColorTriplet(224, 224, 224))
    paper = _colour(style.bgcolor, BACKGROUND)
    if style.reverse:
        ink, paper = paper, ink
    return (blend_rgb(ink, paper, 0.4) if style.dim else ink), paper


def _colour(colour: Color | None, default: ColorTriplet) -> ColorTriplet:
    return default if colour is None or colour.is_default else colour.get_truecolor(DIMMED_MONOKAI)


def still(screen: Screen, size: tuple[int, int]) -> str:
    """Draw one screen of so many columns and rows."""
    return _window(size, STYLE, "\n".join(shape.markup for shape in sorted(screen, key=lambda shape: shape.is_text)))


def film(frames: Sequence[Frame], size: tuple[int, int]) -> str:
    """Draw screens one after the other, for ever. A shape is written once, with the frames that have it.

    Where motion is not wished for, or CSS does not move, the last frame is shown.
    """
    assert frames
    shown: dict[Shape, list[int]] = defaultdict(list)
    for number, frame in enumerate(frames):
        for shape in dict.fromkeys(frame.screen):
            shown[shape].append(number)
    groups: dict[tuple[bool, tuple[int, ...]], list[str]] = defaultdict(list)
    for shape, frame_numbers in shown.items():
        groups[shape.is_text, tuple(frame_numbers)].append(shape.markup)
    names = {numbers: f"f{at}" for at, numbers in enumerate(dict.fromkeys(numbers for _text, numbers in groups))}
    rules = [
        f"@keyframes {name}{{{_keyframes(numbers, frames)}}}.{name}{{animation-name:{name}}}"
        for numbers, name in names.items()
        if len(numbers) < len(frames)
    ]
    length = sum(frame.seconds for frame in frames)
    moving = f"g{{animation:{length:g}s step-end infinite}}"  # a rule of [class] would take their names away
    parts = []
    for (_is_text, numbers), shapes in sorted(groups.items(), key=lambda entry: entry[0][0]):
        last = "" if numbers[-1] == len(frames) - 1 else ' visibility="hidden"'
        attributes = "" if len(numbers) == len(frames) else f' class="{names[numbers]}"{last}'
        parts.append(f"<g{attributes}>\n" + "\n".join(shapes) + "\n</g>")
    return _window(size, "\n".join([STYLE, moving, *rules, REDUCED]), "\n".join(parts))


def _keyframes(numbers: Sequence[int], frames: Sequence[Frame]) -> str:
    """Return the moments at which a shape of these frames appears and vanishes."""
    length = sum(frame.seconds for frame in frames)
    steps, before, at = [], None, 0.0
    for number, frame in enumerate(frames):
        state = "visible" if number in numbers else "hidden"
        if state != before:
            steps.append(f"{at / length:.3%}{{visibility:{state}}}")
        before, at = state, at + frame.seconds
    return "".join([*steps, f"to{{visibility:{before}}}"])


def _window(size: tuple[int, int], style: str, inner: str) -> str:
    width, height = size[0] * CELL, size[1] * LINE
    whole = (width + 2 * MARGIN, height + TITLE + MARGIN)
    buttons = "".join(
        f'<circle cx="{22 + 22 * at}" cy="18" r="7" fill="{colour}"/>'
        for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}">\n<style>\n{style}\n</style>\n'
        f'<rect width="{whole[0]}" height="{whole[1]}" rx="8" fill="#292929"/>{buttons}\n'
        f'<svg x="{MARGIN}" y="{TITLE}" width="{width}" height="{height}" overflow="visible"'
        ' shape-rendering="crispEdges">\n'
        f'<rect width="{width}" height="{height}" fill="{BACKGROUND.hex}"/>\n{inner}\n</svg>\n</svg>\n'
    )
