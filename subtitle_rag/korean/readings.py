"""Extra forms of a text's words, the same in captions and queries.

Spoken letters become letters (에스엔에스 is `sns`), and a number gets its counter (열두 명 is `12명`). A name in
`spellings.txt` stays whole where its sentence divides it (제미나 이). A word of several nouns is also kept whole
(치즈케이크), as Latin names are looked up by their whole sound (`mixed` in Lucene's Nori). An unknown noun also counts
without its particle.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from subtitle_rag.korean import numerals

_NAMES_OF_LETTERS = """
    에이,비,씨|시,디,이,에프,지|쥐,에이치|에치,아이,제이,케이,엘,엠,엔,오,피,큐,알|아르,에스,티,유,브이|뷔|비,
    더블유|더블류,엑스,와이,제트|지|젯
"""
LETTER_NAMES = {
    letter: tuple(names.strip().split("|"))
    for letter, names in zip("abcdefghijklmnopqrstuvwxyz", _NAMES_OF_LETTERS.split(","), strict=True)
}
"""The names of letters. V is 비 in 티비, and Z is 지 in 엠지."""
DIGIT_NAMES = {
    **{name: str(value) for value, name in enumerate("일이삼사오육칠팔구", start=1)},
    "원": "1",
    "투": "2",
    "쓰리": "3",
    "스리": "3",
    "포": "4",
    "파이브": "5",
    "식스": "6",
    "세븐": "7",
    "에이트": "8",
    "나인": "9",
    "텐": "10",
}
_OTHER_WORDS = """
    비지 비유 비시 비오 시비 시시 시오 이시 이이 이지 이오 이유 지시 지지 지오 오비 오시 오디 오이 오지 오유 피지 유비
    유이 유지 유오 유유 디디
"""
_NO_LETTERS = frozenset(_OTHER_WORDS.split())
"""Words that could be read as letters."""
_TWO = "투"
"""The digit with a one-syllable name that forms no other word next to letters: 2D, B2B."""
MAX_LETTERS = 6
MIN_NAME = 2
"""Fewest syllables of a name."""
SPACED_NAME = 4
"""Syllables from which captions may write a name with spaces: 루이 비통."""
MAX_JOINED = 10
_HANGUL = re.compile("[가-힣]+")
_LATIN_WORDS = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+)+")
_DIGITS_BEFORE = re.compile(r"(?<!\d)\d{1,2}\Z")
_LATIN_WORD = re.compile("[A-Za-z]+")
NAME_WORDS = 4
"""Most Latin words of a name in the table: The Last of Us."""
_LETTER_AND_DIGIT = re.compile(
    r"(?<![A-Za-z\d])(?:[A-Za-z]{1,3}\d{1,3}|\d{1,2}[A-Za-z]{1,2}|[A-Za-z]\d[A-Za-z]\d?|\d[A-Za-z]{2}\d)(?![A-Za-z\d])"
)
_TEARS = re.compile("[ㅜㅠ]{2,}")
TEARS = "ㅠㅠ"
_ENDINGS = """
    은 는 이 가 을 를 의 에 도 만 로 와 과 랑 나 야 요 예요 이에요 에서 에게 으로 이랑 하고 한테 까지 부터 처럼 보다
    이나 라고 이라고
"""
_PARTICLES = frozenset(_ENDINGS.split())
ENDINGS = sorted({*_PARTICLES, "예"}, key=len, reverse=True)
_PARTICLE_ENDS = frozenset(ending[-1] for ending in ENDINGS)
_NOUNS = frozenset(("NNG", "NNP", "NNB", "NR", "MM", "MAG", "IC", "XPN", "XSN"))
_SUFFIXES = frozenset(("님", "씨", "들", "적", "식", "쯤", "용"))
_COUNTING = frozenset(("NR", "MM", "SN"))
_FRACTIONS = _COUNTING | {"SL"}
_NAMING = frozenset(("NNG", "NNP"))


class Token(Protocol):
    """A morpheme of Kiwi."""

    @property
    def form(self) -> str: ...
    @property
    def tag(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def oov(self) -> bool: ...


class Reading(NamedTuple):
    """A form, and its place in the text."""

    form: str
    start: int
    end: int
    replaced: frozenset[str] = frozenset()
    """Tags of the morphemes that it replaces."""


@cache
def _spellings() -> Mapping[str, Sequence[str]]:
    """Return the table of spellings: spelling → other spellings of the word."""
    table: dict[str, list[str]] = defaultdict(list)
    for line in Path(__file__).with_name("spellings.txt").read_text(encoding="utf-8").splitlines():
        row = line.split()
        for spelling in row:
            table[spelling] += (row_spelling for row_spelling in row if row_spelling != spelling)
    return table


def other_spellings(word: str) -> Sequence[str]:
    """Return a word's other spellings in the table, or none. Latin letters are lower case without accents."""
    return _spellings().get(word, ())


