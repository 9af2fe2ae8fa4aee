"""Questions that ask how often something is said: which words they have counted, and of which days.

What they do not say plainly is left to the model, which reads the scenes.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Protocol

from subtitle_rag.contexts import Dictionary
from subtitle_rag.domain import Morphemes, UsageError, squeeze
from subtitle_rag.retrieval.korean.expansion import certain_spellings, heard_as
from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.korean.morphemes import QueryMorphemes, words
from subtitle_rag.retrieval.search.query import PeriodOffer, Query, offer_period, parse_query

LETTERS = 2
"""Fewest letters of a word that is found as the beginning of another; those of one letter begin too many."""
MAX_SPELLINGS = 16
MAX_HEARD = 3
"""Misheard forms that an answer names."""

_SAID = (
    r"(?:나[와왔왓오온올옴옵]|언급|등장|출현|거론|나타[나난날남납났]|말(?:하|해|했|한|할|함|합|을|이)|얘기|이야기|불[러렀]|부[르른를름릅]"
    r"|들[려렸리린릴림립]|쓰(?:이|여|였|인|일|임|입))"
)
_OFTEN = r"(?:몇 ?(?:번|회|차례)(?!째)(?:이나|쯤|정도|씩)?|얼마나 ?자주)"
_MANY = (
    r"(?:동?영상|비디오)(?:은|이|만)? ?(?:총 |모두 |전부 )?몇 ?(?:개|편)"
    r"|몇 ?(?:개|편)(?:의|나 되는)? ?(?:동?영상|비디오)"
)
_WORDS = r"(?:말|단어|표현|이름|얘기|이야기|언급|소리)"
_PLACE = re.compile(
    r"^(?:(?:이|그|저|모든|전체|내) ?)?(?:채널|동?영상|라이브러리|방송|자막|여기|전체)(?:들)?"
    r"(?:에서는?|에선|에는?|의|은|는| ?중에서?)? "
    r"|^(?:여기서|전체에서|모두|총|전부|도대체|대체|과연|대략) "
    r"|^(?:the |a )?(?:words?|names?|phrases?|terms?) "
    r"|^(?:so far|in total|overall),? ",
    re.IGNORECASE,
)
_ENGLISH_PLACE = (
    r"(?:in|across|throughout|on|within) (?:all |of |the |these |this |those |my |any )*"
    r"(?:videos?|channels?|captions?|library|talks?|subtitles?|transcripts?|shows?)"
)
_TAIL = re.compile(
    r"[,\s]+(?:총|모두|전부|대략|도대체|대체|다|합쳐서|(?:전체|영상|채널)에서|관련|각각|각자|따로)(?:은|는)?$"
    r"|에 ?(?:대한|대해서?|관한)$"
    rf"|\s*(?:이라는|라는|이란|란) ?{_WORDS}(?:들)?(?:을|를|이|가|은|는)?$"
    rf"|\s+(?:{_WORDS}|등장)(?:을|를|이|가|은|는)?$"
    r"|\s+(?:each|respectively|altogether|overall|(?:(?:is|are|were) )?there|both|in total|at all|in|on)$"
    rf"|\s+{_ENGLISH_PLACE}$",
    re.IGNORECASE,
)
_RULES = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        rf"^(?P<word>.+?)\s*(?:총|모두|전부|다)? ?{_OFTEN}[^?]{{0,8}}?{_SAID}",
        rf"^(?P<word>.+?)\s+{_WORDS}(?:를|을|은|는|이|가|도)? ?(?:총 |모두 |전부 |다 )?{_OFTEN}"
        r" ?[했해하함한합있됐되쓰썼]",
        rf"^(?P<word>.+?)(?:이라는|라는|이란|란) ?{_WORDS}(?:를|을|은|는|이|가|도)? ?(?:총 |모두 )?{_OFTEN}",
        rf"^(?P<word>.+?)\s*{_OFTEN}[\s?.!~ㅋㅎㅠ]*$",
        r"^(?P<word>.+?)\s*얼마나 ?(?:많이|여러 ?번) ?(?:언급|등장|거론|말[하해했]|얘기|이야기)",
        r"^(?P<word>.+?) ?중(?:에서?)? ?(?:뭐|무엇|무슨|어느|어떤|누)[^?]{0,6} ?(?:더|제일|가장) ?(?:많이|자주)"
        rf" ?{_SAID}",
        rf"^{_OFTEN} ?(?P<word>.+?)\s*(?:얘기|이야기|언급|말|등장|나와|나왔|나오)",
        rf"^(?:{_MANY})(?:에서|에) ?(?P<word>.+?)\s*{_SAID}",
        rf"^(?P<word>.+?)\s*{_SAID}[가-힣]{{0,4}} ?(?:{_MANY})",
        rf"^(?P<word>.+?)\s*{_SAID}[가-힣]{{0,4}} ?(?:횟수|빈도|(?:수|거|것|걸)?(?:를|을)? ?세[ 어줘봐])",
        rf"^(?P<word>.+?)\s*(?:{_MANY})(?:에서|에)? ?{_SAID}",
        r"\bhow (?:many times|often)\b.*?\b(?:is|are|was|were|does|do|did|has|have|can)\b (?P<word>.+?)\s*"
        r"\b(?:been )?(?:mentioned|said|spoken|named|mention|come up|comes up|appear|occur|heard|show up)\b",
        r"\bhow (?:many times|often)\b.*?\b(?:mention|say|name|utter|talk about|hear)(?:s|ed)?\b (?P<word>.+)",
        r"\b(?:how (?:many times|often)|number of times|times that)\b (?P<word>.+?)\s*"
        r"\b(?:(?:is|are|was|were|gets?|has|have) |been )*"
        r"(?:mentioned|said|spoken|named|comes? up|came up|appear(?:s|ed)?|occur(?:s|red)?|heard)\b",
        r"\b(?:how many|number of|count(?: of| all| the)*) (?:mentions|occurrences|appearances) of (?P<word>.+)",
        r"\bhow many videos\b (?:mention|say|name)(?:s|ed)? (?P<word>.+)",
        r"\bhow many videos\b (?:is|are|was|were|does|do|did) (?P<word>.+?) "
        r"(?:mentioned|said|named|appear|occur|come up)\b",
    )
)
_SPEAKERS = frozenset(("they", "he", "she", "you", "we", "people", "anyone", "it", "this", "that"))
_PUNCTUATION = " ?.!,~…\"'“”‘’"
_BETWEEN = re.compile(
    r"\s*[,、]\s*(?:and |or |그리고 )?|\s+(?:[/&·]|and|or|vs\.?|versus|그리고|또는|혹은|및)\s+"
    r"|(?<=\S)(?P<particle>이?랑|하고|[와과])\s+",
    re.IGNORECASE,
)
_OPEN_PERIOD = re.compile(r"\s*(?:이후|부터|이전|까지|전|후|와|과|이?랑)|\s*(?:to|and|until|through)\b", re.IGNORECASE)
_OPENS_PERIOD = re.compile(r"\b(?:since|after|before|until|till|between|from|by|부터)\s*$", re.IGNORECASE)


class CountAnalyzer(QueryMorphemes, Dictionary, Protocol):
    """Analysis of counted words, and the dictionary that knows which are ordinary ones."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way in which a text says a word, or words in a row."""

    text: str
    forms: tuple[str, ...]
    """Its morphemes; none for a quoted phrase."""
    pattern: re.Pattern[str] | None
    """What it looks like in a text, where that says enough."""

    @classmethod
    def of(cls, text: str, forms: tuple[str, ...]) -> "Spelling":
        if len(text) < LETTERS:
            return cls(text, forms, None)
        end = "s?(?![A-Za-z])" if text.isascii() else ""
        spaced = r"\s*".join(map(re.escape, text.split()))
        return cls(text, forms, re.compile(rf"(?<![^\W_]){spaced}{end}", re.IGNORECASE))

    @classmethod
    def of_phrase(cls, phrase: str) -> "Spelling":
        letters = "".join(phrase.split())
        return cls(phrase, (), re.compile(r"\s*".join(map(re.escape, letters)), re.IGNORECASE))

    def spans(self, text: str, analysis: Morphemes | None) -> Iterator[tuple[int, int]]:
        """Yield where a text says it, by its letters and by its morphemes."""
        if self.pattern:
            yield from (match.span() for match in self.pattern.finditer(text))
        if analysis is not None and self.forms and self.forms[0] in analysis.forms:
            size = len(self.forms)
            for at in range(len(analysis.forms) - size + 1):
                if analysis.forms[at : at + size] == self.forms:
                    yield analysis.starts[at], analysis.ends[at + size - 1]


