"""Claims of a sentence, and whether a text supports them: names, quantities, roles, negation, order, comparisons.

A claim is supported, contradicted or not found. A name is found by its letters, or by its sound if captions may have
misspelled it. Everything else is compared with the clauses of the text that share most words with the sentence's own
clause: they may have another quantity of the same unit, another noun in the same role, or a negation. Without such
clauses a claim is accepted, because the sentence may use other words than the text.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap, takewhile, zip_longest
from typing import NamedTuple

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.contexts.grounding import (
    MIN_SOUNDS,
    Number,
    consonants,
    figures,
    has_latin,
    has_name,
    numbers,
    one_letter_apart,
    presented_names,
    video_facts,
    word_stems,
)
from subtitle_rag.contexts.sentence_filters import letters
from subtitle_rag.korean.morphemes import TaggedWord, key
from subtitle_rag.korean.numerals import COUNTERS, DIGITS, same_counter
from subtitle_rag.korean.opposites import are_opposite
from subtitle_rag.korean.pronunciation import SoundIndex, jamo
from subtitle_rag.korean.readings import other_spellings

CONFIDENT = 0.5
"""Minimum share of a clause's weight in a clause of the text, for both to be about the same thing."""
MARGIN = 0.75
"""Share of the best clause's weight from which another clause may be meant instead."""
SURE = 0.8
"""Minimum share if the word in a name's place is not a known name itself: 보리, a cat's name."""
NEAR = 0.4
"""Weight of a word in the previous clause, which often has the topic of a sentence."""
SUBJECT_REACH = 3
"""Clauses for which a subject lasts."""
VERB_REACH = 12
"""Characters from a duration to its verb."""
ONLY_REACH = 4
"""Words before a predicate that may have its 밖에."""
HEARD_LETTERS, HEARD_STEP = 5, 3
"""Minimum jamo of a name to allow one misheard jamo, and additional ones for a second: 타카시 for 타카하시."""
LATIN_WORDS = 5
"""Latin words from which captions count as spelling names in Latin letters; others spell them by sound."""
LONG_NAME = 4
"""Minimum syllables of a word that may have one more than in the text: 뒷다리살 for 뒷다리."""
SHORT_NAME = 2
"""Maximum syllables of a dictionary name for which one letter makes another name."""
MAX_CHARACTERS = 20_000
"""Maximum characters of a text to compare by clauses."""
LAST_DURATION = 50
"""Number of years from which it is a date: 97년."""
DAY = "일"
GOAL = "로"
"""Unit of a number that counts nothing and has this particle: 48로 정했다."""
RANK = "째"
"""Unit of ordinals."""

