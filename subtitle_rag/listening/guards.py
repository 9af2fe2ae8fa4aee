"""Filters for Whisper's hallucinations: loops, phrases over silence, echoed names, hardly any words."""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from subtitle_rag.base.domain.values import GapReason, SpeechGap
from subtitle_rag.listening.sentences import HeardWord, text_of_words

MOST_RATIO = 2.4
"""Maximum compression of a passage's text, as in OpenAI's program; spoken Korean has 1.2 to 1.6."""
LOOP_CHARACTERS = 20
"""Minimum number of letters of a loop: people do say 빨리 빨리 빨리 빨리."""
LEAST_WORDS = 30
"""Minimum words per minute of speech; talk has more than a hundred."""
JUDGED_S = 20.0
"""Minimum seconds of speech in which to count words."""
WORDLESS_S = 8.0
"""Longest speech without a word, in seconds."""
MOST_SYLLABLES = 20
"""Maximum syllables per second: the fastest speakers reach ten."""
LEAST_LOGPROB = -1.2
"""Lowest mean log probability of a passage's tokens."""
DOUBT_LOGPROB, DOUBT_SILENCE, DOUBT_VOICE = -0.7, 0.5, 0.5
"""A stock phrase is dropped below the first, above the second (silence), or below the third (voice)."""
LEAST_ALIKE = 0.65
"""Minimum share of letters (jamo) in common for one word to be a distortion of the other."""
REPEATED_WORDS, LEAST_DISTINCT = 9, 3
"""A passage of this many words, with fewer distinct ones than a third, is a loop."""
STOCK_PHRASES = re.compile(
    r"(?:오늘도|지금까지|끝까지|영상|방송|여러분)*(?:시청|들어|봐|구독|함께)해?주[셔시]서(?:정말|너무)?(?:감사합니다|고맙습니다)"
    r"|(?:구독|좋아요|알림설정)(?:과|와|하고|및|버튼)*(?:구독|좋아요|알림설정)?(?:과|와|하고|및)?(?:알림설정|댓글)?까?지?(?:을|를|은|는)?"
    r"(?:꼭|한번)?(?:눌러|부탁|해)?(?:주세요|드립니다|드려요|주시면감사하겠습니다)?"
    r"|다음(?:영상|시간|주)?에(?:서)?(?:또)?(?:만나요|뵙겠습니다|봐요|뵐게요)"
    r"|(?:한글)?자막(?:제공|제작|by).{0,20}|이시각세계였습니다|m?bc뉴스.{0,12}입니다|감사합니다|고맙습니다"
    r"|thank(?:s|you)(?:somuch)?(?:forwatching)?|subscribe"
)
"""Whisper's phrases over music and silence (it was trained on video captions), without spaces and marks."""
_LOOPS = (re.compile(r"(.{2,80}?)\1{5,}"), re.compile(r"(.)\1{29,}"))
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A model's text for some seconds, with its own doubts."""

    words: tuple[HeardWord, ...]
    logprob: float
    silence: float
    """The model's probability that nobody speaks."""
    voice: float
    """Probability of speech, by voice detection."""

    @property
    def text(self) -> str:
        return text_of_words(self.words)


