"""Detector of loops in a model's answer while it streams.

At temperature 0 a small model may repeat a phrase until `num_predict` ends it. `LoopGuard` examines the end of the text
every few characters: for short phrases often, for long ones rarely, so that the work per character stays the same
however long the answer is. Numbers at the start of list items are ignored: a list with the same entry under new numbers
is a loop, a list of different entries is not.
"""

import re

TIMES = 5
"""A phrase repeated more often than this in a row is a loop."""
LONGEST = 640
"""Maximum number of characters of a phrase."""
_SHORTEST = 16
"""Minimum number of characters of a loop: 똑딱똑딱똑딱 is a sound."""
_TIMES_OF_ONE = 40
"""Maximum repetitions of one letter (ㅋㅋㅋㅋ), alone or with spaces and punctuation."""
_MARKS = 200
"""Maximum number of characters without letters in a row: the rule of a table, or indentation."""
_LEVELS = ((16, 8), (128, 64), (LONGEST, 256))
"""Longest phrase to look for, and the number of characters between checks."""
_NUMBERED = re.compile(r"(?<![^\n])[ \t]*[0-9]{1,4}[.)](?=\s)")
_IN_WORK = 16
"""Characters at the start of a line that may still become a list number."""
_DELAY = 8
"""Characters at the end of a growing text that may begin a repetition."""
_SEPARATORS = " \t\n,;:·、-–—*•\"'“”‘’"


class LoopGuard:
    """Collector of an answer's pieces that knows when it begins to loop."""

    def __init__(self) -> None:
        self._text = ""
        self._bare = ""
        """The text without list numbers."""
        self._places: list[int] = []
        """Position in the text of each character of `_bare`."""
        self._read = 0
        """Characters of the text in `_bare`: all but an unfinished line that may begin with a number."""
        self._looked = [0] * len(_LEVELS)
        self._cut: int | None = None
        self._settled = 0
        """Characters of the text that `settled` has given out."""

    @property
    def loops(self) -> bool:
        return self._cut is not None

    @property
    def text(self) -> str:
        """The text so far, with a loop's phrase once."""
        return self._text if self._cut is None else self._text[: self._cut].rstrip(_SEPARATORS)

    @property
    def settled(self) -> str:
        """The text so far without an ending that may turn out to be a loop; it only grows."""
        if self._cut is not None:
            return self.text
        self._strip_numbers(is_whole=False)
        end = len(self._bare) - max(_DELAY, _repeated(self._bare[-(TIMES + 1) * LONGEST :]))
        if end > 0:
            text = self._text[: self._places[end - 1] + 1].rstrip(_SEPARATORS)
            self._settled = max(self._settled, len(text))
        return self._text[: self._settled]

    def feed(self, piece: str) -> bool:
        """Add a piece of the answer; return whether it loops."""
        step = _LEVELS[0][1]
        while piece and self._cut is None:  # check at the same positions, however the pieces are cut
            room = step - len(self._text) % step
            self._text += piece[:room]
            piece = piece[room:]
            if len(self._text) % step == 0:
                self._strip_numbers(is_whole=False)
                self._look(every=False)
        return self.loops

    def finish(self) -> bool:
        """Check the end of an answer; return whether it loops."""
        if self._cut is None:
            self._strip_numbers(is_whole=True)
            self._look(every=True)
        return self.loops

    def _strip_numbers(self, *, is_whole: bool) -> None:
        end = len(self._text)
        line = self._text.rfind("\n") + 1
        if not is_whole and end - line < _IN_WORK and re.fullmatch(r"[ \t]*[0-9]{0,4}[.)]?", self._text[line:]):
            end = line  # it may be an unfinished number
        if end <= self._read:
            return
        at = self._read
        for number in _NUMBERED.finditer(self._text, self._read, end):
            self._places += range(at, number.start())
            at = number.end()
        self._places += range(at, end)
        self._bare += "".join(map(self._text.__getitem__, self._places[len(self._bare) :]))
        self._read = end

    def _look(self, *, every: bool) -> None:
        size = len(self._bare)
        for level, (longest, step) in enumerate(_LEVELS):
            if not every and size - self._looked[level] < step:
                return  # the remaining levels are checked even less often
            self._looked[level] = size
            period = _period(self._bare[-(TIMES + 1) * longest :])
            if period:
                begin = size - period
                while begin > 0 and self._bare[begin - 1] == self._bare[begin - 1 + period]:
                    begin -= 1
                cut = self._places[begin + period - 1] + 1
                self._cut = cut + len(re.match(r"[.!?。…]*", self._text[cut:])[0])  # type: ignore[index]
                return


def _repeated(tail: str) -> int:
    """Return how many characters at the end of a text repeat earlier ones, for any period up to `LONGEST`.

    Fewer than `_DELAY` count as none.
    """
    text = tail[::-1]
    longest, at = 0, text.find(text[:_DELAY], 1) if len(text) > _DELAY else -1
    while 0 < at <= LONGEST:
        size = _DELAY
        while at + size < len(text) and text[size] == text[at + size]:
            size += 1
        longest = max(longest, size)
        at = text.find(text[:_DELAY], at + 1)
    return longest


def _period(tail: str) -> int:
    """Return the length of the phrase that ends a text more than `TIMES` times in a row, or 0.

    The failure function of Knuth, Morris & Pratt 1977 over the reversed text: a prefix of length n with the border b
    repeats its first n − b characters.
    """
    text = tail[::-1]
    borders = [0] * len(text)
    border = 0
    for at in range(1, len(text)):
        while border and text[at] != text[border]:
            border = borders[border - 1]
        border += text[at] == text[border]
        borders[at] = border
        period = at + 1 - border
        if border and at + 1 > TIMES * period and _is_loop(text[:period], at + 1):
            return period
    return 0


def _is_loop(phrase: str, size: int) -> bool:
    """Whether a phrase that fills `size` characters by repetition is a loop."""
    letters = {char for char in phrase.casefold() if char.isalnum()}
    if len(letters) > 1:
        return size >= max((TIMES + 1) * len(phrase), _SHORTEST)
    return size >= (max(_TIMES_OF_ONE * len(phrase), _MARKS) if letters else _MARKS)