_NAMES = frozenset(("NNP", "SL"))
_NOUNS = frozenset(("NNG", "NNP", "XR", "SL"))
_FRAGMENTS = frozenset(("MM", "NR", "XPN", "MAG", "IC", "XR"))
_LIGHT = frozenset(
    ("하", "되", "말하", "이야기하", "얘기하", "보", "주", "가지", "대하", "위하", "통하", "그렇", "이렇")
)
"""Verbs that take their meaning from another word, or report speech."""
_ENDINGS = ("E", "VX", "XS")
"""Parts of speech after the stem of a predicate."""
_EATEN, _ALL = frozenset(("먹", "마시", "비우")), frozenset(("다", "모두", "전부", "싹"))
"""Verbs that with one of these adverbs mean that nothing is left."""
_NEGATIONS = frozenset(("안", "못"))
_NEGATING = frozenset(("않", "못하", "말"))
_QUESTION = re.compile("(?:까|나|가|냐)요?$|니$")
"""Ending of a question, which claims nothing."""
_SUBJECTS = frozenset(("이", "가", "께서", "은", "는"))
_LEADS = {"은": "은", "는": "은", "이": "이", "가": "이", "께서": "이"}
"""Particles of topics and subjects."""
_TOPICS = frozenset(("은", "는", "도", "만"))
_OBJECTS = frozenset(("을", "를", "ᆯ"))
_OPPOSITE_WORDS = """
좁 넓 작 크 짧 길 느리 빠르 적 많 낮 높 싸 비싸 저렴 비싸 가볍 무겁 어렵 쉽 춥 덥 차갑 뜨겁 얇 두껍 어둡 밝 나쁘 좋
줄어들 늘어나 줄이 늘리 좁아지 넓어지 작아지 커지 짧아지 길어지 느려지 빨라지 내려가 올라가 낮추 높이 팔 사 끄 켜 닫 열
실패 성공 감소 증가 하락 상승 불편 편하 불가능 가능 틀리 맞 약하 강하 줄 늘 싱겁 짜 맛없 맛있 벗 입 죽이 살리
싫어하 좋아하 화내 좋아하 내리 오르 빼 넣 잃 찾 울 웃 더럽 깨끗 연하 진하
"""
_OPPOSITES = dict(zip(_OPPOSITE_WORDS.split()[::2], _OPPOSITE_WORDS.split()[1::2], strict=True))
"""Pairs of predicates of which one means the negation of the other."""
_OPPOSED = frozenset(_OPPOSITES.values())
_SYNONYMS = frozenset(
    frozenset(pair.split())
    for pair in (
        *("아버지 아빠", "어머니 엄마", "형 오빠", "누나 언니", "이익 이득", "손해 손실", "허용 허가", "매입 인수"),
        "육신 육체",
    )
)
"""Words of one series that may replace each other."""
_GENERAL_WORDS = """
것 곳 물건 제품 상품 음식 요리 메뉴 재료 옷 약 가방 책 사람 동물 고기 채소 과일 음료 술 차 기계 도구 장비 기기
프로그램 언어 데이터 파일 자료 정보 문제 방법 방식 소리 돈 비용 가격 값 시간 날짜 장소 가게 매장 병원 학교 회사 집
방 상태 모습 이유 의견 생각 내용 이야기 일 작업 활동 과정 결과 기능 부분 점 말 질문 대답 설명 브랜드 종류 양 크기
사이즈
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())
"""Nouns that a sentence may put for a more precise one."""
_HERE = frozenset(("한국", "대한민국"))
"""The default country of Korean videos, whether mentioned or not."""
_EARLY = frozenset(("먼저", "우선"))
_AFTER = frozenset(("뒤", "후", "다음", "이후"))
_BEFORE = frozenset(("전", "이전"))
_LATE = frozenset(("나중", *_AFTER))
_ONES = "첫 한 두 둘 세 셋 네 넷 다섯 여섯 일곱 여덟 아홉 열"
_RANKS = dict(zip(_ONES.split(), (1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10), strict=True))
_ORDINAL = re.compile(
    rf"(?<![가-힣])({'|'.join(_RANKS)}) ?(?:번째|째)|(?<![가-힣])(첫) ?(?=날|주|해|달)|([0-9]+) ?번째|(마지막)"
)
_SINO_UNITS = [
    "리터",
    "킬로",
    "미터",
    "센티",
    "그램",
    "퍼센트",
    "프로",
    "도",
    "원",
    "엔",
    "달러",
    "년",
    "개월",
    "인분",
    "층",
    "박",
    "초",
    "분",
]
"""Counters before which a single digit is a number."""
_DAYS = dict(
    zip(
        ["하루", "이틀", "사흘", "나흘", "닷새", "엿새", "이레", "여드레", "아흐레", "열흘", "보름", "일주일"],
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 7),
        strict=True,
    )
)
_DAY = re.compile(rf"(?<![가-힣])(?:{'|'.join(_DAYS)})")
_ONE = re.compile(rf"(?<![가-힣0-9])한 ?(?=({'|'.join(sorted(COUNTERS, key=len, reverse=True))})(?![가-힣]{{2}}))")
_COUNTER = re.compile(rf" ?(?:여 ?)?({'|'.join(sorted(COUNTERS, key=len, reverse=True))})")
_DIGIT = re.compile(rf"(?<![가-힣0-9])([일삼사오육칠팔구]) ?({'|'.join(_SINO_UNITS)})(?![A-Za-z])")
_SECONDS = {"시간": 3600.0, "분": 60.0, "초": 1.0}
_DURATIONS = frozenset(("시간", DAY))
_SAID_IN_TURN = frozenset(("원", RANK))
"""Units of which a clause may say several, each of something else."""
_LASTING = {"주": 7.0, "개월": 30.0, "년": 365.0}
"""Days of longer units."""
_LATIN_WORD = re.compile("[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Claims of a sentence that a text does not support; all others are supported or cannot be checked."""

    missing: tuple[str, ...] = ()
    """Names and numbers that are not found."""
    otherwise: tuple[str, ...] = ()
    """Words of contradicted claims."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.otherwise)


class _Quantity(NamedTuple):
    """A number with the unit that it counts."""

    text: str
    values: frozenset[float]
    unit: str
    start: int


class _Noun(NamedTuple):
    """A noun, and the particle after it: its role."""

    form: str
    text: str
    role: str
    is_name: bool
    is_whole: bool
    """Whether it is not part of a longer word."""
    start: int
    end: int


@dataclass(slots=True)
class _Clause:
    nouns: list[_Noun] = field(default_factory=list)
    predicates: dict[str, tuple[bool, str]] = field(default_factory=dict)
    """Whether each predicate is negated, and its text."""
    starts: dict[str, int] = field(default_factory=dict)
    """Position of each predicate."""
    modifying: set[str] = field(default_factory=set)
    """Predicates before the noun that they belong to: 작은 집."""
    supposed: set[str] = field(default_factory=set)
    """Predicates of conditions and expectations."""
    quantities: list[_Quantity] = field(default_factory=list)
    than: str = ""
    """The noun before 보다."""
    marks: set[str] = field(default_factory=set)
    """Words of order: `early`, `late`, `before`."""
    asks: bool = False
    """Whether it is a question."""
    leads: dict[str, tuple["_Noun | None", str]] = field(default_factory=dict)
    """The latest topic (`은`) and subject (`이`), even of an earlier clause, with the letters of its clause."""
    forms: frozenset[str] = frozenset()
    """Nouns, including parts of longer ones, and predicates."""
    words: frozenset[str] = frozenset()
    """The same without parts, and without counted nouns."""
    counted: frozenset[str] = frozenset()
    spelled: str = ""

    def put(self, form: str, start: int, text: str, following: Sequence[TaggedWord], *, negated: bool) -> None:
        """Add a predicate; `following` has the words after it."""
        form = key(form)
        self.predicates[form] = negated, text
        self.starts[form] = start
        endings = [*takewhile(lambda word: word.tag.startswith(_ENDINGS), following)]
        after = following[len(endings)].form if len(endings) < len(following) else ""
        if any(word.tag == "ETM" for word in endings) and after != "수":
            self.modifying.add(form)
        if any(word.form.endswith("면") or (word.form in ("ᆯ", "을") and after != "수") for word in endings):
            self.supposed.add(form)

    def verbs_of(self, noun: _Noun) -> list[str]:
        """Return the predicates that a noun may belong to: all after a topic, otherwise the next one."""
        after = sorted(
            (form for form in self.predicates if self.starts[form] > noun.start), key=self.starts.__getitem__
        )
        return [form for form in after if form not in self.modifying] if noun.role in _TOPICS else after[:1]


def claim_text(text: str) -> str:
    """Return a text in the form to analyse for claims."""
    return figures(nfc(text))[:MAX_CHARACTERS]


def spelling(form: str) -> str:
    """Return the common spelling of a word's variants: 장고 for Django."""
    word = key(form)
    return min((word, *other_spellings(word)))


