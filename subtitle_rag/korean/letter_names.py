"""Names of letters, digits and signs, and days with numbers as names: C#, A형, H.O.T., GS25, 6·25.

People write them in many ways, and speech recognition writes them as they sound: 씨샵, 에이형, 육이오. `written_names`
yields one form of each, for captions and queries; `same_names` yields other forms that captions may have.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, product

from subtitle_rag.korean import numerals
from subtitle_rag.korean.readings import DIGIT_NAMES, LETTER_NAMES, Reading, Token

_SIGN_NAMES = {
    "#": ("샵",),
    "++": ("플플", "플러스플러스"),
    "+": ("플러스", "쁠", "플"),
    "&": ("앤", "앤드"),
    "-": ("마이너스",),
}
_SIGNED = (
    r"(?<![\w+])(?:[A-Za-z][A-Za-z\d]{0,11})\+{1,2}(?![A-Za-z\d_+])"  # C++, A+, S24+
    r"|(?<!\w)[가-힣]{1,9}\+(?=(?:[은는이가을를의에도로와과만]|에서|으로|까지|보다)?(?!\w))"  # 디즈니+
    r"|(?<!\w)[A-Za-z]#(?![A-Za-z\d_#])|(?<![\w-])[A-Da-d]-(?![A-Za-z\d_-])"  # C#, A-
    r"|(?<![\w.])\.[A-Za-z]{2,4}(?![A-Za-z\d_.])"  # .NET
    r"|(?<!\w)[A-Za-z]{1,3}&[A-Za-z]{1,3}(?![A-Za-z\d_&])"  # R&D
    r"|(?<![\w./])(?:[A-Za-z]\.){2,7}(?:[A-Za-z](?![A-Za-z\d_]))?"  # H.O.T.
)
_DOTS = ".·‧・∙⋅•ㆍ"
_DOT = re.compile(rf"(?<=\d)[{_DOTS}](?=\d)")
RUN = re.compile(
    rf"{_SIGNED}|(?<![\d{_DOTS}])\d{{1,2}}[{_DOTS}]\d{{1,2}}(?![\d{_DOTS}])|(?<!\w)[A-Za-z] & [A-Za-z](?!\w)|[^\W_]+"
)
"""A word: letters and digits, with the signs that distinguish it."""
PLAIN_RUN = re.compile(r"[^\W_]+")
HAS_SIGN = re.compile(rf"\w ?[+#&]|[A-Da-d]-|\.[A-Za-z]|\d[{_DOTS}]\d")
"""Matches every text with a sign in a word, five times as fast."""
_LATIN = re.compile("[A-Za-z]")
_DOTTED = re.compile(r"(?:[a-z]\.){2,}[a-z]?")
_APART = r"(?<!\w)([A-Za-z]{1,3})(?: & |/)([A-Za-z]{1,3})(?![A-Za-z\d_/])"
"""R & D, A/S."""
_HYPHENED = r"(?<![\w-])([A-Za-z]{1,2})-([A-Za-z]{2,9}|\d{1,2}[A-Za-z]{0,2})(?![A-Za-z\d_-])"
_NUMBERED = r"(?<![\w-])([A-Z]{1,3}) (\d{1,3})(?![\w.,])"
"""GS 25."""
_BEFORE_HANGUL = r"(?<![A-Za-z\d_.])([A-Za-z]{1,4}\d{0,2})-?(?=[가-힣])"
_AFTER_HANGUL = r"(?<=[가-힣])([A-Za-z]{1,2}\d{0,2})(?![A-Za-z\d_&/.+-])"
_DAY = rf"(?<![\d{_DOTS}])(\d{{1,2}})[{_DOTS}](\d{{1,2}})(?![\d%℃]|[{_DOTS}]\d)"
_OCCASION = (
    "절|운동|항쟁|선언|사건|후퇴|혁명|사태|의거|참사|만세|전쟁|수복|독립|민주|세대|"
    "성명|정변|대책|합의|조치|회담|계엄|여성"
)
_READ_DAY = "(?<![가-힣])[일이삼사오육륙칠팔구공십]{2,5}"
_HANGUL = re.compile("[가-힣]+")
_NAMING = frozenset(("NNG", "NNP", "NNB", "XSN"))
_PARTS = _NAMING | {"NR", "MM", "MAG", "IC", "XPN", "XR"}
"""Parts of speech of an unknown name in Hangul."""
_LETTERS = frozenset(("SL", "W_URL", "W_SERIAL"))
_DIGITS = frozenset(("SN", "NR", "MM", "NNB", "NNG", "NNP", "MAG"))
LONGEST = 10
"""Most letters of a name."""
MOST_LETTERS = 5
"""Most letters that are read one by one."""
MOST_SAME = 64
"""Most forms of a word to look up in the library."""


def written_names(text: str, tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield the names in a text, each in one form regardless of dots and hyphens."""
    if not text.isascii():
        yield from _unknown_names(text, tokens)
        yield from _read_days(text, tokens)
    yield from _days(text)
    if not (_LATIN.search(text) or "+" in text):
        return
    for match in numerals.compiled(_SIGNED).finditer(text) if HAS_SIGN.search(text) else ():
        name = match[0].lower()
        if _DOTTED.fullmatch(name):
            name = name.replace(".", "")
        yield Reading(name, *match.span(), _replaced(match[0]))
    for match in numerals.compiled(_APART).finditer(text):
        sign = "&" if "&" in match[0] else ""
        yield Reading(f"{match[1]}{sign}{match[2]}".lower(), *match.span(), _replaced(match[0]))
    for match in (*numerals.compiled(_HYPHENED).finditer(text), *numerals.compiled(_NUMBERED).finditer(text)):
        yield Reading(f"{match[1]}{match[2]}".lower(), *match.span())
    nouns = [token for token in tokens if token.tag in _NAMING]
    ends_by_start = {token.start: token.end for token in reversed(nouns)}
    starts_by_end = {token.end: token.start for token in reversed(nouns)}
    for match in numerals.compiled(_BEFORE_HANGUL).finditer(text):
        end = match.end()
        while (noun_end := ends_by_start.get(end, 0)) > end:
            yield Reading(match[1].lower() + text[match.end() : noun_end], match.start(), noun_end)
            end = noun_end
    for match in numerals.compiled(_AFTER_HANGUL).finditer(text):
        start = starts_by_end.get(match.start())
        if start is not None:
            yield Reading(text[start : match.start()] + match[1].lower(), start, match.end())


