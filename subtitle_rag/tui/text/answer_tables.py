"""Tables of an answer, which a model writes with pipes, laid out in the cells of the screen."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from textual.content import Content

from subtitle_rag.tui.text.content import MUTED

LEAST_CELLS = 6
"""Fewest cells of a column; a table that cannot have as much stays as the model wrote it."""
_GAP = " │ "
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")

Row = list[Content]


def lay_out(text: Content, width: int) -> Content:
    """Return a text with its tables in columns of at most `width` cells together; styles stay with their characters.

    A table is a line with pipes, a rule of dashes below it, and the lines with pipes after that (GitHub Flavored
    Markdown Spec, 4.10).
    """
    lines = text.split("\n", allow_blank=True)
    return Content("\n").join(_laid_out(lines, width))


def _laid_out(lines: Sequence[Content], width: int) -> Iterator[Content]:
    at = 0
    while at < len(lines):
        end = _table_end(lines, at)
        if end == at:
            yield lines[at]
            at += 1
            continue
        rows = [_cells(line) for line in (lines[at], *lines[at + 2 : end])]
        yield from _columns(rows, width) or lines[at:end]
        at = end


def _table_end(lines: Sequence[Content], at: int) -> int:
    """Return the index after the table that begins at a line, or the line's own index if none does."""
    if at + 1 >= len(lines) or "|" not in lines[at].plain or not _RULE.fullmatch(lines[at + 1].plain):
        return at
    end = at + 2
    while end < len(lines) and "|" in lines[end].plain:
        end += 1
    return end


def _cells(line: Content) -> Row:
    plain = line.plain
    inner = line[len(plain) - len(plain.lstrip(" |")) if plain.lstrip().startswith("|") else 0 :]
    ends = [match.start() for match in _PIPE.finditer(inner.plain)]
    starts = [0, *(end + 1 for end in ends)]
    cells = [inner[start:end] for start, end in zip(starts, [*ends, len(inner.plain)], strict=True)]
    if cells and not cells[-1].plain.strip():
        cells.pop()
    return [_stripped(cell) for cell in cells]


def _stripped(cell: Content) -> Content:
    plain = cell.plain
    return cell[len(plain) - len(plain.lstrip()) : len(plain.rstrip())] if plain.strip() else Content("")


def _columns(rows: Sequence[Row], width: int) -> list[Content]:
    """Return the lines of a table, or none if `width` is too narrow for its columns."""
    count = max(len(row) for row in rows)
    full = [[*row, *[Content("")] * (count - len(row))] for row in rows]
    widths = [max(1, *(row[column].cell_length for row in full)) for column in range(count)]
    room = width - len(_GAP) * (count - 1)
    if sum(min(each, LEAST_CELLS) for each in widths) > room:
        return []
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    heading, *body = full
    rule = Content.styled("─┼─".join("─" * each for each in widths), MUTED)
    lines = [*_row([cell.stylize("bold") for cell in heading], widths), rule]
    for row in body:
        lines += _row(row, widths)
    return lines


def _row(row: Row, widths: Sequence[int]) -> Iterator[Content]:
    """Yield the lines of a row, whose cells are wrapped to the widths of their columns."""
    wrapped = [cell.wrap(width) or [Content("")] for cell, width in zip(row, widths, strict=True)]
    for pieces in zip_longest(*wrapped, fillvalue=Content("")):
        padded = [
            piece + Content(" " * max(0, width - piece.cell_length))
            for piece, width in zip(pieces, widths, strict=True)
        ]
        yield Content.styled(_GAP, MUTED).join(padded)