class Said:
    """A text prepared for checking claims. The text and its analysis must be of `claim_text`."""

    def __init__(self, text: str, tags: Sequence[TaggedWord], known: Iterable[str] = ()) -> None:
        """Prepare a text; `known` has texts with further names and numbers: titles, glossary."""
        everything = "\n".join((text, *map(claim_text, known)))
        self._facts = video_facts(everything)
        self._text = text
        self._clauses = _clauses(text, tags)
        self._spoken = jamo(self._facts.letters)
        self._nouns = {noun.text for clause in self._clauses for noun in clause.nouns if len(noun.text) > 1}
        self._has_latin = len(_LATIN_WORD.findall(text)) >= LATIN_WORDS
        self._values = self._facts.numbers | {v for c in self._clauses for q in c.quantities for v in q.values}
        self._days = {v for clause in self._clauses for q in clause.quantities if q.unit == DAY for v in q.values}
        self._sounds: SoundIndex | None = None
        self._known_places: dict[str, frozenset[int]] = {}

    def verdict(self, text: str, tags: Sequence[TaggedWord]) -> Verdict:
        """Return the unsupported claims of a sentence."""
        clauses = _settled(_clauses(text, tags))
        forms = frozenset().union(*(clause.forms for clause in clauses))
        missing = [*self._missing_numbers(text, clauses), *self._missing_names(text, tags)]
        otherwise = [word for clause in clauses for word in self._said_otherwise(clause, forms)]
        otherwise += [
            noun.text
            for before, clause in pairwise((_Clause(), *clauses))
            for noun in clause.nouns
            if self._has_another_object(noun, clause, before, forms)
        ]
        otherwise += self._other_order(clauses)
        otherwise = [word for word in otherwise if word not in missing]
        return Verdict(tuple(dict.fromkeys(missing)), tuple(dict.fromkeys(otherwise)))

    def turned(self, text: str, tags: Sequence[TaggedWord]) -> list[str]:
        """Return the predicates of a sentence of which the text says the opposite."""
        return [
            word
            for clause in _settled(_clauses(text, tags))
            for predicate, (negated, word) in clause.predicates.items()
            if self._is_negated_otherwise(predicate, negated, clause)
        ]

    def strange_names(self, tags: Sequence[TaggedWord]) -> list[str]:
        """Return the names that are certainly missing: those in the dictionary or table.

        Captions misspell others, which cannot be told from invented ones: of 137 contexts by a person 40 have such a
        name that is not in their video's captions, and 9 have one of these.
        """
        names = [
            word.form
            for run in _noun_runs(tags)
            for word in run
            if _is_name(word) and not word.unknown and not _is_adjective(word, tags)
            if word.tag != "SL" or other_spellings(key(word.form))
            if not self._has_form(word.form)
        ]
        return list(dict.fromkeys(names))

    # --- not found ---

    def _missing_numbers(self, text: str, clauses: Sequence[_Clause]) -> Iterator[str]:
        for number in numbers(text):
            if not (number.values & self._values or self._facts.has_number(number)):
                yield number.text
        for clause in clauses:
            for quantity in clause.quantities:
                if quantity.text in _DAYS and not quantity.values & self._days:
                    yield quantity.text

    def _missing_names(self, text: str, tags: Sequence[TaggedWord]) -> Iterator[str]:
        for run in _noun_runs(tags):
            start, end = _word_start(run[0], tags), run[-1].end
            names = [word for word in run if _is_name(word)]
            if names:
                whole, is_listed = text[start:end], not any(word.unknown for word in run)
                are_there = all(self._has_form(word.form, is_listed=not word.unknown) for word in names)
                if not (are_there or self._has_form(whole, is_listed=is_listed)):
                    yield whole
            elif self._is_other_compound([letters(text[word.start : end]) for word in run], letters(text[start:end])):
                yield text[start:end]
        yield from (name for name in presented_names(text) if not has_name(self._facts, name))

    def _has_form(self, form: str, *, is_listed: bool = False) -> bool:
        """Whether a name, `is_listed` in a dictionary or not, is there: its letters, another spelling, or its sound."""
        if form in _HERE:
            return True
        if form.isascii():
            is_told = self._has_latin or consonants(form) >= MIN_SOUNDS or other_spellings(key(form))
            return not is_told or has_latin(self._facts, form) or self._sounds_like(form)
        is_longer = len(form) >= LONG_NAME and letters(form[:-1]) in self._facts.letters
        is_near = (len(form) > SHORT_NAME or not is_listed) and self._is_misheard(form)
        return is_longer or is_near or has_name(self._facts, form) or self._sounds_like(form)

    def _is_misheard(self, form: str) -> bool:
        """Whether letters anywhere in the text, even across spaces, sound nearly like a name."""
        from rapidfuzz import fuzz

        sounds = jamo(form)
        allowed = min(2, (len(sounds) - HEARD_LETTERS) // HEARD_STEP + 1) if len(sounds) >= HEARD_LETTERS else 0
        if not allowed or len(self._spoken) < len(sounds):
            return False
        place = fuzz.partial_ratio_alignment(sounds, self._spoken)
        nearby = self._spoken[max(0, place.dest_start - allowed) : place.dest_end + allowed] if place else ""
        return any(
            one_letter_apart(sounds, nearby[start : start + length], allowed)
            for length in range(len(sounds) - allowed, len(sounds) + allowed + 1)
            for start in range(len(nearby) - length + 1)
        )

    def _sounds_like(self, form: str) -> bool:
        word = key(form)
        if any(letters(spelling) in self._facts.letters for spelling in other_spellings(word)):
            return True
        if self._sounds is None:
            self._sounds = SoundIndex(self._facts.words | self._facts.stems)
        return bool(self._sounds.hangul_of(word) if word.isascii() else self._sounds.latin_of(word))

    def _is_other_compound(self, tails: Sequence[str], whole: str) -> bool:
        """Whether the end of a word occurs only after other beginnings: 만복정육점 next to 금성정육점."""
        facts = self._facts
        tail = next((each for each in tails if len(each) > 1 and each in facts.letters), "")
        beginning = whole.removesuffix(tail)
        if not tail or len(beginning) < 2 or beginning in facts.letters:
            return False
        before = [stem[: -len(tail)] for stem in word_stems(self._text) if stem.endswith(tail)]
        return bool(before) and all(len(each) > 1 for each in before)

    # --- contradicted ---

    def _said_otherwise(self, clause: _Clause, sentence: Collection[str]) -> Iterator[str]:
        for quantity in clause.quantities:
            if self._has_other_quantity(quantity, clause):
                yield quantity.text
        for predicate, (negated, text) in clause.predicates.items():
            if self._is_negated_otherwise(predicate, negated, clause):
                yield text
        for noun in clause.nouns:
            if noun.is_whole and (self._has_other_noun(noun, clause, sentence) or self._has_opposite(noun, sentence)):
                yield noun.text
        if self._is_other_comparison(clause):
            yield clause.than

    def _scores(self, forms: Collection[str]) -> tuple[list[float], float]:
        """Return the weight of some words in each clause, and the weight of all of them."""
        places = {form: self._places(form) for form in forms}
        weights = {form: math.log(1 + len(self._clauses) / max(0.5, len(places[form]))) for form in forms}
        scores = []
        for at in range(len(self._clauses)):
            own = sum(weights[form] for form in forms if at in places[form])
            near = sum(weights[form] for form in forms if at - 1 in places[form] and at not in places[form])
            scores.append(own + NEAR * near if own else 0.0)
        return scores, sum(weights.values())

    def _places(self, form: str) -> frozenset[int]:
        """Return the clauses with a word, even inside a word that the analyzer has divided differently."""
        if form not in self._known_places:
            spellings = [each for each in (form, *other_spellings(form)) if len(each) > 1]
            self._known_places[form] = frozenset(
                at
                for at, clause in enumerate(self._clauses)
                if form in clause.forms or any(each in clause.spelled for each in spellings)
            )
        return self._known_places[form]

    def _best(self, forms: Collection[str], among: Collection[int] | None = None) -> list[int]:
        """Return the clauses about the same thing as these words; [] if none certainly is."""
        scores, total = self._scores(forms)
        places = range(len(scores)) if among is None else among
        top = max((scores[at] for at in places), default=0.0)
        if not top or top < CONFIDENT * total:
            return []
        return [at for at in places if scores[at] >= MARGIN * top]

    def _has_other_quantity(self, quantity: _Quantity, clause: _Clause) -> bool:
        if not quantity.unit:
            return False
        of_unit = [
            at for at, each in enumerate(self._clauses) if any(other.unit == quantity.unit for other in each.quantities)
        ]
        owner = _owner(quantity, clause)
        best = self._best(owner, of_unit)
        if not best and quantity.unit in _DURATIONS:
            best = self._with_verb(quantity, clause, of_unit)
        return bool(best) and not any(
            other.values & quantity.values for at in best for other in _meant(quantity.unit, owner, self._clauses[at])
        )

    def _with_verb(self, quantity: _Quantity, clause: _Clause, of_unit: Sequence[int]) -> list[int]:
        """Return the only clause with the verb of a quantity, if the text says the quantity of something else."""
        reach = range(quantity.start, quantity.start + VERB_REACH)
        after = sorted((start, form) for form, start in clause.starts.items() if start in reach)
        having = [at for at in of_unit if after and after[0][1] in self._clauses[at].predicates]
        own = [at for at in of_unit if any(other.values & quantity.values for other in self._clauses[at].quantities)]
        around = {near for at in own for near in (at - 1, at, at + 1) if near == at or near not in of_unit}
        is_other = not any(at in self._places(form) for form in clause.words for at in around)
        return having if own and len(having) == 1 and is_other else []

    def _is_negated_otherwise(self, predicate: str, negated: bool, clause: _Clause) -> bool:
        having = [
            at
            for at, each in enumerate(self._clauses)
            if predicate in each.predicates and not (each.asks or predicate in each.supposed)
        ]
        others = (clause.words | clause.counted) - {predicate}
        is_told = len(predicate) > 1 and len(having) == 1 and predicate not in _OPPOSED
        best = self._best(others, having)
        if is_told or not others:
            best = having
        elif not best and predicate not in _OPPOSED:
            best = self._of_subject(predicate, clause, having)
        if predicate in _OPPOSED and not any(len(others & self._clauses[at].forms) > 1 for at in best):
            best = [at for at in having if any(abs(at - each) <= 1 for each in best)]  # slow at first, then fast
        if clause.nouns or clause.leads:
            best = [at for at in best if self._is_about(at, clause, predicate)]
        there = [self._clauses[at] for at in best]
        return bool(there) and all(
            each.predicates[predicate][0] != negated
            and not (negated and any(told for told, _text in each.predicates.values()))  # presses: no such feeling
            and not (negated and any(noun.role == "만" for noun in each.nouns))  # done by half only
            and not _is_turned(clause, each)
            for each in there
        )

    def _of_subject(self, predicate: str, clause: _Clause, having: Sequence[int]) -> list[int]:
        """Return the clauses that say a predicate of the noun before it, if that is its subject."""
        before = [noun for noun in clause.nouns if noun.is_whole and noun.end <= clause.starts[predicate]]
        subject = before[-1].form if before and before[-1].role in ("이", "가") else ""
        return [at for at in having if any(noun.form == subject for noun in self._clauses[at].nouns)]

    def _is_about(self, at: int, clause: _Clause, predicate: str) -> bool:
        """Whether a clause of the text, or the one before it, has a noun of the sentence's clause, or compares too.

        A short verb says something only with the noun before it: 보풀이 나다.
        """
        if len(predicate) == 1 or predicate == "나오":
            before = [noun for noun in clause.nouns if noun.is_whole and noun.end <= clause.starts[predicate]]
            if before and at not in self._places(before[-1].form):
                return False
        nouns = {noun.form for noun in clause.nouns} or {lead.form for lead, _spelled in clause.leads.values() if lead}
        leads = {lead.form for lead, _spelled in self._clauses[at].leads.values() if lead}
        is_near = bool(nouns & leads) or any({at - 1, at} & self._places(noun) for noun in nouns)
        return is_near or bool(clause.than and self._clauses[at].than)

    def _has_other_noun(self, noun: _Noun, clause: _Clause, sentence: Collection[str]) -> bool:
        """Whether clauses about the same thing have another noun in this noun's role, and the noun is elsewhere."""
        is_elsewhere = self._places(noun.form) or (noun.is_name and letters(noun.text) in self._facts.letters)
        if not (noun.role and is_elsewhere and (noun.is_name or noun.role in _LEADS or noun.role in _OBJECTS)):
            return False
        others = clause.words - {noun.form}
        things = others - clause.predicates.keys()
        best = [at for at in self._best(others) if noun.is_name or things & self._clauses[at].forms]
        scores, total = self._scores(others)
        rivals = [
            self._rival(noun, self._clauses[at], clause, sentence, is_sure=scores[at] >= SURE * total) for at in best
        ]
        return bool(rivals) and all(rivals)

    def _has_opposite(self, noun: _Noun, sentence: Collection[str]) -> bool:
        """Whether the text lacks the noun but has another word of its series, which the sentence lacks."""
        if len(noun.text) < 2 or letters(noun.text) in self._facts.letters or self._places(noun.form):
            return False
        return any(
            are_opposite(noun.text, each)
            and frozenset((noun.text, each)) not in _SYNONYMS
            and not {each, spelling(each)} & {*sentence}
            for each in self._nouns
        )

    def _has_another_object(self, noun: _Noun, clause: _Clause, before: _Clause, sentence: Collection[str]) -> bool:
        """Whether the text says everything of a clause but its object, and has another one: a bicycle for a dumbbell.

        Args:
            noun: the noun.
            clause: its clause.
            before: the clause before.
            sentence: words of the sentence.
        """
        verbs = clause.verbs_of(noun)
        if noun.role not in _OBJECTS or noun.is_name or not noun.is_whole or not verbs or noun.text in _GENERAL:
            return False
        if letters(noun.text) in self._facts.letters or self._places(noun.form):
            return False
        others = clause.words - {noun.form, *verbs}
        return any(
            there.predicates.get(verbs[0], ("",))[0] == clause.predicates[verbs[0]][0]
            and self._tells(at, others or before.words)
            and any(
                _is_object(other, verbs[0], there) and not _is_alike(other, noun, sentence) for other in there.nouns
            )
            for at, there in enumerate(self._clauses)
        )

    def _tells(self, at: int, words: Collection[str]) -> bool:
        """Whether a clause of the text and the one before it have all of some words."""
        return bool(words) and all({at - 1, at} & self._places(word) for word in words)

    def _rival(self, noun: _Noun, there: _Clause, clause: _Clause, sentence: Collection[str], *, is_sure: bool) -> bool:
        """Whether a clause has another noun of the text in a noun's role, and lacks the noun itself.

        Args:
            noun: the noun of the sentence.
            there: the clause of the text.
            clause: the clause of the sentence.
            sentence: words of the sentence.
            is_sure: whether the clauses share at least `SURE` of their weight.
        """
        if (
            noun.text in there.spelled
            or noun.form in there.forms
            or not any(
                there.predicates.get(form, ("",))[0] == clause.predicates[form][0]
                for form in clause.verbs_of(noun)
                if form != "있"  # it may have any subject
            )
        ):
            return False
        if kind := _LEADS.get(noun.role):
            lead, spelled = there.leads.get(kind) or there.leads.get("은") or (None, "")
            if lead is None or not (is_sure or (noun.is_name and lead.is_name)) or lead.form in noun.text:
                return False
            if letters(noun.text) in spelled:
                return False
            return lead.form != noun.form and lead.form not in (clause.forms if lead.is_name else sentence)
        rivals = [other for other in there.nouns if _same_role(other.role, noun.role) and other.is_whole]
        return bool(rivals) and not any(other.form in clause.forms for other in rivals)

    def _is_other_comparison(self, clause: _Clause) -> bool:
        """Whether the text compares the same two things the other way round."""
        if not clause.than:
            return False
        compared = {noun.form for noun in clause.nouns} - {clause.than}
        found = [each for each in self._clauses if each.than]
        turned = [each for each in found if each.than in compared]
        if any(
            told != each.predicates.get(form, (told,))[0]
            for each in turned
            for form, (told, _text) in clause.predicates.items()
        ):
            return False
        return bool(turned) and not any(each.than == clause.than for each in found)

    def _other_order(self, clauses: Sequence[_Clause]) -> Iterator[str]:
        """Yield the word of order between two clauses that are in the opposite order in the text."""
        for first, second in pairwise(clauses):
            if not ("early" in first.marks or "late" in second.marks):
                continue
            one, two = (
                self._best(here.predicates.keys() - there.predicates.keys())
                for here, there in ((first, second), (second, first))
            )
            if one and two and min(one) > max(two):
                is_told = "before" in self._clauses[two[-1]].marks | self._clauses[one[0]].marks
                yield from (text for _negated, text in [*first.predicates.values()][:1] if not is_told)


def _settled(clauses: list[_Clause]) -> list[_Clause]:
    """Return a sentence's clauses without the predicates that it says both ways: 켜고 끄다."""
    told = {(form, negated) for clause in clauses for form, (negated, _text) in clause.predicates.items()}
    both = {form for form, negated in told if (form, not negated) in told}
    for clause in clauses:
        clause.predicates = {form: each for form, each in clause.predicates.items() if form not in both}
    return clauses


def _is_turned(clause: _Clause, other: _Clause) -> bool:
    """Whether two clauses make the same comparison from opposite sides: A보다 비싸다, and B보다 싸다."""
    return bool(
        clause.than and other.than in clause.forms and clause.than in other.spelled and clause.than != other.than
    )


def _is_object(noun: _Noun, verb: str, clause: _Clause) -> bool:
    """Whether a noun is a verb's object: by its particle, or next to it without one."""
    start = clause.starts[verb]
    return noun.is_whole and noun.start < start and (noun.role in _OBJECTS or (not noun.role and start - noun.end <= 1))


def _is_alike(other: _Noun, noun: _Noun, sentence: Collection[str]) -> bool:
    """Whether another noun may be the same thing: it shares a syllable, is in the sentence or means anything."""
    return bool({*other.text} & {*noun.text}) or other.form in sentence or other.text in _GENERAL


def _same_role(first: str, second: str) -> bool:
    """Whether two particles may mark the same role; a topic may be an object."""
    return first == second or (second in _OBJECTS and (first in _OBJECTS or first in _TOPICS))


def _is_name(word: TaggedWord) -> bool:
    return (word.tag in _NAMES or (word.unknown and word.tag in _NOUNS)) and len(word.form) > 1


def _word_start(first: TaggedWord, tags: Sequence[TaggedWord]) -> int:
    """Return the start of a noun's word, because the analyzer mistakes syllables of unknown names for other words."""
    start = first.start
    for word in reversed(tags[: tags.index(first)]):
        if word.end != start or word.tag not in _FRAGMENTS:
            break
        start = word.start
    return start


def _is_adjective(word: TaggedWord, tags: Sequence[TaggedWord]) -> bool:
    """Whether a noun is part of an adjective or verb: 스트리트한."""
    after = next((each for each in tags if each.start == word.end and each is not word), None)
    return after is not None and after.tag in ("XSA", "XSV")


def _noun_runs(tags: Sequence[TaggedWord]) -> Iterator[list[TaggedWord]]:
    """Yield the runs of adjacent nouns that form one word."""
    run: list[TaggedWord] = []
    for word in tags:
        if run and (word.tag not in _NOUNS or word.start != run[-1].end):
            yield run
            run = []
        if word.tag in _NOUNS:
            run.append(word)
    if run:
        yield run


def _quantities(text: str) -> list[_Quantity]:
    """Return the numbers of a text with their units, including ordinals and names of days."""
    found = [
        _Quantity(match[0].strip(), frozenset((float(_rank(match)),)), RANK, match.start())
        for match in _ORDINAL.finditer(text)
    ]
    taken = {quantity.start for quantity in found}
    found += [_Quantity(m[0], frozenset((float(_DAYS[m[0]]),)), DAY, m.start()) for m in _DAY.finditer(text)]
    found += [_one(m) for m in _ONE.finditer(text) if m.start() not in taken]
    digits = [(m[1], frozenset((float(DIGITS[m[1]]),)), m.start()) for m in _DIGIT.finditer(text)]
    for number in [*numbers(text), *starmap(Number, digits)]:
        counter = _COUNTER.match(text, number.start + len(number.text))
        unit = same_counter(counter[1]) if counter else _as_goal(text, number)
        if unit in _SECONDS:
            seconds = frozenset(value * _SECONDS[unit] for value in number.values)
            found.append(_Quantity(number.text, seconds, "시간", number.start))
            continue
        if unit == "년" and any(value > LAST_DURATION for value in number.values):
            unit = "년도"
        if unit == DAY and re.search("월 ?$", text[: number.start]):
            unit = "날짜"
        if unit in _LASTING:
            number, unit = number._replace(values=frozenset(v * _LASTING[unit] for v in number.values)), DAY
        if unit != "번" and number.start not in taken:
            found.append(_Quantity(number.text, number.values, unit, number.start))
    return found


def _as_goal(text: str, number: Number) -> str:
    """Return the particle of a number that counts nothing, or ""."""
    return GOAL if re.match("으?로(?![가-힣])", text[number.start + len(number.text) :]) else ""


def _one(match: re.Match[str]) -> _Quantity:
    """Return "한 시간" and the like as a quantity."""
    unit = same_counter(match[1])
    value, unit = (_SECONDS[unit], "시간") if unit in _SECONDS else (1.0, unit)
    return _Quantity(f"{match[0].strip()} {match[1]}", frozenset((value,)), unit, match.start())


def _owner(quantity: _Quantity, clause: _Clause) -> frozenset[str]:
    """Return the words of a clause that belong to a quantity: those since the previous quantity."""
    if quantity.unit == GOAL:
        return clause.words & clause.predicates.keys()
    if quantity.unit == RANK:
        after = {noun.form for noun in clause.nouns if noun.start > quantity.start}
        return clause.words & (after | clause.predicates.keys())
    starts = [other.start for other in clause.quantities if other.unit == quantity.unit]
    if len(starts) == 1:
        return clause.words
    before = max((start for start in starts if start < quantity.start), default=-1)
    return clause.words & {noun.form for noun in clause.nouns if before < noun.start < quantity.start}


def _meant(unit: str, words: Collection[str], clause: _Clause) -> list[_Quantity]:
    """Return a clause's quantities of a unit, only those next to most of some words: 돼지는 만 원 소는 이만 원."""
    found = [quantity for quantity in clause.quantities if quantity.unit == unit]
    if unit not in _SAID_IN_TURN:
        return found
    starts = {form: start for form, start in clause.starts.items() if form in words}
    starts |= {noun.form: noun.start for noun in clause.nouns if noun.form in words}
    borders = [-1, *(quantity.start for quantity in found), math.inf]
    spans = pairwise(borders[1:] if unit == RANK else borders[:-1])
    near = [sum(begin < at < end for at in starts.values()) for begin, end in spans]
    return [quantity for quantity, count in zip(found, near, strict=True) if count == max(near)]


def _rank(match: re.Match[str]) -> float:
    if match[4]:
        return math.inf
    return int(match[3]) if match[3] else _RANKS[match[1] or match[2]]


def _clauses(text: str, tags: Sequence[TaggedWord]) -> list[_Clause]:
    """Return the clauses of an analysed text: each ends with its predicate's ending."""
    quantities = sorted(_quantities(text), key=lambda quantity: quantity.start)
    counted: list[_Quantity] = []
    clauses: list[_Clause] = []
    clause, first = _Clause(), 0
    for at, word in enumerate(tags):
        _take(clause, tags, at, text)
        clause.asks |= word.tag == "EF" and bool(_QUESTION.search(word.form))
        if (
            word.tag == "MM"
            and word.form in _RANKS
            and at + 1 < len(tags)
            and tags[at + 1].tag == "NNG"
            and tags[at + 1].form not in COUNTERS
        ):
            counted.append(
                _Quantity(
                    f"{word.form} {tags[at + 1].form}",
                    frozenset((float(_RANKS[word.form]),)),
                    tags[at + 1].form,
                    word.start,
                )
            )
        if _ends_clause(tags, at) or at == len(tags) - 1:
            start, end = tags[first].start, word.end if at < len(tags) - 1 else len(text)
            clause.quantities = [quantity for quantity in (*quantities, *counted) if start <= quantity.start < end]
            clause.spelled = letters(text[start:end])
            clauses.append(clause)
            clause, first = _Clause(), at + 1
    carried: dict[str, tuple[_Noun, int]] = {}
    for at, clause in enumerate(clauses):
        for noun in clause.nouns:
            if noun.is_whole and (kind := _LEADS.get(noun.role)):
                carried[kind] = noun, at
        clause.leads = {
            kind: (noun if noun.form else None, clauses[since].spelled)
            for kind, (noun, since) in carried.items()
            if at - since <= SUBJECT_REACH
        }
        clause.nouns = [noun for noun in clause.nouns if noun.form]
        clause.forms = frozenset((*(noun.form for noun in clause.nouns), *clause.predicates))
        ends = {quantity.start + len(quantity.text) for quantity in clause.quantities}
        wholes = (noun for noun in clause.nouns if noun.is_whole and not ends & {noun.start, noun.start - 1, noun.end})
        clause.words = frozenset((*(noun.form for noun in wholes), *clause.predicates))
        clause.counted = frozenset(noun.form for noun in clause.nouns if noun.is_whole) - clause.words
    return [clause for clause in clauses if clause.forms or clause.quantities]


def _ends_clause(tags: Sequence[TaggedWord], at: int) -> bool:
    word = tags[at]
    if word.tag in ("EF", "SF"):
        return True
    if word.tag == "NNG" and at and word.form in _AFTER | _BEFORE:
        return tags[at - 1].tag in ("ETM", "ETN")
    if word.tag != "EC" or word.form in ("어", "아", "여", "지"):
        return False
    after = next((each for each in tags[at + 1 :] if each.tag != "JX"), None)
    return after is None or after.tag not in ("VX", "VX-I", "VX-R")


def _take(clause: _Clause, tags: Sequence[TaggedWord], at: int, text: str) -> None:
    """Add a morpheme to its clause."""
    word = tags[at]
    tag = word.tag.partition("-")[0]
    after = tags[at + 1] if at + 1 < len(tags) else None
    if tag == "NP" and word.form in ("저", "나", "제", "내", "우리", "저희") and after and after.form in _SUBJECTS:
        clause.nouns.append(
            _Noun("", word.form, after.form, is_name=False, is_whole=True, start=word.start, end=word.end)
        )
    elif tag in _NOUNS:
        _take_noun(clause, tags, at, text)
    elif tag in ("VV", "VA"):
        _take_predicate(clause, tags, at, text)
    elif word.form == "보다" and tag == "JKB" and clause.nouns:
        clause.than = next(noun.form for noun in reversed(clause.nouns) if noun.is_whole)
    elif tag == "MAG" and word.form in _EARLY:
        clause.marks.add("early")


def _take_noun(clause: _Clause, tags: Sequence[TaggedWord], at: int, text: str) -> None:
    word = tags[at]
    if word.form in _LATE and word.tag == "NNG":
        clause.marks.add("late")
        return
    if word.form in _BEFORE and at and tags[at - 1].tag == "ETN":
        clause.marks.add("before")
        return
    last = at
    while last + 1 < len(tags) and tags[last + 1].tag in _NOUNS and tags[last + 1].start == tags[last].end:
        last += 1
    follows = last + 1
    while (
        follows < len(tags) and tags[follows].tag in ("XSN", "NNB") and tags[follows].form in ("님", "씨", "들", "이")
    ):
        follows += 1
    after = tags[follows] if follows < len(tags) else None
    if last == at and after is not None and after.tag in ("XSV", "XSA"):
        form, negated = _OPPOSITES.get(word.form, word.form), _is_negated(tags, at, follows)
        clause.put(form, word.start, word.form, tags[follows:], negated=negated ^ (word.form in _OPPOSITES))
        return
    role = after.form if after is not None and after.tag.startswith("J") else ""
    is_whole = last == at and not (at and tags[at - 1].tag in _NOUNS and tags[at - 1].end == word.start)
    clause.nouns.append(_Noun(spelling(word.form), word.form, role, _is_name(word), is_whole, word.start, word.end))
    if last > at and (not at or tags[at - 1].end != word.start or tags[at - 1].tag not in _NOUNS):
        whole = text[word.start : tags[last].end]
        is_name = any(map(_is_name, tags[at : last + 1]))
        clause.nouns.append(
            _Noun(spelling(whole), whole, role, is_name, is_whole=True, start=word.start, end=tags[last].end)
        )


def _take_predicate(clause: _Clause, tags: Sequence[TaggedWord], at: int, text: str) -> None:
    word = tags[at]
    form, negated = word.form, _is_negated(tags, at, at)
    if form in ("있", "없") and at > 1 and "수" in (tags[at - 1].form, tags[at - 2].form):  # part of a possibility
        return
    if form.endswith("없"):
        form, negated = f"{form[:-1]}있", not negated
    negated &= not _is_only(tags, at)
    if form == "많" and not negated:
        clause.put("있", word.start, _written(tags, at, text), tags[at + 1 :], negated=False)
    if form in ("내", "나") and clause.nouns and clause.nouns[-1].text == "화":
        form = f"{clause.nouns.pop().text}내"
    elif form == "나":
        form = "나오"
    if form in _OPPOSITES:
        form, negated = _OPPOSITES[form], not negated
    if form == "드리" and at and tags[at - 1].tag in _NOUNS and tags[at - 1].end == word.start:  # 추천드리다
        form = "하"
    if form in ("하", "되"):
        before = next((each for each in reversed(tags[max(0, at - 3) : at]) if each.tag in _NOUNS), None)
        if before is not None:
            clause.put(before.form, word.start, before.form, tags[at + 1 :], negated=negated)
        return
    if form in _EATEN and at and tags[at - 1].form in _ALL:
        clause.put("남기", word.start, _written(tags, at, text), tags[at + 1 :], negated=not negated)
    if form not in _LIGHT:
        clause.put(form, word.start, _written(tags, at, text), tags[at + 1 :], negated=negated)


def _is_only(tags: Sequence[TaggedWord], at: int) -> bool:
    """Whether 밖에 before a predicate makes its negation an "only": 하나밖에 안 남았다."""
    before = reversed(tags[max(0, at - ONLY_REACH) : at])
    return any(word.form == "밖에" for word in takewhile(lambda word: not word.tag.startswith(("V", "E")), before))


def _written(tags: Sequence[TaggedWord], at: int, text: str) -> str:
    """Return a predicate as written, with its endings."""
    end = tags[at].end
    for word in tags[at + 1 :]:
        if not word.tag.startswith(("E", "VX")) or word.start > end + 1:
            break
        end = max(end, word.end)
    return text[tags[at].start : end]


def _is_negated(tags: Sequence[TaggedWord], at: int, last: int) -> bool:
    """Whether the predicate at these morphemes is negated, once or three times."""
    negated = bool(at) and tags[at - 1].tag == "MAG" and tags[at - 1].form in _NEGATIONS
    before, is_only = tags[last], False
    for word, after in zip_longest(tags[last + 1 :], tags[last + 2 :]):
        tag = word.tag.partition("-")[0]
        if tag in ("JX", "JKO", "JKS"):
            is_only |= word.form == "밖에"
            continue
        is_after_ji = before.tag == "EC" and before.form == "지"
        is_possibility = before.form == "수" and tag in ("VA", "VV")
        is_negating = (tag == "VX" or is_after_ji) and word.form in _NEGATING | _NEGATIONS
        is_ending = tag in ("EP", "ETM", "VX") or (tag == "EC" and word.form in ("지", "어", "아", "여"))
        is_ending |= tag == "EC" and word.form == "고" and after is not None and after.form == "있"
        if not (is_ending or is_negating or is_possibility or word.form == "수"):
            break
        negated ^= is_negating or (is_possibility and word.form == "없" and not is_only)
        before = word
    return negated
