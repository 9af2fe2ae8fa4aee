"""Answers to questions of how often something is said, by counting in the captions, without a model.

An occurrence is the word's morphemes in a row, as the library stores them of each window, or a word that begins with
its letters; a quoted phrase is counted letter by letter. The text of windows does not overlap, so nothing counts twice.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from subtitle_rag.answers.answer_prompt import Language, language
from subtitle_rag.answers.context_builder import quoted, short_title, window_source
from subtitle_rag.answers.count_question import MAX_HEARD, CountedWord, CountQuestion
from subtitle_rag.domain import Answer, Citation, Evidence, EvidenceSource, Morphemes, Video, Window, WordCount
from subtitle_rag.library import Library
from subtitle_rag.retrieval.search.query import PeriodOffer
from subtitle_rag.retrieval.values import Filter

LISTED = 10
"""Videos in the answer, of each word."""
SCENES_EACH = 3
"""Scenes of each of them."""


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


@dataclass(slots=True)
class _Tally:
    """What captions say of one word."""

    word: CountedWord
    by_video: dict[Video, list[_Found]] = field(default_factory=dict)
    spellings: Counter[str] = field(default_factory=Counter)
    heard: dict[str, list[_Found]] = field(default_factory=dict)
    undated: int = 0
    """Times in videos of an unknown day, which a filter by date leaves out."""
    is_near: bool = False
    """Whether captions have a part of it."""

    def add(self, window: Window, video: Video, analysis: Morphemes | None, *, is_counted: bool) -> None:
        """Count in one more window."""
        mentions = self.word.offsets(window.text, analysis)
        if not is_counted:
            self.undated += len(mentions)
            return
        if mentions:
            self.by_video.setdefault(video, []).append(_Found(window, video, [offset for offset, _how in mentions]))
            self.spellings.update(how.text for _offset, how in mentions if how is not self.word.spellings[0])
        elif not self.by_video and not self.is_near:
            self.is_near = self.word.is_near(window.text, analysis)
        heard: dict[str, list[int]] = {}
        for offset, how in self.word.heard_offsets(window.text, analysis) if self.word.heard else ():
            heard.setdefault(how.text, []).append(offset)
        for text, offsets in heard.items():
            self.heard.setdefault(text, []).append(_Found(window, video, offsets))

    @property
    def times(self) -> dict[Video, int]:
        """The videos that say it, the most often first."""
        times = {video: sum(len(each.offsets) for each in hits) for video, hits in self.by_video.items()}
        return dict(sorted(times.items(), key=lambda pair: (-pair[1], pair[0].id)))

    @property
    def most_heard(self) -> list[tuple[str, int]]:
        times = {text: sum(len(each.offsets) for each in hits) for text, hits in self.heard.items()}
        return sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_HEARD]

    @property
    def has_said(self) -> bool:
        """Whether there is something to tell."""
        return bool(self.by_video or self.heard or self.undated)

    @property
    def is_unsure(self) -> bool:
        """Whether there is not, although the library has something near."""
        return not self.has_said and (self.is_near or self.word.has_near)

    def count(self) -> WordCount:
        times = self.times
        spellings = tuple(self.spellings.most_common())
        return WordCount(self.word.text, sum(times.values()), tuple(times.items()), spellings, tuple(self.most_heard))


def counted_answer(question: str, count_question: CountQuestion, library: Library, where: Filter) -> Answer | None:
    """Count words in the captions that the filters leave, and say how often and where.

    None if none of them is said, and the library has something near to one. Raises the errors of `Library`.
    """
    tallies = [_Tally(word) for word in count_question.words]
    undated = _count(tallies, library, where)
    if not any(tally.has_said for tally in tallies) and any(tally.is_unsure for tally in tallies):
        return None
    text = _CountText(language(count_question.query.text))
    for tally in tallies:
        text.add_word(tally)
    if count_question.period:
        text.add_period(count_question.period, undated, sum(tally.undated for tally in tallies))
    evidence = Evidence("count", tuple(text.sources))
    counts = tuple(tally.count() for tally in tallies)
    return Answer(question, "\n".join(text.lines), "", evidence, tuple(text.citations), counts=counts)


def _count(tallies: Sequence[_Tally], library: Library, where: Filter) -> int:
    """Count in all windows that the filter leaves; return how many videos of an unknown day it leaves out."""
    undated = 0
    if where.only is not None and not where.only:
        return undated
    any_day = replace(where, after=None, before=None)
    for state in library.videos():
        is_counted = where.has_video(state.video)
        if not state.windows or not (is_counted or (state.video.published is None and any_day.has_video(state.video))):
            continue
        undated += not is_counted
        windows = [
            window
            for window in library.windows_of(state.video.id)
            if (where.only is None or window.id in where.only) and window.id not in where.without
        ]
        analyses = library.morphemes([window.id for window in windows])
        for window in windows:
            for tally in tallies:
                tally.add(window, state.video, analyses.get(window.id), is_counted=is_counted)
    return undated


@dataclass(slots=True)
class _CountText:
    """The sentences of an answer, with their sources and citations."""

    language: Language
    lines: list[str] = field(default_factory=list)
    sources: list[EvidenceSource] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)

    def add_word(self, tally: _Tally) -> None:
        """Add a sentence, a line for each shown video, one for the rest, and what may be misheard."""
        korean = self.language == "ko"
        times = tally.times
        total, videos = sum(times.values()), len(times)
        spelled = f" ({', '.join(map(quoted, tally.spellings))})" if tally.spellings else ""
        sentence_end = f"영상 {videos:,}편에서 {total:,}번." if korean else f"{_times(total)} in {_videos(videos)}."
        if not videos and (tally.heard or tally.is_unsure):
            sentence_end = "자막에 그대로는 나오지 않습니다." if korean else "no captions say it as such."
        elif not videos and tally.undated:
            sentence_end = (
                "그때 올라온 영상의 자막에는 나오지 않습니다." if korean else "no captions of those days say it."
            )
        elif not videos:
            sentence_end = "자막에 나오지 않습니다." if korean else "no captions say it."
        self.lines.append(f"“{quoted(tally.word.text)}”{spelled}: {sentence_end}")
        for video in list(times)[:LISTED]:
            best = sorted(tally.by_video[video], key=lambda each: (-len(each.offsets), each.window.ordinal))
            day = f" ({video.published})" if video.published else ""
            each = f"{times[video]:,}번" if korean else _times(times[video])
            cited = sorted(best[:SCENES_EACH], key=lambda each: each.window.ordinal)
            self._add_cited(f"- {short_title(video.title)}{day}: {each}", cited)
        rest = list(times.values())[LISTED:]
        if rest:
            self.lines.append(
                f"- 그 밖의 영상 {len(rest):,}편: {sum(rest):,}번"
                if korean
                else f"- {_videos(len(rest), 'other ')}: {_times(sum(rest))}"
            )
        for text, number in tally.most_heard:
            heard, word = quoted(text), quoted(tally.word.text)
            sentence = (
                f"“{heard}” {number:,}번은 “{word}”일 수 있습니다."
                if korean
                else f"“{heard}” ({_times(number)}) may be “{word}”."
            )
            self._add_cited(sentence, tally.heard[text][:1])

    def add_period(self, period: PeriodOffer, undated: int, times: int) -> None:
        """Say which days are counted, and what is left out as nobody knows its day."""
        korean = self.language == "ko"
        days = f"{period.after}–{period.before}"
        self.lines.append(f"{days}에 올라온 영상만 세었습니다." if korean else f"Counted in videos uploaded {days}.")
        if undated:
            self.lines.append(
                f"올라온 날을 모르는 영상 {undated:,}편은 뺐습니다(거기서는 {times:,}번)."
                if korean
                else f"{_videos(undated)} without a known day left out ({_times(times)} there)."
            )

    def _add_cited(self, sentence: str, hits: Sequence[_Found]) -> None:
        start = sum(len(line) + 1 for line in self.lines)
        marks = [f"[{number}]" for number in range(len(self.sources) + 1, len(self.sources) + len(hits) + 1)]
        line = f"{sentence} {''.join(marks)}"
        at = start + len(sentence) + 1
        for each, mark in zip(hits, marks, strict=True):
            source = each.source(len(self.sources) + 1)
            span, claim = (at, at + len(mark)), (start, start + len(line))
            self.citations.append(Citation(source.number, "supported", span, claim, at_ms=source.at_ms))
            self.sources.append(source)
            at += len(mark)
        self.lines.append(line)


def _times(count: int) -> str:
    return f"{count:,} {'time' if count == 1 else 'times'}"


def _videos(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}{'video' if count == 1 else 'videos'}"
