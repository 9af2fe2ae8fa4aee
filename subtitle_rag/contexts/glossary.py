"""Glossary of a channel: frequent names, given to the model with their spelling.

The app proposes a list from the channel's own captions and titles; the user edits it as text with one name per line.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from subtitle_rag.base.domain.values import Morphemes, nfc
from subtitle_rag.contexts.grounding import one_letter_apart
from subtitle_rag.contexts.sentence_filters import letters
from subtitle_rag.library.store import Library

MAX_ENTRIES = 60
MAX_LETTERS = 40
"""Maximum letters of an entry; the rest of a longer line is cut."""

MIN_SAID = 3
"""Minimum uses of a proposed name; one is enough if a title has it too."""
MIN_WINDOWS = 2
EVERYWHERE = 0.4
"""Share of windows above which an unknown word is a filler rather than a name."""
FEW_WINDOWS = 8
"""Number of windows never too many for a name, since the subject of a short video is in all of its windows."""
TOGETHER = 0.5
"""Share of the rarer word's uses in a phrase that makes the phrase a name (폴 하든)."""
LEAST_SCORE = 0.15
"""Share of the best name's score below which the rest is noise."""
TITLE_WEIGHT = 3.0
PERSON_WEIGHT = 3.0
SPLIT_WEIGHT = 0.5
"""Weight of a word that the analysis could only divide with a piece of one letter."""
KNOWN_WEIGHT = 0.7
"""Weight of compounds of known words, against 1 for unknown ones: 청귤간장, but 가죽바지 too."""

_PARTICLES = "은 는 이 가 을 를 의 에 에서 에게 와 과 랑 이랑 라는 이라는 라고 이라고 이란 한테 까지 부터 처럼 보다"
_PARTICLE = re.compile(
    rf"(?:들|님|씨)?(?:{'|'.join(_PARTICLES.split())})|이?(?:에요|예요|입니다|고요|라서|거든요?)|입니다|인데.*|예요"
)
"""Endings after a noun, and hardly ever after an adverb."""
_TITLED = re.compile(r"\s?(?:씨|님|이(?:가|는|를|도|한테|네가))(?![가-힣]{2})")
"""Text after a person's name: 다온 님, 현우 씨, and the 이 that only names take before a particle (수빈이가)."""
_MEASURE = re.compile(r"[0-9]+(?:[kcm]?[mgl]|kb|mb|gb|fps|px|일|년|월|분|초|시|원|명|개|번|살|세|kg|km)?")
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W_]+")
_COMMON_WORDS = """
    하나 둘 셋 넷 다섯 첫째 둘째 셋째 첫번째 두번째 세번째 마지막 그냥 진짜 정말 되게 약간 조금 너무 아주 일단 이제
    그거 이거 저거 여기 거기 저기 이것 그것 저것 이쪽 저쪽 그쪽 누구 뭔가 어디 언제 얼마 무엇 모두 전부 각각 서로
    저희 우리 여러분 얘기 이야기 생각 느낌 정도 경우 때문 부분 다음 이번 지난번 요번 요거 요즘 오늘 내일 어제 아까
    처음 나중 지금 바로 아마 별로 혹시 역시 이렇게 그렇게 저렇게 이건 그건 저건 이게 그게 저게 여러 가지 여러가지
    만원 천원 백원 먼저 계속 다시 사실 오히려 거의 엄청 굉장히 제일 가장 훨씬 특히 물론 어쨌든 아무튼 감사 결국 살짝
    우선 현재 직접 각자 매우 당시 평소 이런 그런 저런 이후 이상 이하 하루 친구 사람 올해 작년 사용 옛날 이유 사이
    사장 선생 고객 손님 직원 직원분 구독자 시청자 대표 교수 작가 감독 자신 본인 왜냐면
    년 달 월 일 주 분 초 시 번 개 명 살 원 전 후 뒤 수 알 것 거 게 때 중 쪽 데 줄 번째 씨 님
    a an and are as at be by do for have i if in is it me my no of ok on or so the this to up we what with you
"""
ORDINARY = frozenset(_COMMON_WORDS.split())
"""Ordinary words without neighbours in the dictionary: numerals, adverbs, pronouns."""


class Dictionary(Protocol):
    """Known words of a language, to exclude from names. Implemented by `Analyzer` and `HostedPoints`."""

    def nearness(self, forms: Sequence[str]) -> Mapping[str, float]:
        """Return the cosine of the word nearest to each form; 0 for an unknown form."""

    def adverbs(self, forms: Sequence[str]) -> set[str]:
        """Return the forms that name nothing: adverbs, determiners, pronouns, roots and verbs."""


@dataclass(frozen=True, slots=True)
class _Noun:
    """A word in a text up to its particle, as spelled there."""

    text: str
    parts: tuple[str, ...]
    start: int
    end: int
    tail: str
    """The rest of the word: a particle, or ""."""


@dataclass(slots=True)
class _Uses:
    """Uses of a name in the channel."""

    spellings: Counter[str] = field(default_factory=Counter)
    windows: set[int] = field(default_factory=set)
    parts: tuple[str, ...] = ()
    mentions: int = 0
    particles: int = 0
    people: int = 0


