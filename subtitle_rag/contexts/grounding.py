"""Doubts about a context: claims without support in the video's captions, title or glossary.

A doubt never changes the text. It is better to miss an invented name than to doubt every second good context, so Hangul
words count as names only if the sentence presents them as such (in quotes, before 씨 or 님, before "…라는 가게"). No
list of ordinary nouns could be complete.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple
from unicodedata import normalize

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.contexts.sentence_filters import letters
from subtitle_rag.korean.numerals import COUNTERS, DIGITS, LARGE, ONES, SMALL, TENS
from subtitle_rag.korean.readings import LETTER_NAMES

ECHO = 0.6
"""Share of a context's letter triples in the window that makes it a retelling."""
REPEAT = 0.9
"""Similarity to the previous context above which it does not distinguish the two windows."""
UNGROUNDED = frozenset({"number", "latin", "name"})
"""Kinds of doubts about things that are nowhere in the video."""
MAX_NAME = 12
"""Maximum letters of a quoted name; a longer quotation is speech."""

_COUNTER = f"(?:{'|'.join(sorted(COUNTERS, key=len, reverse=True))})"
_DIGIT = r"(?:[0-9]+(?:\.[0-9]+)?|[일이삼사오육륙칠팔구])"
_SECTION = rf"(?:{_DIGIT}?천 ?)?(?:{_DIGIT}?백 ?)?(?:{_DIGIT}?십 ?)?{_DIGIT}?"
_SINO = re.compile(
    rf"(?=[0-9일이삼사오육륙칠팔구십백천만억조])(?:{_SECTION}조 ?)?(?:{_SECTION}억 ?)?(?:{_SECTION}만 ?)?{_SECTION}"
)
_TAIL = re.compile("[십백천만억조] ?[일이삼사오육륙칠팔구]$")
_PIECE = re.compile(r"[0-9]+(?:\.[0-9]+)?|[^0-9\s]")
_SPELLED = re.compile(r"[영공일이삼사오육륙칠팔구]{2,}")
_NATIVE = re.compile(
    rf"(?<![가-힣0-9])(?P<tens>{'|'.join(TENS)})? ?(?P<ones>{'|'.join(ONES)})?"
    rf"(?=(?P<counted> ?(?!세){_COUNTER})|\s|$|[^가-힣]|[이가을를은는도만요째])"
)
_COUNTED = re.compile(rf" ?(?:여 ?)?{_COUNTER}")
_RANGE = re.compile(r"(?<![0-9])([0-9]+) ?[~∼-] ?([0-9]+) ?([천만억])")

_PARTICLE = re.compile(r"(?:에서|으로|이라는|라는|이랑|까지|부터|처럼|[은는이가을를의에와과로랑도만])$")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|“([^”]+)”|[「《<『]([^」》>』]+)[」》>』]")
_ADDRESSED = re.compile(r"([가-힣]{2,6})(?: ?씨|님)(?![가-힣]{2})")
_PLACES = "가게|식당|음식점|맛집|카페|집|곳|회사|채널"
_THINGS = "이름|사람|친구|브랜드|제품|메뉴|음식|책|노래|영화|앱"
_SO_CALLED = re.compile(rf"([가-힣]{{2,10}}?)이?라는 (?:{_PLACES}|{_THINGS})")
_SOLD_AT = re.compile(r"([가-힣]{2,10})에서 (?:파는|판매하는)")
_OFFICES = """
    사장 손 선생 고객 형 누 부모 어머 아버 교수 작가 감독 대표 팀장 과장 부장 의사 기사 주인 셰프 이모 삼촌 스승 직원
    원장 회장 실장 점장 강사 구독자 시청자 할머 할아버 아드 따 며느 장모 장인 스태프 매니저 코치 박사 변호사
"""
"""Words before 님 that are not names."""
_SPELLINGS = (  # of the consonants of Latin words, first match first
    (r"[^a-z]", ""),
    (r"tion|sion", "SN"),
    (r"dj|tch|ch|sch|sh|th|ts|tz|cz|[sz]", "S"),
    (r"c(?=[eiy])|g(?=[eiy])|j", "S"),
    (r"ng(?![aeiouy])", "n"),
    (r"ck|gh|k|q|g|c", "K"),
    (r"x", "KS"),
    (r"ph|[bfpv]", "P"),
    (r"[dt]", "T"),
    (r"r(?![aeiouy])", ""),
    (r"[lr]", "R"),
    (r"m", "M"),
    (r"n", "N"),
    (r"[a-z]", ""),
)
_JAMO = str.maketrans(dict(zip("ᄀᄁᄏᆨᆩᆿᄂᆫᆼᄃᄄᄐᆮᇀᄅᆯᄆᆷᄇᄈᄑᆸᇁᄉᄊᄌᄍᄎᆺᆻᆽᆾ", "KKKKKKNNNTTTTTRRMMPPPPPSSSSSSSSS", strict=True)))
_GLOSS = re.compile(r"([가-힣][가-힣 ]*) ?\(([A-Za-z][A-Za-z .'-]*)\)|([A-Za-z][A-Za-z .'-]*) ?\(([가-힣][가-힣 ]*)\)")
MIN_SOUNDS = 4
"""Minimum consonants to compare a Latin word with Hangul by sound; shorter ones match by chance."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubt about a context.

    `number`, `latin` and `name` are nowhere in the video; `echo` retells the window, `repeat` the previous context.
    `text` is the doubtful part; its figures have no separators.
    """

    kind: Literal["number", "latin", "name", "echo", "repeat"]
    text: str