def written_word(run: str) -> str:
    """Return a word in the form of `written_names`: 6.25 for 6·25, R&D for R & D."""
    return _DOT.sub(".", run).replace(" & ", "&")


@lru_cache(1_000)
def same_names(word: str) -> tuple[str, ...]:
    """Return the other forms of a word that is or may be such a name, likeliest first."""
    names = list(_names_of_days(word))
    if _HANGUL.fullmatch(word):
        read = list(_read_names(word))
        names += [*read, *(word.removesuffix(plus) + "+" for plus in _SIGN_NAMES["+"] if word.endswith(plus))]
        word_is_name = (each for each in read if not _HANGUL.search(each))
        names += (each for name in word_is_name for each in islice(_spoken(name), MOST_SAME))
    elif not word.isdigit() and not (word.isascii() and word.isalpha()):
        names += islice(_spoken(word), MOST_SAME)
    return tuple(dict.fromkeys(each for each in names if each != word))[:MOST_SAME]


def _replaced(name: str) -> frozenset[str]:
    """Return the tags of the morphemes that a name replaces: the letters of C# form no other word."""
    return _LETTERS if max(map(len, re.findall("[A-Za-z]+", name)), default=3) < 3 else frozenset()


def _unknown_names(text: str, tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield words that begin with names of letters, in parts known to the analyzer: 에이형, 티원, 이스포츠."""
    at_start = {token.start: at for at, token in enumerate(tokens)}
    for run in _begun_by_letter().finditer(text):
        start, stop = run.span()
        at = at_start.get(start, len(tokens))
        ends: list[int] = []
        while at < len(tokens) and tokens[at].tag in _PARTS and tokens[at].end <= min(stop, start + LONGEST):
            ends.append(tokens[at].end)
            at += 1
        if len(ends) > 1 and any(text[start:end] in _letters_by_reading() for end in ends[:-1]):
            yield Reading(text[start : ends[-1]], start, ends[-1])


# Days


def _days(text: str) -> Iterator[Reading]:
    """Yield days written in digits with any dot, and their occasion: 3·1절."""
    for match in numerals.compiled(_DAY).finditer(text):
        day, end = f"{match[1]}.{match[2]}", match.end()
        occasion = _occasion(text, end)
        if day not in _readings_by_day() or (numerals.is_counted(text, end) and not occasion):
            continue
        if match[0] != day:
            yield Reading(day, *match.span(), _DIGITS)
        if occasion and occasion.start() == end:
            yield Reading(day + occasion[0], match.start(), occasion.end())


def _occasion(text: str, end: int) -> re.Match[str] | None:
    return numerals.compiled(_OCCASION).match(text, end + (text[end : end + 1] == " "))


def _read_days(text: str, tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield days read digit by digit: 사일구. A form that may be another number needs an occasion: 육십 항쟁."""
    end_by_start = {token.start: token.end for token in tokens if token.tag not in numerals.TAGS}
    for match in numerals.compiled(_READ_DAY).finditer(text):
        start, end = match.span()
        if match[0] not in _days_by_reading() or end_by_start.get(start, 0) >= end:
            continue
        is_number = len(match[0]) == 2 or numerals.number(match[0]) is not None
        if not is_number or _occasion(text, end):
            yield Reading(match[0], start, end, _DIGITS)


def _names_of_days(word: str) -> Iterator[str]:
    """Yield the other forms of a day with its occasion, if any."""
    occasion = numerals.compiled(_OCCASION).search(word, 2)
    at = occasion.start() if occasion and occasion.end() == len(word) else len(word)
    day, rest = word[:at], word[at:]
    for days in (_days_by_reading().get(day, ()), [day] if day in _readings_by_day() else ()):
        for each in days:
            yield each + rest
            yield from (reading + rest for reading in _readings_by_day()[each])


@cache
def _readings_by_day() -> Mapping[str, Sequence[str]]:
    """Return the days of a year with their readings: 10.26 is 십이육, 일공이육 and 십이륙."""
    readings = {}
    for month in range(1, 13):
        for day in range(1, 32 - (month in (4, 6, 9, 11)) - 2 * (month == 2)):
            sounds = [first + last for first in _read_number(month) for last in _read_number(day)]
            readings[f"{month}.{day}"] = [*sounds, *(each[:-1] + "륙" for each in sounds if each.endswith("육"))]
    return readings


@cache
def _days_by_reading() -> Mapping[str, Sequence[str]]:
    days: dict[str, list[str]] = defaultdict(list)
    for day, readings in _readings_by_day().items():
        for reading in readings:
            days[reading].append(day)
    return days


def _read_number(number: int) -> list[str]:
    """Return the readings of a number below 1,000: digit by digit, by tens without 일, and whole."""
    digits = [_DIGITS_READ[int(each)] for each in str(number)]
    reading = ""
    for digit, unit in zip(digits, ("백", "십", "")[3 - len(digits) :], strict=True):
        reading += "" if digit == "공" else unit if digit == "일" and unit else digit + unit
    return list(dict.fromkeys(("".join(digits), reading)))


_DIGITS_READ = "공일이삼사오육칠팔구"


# Letters


@cache
def _letters_by_reading() -> Mapping[str, str]:
    """Return the names of one or two letters, with the letters."""
    one = {name: letter for letter, names in LETTER_NAMES.items() for name in names}
    return {a + b: x + y for a, x in one.items() for b, y in one.items()} | one


@cache
def _begun_by_letter() -> re.Pattern[str]:
    """Return a pattern of Hangul words that begin like the name of a letter."""
    first = {name[0] for names in LETTER_NAMES.values() for name in names}
    return re.compile(f"(?<![가-힣])[{''.join(sorted(first))}][가-힣]+")


@cache
def _symbols() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return letters, digits and signs by the first syllable of their names, with the names."""
    symbols: dict[str, list[tuple[str, str]]] = defaultdict(list)
    names = [(name, symbol) for table in (LETTER_NAMES, _SIGN_NAMES) for symbol, all_ in table.items() for name in all_]
    for name, symbol in (*names, *DIGIT_NAMES.items()):
        symbols[name[0]].append((name, symbol))
    return symbols


def _read_names(word: str) -> Iterator[str]:
    """Yield the names that a Hangul word may read: as a whole, at its start and at its end."""
    for end, names in sorted(_prefixes(word).items(), reverse=True):
        for name in names:
            rest = word[end:]
            if not rest and _is_name(name):
                yield name
            elif rest and name.isalnum():
                yield name + rest
                digits = numerals.number(rest) if name.isalpha() and len(rest) > 1 else None
                if digits and len(digits) < 4:
                    yield name + digits
    for start in range(1, len(word)):
        last = word[start:]
        yield from (word[:start] + name for name in _prefixes(last).get(len(last), ()) if _is_last(name))
        name = next((each for each in _prefixes(last[:-2]).get(len(last) - 2, ()) if each.isalpha()), "")
        if name and (digits := numerals.number(last[-2:])):
            yield word[:start] + name + digits


def _prefixes(word: str) -> dict[int, list[str]]:
    """Return the letters, digits and signs that a word begins with, by end offset, letters first."""
    names: dict[int, list[str]] = defaultdict(list)

    def walk(at: int, name: str) -> None:
        if name:
            names[at].append(name)
        if len(name) < MOST_LETTERS:
            for read, symbol in _symbols().get(word[at : at + 1], ()):
                if word.startswith(read, at) and (name or symbol.isalpha()):
                    walk(at + len(read), name + symbol)

    walk(0, "")
    return names


def _is_name(name: str) -> bool:
    """Return whether symbols form a written name: C#, R&D, T1, 2NE1, but not any letters."""
    return (
        numerals.compiled(_SIGNED).fullmatch(name) is not None or re.fullmatch(r"[a-z]{1,4}\d{1,3}", name) is not None
    )


def _is_last(name: str) -> bool:
    return re.fullmatch(r"[a-z]{1,2}\d{0,2}|\+", name) is not None


def _spoken(name: str) -> Iterator[str]:
    """Yield the readings of a name: letters and signs by name, digits by name or as a number."""
    parts = re.findall(r"[가-힣]+|\d+|\+\+|.", name)
    if sum(part in LETTER_NAMES for part in parts) <= MOST_LETTERS:
        yield from map("".join, product(*map(_spoken_part, parts)))


def _spoken_part(part: str) -> Iterable[str]:
    if part.isdigit():
        english = [name for name, digits in DIGIT_NAMES.items() if digits == part]
        return dict.fromkeys((*english, *(_read_number(int(part)) if len(part) < 4 else ())))
    return LETTER_NAMES.get(part) or _SIGN_NAMES.get(part) or (part,)