def likely_names(
    titles: Sequence[str], windows: Sequence[tuple[Morphemes, str]], limit: int = 40, *, dictionary: Dictionary
) -> list[str]:
    """Return the likely names of a channel, best first, from its videos' titles and its windows' analyses and texts.

    Analyses have no parts of speech, so a name is recognized by use: it takes particles like a noun, occurs in several
    windows but not everywhere, and is not in the dictionary. Names in the dictionary (베를린) are proposed only if a
    title has them.
    """
    uses = _count_uses(windows)
    in_titles = _names_in_titles(uses, titles)
    candidates = {name: use for name, use in uses.items() if _is_candidate(name, use, len(windows), name in in_titles)}
    strangeness = _rarity((part for use in candidates.values() for part in use.parts), dictionary)
    scores = {name: _score(name, use, len(windows), strangeness, name in in_titles) for name, use in candidates.items()}
    least = LEAST_SCORE * max(scores.values(), default=0.0)
    ranked = sorted((name for name in scores if scores[name] > least), key=lambda name: (-scores[name], name))
    return [_spelling(uses[name]) for name in _without_parts(_without_misheard(ranked, in_titles), uses)][:limit]


def put_names(library: Library, channel_id: str, text: str) -> tuple[str, ...]:
    """Store and return a channel's proper nouns from the user's text."""
    names = parse_list(text)
    library.contexts.put_glossary(channel_id, names)
    return names


def likely_channel_names(library: Library, channel_id: str, *, dictionary: Dictionary) -> list[str]:
    """Return the likely names of a channel in the library, best first. Raises the errors of `Library`."""
    videos = [state.video for state in library.videos() if state.video.channel_id == channel_id]
    windows = [window for video in videos for window in library.windows_of(video.id)]
    analyses = library.morphemes([window.id for window in windows])
    analysed = [(analyses[window.id], window.text) for window in windows if window.id in analyses]
    return likely_names([video.title for video in videos], analysed, dictionary=dictionary)


def parse_list(text: str) -> tuple[str, ...]:
    """Parse the user's list: one name per line; `#` begins a comment, on its own line or after a space.

    Entries are cut at `MAX_LETTERS`; repeated ones, and those beyond `MAX_ENTRIES`, are dropped.
    """
    lines = (re.sub(r"(?:^|\s)#.*", "", _printable(line)) for line in text.splitlines())
    entries = (line[:MAX_LETTERS].strip() for line in lines)
    return tuple(dict.fromkeys(filter(None, entries)))[:MAX_ENTRIES]


def format_list(entries: Iterable[str]) -> str:
    """Return a list in the form that `parse_list` reads."""
    names = parse_list("\n".join(_printable(entry) for entry in entries))
    return "".join(f"{line}\n" for line in names)


def ends_in_particle(letters: str) -> bool:
    """Whether the letters after a noun are an ending rather than part of its word; "" is none."""
    return bool(_PARTICLE.fullmatch(letters))


def _printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in nfc(text)).split())


def _nouns(analysis: Morphemes, text: str) -> Iterator[_Noun]:
    """Yield the words in a text that end in a noun, up to the end of that noun.

    A word is taken whole rather than by morphemes, because an unknown name is often split into known pieces.
    """
    at = 0
    for word in _WORD.finditer(text):
        while at < len(analysis.starts) and analysis.starts[at] < word.start():
            at += 1
        first = at
        while at < len(analysis.starts) and analysis.starts[at] < word.end():
            at += 1
        if first == at or analysis.starts[first] != word.start() or analysis.ends[at - 1] > word.end():
            continue
        end = analysis.ends[at - 1]
        stem = text[word.start() : end]
        last = text[analysis.starts[at - 1] : end]
        if nfc(last).casefold() != analysis.forms[at - 1] or not _LETTERS.fullmatch(stem):
            continue  # a verb with its endings, or punctuation inside
        yield _Noun(stem, _parts(analysis, first, at), word.start(), end, text[end : word.end()])


def _parts(analysis: Morphemes, first: int, after: int) -> tuple[str, ...]:
    """Return the basic forms of a word's parts: 면바지 is in no dictionary, but that does not make it a name."""
    spans = list(zip(analysis.starts[first:after], analysis.ends[first:after], strict=True))
    return tuple(
        form
        for form, (start, end) in zip(analysis.forms[first:after], spans, strict=True)
        if not any(start <= begin and stop <= end and stop - begin < end - start for begin, stop in spans)
    )


