"""Questions of how often something is said, which the captions answer without a model."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from subtitle_rag.answers.answer_prompt import Language, language
from subtitle_rag.answers.context_builder import TITLE, quoted
from subtitle_rag.domain import Video, Window, spoken
from subtitle_rag.events import Answer, Citation, Evidence, EvidenceSource
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index import Filter
from subtitle_rag.retrieval.morphemes import QueryMorphemes
from subtitle_rag.retrieval.query import Query

SHOWN = 3
"""Scenes of a video that the answer names."""
_KOREAN = re.compile(
    r"(?P<before>.*?)\s*(?:(?:이)?(?:라는|라고 하는|란))?\s*"
    r"(?:(?:말|단어|이름|얘기|이야기|표현)(?:이|가|은|는|을|를|도)?)?\s*"
    r"(?:모두|총|다 해서|전부)?\s*몇 ?(?:번|회|차례)(?:이나|쯤|정도)?\s*"
    r"(?:나오|나와|나왔|나옵|등장|언급|말하|말했|말해|들리|들려|얘기하|얘기했|이야기하|이야기했)"
)
_ENGLISH = (
    re.compile(
        r"how (?:many times|often) (?:is|are|was|were|does|do|did|has|have) (?:the (?:word|name) )?(?P<before>.+?)"
        r"(?: been)? (?:said|mentioned|named|appear|come up|occur|show up|spoken of)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"how (?:many times|often) (?:does|do|did|has|have) \w+(?: \w+)? (?:say|said|mention|name)(?:ed)? "
        r"(?:the word )?(?P<before>[^?]+)",
        re.IGNORECASE,
    ),
)
_QUOTED = re.compile(r"[\"“”'‘’「」『』]([^\"“”'‘’「」『』]+)[\"“”'‘’「」『』]")
_LATIN = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")
_TEXTS: Mapping[Language, tuple[str, str, str]] = {
    "ko": (
        "“{word}” – 자막에 모두 {times}번 나옵니다. 영상 {videos}편, 장면 {scenes}개입니다.",
        "- {title}: {times}번",
        "“{word}” – 자막에 한 번도 나오지 않습니다.",
    ),
    "en": (
        "“{word}” – times that the captions say it: {times}. Videos: {videos}, scenes: {scenes}.",
        "- {title}: {times}",
        "“{word}” – never said in the captions.",
    ),
}
"""All of them, those of a video, none: in the language of the question."""


@dataclass(frozen=True, slots=True)
class _Count:
    """A window that says the word, and how often."""

    video: Video
    window: Window
    times: int


def counted_words(question: str, analyzer: QueryMorphemes) -> list[str]:
    """Return what a question wants counted, the likeliest first; nothing for any other question.

    That is what it quotes, else the noun before the question word, with the nouns right before it.
    """
    matches = (_KOREAN.search(question), *(pattern.search(question) for pattern in _ENGLISH))
    match = next((match for match in matches if match), None)
    if match is None:
        return []
    if said := _QUOTED.search(question):
        return [said[1].strip()]
    before = match["before"].strip()
    if match.re in _ENGLISH:
        return [before.strip(" .,!?")] if before else []
    words = before.split()
    nouns = [_bare(word, analyzer) for word in words[-2:]]
    if not nouns or not nouns[-1]:
        return []
    together = f"{words[-2]} {nouns[-1]}" if len(words) > 1 and nouns[0] == words[-2] else ""
    return [each for each in (together, nouns[-1]) if each]


def _bare(word: str, analyzer: QueryMorphemes) -> str:
    """Return a word without its particles; empty for one without content."""
    (analysis,) = analyzer.morphemes([word])
    return word[analysis.starts[0] : analysis.ends[-1]] if analysis.forms else ""


def count(query: Query, library: Library, analyzer: QueryMorphemes, where: Callable[[Query], Filter]) -> Answer | None:
    """Return the answer to a question of how often something is said; None for any other question.

    `where` reads the query's filters. Surroundings that windows share are counted once.

    Raises:
        UsageError: `unknown_video`, `unknown_channel`.
        AppError: from the library.
    """
    words = counted_words(query.text, analyzer)
    if not words:
        return None
    restriction = where(query)
    counts: list[_Count] = []
    word = words[0]
    for word in words:
        counts = list(_counts(word, library, analyzer, restriction))
        if counts:
            break
    return _answer(query.raw, language(query.text), word, counts)


def _counts(word: str, library: Library, analyzer: QueryMorphemes, where: Filter) -> Iterator[_Count]:
    """Yield the windows that say a word, by channel, day, video and time."""
    ids = sorted(library.containing([word]))
    windows = library.windows(ids)
    videos = library.videos_by_id(*{window.video_id for window in windows.values()})
    found = [
        (videos[window.video_id], window)
        for window in windows.values()
        if window.video_id in videos
        and where.has_video(videos[window.video_id])
        and (where.only is None or window.id in where.only)
        and window.id not in where.without
    ]
    found.sort(key=lambda each: (each[0].channel, each[0].published or date.min, each[0].id, each[1].ordinal))
    texts = [window.text for _video, window in found]
    for (video, window), times in zip(found, _times(word, texts, analyzer), strict=True):
        if times:
            yield _Count(video, window, times)


def _times(word: str, texts: Sequence[str], analyzer: QueryMorphemes) -> list[int]:
    """Return how often each text says a word: Latin words whole, a single syllable as a morpheme of its own."""
    if _LATIN.fullmatch(word):
        whole = re.compile(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", re.IGNORECASE)
        return [len(whole.findall(text)) for text in texts]
    if len(word) == 1:
        return [analysis.forms.count(word) for analysis in analyzer.morphemes(texts)] if texts else []
    squeezed = "".join(word.split()).casefold()
    return ["".join(text.split()).casefold().count(squeezed) for text in texts]


def _answer(question: str, tongue: Language, word: str, counts: Sequence[_Count]) -> Answer:
    whole, of_video, none = _TEXTS[tongue]
    sources = tuple(_source(number, each, word) for number, each in enumerate(counts, start=1))
    evidence = Evidence("count", sources)
    if not counts:
        return Answer(question, none.format(word=quoted(word)), "", evidence)
    by_video: dict[Video, list[tuple[int, _Count]]] = {}
    for number, each in enumerate(counts, start=1):
        by_video.setdefault(each.video, []).append((number, each))
    total = sum(each.times for each in counts)
    text = whole.format(word=quoted(word), times=total, videos=len(by_video), scenes=len(counts))
    citations: list[Citation] = []
    for video, some in by_video.items():
        start = len(text) + 1
        title = quoted(video.title)[:TITLE].rstrip()
        line = of_video.format(title=title, times=sum(each.times for _number, each in some)) + " "
        for number, _each in some[:SHOWN]:
            at = start + len(line)
            mark = f"[{number}]"
            line += mark
            citations.append(
                Citation(number, "supported", (at, at + len(mark)), (start, at), (), sources[number - 1].at_ms)
            )
        text += f"\n{line}"
    return Answer(question, text, "", evidence, tuple(citations))


def _source(number: int, each: _Count, word: str) -> EvidenceSource:
    lines = tuple(spoken(each.window.text, each.window.lines))
    squeezed = "".join(word.split()).casefold()
    said = (start for start, text in lines if squeezed in "".join(text.split()).casefold())
    return EvidenceSource(
        number=number,
        scene=each.window.id,
        video=each.video,
        start_ms=each.window.start_ms,
        end_ms=each.window.end_ms,
        at_ms=next(said, each.window.start_ms),
        lines=lines,
        text=each.window.text,
    )