@dataclass(frozen=True, slots=True)
class CountedWord:
    """A word, or words in a row, that a question has counted."""

    text: str
    spellings: tuple[Spelling, ...]
    """As asked for, and then as captions spell it otherwise: 판다스 for pandas."""
    heard: tuple[Spelling, ...] = ()
    """Words of the library that a recogniser may have written in its place."""
    has_near: bool = False
    """Whether the library has other words that may be meant."""

    @classmethod
    def of(cls, word: str, analyzer: CountAnalyzer, analyze: Callable[[str], LexicalQuery]) -> "CountedWord | None":
        """Return a typed word with what may stand for it in the library; None without content."""
        (analysis,) = analyzer.morphemes([word])
        if not analysis.forms:
            return None
        text = word[analysis.starts[0] : analysis.ends[-1]]
        lexical = analyze(text)
        typed_spelling = Spelling.of(text, analysis.forms)
        certain_forms = islice(_other_spellings(text, analysis.forms, lexical), MAX_SPELLINGS)
        other_spellings = [Spelling.of(" ".join(forms), forms) for forms in certain_forms]
        related = {form for form in lexical.related if form not in analysis.forms}
        is_one_word = len(text.split()) == 1 and len(text) >= LETTERS
        same, nearby = heard_as(text, related) if is_one_word else ([], [])
        # 리스트 is no misheard 러스트
        dictionary_words = {form for form, cosine in analyzer.nearness(nearby).items() if cosine}
        heard = [*same, *(form for form in nearby if form not in dictionary_words)]
        in_other_script = any(form.isascii() != text.isascii() for form in related)
        has_known_part = len(typed := words(text)) > 1 and len(lexical.words_not_in_library) < len(typed)
        completed = lexical.forms - {*analysis.forms, *words(text)}
        spelled = {spelling.text for spelling in other_spellings}
        return cls(
            text,
            (typed_spelling, *other_spellings),
            tuple(Spelling.of(form, (form,)) for form in heard if form not in spelled),
            in_other_script or has_known_part or bool(completed or dictionary_words),
        )

    def offsets(self, text: str, analysis: Morphemes | None) -> list[tuple[int, Spelling]]:
        """Return where a text says it, and in which spelling; what is found at one place is one."""
        return _first_at_each_place(self.spellings, text, analysis)

    def heard_offsets(self, text: str, analysis: Morphemes | None) -> list[tuple[int, Spelling]]:
        """Return where a text has what may be misheard, and not the word itself."""
        mentions = _first_at_each_place((*self.spellings, *self.heard), text, analysis)
        return [(offset, spelling) for offset, spelling in mentions if spelling in self.heard]

    def is_near(self, text: str, analysis: Morphemes | None) -> bool:
        """Return whether a text has a part of it: one word of several, or its letters inside of another word."""
        typed_spelling = self.spellings[0]
        parts = [form for form in typed_spelling.forms if len(form) >= LETTERS] if len(typed_spelling.forms) > 1 else []
        text_forms = analysis.forms if analysis else ()
        return any(form in text_forms for form in parts) or squeeze(self.text) in squeeze(text)