class Number(NamedTuple):
    """A number as written, and its possible values."""

    text: str
    values: frozenset[float]
    start: int
    """Its position in `figures` of the text."""


class VideoFacts(NamedTuple):
    """The words and numbers of a video, prepared for lookup."""

    text: str
    letters: str
    numbers: frozenset[float]
    words: frozenset[str]
    stems: frozenset[str]
    """The words without particles."""
    sounds: frozenset[str]

    def has_number(self, number: Number) -> bool:
        """Whether the video has a number; a year also by its last two digits, and these by the year (25SS in 2025)."""
        if number.values & self.numbers:
            return True
        if re.fullmatch("[0-9]{2}", number.text) and {1900 + int(number.text), 2000 + int(number.text)} & self.numbers:
            return True
        year = re.fullmatch(r"(?:19|20)([0-9]{2})", number.text)
        return bool(year and re.search(rf"(?<![0-9]){year[1]} ?(?:년|SS|FW|AW|S/S|F/W)", self.text, re.IGNORECASE))


def doubts(
    context: str,
    *,
    transcript: str,
    title: str,
    glossary: Sequence[str] = (),
    window: str = "",
    previous: str = "",
) -> tuple[Doubt, ...]:
    """Return the doubts about a context, without repeats, in the order of the kinds.

    Args:
        context: the text.
        transcript: the video's captions.
        title: the video's title, or the prompt's whole head (channel, date, chapters).
        glossary: the channel's names.
        window: the window's captions.
        previous: the previous window's context.
    """
    context = nfc(context)
    facts = video_facts("\n".join((nfc(transcript), nfc(title), *map(nfc, glossary))))
    result = [Doubt("number", number.text) for number in numbers(context) if not facts.has_number(number)]
    glossed = _glossed_words(context, facts)
    result += [
        Doubt("latin", word) for word in _LATIN.findall(context) if word not in glossed and not has_latin(facts, word)
    ]
    result += [Doubt("name", name) for name in presented_names(context) if not has_name(facts, name)]
    if window and _overlap(context, nfc(window)) >= ECHO:
        result.append(Doubt("echo", context))
    if previous and SequenceMatcher(None, nfc(previous), context, autojunk=False).ratio() >= REPEAT:
        result.append(Doubt("repeat", context))
    return tuple(dict.fromkeys(result))


