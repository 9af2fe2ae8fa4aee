"""Pictures of the app's screens as SVG: Rich's export counts letters, but a Hangul syllable takes two cells.

Each run of one kind of letters is a `<text>`, stretched over exactly its cells, so any font will do. Nothing is loaded,
and films only use CSS, because GitHub shows a README's pictures without scripts and fonts.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from io import StringIO
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import DIMMED_MONOKAI
from textual.app import App
from textual.widgets import Input

CELL, LINE, BASE = 12, 24.4, 20
"""Width, height and base line of a cell in pixels, as in Rich's export of 20-pixel letters."""
MARGIN, TITLE = 10, 36
"""Space around the cells, and above them for a window's buttons."""
BACKGROUND = "#121212"
STYLE = (
    "text{font:20px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "text.w{font:22px D2Coding,'Noto Sans Mono CJK KR','Noto Sans CJK KR','Apple SD Gothic Neo','Malgun Gothic',"
    "NanumGothic,monospace,sans-serif}"
)
REDUCED = "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"
PARTS = "{styles}\0{backgrounds}\0{matrix}"
"""Parts to take from Rich's export: CSS rules, rectangles, texts."""
RULE = re.compile(r"\.(\S+) { (.*) }")
RECTANGLE = re.compile(r'<rect fill="(.*?)" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)" .*?/>')
TEXT = re.compile(r'<text class="(.*?)" x="(.*?)" y="(.*?)" .*?>(.*?)</text>')


class Shape(NamedTuple):
    """A piece of a screen."""

    layer: int
    """0 for backgrounds, which are below all texts; 2 for overlays."""
    markup: str


Screen = tuple[Shape, ...]


@dataclass(frozen=True)
class Frame:
    """One screen of a film."""

    screen: Screen
    seconds: float


def screen_of(app: App[object]) -> Screen:
    """Return the screen of the app."""
    console = Console(
        width=app.size.width,
        height=app.size.height,
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        record=True,
    )
    update = app.screen._compositor.render_update(full=True)  # as App.export_screenshot of Textual 8.2.8 does
    assert update is not None
    console.print(Segments([piece for segment in console.render(update) for piece in _pieces(segment)]))
    exported = console.export_svg(theme=DIMMED_MONOKAI, code_format=PARTS, font_aspect_ratio=CELL / 20, unique_id="s")
    styles, backgrounds, matrix = exported.split("\0")
    rules = dict(RULE.findall(styles.replace(": ", ":")))
    texts = [
        Shape(1, _text(unescape(text).replace("\N{NO-BREAK SPACE}", " "), rules[name], x, y))
        for name, x, y, text in TEXT.findall(matrix)
    ]
    return (*_papers(RECTANGLE.findall(backgrounds)), *texts)


def _papers(rectangles: Sequence[tuple[str, str, str, str, str]]) -> Iterator[Shape]:
    """Join adjacent rectangles: Rich draws one behind each piece."""
    for (fill, y, height), group in groupby(rectangles, lambda each: (each[0], each[2], each[4])):
        beside = list(group)
        width = sum(float(each[3]) for each in beside)
        if fill != BACKGROUND:
            yield Shape(0, f'<rect x="{beside[0][1]}" y="{y}" width="{width:g}" height="{height}" fill="{fill}"/>')


def _pieces(segment: Segment) -> Iterator[Segment]:
    """Split into runs of one kind: Hangul words, ASCII words, and single or repeated other characters."""

    def kind(letter: str) -> str:
        return "ascii" if letter.isascii() else "wide" if cell_len(letter) == 2 else letter

    if segment.control:
        return
    for _kind, letters in groupby(segment.text, kind):
        for piece in re.findall(r"\S+(?: \S+)*|\s+", "".join(letters)):
            yield Segment(piece, segment.style)


def _text(text: str, style: str, x: object, y: object) -> str:
    wide = ' class="w"' if cell_len(text[0]) == 2 else ""
    return (
        f'<text{wide} x="{x}" y="{y}" style="{style}" textLength="{cell_len(text) * CELL}"'
        f' lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )


def composing(app: App[object], preedit: str) -> Screen:
    """Return the screen during the composition of a syllable, which a terminal draws underlined over the cursor.

    The placeholder of an empty field is left out, as it would be once the syllable is there.
    """
    (x, y), field = app.cursor_position, app.focused
    assert isinstance(field, Input)
    placeholder, field.placeholder = field.placeholder, ""
    screen = screen_of(app)
    field.placeholder = placeholder
    _base, _base_ink, paper, ink = field.colors
    box = f'<rect x="{x * CELL}" y="{y * LINE + 1.5:g}" width="{2 * CELL}" height="{LINE}" fill="{paper.hex}"/>'
    style = f"fill:{ink.hex};text-decoration:underline"
    return (*screen, Shape(2, box + _text(preedit, style, x * CELL, f"{y * LINE + BASE:g}")))


def still(screen: Screen, size: tuple[int, int]) -> str:
    """Draw one screen of this many columns and rows."""
    return _window(size, STYLE, "\n".join(shape.markup for shape in sorted(screen, key=lambda shape: shape.layer)))


def film(frames: Sequence[Frame], size: tuple[int, int]) -> str:
    """Draw screens one after another in an endless loop. A shape is written once, with the frames that have it.

    If the reader prefers no motion, or CSS animation is unavailable, the last frame is shown.
    """
    assert frames
    frames_by_shape: dict[Shape, list[int]] = defaultdict(list)
    for number, frame in enumerate(frames):
        for shape in dict.fromkeys(frame.screen):
            frames_by_shape[shape].append(number)
    groups: dict[tuple[int, tuple[int, ...]], list[str]] = defaultdict(list)
    for shape, frame_numbers in frames_by_shape.items():
        groups[shape.layer, tuple(frame_numbers)].append(shape.markup)
    names = {numbers: f"f{at}" for at, numbers in enumerate(dict.fromkeys(numbers for _layer, numbers in groups))}
    rules = [
        f"@keyframes {name}{{{_keyframes(numbers, frames)}}}.{name}{{animation-name:{name}}}"
        for numbers, name in names.items()
        if len(numbers) < len(frames)
    ]
    length = sum(frame.seconds for frame in frames)
    moving = f"g{{animation:{length:g}s step-end infinite}}"  # a rule of [class] would take their names away
    parts = []
    for (_layer, numbers), shapes in sorted(groups.items(), key=lambda entry: entry[0][0]):
        last = "" if numbers[-1] == len(frames) - 1 else ' visibility="hidden"'
        attributes = "" if len(numbers) == len(frames) else f' class="{names[numbers]}"{last}'
        parts.append(f"<g{attributes}>\n" + "\n".join(shapes) + "\n</g>")
    return _window(size, "\n".join([STYLE, moving, *rules, REDUCED]), "\n".join(parts))


def _keyframes(numbers: Sequence[int], frames: Sequence[Frame]) -> str:
    """Return the times at which a shape of these frames appears and vanishes."""
    length = sum(frame.seconds for frame in frames)
    steps, before, at = [], None, 0.0
    for number, frame in enumerate(frames):
        state = "visible" if number in numbers else "hidden"
        if state != before:
            steps.append(f"{at / length:.3%}{{visibility:{state}}}")
        before, at = state, at + frame.seconds
    return "".join([*steps, f"to{{visibility:{before}}}"])


def _window(size: tuple[int, int], style: str, inner: str) -> str:
    width, height = size[0] * CELL, round(size[1] * LINE)
    outer = (width + 2 * MARGIN, height + TITLE + MARGIN)
    buttons = "".join(
        f'<circle cx="{22 + 22 * at}" cy="18" r="7" fill="{colour}"/>'
        for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {outer[0]} {outer[1]}">\n<style>\n{style}\n</style>\n'
        f'<rect width="{outer[0]}" height="{outer[1]}" rx="8" fill="#292929"/>{buttons}\n'
        f'<svg x="{MARGIN}" y="{TITLE}" width="{width}" height="{height}" overflow="visible"'
        ' shape-rendering="crispEdges">\n'
        f'<rect width="{width}" height="{height}" fill="{BACKGROUND}"/>\n{inner}\n</svg>\n</svg>\n'
    )
