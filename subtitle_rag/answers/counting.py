"""Questions that ask how often something is said, answered by counting in the captions, without a model.

An occurrence is the word's morphemes in a row, as the library stores them of each window, or a word that begins with
its letters; a quoted phrase is counted letter by letter. The text of windows does not overlap, so nothing counts twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from subtitle_rag.answers.answer_prompt import Language, language
from subtitle_rag.answers.context_builder import quoted, short_title, window_source
from subtitle_rag.domain import Answer, Citation, Evidence, EvidenceSource, Morphemes, Video, Window, WordCount
from subtitle_rag.library import Library
from subtitle_rag.retrieval import Filter, Query, QueryMorphemes

LISTED = 10
"""Videos in the answer."""
SCENES_EACH = 3
"""Scenes of each of them."""
LETTERS = 2
"""Fewest letters of a word that is found as the beginning of another; those of one letter begin too many."""

_SAID = (
    r"(?:나와|나왔|나오|나옵|나온|언급|등장|말하|말했|말해|말을|말이|얘기|이야기|불러|부르|불렀|들려|들리|쓰였|쓰이)"
)
_OFTEN = r"몇 ?(?:번|회|차례)(?!째)(?:이나|쯤|정도|씩)?"
_MANY = (
    r"(?:동?영상|비디오)(?:은|이|만)? ?(?:총 |모두 |전부 )?몇 ?(?:개|편)"
    r"|몇 ?(?:개|편)(?:의|나 되는)? ?(?:동?영상|비디오)"
)
_PLACE = re.compile(
    r"^(?:(?:이|그|저|모든|전체|내) ?)?(?:채널|동?영상|라이브러리|방송|자막|여기|전체)(?:들)?"
    r"(?:에서는?|에선|에는?|의|은|는)? "
    r"|^(?:여기서|전체에서|모두|총|전부|도대체|대체|과연|대략) "
)
_TAIL = re.compile(
    r"[,\s]+(?:총|모두|전부|대략|도대체|대체|다|합쳐서|(?:전체|영상|채널)에서|관련)$"
    r"|에 ?(?:대한|대해서?|관한)$"
    r"|\s*(?:이라는|라는|이란|란) ?(?:말|단어|표현|이름|얘기|이야기)(?:을|를|이|가|은|는)?$"
    r"|\s+(?:얘기|이야기|언급|말|단어|소리|등장)(?:을|를|이|가|은|는)?$"
)
_RULES = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        rf"^(?P<word>.+?)\s*(?:총|모두|전부|다)? ?{_OFTEN}[^?]{{0,8}}?{_SAID}",
        rf"^(?P<word>.+?)\s+(?:얘기|이야기|언급|말|소리)(?:를|을|은|는)? ?(?:총 |모두 |전부 |다 )?{_OFTEN}"
        r" ?(?:했|해|하)",
        rf"^{_OFTEN} ?(?P<word>.+?)\s*(?:얘기|이야기|언급|말|등장|나와|나왔|나오)",
        rf"^(?:{_MANY})(?:에서|에) ?(?P<word>.+?)\s*{_SAID}",
        rf"^(?P<word>.+?)\s*{_SAID}[가-힣]{{0,4}} ?(?:{_MANY})",
        rf"^(?P<word>.+?)\s*{_SAID}[가-힣]{{0,4}} ?(?:횟수|빈도)",
        rf"^(?P<word>.+?)\s*(?:{_MANY})(?:에서|에)? ?{_SAID}",
        r"\bhow (?:many times|often)\b.*?\b(?:is|are|was|were|does|do|did|has|have)\b (?:the (?:word|name|phrase) )?"
        r"(?P<word>.+?)\s*\b(?:been )?(?:mentioned|said|spoken|named|mention|come up|appear|occur)\b",
        r"\bhow (?:many times|often)\b.*?\b(?:mention|say|name|utter)s?\b (?:the (?:word|name|phrase) )?(?P<word>.+)",
        r"\bhow many videos\b (?:mention|say|name)s? (?:the (?:word|name|phrase) )?(?P<word>.+)",
        r"\bhow many videos\b (?:is|are|was|were) (?:the (?:word|name|phrase) )?(?P<word>.+?) "
        r"(?:mentioned|said|named)\b",
    )
)
_SPEAKERS = frozenset(("they", "he", "she", "you", "we", "people", "anyone"))
_PUNCTUATION = " ?.!,~…\"'“”‘’"


@dataclass(frozen=True, slots=True)
class CountedWords:
    """The word, or words in a row, that a question has counted."""

    text: str
    forms: tuple[str, ...]
    """Its morphemes; none for a quoted phrase."""
    pattern: re.Pattern[str] | None
    """What it looks like in a text, where that says enough."""

    @classmethod
    def of(cls, query: Query, analyzer: QueryMorphemes) -> "CountedWords | None":
        """Return what a question has counted; None if it asks for something else."""
        if not asks_count(query.text):
            return None
        if query.phrases:
            letters = "".join(query.phrases[0].split())
            return cls(query.phrases[0], (), re.compile(r"\s*".join(map(re.escape, letters)), re.IGNORECASE))
        word = _counted(query.text)
        (analysis,) = analyzer.morphemes([word])
        if not analysis.forms:
            return None
        text = word[analysis.starts[0] : analysis.ends[-1]]
        if len(text) < LETTERS:
            return cls(text, analysis.forms, None)
        spaced = r"\s*".join(map(re.escape, text.split()))
        return cls(text, analysis.forms, re.compile(rf"(?<![^\W_]){spaced}", re.IGNORECASE))

    def offsets(self, text: str, analysis: Morphemes | None) -> list[int]:
        """Return where a text says it; what morphemes and letters find at one place is one."""
        spans = [match.span() for match in self.pattern.finditer(text)] if self.pattern else []
        if analysis is not None and self.forms and self.forms[0] in analysis.forms:
            size = len(self.forms)
            spans += [
                (analysis.starts[at], analysis.ends[at + size - 1])
                for at in range(len(analysis.forms) - size + 1)
                if analysis.forms[at : at + size] == self.forms
            ]
        found: list[int] = []
        end = -1
        for start, stop in sorted(spans):
            if start >= end:
                found.append(start)
            end = max(end, stop)
        return found


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


@dataclass(frozen=True, slots=True)
class _Found:
    """A window that says the word."""

    window: Window
    video: Video
    offsets: list[int]

    def source(self, number: int) -> EvidenceSource:
        lines = self.window.lines
        at_ms = max((line for line in lines if line.offset <= self.offsets[0]), default=lines[0]).start_ms
        return window_source(number, self.video, self.window, at_ms)


def counted_answer(query: Query, words: CountedWords, library: Library, where: Filter) -> Answer:
    """Count words in the captions that the filters leave, and say how often and where.

    Raises the errors of `Library`.
    """
    by_video: dict[Video, list[_Found]] = {}
    for found in _said(words, library, where):
        by_video.setdefault(found.video, []).append(found)
    times = {video: sum(len(each.offsets) for each in found) for video, found in by_video.items()}
    ordered = sorted(times, key=lambda video: (-times[video], video.id))
    count = WordCount(words.text, sum(times.values()), tuple((video, times[video]) for video in ordered))
    number = 0
    shown: dict[Video, list[EvidenceSource]] = {}
    for video in ordered[:LISTED]:
        best = sorted(by_video[video], key=lambda each: (-len(each.offsets), each.window.ordinal))[:SCENES_EACH]
        shown[video] = []
        for each in sorted(best, key=lambda each: each.window.ordinal):
            number += 1
            shown[video].append(each.source(number))
    text, citations = _text(count, shown, language(query.text))
    sources = tuple(source for video in shown.values() for source in video)
    return Answer(query.raw, text, "", Evidence("count", sources), citations, count=count)


def _said(words: CountedWords, library: Library, where: Filter) -> Iterator[_Found]:
    if where.only is not None and not where.only:
        return
    for state in library.videos():
        if not state.windows or not where.has_video(state.video):
            continue
        windows = [
            window
            for window in library.windows_of(state.video.id)
            if (where.only is None or window.id in where.only) and window.id not in where.without
        ]
        analyses = library.morphemes([window.id for window in windows]) if words.forms else {}
        for window in windows:
            if offsets := words.offsets(window.text, analyses.get(window.id)):
                yield _Found(window, state.video, offsets)


def _text(
    count: WordCount, shown: dict[Video, list[EvidenceSource]], language: Language
) -> tuple[str, tuple[Citation, ...]]:
    """Return the sentence, a line for each shown video with its citations, and one for the rest."""
    korean = language == "ko"
    videos = len(count.videos)
    word = quoted(count.words)
    total = f"영상 {videos:,}편에서 {count.times:,}번." if korean else f"{_times(count.times)} in {_videos(videos)}."
    if not videos:
        total = "자막에 나오지 않습니다." if korean else "no captions say it."
    lines = [f"“{word}”: {total}"]
    citations: list[Citation] = []
    offset = len(lines[0]) + 1
    times = dict(count.videos)
    for video, sources in shown.items():
        day = f" ({video.published})" if video.published else ""
        said = f"{times[video]:,}번" if korean else _times(times[video])
        line = f"- {short_title(video.title)}{day}: {said} "
        claim = (offset, offset + len(line) + sum(len(f"[{source.number}]") for source in sources))
        for source in sources:
            mark = f"[{source.number}]"
            span = (offset + len(line), offset + len(line) + len(mark))
            citations.append(Citation(source.number, "supported", span, claim, at_ms=source.at_ms))
            line += mark
        lines.append(line)
        offset += len(line) + 1
    rest = count.videos[len(shown) :]
    if rest:
        more = sum(number for _video, number in rest)
        lines.append(
            f"- 그 밖의 영상 {len(rest):,}편: {more:,}번"
            if korean
            else f"- {_videos(len(rest), 'other ')}: {_times(more)}"
        )
    return "\n".join(lines), tuple(citations)


def _times(count: int) -> str:
    return f"{count:,} {'time' if count == 1 else 'times'}"


def _videos(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}{'video' if count == 1 else 'videos'}"
