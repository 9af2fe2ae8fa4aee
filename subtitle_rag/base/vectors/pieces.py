"""Pieces of a window: some fifteen seconds of its speech, each with its own vector.

Ten seconds of speech hardly influence the one vector of a minute. So a window's best piece counts (MaxSim) besides its
own vector; pieces alone rank worse.
"""

from subtitle_rag.base.domain.values import Window

PIECE_MS = 15_000
PIECE_LETTERS = 25
"""Minimum letters of a piece; fewer mean nothing."""
PIECE_RULE = f"{PIECE_MS // 1000}s{PIECE_LETTERS}"
"""Id of the rule for cutting pieces; vectors of another rule are due again."""


def cut_pieces(window: Window) -> list[tuple[int, str]]:
    """Cut a window between its lines into pieces of `PIECE_MS` or more, as (start in ms, text).

    Every line is in one piece. A remainder joins the last piece if it is shorter than half a piece, or has too few
    letters.
    """
    lines = window.spoken()
    ends = [start_ms for start_ms, _text in lines[1:]] + [window.end_ms]
    pieces: list[tuple[int, list[str]]] = []
    is_open = False
    for (start_ms, text), end_ms in zip(lines, ends, strict=True):
        if not is_open:
            pieces.append((start_ms, []))
        begin_ms, texts = pieces[-1]
        texts.append(text)
        is_open = end_ms - begin_ms < PIECE_MS or _letters(texts) < PIECE_LETTERS
    if is_open and len(pieces) > 1:
        begin_ms, texts = pieces[-1]
        if window.end_ms - begin_ms < PIECE_MS // 2 or _letters(texts) < PIECE_LETTERS:
            pieces.pop()
            pieces[-1][1].extend(texts)
    return [(start_ms, " ".join(texts)) for start_ms, texts in pieces]


def _letters(texts: list[str]) -> int:
    return sum(letter.isalnum() for text in texts for letter in text)
