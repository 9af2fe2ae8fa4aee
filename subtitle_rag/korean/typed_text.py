"""The text of a query: its morphemes and words, its numbers with units, and its request."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from subtitle_rag.base.domain.values import NEGATED, Morphemes
from subtitle_rag.korean.letter_names import RUN, written_word
from subtitle_rag.korean.morphemes import key, words
from subtitle_rag.korean.negation import joined_negations
from subtitle_rag.korean.numerals import COUNTERS
from subtitle_rag.korean.readings import ENDINGS, TEARS

UNRANKED = frozenset(["거", "것", "건", "게", "안", "말", TEARS])
"""Morphemes with a tag of content that occur in every scene. They count only in queries without others."""
WEIGHTLESS = UNRANKED | frozenset(["수", "하", "되", "있", "쓰", "같", "등"])
"""Morphemes that are neither marked nor jumped to if a query has others; see `docs/dev/evaluation.md`."""
_PARTICLE = re.compile(rf"(?<=[A-Za-z])(?:{'|'.join(ENDINGS)})$")
WORD = re.compile(r"\S+")
_APPEARS = r"(?:나오|나와|나온|나왔|등장|언급)\S*"
_REQUEST = re.compile(
    rf"(?<=\S)\s+(?:(?:{_APPEARS}\s+)?(?:장면|부분|대목|동?영상|클립|순간|씬)(?:들?[이은을를도만]?|에서)"
    r"(?:\s+(?:찾아|보여|알려|틀어)\s?(?:줘|주세요|줄래)(?:요)?|\s+어디\S*)?"
    rf"|(?:총\s+)?(?:몇\s?(?:번|회|군데|편)\S*|어디(?:서|에서?)?|언제|얼마나)\s+{_APPEARS})[?.!\s]*$"
)
"""The request after the subject of a query: 치킨 먹는 장면, 치킨이 몇 번 나와?"""
_ACRONYM = re.compile(r"(?<![A-Za-z\d])[A-Z]{2,3}(?![A-Za-z\d])")
_COUNTED = re.compile(r"-?\d+(?:[./]\d+)?\D{0,4}")
"""A number, with or without its counter: 21살, -10도, 1/3."""


@dataclass(frozen=True)
class TypedText:
    """A query's text with its morphemes, in order."""

    text: str
    analysis: Morphemes

    @classmethod
    def of(cls, text: str, analysis: Morphemes) -> "TypedText":
        """Take a text without its request, with negated words joined."""
        end = _request_start(text, analysis)
        count = sum(at < end for at in analysis.starts)
        before_request = Morphemes(analysis.forms[:count], analysis.starts[:count], analysis.ends[:count])
        return cls(*joined_negations(text[:end], before_request))

    @property
    def forms(self) -> tuple[str, ...]:
        return self.analysis.forms

    @cached_property
    def words(self) -> list[str]:
        return list(map(without_particle, words(self.text)))

    @property
    def last_word(self) -> str:
        """The last word, which may be unfinished; "" for a single Latin letter or a number."""
        last = self.words[-1] if self.words else ""
        return "" if (last.isascii() and len(last) < 2) or last[0].isdigit() else last

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """Words of two or three capitals, in small letters: they are read letter by letter."""
        return frozenset(map(str.lower, _ACRONYM.findall(self.text)))

    @cached_property
    def units(self) -> frozenset[str]:
        """Counters that only follow a number: 원 of 3만 원."""
        number_end = -2
        after_number, without_number = set[str](), set[str]()
        for form, start, end in zip(self.forms, self.analysis.starts, self.analysis.ends, strict=True):
            if form in COUNTERS:
                (after_number if start - number_end <= 1 else without_number).add(form)
            elif _COUNTED.fullmatch(form):
                number_end = max(number_end, end)
        return frozenset(after_number - without_number)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """The forms with content, or all if none has."""
        return tuple(form for form in self.forms if form not in WEIGHTLESS and form not in self.units) or self.forms

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The forms that order windows, or all if none does."""
        return tuple(form for form in self.forms if form not in UNRANKED) or self.forms

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The forms that order windows, without units; units have no variants."""
        return tuple(form for form in self.ranked if form not in self.units)

    @cached_property
    def varied(self) -> list[str]:
        """Forms and words that may have substitutes; negated ones have none."""
        negated = {word for form, word in self.words_by_form.items() if form.startswith(NEGATED)}
        entered = dict.fromkeys((*self.counted, *self.words))
        return [form for form in entered if form not in negated and not form.startswith(NEGATED)]

    @cached_property
    def read_twice(self) -> frozenset[str]:
        """Forms whose letters also belong to another form: the whole of 창밖, and 창 and 밖 in it."""
        spans = list(zip(self.forms, self.analysis.starts, self.analysis.ends, strict=True))
        pairs = (
            (compound, part)
            for compound, start, end in spans
            for part, first, last in spans
            if compound != part and start <= first and last <= end and last - first < end - start
        )
        return frozenset(chain.from_iterable(pairs))

    @cached_property
    def relating(self) -> list[str]:
        """Forms that may have related words. A syllable of a longer word has none: 준 of 서준 is unrelated to 장."""
        by_form = self.words_by_form
        parts = Counter(by_form.values())
        return [form for form in self.counted if len(form) > 1 or parts[by_form.get(form, "")] < 2]

    @cached_property
    def words_by_form(self) -> dict[str, str]:
        """Morpheme → the first word of the text that has it."""
        by_form: dict[str, str] = {}
        for word in RUN.finditer(self.text):
            for form, at in zip(self.forms, self.analysis.starts, strict=True):
                if at in range(*word.span()):
                    by_form.setdefault(form, without_particle(key(word[0])))
        return by_form

    @cached_property
    def without_numbers(self) -> str:
        """The text with numbers and units blanked out; those of names stay: GS25."""
        text = self.text
        for form, start, end in zip(self.forms, self.analysis.starts, self.analysis.ends, strict=True):
            is_of_name = self.text[start - 1 : start].isascii() and self.text[start - 1 : start].isalpha()
            if form in self.units or (_COUNTED.fullmatch(form) and not is_of_name):
                text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        return text

    @cached_property
    def stems(self) -> dict[str, str]:
        """The words of the text; after a noun, particles are removed."""
        stems: dict[str, str] = {}
        for word in RUN.finditer(self.text):
            first, last = word.span()
            inside = [
                (end, form)
                for form, start, end in zip(self.forms, self.analysis.starts, self.analysis.ends, strict=True)
                if first <= start < end <= last
            ]
            end, form = max(inside, default=(last, ""))
            is_noun = form and key(self.text[first:end]).endswith(form)
            stems.setdefault(without_particle(key(word[0])), key(self.text[first : end if is_noun else last]))
        return stems

    @property
    def without_unranked(self) -> str:
        """The text without words that occur in every scene, or all of it if nothing remains."""
        return without_words(UNRANKED, self.text, self.analysis)

    @cached_property
    def content_words(self) -> tuple[str, ...]:
        """The words with content, without numbers and units."""
        typed = words(without_words(WEIGHTLESS, self.without_numbers, self.analysis))
        return tuple(map(without_particle, typed))


def without_particle(word: str) -> str:
    """Return a Latin word without its particle: chicken of chicken이."""
    return _PARTICLE.sub("", written_word(word))


def without_words(weightless: frozenset[str], text: str, analysis: Morphemes) -> str:
    """Return the text without words of weightless morphemes only, or all of it if nothing remains."""
    if weightless.issuperset(analysis.forms):
        return text
    content: list[str] = []
    for word in WORD.finditer(text):
        inside = {form for form, at in zip(analysis.forms, analysis.starts, strict=True) if at in range(*word.span())}
        if not inside or inside - weightless:
            content.append(word[0])
    return " ".join(content)


def _request_start(text: str, analysis: Morphemes) -> int:
    """Return where the request begins in a text; its end if there is none or nothing else has content."""
    match = _REQUEST.search(text)
    if match is None:
        return len(text)
    content = (at for form, at in zip(analysis.forms, analysis.ends, strict=True) if form not in WEIGHTLESS)
    return match.start() if any(at <= match.start() for at in content) else len(text)
