"""The blocks of a topic, and their text for a terminal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class Terms:
    """Things to type, or names, with explanations."""

    __match_args__ = ("rows",)

    def __init__(self, *rows: tuple[str, str]) -> None:
        self.rows = rows


class Lines:
    """Lines as they are, to type or to write into a file."""

    __match_args__ = ("lines",)

    def __init__(self, *lines: str) -> None:
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a part of the topic."""

    text: str


Block = str | Terms | Lines | Heading
"""A string is a paragraph."""

INDENT = 2
WIDEST_TERM = 34
"""Cells of a term; a wider one has its explanation below it."""


def text_lines(blocks: Iterable[Block], width: int) -> Iterator[str]:
    """Yield the blocks as lines of at most `width` cells, with an empty line between two."""
    for number, block in enumerate(blocks):
        if number:
            yield ""
        match block:
            case str(text):
                yield from wrap(text, width)
            case Heading(text):
                yield text
            case Lines(lines):
                yield from (" " * INDENT + line for line in lines)
            case Terms(rows):
                yield from _term_lines(rows, width)


def _term_lines(rows: tuple[tuple[str, str], ...], width: int) -> Iterator[str]:
    from rich.cells import cell_len

    wide = max((cell_len(term) for term, _said in rows if cell_len(term) <= WIDEST_TERM), default=0)
    margin = INDENT + wide + 2
    for term, text in rows:
        lines = list(wrap(text, max(20, width - margin))) or [""]
        first = " " * INDENT + term
        if cell_len(term) <= wide:
            yield (first + " " * (margin - cell_len(first)) + lines.pop(0)).rstrip()
        else:
            yield first
        yield from (" " * margin + line for line in lines)


def wrap(text: str, width: int) -> Iterator[str]:
    """Yield the text in lines of at most `width` cells, if its words allow it; Hangul takes two cells a letter."""
    from rich.cells import cell_len

    line = ""
    for word in text.split():
        if line and cell_len(line) + 1 + cell_len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line