@cache
def _names() -> Mapping[str, Sequence[str]]:
    """Return the names in Hangul by their first two syllables, longest first."""
    names: dict[str, list[str]] = defaultdict(list)
    for name in sorted(filter(_HANGUL.fullmatch, _spellings()), key=len, reverse=True):
        if len(name) >= MIN_NAME:
            names[name[:2]].append(name)
    return names


@cache
def _parts_of_letters() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return letters and digits by the first syllable of their names, with the names."""
    parts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for letter, names in (*LETTER_NAMES.items(), *((digit, (name,)) for name, digit in DIGIT_NAMES.items())):
        for name in names:
            parts[name[0]].append((name, letter))
    return parts


def readings(text: str, tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield the readings of a text and its morphemes."""
    last_ends = dict(sorted((token.start, token.end) for token in tokens))
    ends = {token.end for token in tokens} | last_ends.keys()
    letters, names = _parts_of_letters(), _names()
    for run in _HANGUL.finditer(text):
        at, end = run.span()
        first = text[at]
        if first in letters and (read := _read_letters(text, at, end, tokens, ends)):
            yield from read
        for name in names.get(text[at : at + 2], ()) or names.get(first + text[at + 2 : at + 3], ()):
            stop = _end_of(text, at, name)
            if stop and (last_ends.get(at, stop) <= stop if stop in ends else _has_particle(text, stop, name, tokens)):
                yield Reading(name, at, stop)
                break
        if first in numerals.NATIVE_STARTS:
            counted = numerals.native(text, at)
            yield from (Reading(*each, _COUNTING) for each in counted if each.end in ends)
    for phrase in numerals.phrases(text):
        is_one_word = "." in phrase.form and " " not in text[phrase.start : phrase.end]
        yield Reading(*phrase, _FRACTIONS if is_one_word or "/" in phrase.form else frozenset())
    for match in _TEARS.finditer(text):
        yield Reading(TEARS, *match.span())
    yield from _latin(text)
    yield from _joined(text, tokens)
    yield from _without_particles(tokens)


def read_aloud(word: str) -> list[str]:
    """Return the words for a digit and a letter read aloud: 오지 for 5G."""
    if len(word) != len("5g") or not (word[0].isdigit() and word[1] in LETTER_NAMES):
        return []
    digit = next((name for name, value in DIGIT_NAMES.items() if value == word[0]), "")
    return [digit + name for name in LETTER_NAMES[word[1]] if digit + name in _NO_LETTERS]


def _latin(text: str) -> Iterator[Reading]:
    """Yield letters next to digits (5G), and names of several Latin words."""
    for match in _LETTER_AND_DIGIT.finditer(text):
        yield Reading(match[0].lower(), *match.span())
    for run in _LATIN_WORDS.finditer(text):
        words = [*_LATIN_WORD.finditer(text, *run.span())]
        for joined, first, last in joined_words([word[0].lower() for word in words]):
            if joined in _spellings():
                yield Reading(joined, words[first].start(), words[last].end())