def _first_at_each_place(
    spellings: tuple[Spelling, ...], text: str, analysis: Morphemes | None
) -> list[tuple[int, Spelling]]:
    spans = [(*span, at) for at, spelling in enumerate(spellings) for span in spelling.spans(text, analysis)]
    mentions: list[tuple[int, Spelling]] = []
    end = -1
    for start, stop, at in sorted(spans, key=lambda span: (span[0], span[2])):
        if start >= end:
            mentions.append((start, spellings[at]))
        end = max(end, stop)
    return mentions


def _other_spellings(text: str, forms: tuple[str, ...], lexical: LexicalQuery) -> Iterator[tuple[str, ...]]:
    """Yield the morphemes of other spellings that are surely the same words."""
    other_forms = {form for form in (*lexical.words_by_form, *lexical.related) if form not in forms}
    certain = {word: certain_spellings(word, sorted(other_forms - {word})) for word in {*forms, "".join(words(text))}}
    joined_word = "".join(words(text))
    yield from ((form,) for form in certain.get(joined_word, ()))
    if len(forms) > 1:
        each = [((form,), *((spelling,) for spelling in certain.get(form, ()))) for form in forms]
        for choice in islice(product(*each), 1, None):
            yield tuple(form for part in choice for form in part)


@dataclass(frozen=True, slots=True)
class CountQuestion:
    """A question of how often words are said."""

    query: Query
    """With the filter by date that its words mean."""
    words: tuple[CountedWord, ...]
    period: PeriodOffer | None = None

    @classmethod
    def of(
        cls, query: Query, analyzer: CountAnalyzer, analyze: Callable[[str], LexicalQuery]
    ) -> "CountQuestion | None":
        """Return what a question has counted; None if it asks for something else, or not plainly."""
        if not asks_count(query.text):
            return None
        if query.phrases:
            phrases = tuple(CountedWord(phrase, (Spelling.of_phrase(phrase),)) for phrase in query.phrases)
            return cls(replace(query, phrases=()), phrases)
        dated = _with_period(query)
        if dated is None:
            return None
        query, period = dated
        parts = _divided(_counted(query.text), analyzer, analyze)
        counted_words = [CountedWord.of(part, analyzer, analyze) for part in parts]
        content = {word.text: word for word in counted_words if word is not None}
        return cls(query, tuple(content.values()), period) if content else None