def numbers(text: str) -> list[Number]:
    """Return the certain numbers in a text: figures, and numerals before a counter (두 마리, 삼천 원).

    2천, 2,000, 이천 and 2000 have one value; 20~30만 may mean 20 or 200,000. Left out are "one" in words and single
    syllables (이, 사, 오), which mostly mean something else.
    """
    text = figures(text)
    result = []
    for match in _SINO.finditer(text):
        numeral = match[0].rstrip()
        if numeral and (numeral[0].isdigit() or _is_numeral(text, match.start(), numeral)):
            if (
                _TAIL.search(numeral)
                and re.match("[가-힣]", text[match.end() :])
                and not _COUNTED.match(text, match.end())
            ):
                numeral = numeral[:-1].rstrip()  # 3천만이다: a particle
            result.append(
                Number(numeral, frozenset((_values(numeral)[-1], *_of_range(text, match.start()))), match.start())
            )
    for match in _NATIVE.finditer(text):
        value = _native(match)
        if value > 1 and match["counted"]:
            result.append(Number(match[0].strip(), frozenset((float(value),)), match.end() - len(match[0].lstrip())))
    return result


def all_values(text: str) -> frozenset[float]:
    """Return every possible value of the numbers in a text."""
    text = figures(text)
    values: set[float] = set()
    for match in _SINO.finditer(text):
        numeral = match[0].strip()
        if numeral and (numeral[0].isdigit() or _may_be_numeral(text, match.start(), numeral)):
            values.update(_values(numeral))
            if _TAIL.search(numeral):
                values.update(_values(numeral[:-1].rstrip()))
    for match in _SPELLED.finditer(text):  # 오일칠 for 517
        values.add(float("".join(str(DIGITS[letter]) for letter in match[0])))
    values.update(float(_native(match)) for match in _NATIVE.finditer(text) if match[0].strip())
    for match in _RANGE.finditer(text):
        values.update(_of_range(text, match.start()))
    return frozenset(values)


def figures(text: str) -> str:
    """Return figures without separators, 3점 6 as 3.6, and 만 29 as 29: before an age, 만 is not ten thousand."""
    text = re.sub(r"(?<![가-힣0-9])만 ?(?=[0-9]+(?! ?[0-9,천백십원]))", "", text)
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", text)
    return re.sub(r"(?<=[0-9]) ?점 ?(?=[0-9])", ".", text)


def _is_numeral(text: str, start: int, numeral: str) -> bool:
    """Whether syllables are certainly a numeral: they begin a word, have a unit and precede a counter.

    A unit alone counts only before 원 or a space: 천장, 백인 and 만일 are words.
    """
    if re.search(r"[가-힣]$|(?:수|몇|여러) $", text[max(0, start - 3) : start]):
        return False
    end = start + len(numeral)
    is_unit = len(numeral) == 1 and not re.match(" |원", text[end:])
    return bool(not is_unit and re.search("[십백천만억조]", numeral) and _COUNTED.match(text, end))


def _may_be_numeral(text: str, start: int, numeral: str) -> bool:
    """Whether syllables may be a numeral: at the start of a word, or before a counter; a single digit needs both."""
    begins = not re.match("[가-힣]", text[start - 1 : start] if start else "")
    counted = bool(_COUNTED.match(text, start + len(numeral)))
    return (begins and counted) if len(numeral) == 1 and numeral in DIGITS else (begins or counted)


def _values(numeral: str) -> list[float]:
    """Return the values of a Sino-Korean numeral or figure, up to each space: 만 구천 as 10,000 and 19,000."""
    values = []
    at = 0
    while at < len(numeral):
        at = numeral.find(" ", at + 1)
        at = len(numeral) if at < 0 else at
        values.append(_value(numeral[:at]))
    return values


def _value(numeral: str) -> float:
    total = section = 0.0
    digit: float | None = None
    for piece in _PIECE.findall(numeral):
        if piece in LARGE:
            total += (section + (digit or 0.0) or 1.0) * LARGE[piece]
            section, digit = 0.0, None
        elif piece in SMALL:
            section += (1.0 if digit is None else digit) * SMALL[piece]
            digit = None
        else:
            digit = float(DIGITS[piece]) if piece in DIGITS else float(piece)
    return total + section + (digit or 0.0)


def _of_range(text: str, start: int) -> list[float]:
    """Return the first value of a range whose unit is written once: 20~30만 begins with 200,000."""
    match = _RANGE.match(text, start)
    return [_value(match[1] + match[3])] if match else []


def _native(match: re.Match[str]) -> int:
    return TENS.get(match["tens"], 0) + ONES.get(match["ones"], 0)