def joined_words(words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield up to `NAME_WORDS` adjacent words as one, with the indexes of the first and last."""
    for first in range(len(words)):
        for last in range(first + 1, min(first + NAME_WORDS, len(words))):
            yield "".join(words[first : last + 1]), first, last


def _joined(text: str, tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield words of several nouns, including unknown ones."""
    word: list[Token] = []
    for token in tokens:
        is_noun = token.tag in _NOUNS
        if is_noun and word and word[-1].end == token.start:
            word.append(token)
            continue
        if len(word) > 1:
            yield from _whole(text, word)
        word = [token] if is_noun else []
    if len(word) > 1:
        yield from _whole(text, word)


def _whole(text: str, word: list[Token]) -> Iterator[Reading]:
    """Yield the word that adjacent nouns make, without its suffixes."""
    while len(word) > 1 and word[-1].tag == "XSN" and word[-1].form in _SUFFIXES:
        word.pop()
    start, end = word[0].start, word[-1].end
    is_name = all(each.tag in _NAMING for each in word) or any(each.oov for each in word)
    if len(word) > 1 and is_name and end - start <= MAX_JOINED and _HANGUL.fullmatch(text[start:end]):
        yield Reading(text[start:end], start, end)


def _without_particles(tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield unknown nouns without a particle that the analyzer kept: 가디언즈 of 가디언즈로."""
    for token in tokens:
        if token.tag in _NAMING and token.form[-1] in _PARTICLE_ENDS and token.oov:
            ending = next((end for end in ENDINGS if token.form.endswith(end)), "")
            count = token.end - token.start - len(ending)
            if ending and count >= MIN_NAME:
                yield Reading(token.form[:count], token.start, token.start + count)


def _end_of(text: str, at: int, name: str) -> int | None:
    """Return the end of a name that begins here, or None. A long name may contain spaces."""
    if text.startswith(name, at):
        return at + len(name)
    if len(name) < SPACED_NAME:
        return None
    for count, syllable in enumerate(name):
        if count and text[at : at + 1] == " ":
            at += 1
        if text[at : at + 1] != syllable:
            return None
        at += 1
    return at


def _has_particle(text: str, end: int, name: str, tokens: Sequence[Token]) -> bool:
    """Return whether a name ends here inside a morpheme, before a particle that the analyzer kept."""
    rest = _HANGUL.match(text, end)
    if len(name) <= MIN_NAME or rest is None or rest[0] not in _PARTICLES:
        return False
    return not any(token.start < end < token.end and token.tag in ("NNG", "NNP") and not token.oov for token in tokens)


def _read_letters(text: str, start: int, limit: int, tokens: Sequence[Token], ends: Collection[int]) -> list[Reading]:
    """Return the longest reading of letters that begins here, in all its spellings.

    Args:
        text: The text.
        start: Where the letters begin.
        limit: Where they end at the latest.
        tokens: The morphemes of the text.
        ends: The end offsets of morphemes.

    Returns:
        A reading per spelling; empty without any.
    """
    letters_by_end = _spelled_letters(text, start, limit)
    if not letters_by_end:
        return []
    before = _DIGITS_BEFORE.search(text, max(0, start - 3), start)
    for end in sorted(letters_by_end, reverse=True):
        digits = re.match(r"\d{1,2}", text[end:])
        inside = [token.tag[0] for token in tokens if start <= token.start and token.end <= end]
        is_sentence = "J" in inside or (end - start < 4 and {"V", "E"}.intersection(inside))
        if is_sentence or not (end in ends or digits):
            continue
        number = digits[0] if digits else ""
        names = {
            _name_of(each, text[start:end], before[0] if before else "", number) for each in letters_by_end[end]
        } - {""}
        if names:
            fragments = _NOUNS if len(inside) > 1 else frozenset[str]()
            return [Reading(each, start, end + len(number), fragments) for each in sorted(names)]
    return []


def _spelled_letters(text: str, start: int, limit: int) -> dict[int, set[str]]:
    """Return the letters read from here on, by end offset: two or more, or one before a digit."""
    letters_by_end: dict[int, set[str]] = defaultdict(set)
    parts = _parts_of_letters()

    def walk(at: int, letters: str, count: int) -> None:
        if count > 1 or (count and text[at : at + 1].isdigit()):
            letters_by_end[at].add(letters)
        if count < MAX_LETTERS:
            for name, letter in parts.get(text[at : at + 1], ()):
                if at + len(name) <= limit and text.startswith(name, at):
                    walk(at + len(name), letters + letter, count + 1)

    walk(start, "", 0)
    return letters_by_end


def _name_of(name: str, read: str, before: str, after: str) -> str:
    """Return the name formed by letters and adjacent digits; "" if they are not read so."""
    letters = sum(map(str.isalpha, name))
    if letters < len(name):
        return name if letters and _is_mixed(name) and (len(read) > len(name) or _TWO in read) else ""
    if after:
        return name + after
    if before and letters == 1:
        return before + name
    return name if read not in _NO_LETTERS and letters > 1 else ""


def _is_mixed(name: str) -> bool:
    return re.fullmatch(r"\d{1,2}[a-z]{1,3}|[a-z]{1,3}\d{1,2}|[a-z]\d[a-z]", name) is not None
