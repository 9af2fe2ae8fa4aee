"""Numbers in one form: 삼만, 3만 and 30,000 are all `30000`.

As Lucene's KoreanNumberFilter does it: the numerals of a text that make one number become one term.
"""

import re
from decimal import Decimal

DIGITS = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", start=1)}
SMALL = {"천": 1_000, "백": 100, "십": 10}
LARGE = {"조": 10**12, "억": 10**8, "만": 10**4}
_UNITS = frozenset({*SMALL, *LARGE})
MAX_LENGTH = 24
"""Characters of the longest number."""
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_PART = re.compile(r"(\d+(?:\.\d+)?|[일이삼사오육칠팔구])?([천백십])|(\d+(?:\.\d+)?|[일이삼사오육칠팔구])")


def number(text: str) -> str | None:
    """Return the digits of a number, or None for a text that is none. Digits alone stay as they are: 010 and 3.50."""
    if len(text) > MAX_LENGTH:
        return None
    text = text.replace(",", "") if _GROUPED.match(text) else text
    if _PLAIN.fullmatch(text):
        return text
    value, rest = Decimal(0), text
    for unit, scale in LARGE.items():
        before, has_unit, after = rest.partition(unit)
        if has_unit:
            part = _below_ten_thousand(before) if before else Decimal(1)
            if part is None:
                return None
            value, rest = value + part * scale, after
    part = _below_ten_thousand(rest)
    return None if part is None or not text else f"{(value + part).normalize():f}"


def joins(previous: str, following: str, gap: int) -> bool:
    """Return whether a numeral `gap` characters behind another may continue it: 3만 5천 and 3 만, but not 2 3."""
    return gap == 0 or (gap == 1 and (previous[-1:] in _UNITS) != (following[:1] in _UNITS))


def _below_ten_thousand(text: str) -> Decimal | None:
    """Return the value of 삼천오백, 3천5백 or 1300, 0 for an empty text, and None for no such number."""
    value, at, last = Decimal(0), 0, 10_000
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        digit, unit, alone = part.groups()
        scale = SMALL[unit] if unit else 1
        if scale >= last:
            return None
        value += scale * _digit(alone or digit or "1")
        at, last = part.end(), scale
    return value


def _digit(text: str) -> Decimal:
    return Decimal(DIGITS[text]) if text in DIGITS else Decimal(text)