def _count_uses(windows: Iterable[tuple[Morphemes, str]]) -> dict[str, _Uses]:
    """Count the uses of each word and each consistent phrase of two or three words, by its spaceless form."""
    uses: dict[str, _Uses] = {}
    phrases: dict[tuple[str, ...], _Uses] = {}
    for window, (analysis, text) in enumerate(windows):
        window_nouns = list(_nouns(analysis, text))
        for at, noun in enumerate(window_nouns):
            _use(uses.setdefault(letters(noun.text), _Uses(parts=noun.parts)), (noun,), text, window)
            for length in (2, 3):
                run = window_nouns[at : at + length]
                if len(run) == length and _is_phrase(run):
                    key = tuple(letters(noun.text) for noun in run)
                    parts = tuple(part for noun in run for part in noun.parts)
                    _use(phrases.setdefault(key, _Uses(parts=parts)), run, text, window)
    for key, phrase in phrases.items():
        rarest = min(uses[word].mentions for word in key)
        spelling = _spelling(phrase)
        if phrase.spellings[spelling] >= max(MIN_SAID, TOGETHER * rarest) and not ORDINARY & set(key):
            uses.setdefault(letters(spelling), phrase)
    return uses


def _is_phrase(run: Sequence[_Noun]) -> bool:
    """Whether these words are adjacent; a letter after a word's noun may be part of the name (보테가)."""
    touching = (
        len(noun.tail) < 2 and noun.end + len(noun.tail) + 1 == after.start
        for noun, after in zip(run, run[1:], strict=False)
    )
    return all(touching) and not any(noun.text.isdigit() for noun in run)


def _use(use: _Uses, run: Sequence[_Noun], text: str, window: int) -> None:
    use.spellings[" ".join([*(noun.text + noun.tail for noun in run[:-1]), run[-1].text])] += 1
    use.windows.add(window)
    use.mentions += 1
    person = bool(_TITLED.match(text, run[-1].end))
    use.people += person
    use.particles += person or bool(_PARTICLE.fullmatch(run[-1].tail))


def _names_in_titles(names: Iterable[str], titles: Sequence[str]) -> set[str]:
    """Return the names in titles; Latin ones must be whole words (`so` is not a name because of `Software`)."""
    spelled = [letters(nfc(title)) for title in titles]
    words = {word for title in titles for word in re.findall(r"[0-9a-z]+", nfc(title).casefold())}
    return {name for name in names if (name in words if name.isascii() else any(name in title for title in spelled))}


def _is_candidate(name: str, use: _Uses, windows: int, titled: bool) -> bool:
    latin = re.search(r"[a-z]", name)
    if len(name) < 2 or name in ORDINARY or _MEASURE.fullmatch(name) or re.match(r"[0-9]+[가-힣]", name):
        return False
    if titled and not latin:
        return bool(use.particles)
    often = use.mentions >= MIN_SAID and len(use.windows) >= MIN_WINDOWS
    rare = len(use.windows) <= max(FEW_WINDOWS, EVERYWHERE * windows)
    return often and rare and bool(latin or use.particles * 5 >= use.mentions)


def _rarity(parts: Iterable[str], dictionary: Dictionary) -> dict[str, float]:
    """Return each form's rarity in the dictionary: 1 for an unknown one, less for frequent ones.

    The model has no exact place for a rare word, so such words are very near to one another.
    """
    forms = sorted({part for part in parts if len(part) > 1 and not part.isdigit()} - ORDINARY)
    nearness = dictionary.nearness(forms)
    return {form: KNOWN_WEIGHT * max(0.0, near - 0.5) if near else 1.0 for form, near in nearness.items()}


def _score(name: str, use: _Uses, windows: int, strangeness: Mapping[str, float], titled: bool) -> float:
    """Return how likely this is a name: 0 for a single dictionary word without a title or person for it.

    Args:
        name: the candidate.
        use: its uses.
        windows: number of windows.
        strangeness: rarity of each form.
        titled: whether a title has it.
    """
    person = use.people > 1
    split = sum(map(len, use.parts)) != len(name) or all(len(part) == 1 for part in use.parts)
    strange = 1.0 if split else max((strangeness.get(part, 0.0) for part in use.parts), default=0.0)
    if len(use.parts) > 1 and any(len(part) == 1 for part in use.parts):
        strange = max(strange, SPLIT_WEIGHT)
    if strange < 1 and len(use.parts) == 1 and not titled and not person:
        return 0.0
    weight = strange * (TITLE_WEIGHT if titled else 1.0) * (PERSON_WEIGHT if person else 1.0)
    return weight * math.log1p(use.mentions) * math.log1p(windows / len(use.windows))


def _without_misheard(ranked: Sequence[str], titled: Collection[str]) -> list[str]:
    """Drop misspellings of a title's name: 은설포, if a title has 은솔포."""
    title_names = [name for name in ranked if name in titled and len(name) > 2]
    return [
        name for name in ranked if name in titled or not any(one_letter_apart(name, title) for title in title_names)
    ]


def _without_parts(ranked: Sequence[str], uses: Mapping[str, _Uses]) -> list[str]:
    """Drop names mostly used as part of a longer one in the list."""
    return [
        name
        for name in ranked
        if not any(
            name != longer and name in longer and uses[longer].mentions >= TOGETHER * uses[name].mentions
            for longer in ranked
        )
    ]


def _spelling(use: _Uses) -> str:
    return min(use.spellings, key=lambda text: (-use.spellings[text], text))