def asks_count(question: str) -> bool:
    """Whether a question asks how often something is said, or in how many videos (치킨이 몇 번 나와?)."""
    return bool(_counted(question))


def _counted(question: str) -> str:
    """Return the counted words of a question, with their particles; empty if nothing is counted."""
    for rule in _RULES:
        match = rule.search(question.strip())
        if match is None:
            continue
        word = match["word"].strip(_PUNCTUATION)
        before = ""
        while word != before:
            before = word
            word = _TAIL.sub("", _PLACE.sub("", f"{word} ").strip()).strip(_PUNCTUATION)
        if word and word.casefold() not in _SPEAKERS:
            return word
    return ""


def _with_period(query: Query) -> tuple[Query, PeriodOffer | None] | None:
    """Return the query with the days that its words name as its filter; None if they name an open period."""
    raw = re.sub(r"(?<=\d),(?=\s)|[?!.~…]+(?=\s|$)", "", query.raw)
    offer = offer_period(raw) if query.after is None and query.before is None else None
    if offer is None:
        return query, None
    at = raw.index(offer.typed)
    if offer.is_open or _OPEN_PERIOD.match(raw, at + len(offer.typed)) or _OPENS_PERIOD.search(raw[:at]):
        return None
    try:
        dated = parse_query(offer.query)
    except UsageError:  # no words remain
        return query, None
    if not asks_count(dated.text):
        return query, None
    return replace(query, text=dated.text, after=offer.after, before=offer.before), offer


def _divided(text: str, analyzer: CountAnalyzer, analyze: Callable[[str], LexicalQuery]) -> list[str]:
    """Return the words that a text lists: 베를린이랑 파리. What a known noun ends in is no particle: 사과 주스."""
    (analysis,) = analyzer.morphemes([text])
    inside = {at for start, end in zip(analysis.starts, analysis.ends, strict=True) for at in range(start, end)}
    parts: list[str] = []
    start = 0
    for match in _BETWEEN.finditer(text):
        at = match.start("particle")
        with_particle = text[start : match.end("particle")]
        if at in inside and at not in analysis.ends and not analyze(with_particle).words_not_in_library:
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    return [part for part in (*parts, text[start:]) if part.strip()]