@lru_cache(maxsize=4)
def video_facts(text: str) -> VideoFacts:
    """Prepare the facts of a video; cached, since all its windows are compared with the same ones."""
    words = frozenset(re.findall(r"[^\W_]+", text.casefold()))
    stems = word_stems(text)
    sounds = frozenset(map(_sounds, words | stems))
    return VideoFacts(text, letters(text), all_values(text), words, stems, sounds)


def word_stems(text: str) -> frozenset[str]:
    """Return the words of a text without their particles."""
    return frozenset(_PARTICLE.sub("", word) for word in set(re.findall(r"[^\W_]+", text.casefold())))


def has_latin(facts: VideoFacts, word: str) -> bool:
    """Whether a Latin word is there: with any spacing, letter by letter (에이피아이), or spelled by sound."""
    lower = word.casefold()
    if lower in facts.letters:
        return True
    spelled = "".join(f"(?:{'|'.join(LETTER_NAMES[letter])})" for letter in lower if letter in LETTER_NAMES)
    if spelled and len(word) <= 5 and re.search(spelled, facts.letters):
        return True
    sounds = _sounds(word)
    return len(sounds) >= MIN_SOUNDS and sounds in facts.sounds


def _glossed_words(context: str, facts: VideoFacts) -> set[str]:
    """Return the Latin spellings next to a known Hangul name: 블레스(BLESS), but not 쯔양(Tzuyu)."""
    words_spelled = set()
    for before, inside, latin, hangul in _GLOSS.findall(context):
        words = _LATIN.findall(inside or latin)
        hangul_words = (before or hangul).split()[-len(words) :] if words else []
        sounds = _sounds("".join(words))
        if sounds and _sounds("".join(hangul_words)) == sounds and has_name(facts, " ".join(hangul_words)):
            words_spelled.update(words)
    return words_spelled


def _sounds(text: str) -> str:
    """Return the consonants of a word, in classes that transliteration preserves, without repetition."""
    if text.isascii():
        sounds = text.casefold()
        for pattern, sound in _SPELLINGS:
            sounds = re.sub(pattern, sound, sounds)
    else:
        sounds = re.sub("[^A-Z]", "", normalize("NFD", text).translate(_JAMO))
    return re.sub(r"(.)\1+", r"\1", sounds)


def presented_names(context: str) -> Iterator[str]:
    """Yield the Hangul words that a sentence presents as names."""
    for match in _QUOTED.finditer(context):
        quoted = next(filter(None, match.groups()))
        if len(letters(quoted)) <= MAX_NAME and re.search("[가-힣]", quoted):
            yield quoted.strip()
    yield from (name for name in _ADDRESSED.findall(context) if name not in _OFFICES.split())
    yield from _SO_CALLED.findall(context)
    yield from _SOLD_AT.findall(context)


def has_name(facts: VideoFacts, name: str) -> bool:
    """Whether a name is there, with any spacing, or with one letter (jamo) changed, as by speech recognition."""
    spelled = letters(name)
    if spelled in facts.letters:
        return True
    words = re.findall(r"[^\W_]+", name.casefold())
    if len(words) > 1:
        return all(has_name(facts, word) for word in words)
    sizes = range(max(2, len(spelled) - 1), len(spelled) + 2)
    return len(spelled) > 2 and any(
        one_letter_apart(spelled, word[:size]) for word in facts.words for size in sizes if len(word) >= size
    )


def one_letter_apart(first: str, second: str, letters: int = 1) -> bool:
    """Whether two words differ by at most `letters` jamo inserted, deleted or replaced."""
    from rapidfuzz.distance import Levenshtein

    spelled = normalize("NFD", first), normalize("NFD", second)
    return Levenshtein.distance(*spelled, score_cutoff=letters) <= letters


def consonants(word: str) -> int:
    """Return the number of consonants that identify a Latin word by sound."""
    return len(_sounds(word))


def _overlap(context: str, window: str) -> float:
    """Return the share of a context's letter triples that the window has too."""
    triples, window_triples = (
        {spelled[at : at + 3] for at in range(len(spelled) - 2)} for spelled in (letters(context), letters(window))
    )
    return len(triples & window_triples) / len(triples) if triples else 0.0