def without_stock_phrases(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the passages without phrases written over silence; spoken ones stay."""
    return tuple(passage for passage in passages if not (_is_stock(passage.text) and _is_doubtful(passage)))


def doubtful(passages: Sequence[Passage]) -> tuple[SpeechGap, ...]:
    """Return the unreliable stretches, in order."""
    gaps = [*_loops([word for passage in passages for word in passage.words])]
    for passage in passages:
        if not passage.words:
            continue
        begin, end = passage.words[0].begin_ms, _end(passage.words)
        letters = len(squeezed(passage.text))
        if compression(passage.text) > MOST_RATIO or _is_repetition(passage.text):
            gaps.append(SpeechGap(begin, end, GapReason.LOOP))
        elif passage.logprob < LEAST_LOGPROB or letters > MOST_SYLLABLES * max(1.0, (end - begin) / 1000):
            gaps.append(SpeechGap(begin, end, GapReason.INVENTED))
    return tuple(sorted(gaps, key=lambda gap: gap.start_ms))


def echoes(passages: Sequence[Passage], names: Sequence[str]) -> tuple[SpeechGap, ...]:
    """Return the stretches where most distinct words are names from the prompt.

    The model repeats these names, even distorted, over unclear speech. A single name may be real if the model is sure.
    """
    prompt_words = {part for name in names for part in _words(name)}
    longest = max((len(_words(name)) for name in names), default=0)
    gaps = []
    for passage in passages:
        words = _words(passage.text)
        of_names = {word: {part for part in prompt_words if _is_bent(word, part)} for word in words}
        count = sum(bool(of_names[word]) for word in words)
        is_repeated = count == len(words) > len(set().union(*of_names.values()))
        is_too_many = count > longest or is_repeated or (count and _is_doubtful(passage))
        if is_too_many and 2 * sum(map(bool, of_names.values())) > len(of_names):
            gaps.append(SpeechGap(passage.words[0].begin_ms, _end(passage.words), GapReason.INVENTED))
    return tuple(gaps)


def silent_speech(words: Sequence[HeardWord], voices: Sequence[tuple[int, int]]) -> tuple[SpeechGap, ...]:
    """Return the stretches of long speech with hardly a word; `voices` are the times of speech."""
    speech_ms = sum(end - begin for begin, end in voices)
    if speech_ms < JUDGED_S * 1000:
        return ()
    if len(words) * 60_000 < LEAST_WORDS * speech_ms:
        return (SpeechGap(voices[0][0], voices[-1][1], GapReason.TOO_FEW_WORDS),)
    edges = [(0, voices[0][0]), *((word.begin_ms, word.end_ms) for word in words), (voices[-1][1], voices[-1][1])]
    return tuple(
        SpeechGap(end, begin, GapReason.TOO_FEW_WORDS)
        for (_begin, end), (begin, _end) in zip(edges, edges[1:], strict=False)
        if sum(max(0, min(begin, last) - max(end, first)) for first, last in voices) >= WORDLESS_S * 1000
    )


def compression(text: str) -> float:
    """Return the zlib compression ratio of a text, Whisper's measure of repetition."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return _NO_LETTER.sub("", text).casefold()


def _words(text: str) -> list[str]:
    return [word for word in map(squeezed, text.split()) if word]


def _is_bent(word: str, other: str) -> bool:
    """Whether two words are nearly alike, letter by letter (jamo), as 레시코 and 레시피."""
    from rapidfuzz.distance import Levenshtein

    spelled = normalize("NFD", word), normalize("NFD", other)
    return bool(Levenshtein.normalized_similarity(*spelled, score_cutoff=LEAST_ALIKE))


def _is_repetition(text: str) -> bool:
    """Whether a text has few words that repeat, even distorted."""
    words = _words(text)
    distinct: list[str] = []
    for word in words:
        if not any(_is_bent(word, other) for other in distinct):
            distinct.append(word)
    return len(words) >= REPEATED_WORDS and LEAST_DISTINCT * len(distinct) < len(words)


def _is_stock(text: str) -> bool:
    """Whether a text has nothing but stock phrases."""
    rest = squeezed(text)
    while rest:
        match = STOCK_PHRASES.match(rest)
        if not match or not match.end():
            return False
        rest = rest[match.end() :]
    return True


def _is_doubtful(passage: Passage) -> bool:
    return passage.logprob < DOUBT_LOGPROB or passage.silence > DOUBT_SILENCE or passage.voice < DOUBT_VOICE


def _loops(words: Sequence[HeardWord]) -> Iterator[SpeechGap]:
    """Yield the stretches where words repeat each other."""
    owners = [number for number, word in enumerate(words) for _letter in squeezed(word.text)]
    text = "".join(squeezed(word.text) for word in words)
    for pattern in _LOOPS:
        for loop in pattern.finditer(text):
            if loop.end() - loop.start() >= LOOP_CHARACTERS:
                first, last = owners[loop.start()], owners[loop.end() - 1]
                if first < last and loop.start() and owners[loop.start() - 1] == first:  # only its end matches
                    first += 1
                yield SpeechGap(words[first].begin_ms, _end(words[first : last + 1]), GapReason.LOOP)


def _end(words: Sequence[HeardWord]) -> int:
    """Return the end of words; a loop's last ones often share one moment, without a length."""
    return max(max(word.end_ms, word.begin_ms + 1) for word in words)
