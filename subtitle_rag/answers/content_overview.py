"""Overviews of a video or a channel: summaries, sections, characteristic words, names and most replayed parts.

Computed from the library at each call, without a model, except for the stored summaries.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from subtitle_rag.base.domain.values import Heat, Morphemes, Video, Window, nfc, squeeze
from subtitle_rag.contexts.glossary import ORDINARY, Dictionary, likely_names
from subtitle_rag.contexts.sentence_filters import split_sentences
from subtitle_rag.contexts.whole_names import whole_name
from subtitle_rag.index.index_document import keywords
from subtitle_rag.index.sections import Section, split_sections
from subtitle_rag.korean.expansion import inverse_document_frequency
from subtitle_rag.korean.numerals import COUNTERS
from subtitle_rag.library.store import Library

WORDS = 12
NAMES = 12
NAME_WINDOWS = 1_000
"""Windows to search for likely names, a millisecond each."""
PEAKS = 3
EXAMPLE_VIDEOS = 6
"""Videos to check for an example search."""
LEAST_WINDOWS = 2
"""Least windows of a word, in large enough samples."""
SECTION_WORDS = 6
SECTION_CANDIDATES = 40
PART_OF_NAME = 0.5
"""Share of a word's windows with a listed name that contains it, above which the name is enough."""
_NUMBER = re.compile(r"[-+]?\d[\d.,:/]*(?:[가-힣%℃°].*|[ckm]?m|[km]?g|m?l)?")
"""A number, with or without a unit: 46.14, 1시간. 5g is not one."""
_HANGUL = re.compile("[가-힣]+")


@dataclass(frozen=True, slots=True)
class OverviewTerm:
    """A word or name, and where its video first has it."""

    text: str
    video: Video
    at_ms: int
    windows: int
    """Windows that contain it."""


@dataclass(frozen=True, slots=True)
class ReplayPeak:
    """A part of a video that is replayed more than its neighbours, with its first line."""

    start_ms: int
    end_ms: int
    value: float
    """Between 0 and 1."""
    line: str
    """Empty without speech."""


@dataclass(frozen=True, slots=True)
class VideoOverview:
    video: Video
    summary: str
    """Empty without one."""
    sections: tuple[Section, ...]
    words: tuple[OverviewTerm, ...]
    """Words that distinguish it most from the other videos of the library."""
    names: tuple[OverviewTerm, ...]
    """Names from the channel's glossary, and likely names in the video."""
    peaks: tuple[ReplayPeak, ...]
    """Most replayed parts, in order of time."""


@dataclass(frozen=True, slots=True)
class ChannelOverview:
    channel_id: str
    name: str
    videos: tuple[tuple[Video, str], ...]
    """Videos with captions, newest first, each with the first sentence of its summary, or an empty text."""
    words: tuple[OverviewTerm, ...]
    """Words that distinguish it most from the other channels."""
    names: tuple[OverviewTerm, ...]


OverviewSubject = Video | str
"""A video, or the id of a channel."""


def read_overview(
    library: Library, subject: OverviewSubject, dictionary: Dictionary
) -> VideoOverview | ChannelOverview:
    """Read the overview of a subject; see `video_overview`."""
    if isinstance(subject, str):
        return channel_overview(library, subject, dictionary)
    return video_overview(library, subject, dictionary)


def video_overview(library: Library, video: Video, dictionary: Dictionary) -> VideoOverview:
    """Read the overview of a video; raises the errors of `Library` and `dictionary`.

    The dictionary separates names from words if the channel's glossary has too few; see `glossary.likely_names`.
    """
    speech = _Speech(library, [video], dictionary)
    other_videos = [each for each in _videos(library, video.channel_id) if each.id != video.id]
    names = speech.names([video, *other_videos])
    windows = [window for _video, window in speech.windows]
    return VideoOverview(
        video,
        library.summaries.of([video.id]).get(video.id, ""),
        tuple(speech.with_telling_words(split_sections(video, windows, speech.analyses))),
        speech.telling_words(names),
        names,
        tuple(
            ReplayPeak(*part, line=_line_at(windows, part.start_ms))
            for part in highest_parts(library.details(video.id).heatmap)
        ),
    )


def channel_overview(library: Library, channel_id: str, dictionary: Dictionary) -> ChannelOverview:
    """Read the overview of a channel; raises the errors of `Library` and `dictionary`."""
    videos = _videos(library, channel_id)
    speech = _Speech(library, videos, dictionary)
    names = speech.names(videos)
    summaries = library.summaries.of([video.id for video in videos])
    return ChannelOverview(
        channel_id,
        dict(library.channels()).get(channel_id, channel_id),
        tuple((video, _first_sentence(summaries.get(video.id, ""))) for video in videos),
        speech.telling_words(names),
        names,
    )


def example_queries(library: Library, count: int = 2) -> list[str]:
    """Return searches that find something: two words from the same place, for videos far apart in the library."""
    states = [state for state in library.videos() if state.searchable]
    spread = states[:: max(1, len(states) // EXAMPLE_VIDEOS)]
    queries = (_example_query(library, state.video) for state in (*spread[::2], *spread[1::2]))
    return list(islice(dict.fromkeys(filter(None, queries)), count))


def _example_query(library: Library, video: Video) -> str:
    """Return the two adjacent words that distinguish a video most; empty if it repeats none."""
    windows = library.windows_of(video.id)
    analyses = library.morphemes([window.id for window in windows])
    pairs = Counter[tuple[str, str]]()
    for window in windows:
        words = _words(analyses[window.id], window.text) if window.id in analyses else []
        pairs.update(
            {
                (form, after)
                for (form, start), (after, begin) in pairwise(words)
                if window.text[start + len(form) : begin] == " " and not {form, after} & (ORDINARY | COUNTERS)
            }
        )
    pairs = Counter({pair: n for pair, n in pairs.items() if n >= LEAST_WINDOWS and pair[0] != pair[1]})
    frequencies = library.term_counts({form for pair in pairs for form in pair if _HANGUL.fullmatch(form)})
    size = library.counts().windows

    def weight(pair: tuple[str, str]) -> float:
        return pairs[pair] * sum(inverse_document_frequency(frequencies[form], size) for form in pair)

    common: list[tuple[str, str]] = [pair for pair in pairs if set(pair) <= set(frequencies)]
    first, second = max(common, key=weight, default=("", ""))
    return f"{first} {second}".strip()


def highest_parts(heat: Sequence[Heat]) -> tuple[Heat, ...]:
    """Return the highest parts that are replayed more than their neighbours, in order of time.

    Ignores the start, which everybody sees.
    """
    tops = [
        part
        for before, part, after in zip(heat, heat[1:], [*heat[2:], Heat(0, 0, 0.0)], strict=False)
        if part.value > 0 and before.value < part.value >= after.value
    ]
    return tuple(sorted(sorted(tops, key=lambda part: -part.value)[:PEAKS], key=lambda part: part.start_ms))


def _first_sentence(summary: str) -> str:
    return next((sentence.strip() for sentence in split_sentences(summary) if sentence.strip()), "")


def _videos(library: Library, channel_id: str) -> list[Video]:
    """Return a channel's videos with captions, newest first."""
    return [state.video for state in library.videos() if state.video.channel_id == channel_id and state.windows]


class _Speech:
    """The windows of videos, with their analyses."""

    def __init__(self, library: Library, videos: Sequence[Video], dictionary: Dictionary) -> None:
        self._library = library
        self._dictionary = dictionary
        self.windows = [(video, window) for video in videos for window in library.windows_of(video.id)]
        self.analyses = library.morphemes([window.id for _video, window in self.windows])

    def names(self, videos: Sequence[Video]) -> tuple[OverviewTerm, ...]:
        """Return the names of the channel's glossary by frequency, then likely names.

        Likely names come from all `videos` of the channel, the first ones above all.
        """
        if not videos:
            return ()
        glossary = self._library.contexts.glossary(videos[0].channel_id)
        mentions = {name: uses for name in glossary if (uses := self._mentions(name, in_words=True))}
        mentions = dict(sorted(mentions.items(), key=lambda each: (-each[1].windows, each[0]))[:NAMES])
        if len(mentions) < NAMES:
            listed = {_squeezed(name) for name in mentions}
            for name, full_name in self._likely_names(videos):
                if _squeezed(full_name) not in listed and (uses := self._mentions(name, full_name)):
                    mentions[full_name] = uses
                    listed.add(_squeezed(full_name))
                if len(mentions) == NAMES:
                    break
        return _spread(mentions)

    def _likely_names(self, videos: Sequence[Video]) -> Iterator[tuple[str, str]]:
        """Yield likely names, as found and in full."""
        videos_here = {video.id for video, _window in self.windows}
        windows = [window for _video, window in self.windows]
        morphemes = dict(self.analyses)
        for video in videos:
            if len(windows) >= NAME_WINDOWS:
                break
            if video.id not in videos_here:
                further = self._library.windows_of(video.id)
                windows += further
                morphemes |= self._library.morphemes([window.id for window in further])
        analysed = [(morphemes[window.id], window.text) for window in windows[:NAME_WINDOWS] if window.id in morphemes]
        titles = [video.title for video in videos]
        for name in likely_names(titles, analysed, dictionary=self._dictionary):
            yield name, whole_name(name, titles, (text for _analysis, text in analysed))

    def _mentions(self, name: str, full_name: str = "", *, in_words: bool = False) -> "_Uses | None":
        """Find a name or its full form in any spacing, also `in_words` of other names; None if it does not occur."""
        spelled = "|".join(r"\s*".join(map(re.escape, _squeezed(each))) for each in (full_name, name) if each)
        pattern = re.compile(spelled if in_words else rf"(?<![^\W_])(?:{spelled})", re.IGNORECASE)
        uses = _Uses()
        for video, window in self.windows:
            if offsets := [match.start() for match in pattern.finditer(window.text)]:
                uses.add(video, window, offsets)
        return uses if uses.windows else None

    def with_telling_words(self, sections: Iterable[Section]) -> list[Section]:
        """Return the sections with words in dictionary form: nouns first, then verbs (가져오다)."""
        sections = list(sections)
        nouns, verbs = list[list[str]](), list[list[str]]()
        texts = {window.id: window.text for _video, window in self.windows}
        for section in sections:
            analyses = [(self.analyses[id], texts[id]) for id in section.window_ids if id in self.analyses]
            nouns.append([form for each in analyses for form, _offset in _words(*each)])
            verbs.append([form for each in analyses for form in _verbs(*each)])
        unnaming = self._unnaming({form for forms in nouns for form in forms})
        telling_forms = [[form for form in forms if form not in unnaming] for forms in nouns]
        best = [
            _without_parts(some, Counter(forms))
            for some, forms in zip(_keywords(telling_forms), telling_forms, strict=True)
        ]
        return [
            replace(section, words=tuple((*nouns_of_section, *done)[:SECTION_WORDS]))
            for section, nouns_of_section, done in zip(sections, best, _keywords(verbs), strict=True)
        ]

    def telling_words(self, names: Iterable[OverviewTerm]) -> tuple[OverviewTerm, ...]:
        """Return the words that distinguish these windows from the library's others, or from each other if these are
        all.

        Leaves out names and their parts, ordinary words, verbs and adjectives.
        """
        listed = {_squeezed(name.text): name.windows for name in names}
        uses: dict[str, _Uses] = {}
        for video, window in self.windows:
            analysis = self.analyses.get(window.id)
            offsets: dict[str, list[int]] = {}
            for form, offset in _words(analysis, window.text) if analysis else []:
                offsets.setdefault(form, []).append(offset)
            for form, each in offsets.items():
                uses.setdefault(form, _Uses()).add(video, window, each)
        size = len(self.windows)
        least = LEAST_WINDOWS if size > LEAST_WINDOWS else 1
        forms = [
            form
            for form, each in uses.items()
            if each.windows >= least
            and not any(form in name and windows >= PART_OF_NAME * each.windows for name, windows in listed.items())
        ]
        unnaming = self._unnaming(forms)
        forms = [form for form in forms if form not in unnaming]
        frequencies = self._library.term_counts(forms)
        other_windows = self._library.counts().windows - size

        def weight(form: str) -> float:
            count, times = uses[form].windows, uses[form].times
            if other_windows <= 0:
                return math.log1p(times) * inverse_document_frequency(count, size)
            elsewhere = max(0, frequencies.get(form, count) - count)
            return times * math.log((count + 0.5) / (size + 1) * (other_windows + 1) / (elsewhere + 0.5))

        best = sorted(forms, key=lambda form: (-weight(form), form))[:WORDS]
        return _spread({form: uses[form] for form in best})

    def _unnaming(self, forms: Collection[str]) -> Collection[str]:
        """Return the forms without information: ordinary words, adverbs, numbers and counters."""
        return {
            *ORDINARY.intersection(forms),
            *COUNTERS.intersection(forms),
            *filter(_NUMBER.fullmatch, forms),
            *self._dictionary.adverbs(sorted(forms)),
        }


class _Uses:
    """Uses of a word by video, with the first place in each."""

    def __init__(self) -> None:
        self.times = self.windows = 0
        self.places: dict[Video, tuple[int, int]] = {}
        """Video → number of uses, and the time of the first line with one."""

    def add(self, video: Video, window: Window, offsets: Sequence[int]) -> None:
        """Add the uses in another window."""
        self.times += len(offsets)
        self.windows += 1
        times, at_ms = self.places.get(video, (0, _time_of(window, offsets[0])))
        self.places[video] = times + len(offsets), at_ms


def _spread(uses: Mapping[str, _Uses]) -> tuple[OverviewTerm, ...]:
    """Return words with a place to jump to, each in the video that has it most and that few other words use."""
    jumps = Counter[str]()
    terms: list[OverviewTerm] = []
    for text, each in uses.items():
        video = max(each.places, key=lambda video: each.places[video][0] / (1 + jumps[video.id]))
        jumps[video.id] += 1
        terms.append(OverviewTerm(text, video, each.places[video][1], each.windows))
    return tuple(terms)


def _without_parts(words: Sequence[str], times: Mapping[str, int]) -> list[str]:
    """Drop words that occur mostly inside other words: 컬렉터 of 가비지컬렉터."""
    return [
        word
        for word in words
        if not any(
            word != longer and word in longer and times[longer] >= PART_OF_NAME * times[word] for longer in words
        )
    ]


def _keywords(sections: Sequence[Sequence[str]]) -> list[list[str]]:
    return keywords([Morphemes(tuple(forms), (), ()) for forms in sections], SECTION_CANDIDATES)


def _words(analysis: Morphemes, text: str) -> list[tuple[str, int]]:
    """Return the forms of two letters or more that a text contains unchanged, with offsets."""
    return [
        (form, start)
        for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True)
        if len(form) > 1 and nfc(text[start:end]).casefold() == form
    ]


def _verbs(analysis: Morphemes, text: str) -> Iterator[str]:
    """Yield the verbs and adjectives of a text: other letters follow their stems there (가져와)."""
    for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
        spelled = nfc(text[start:end])
        if len(form) > 1 and _HANGUL.fullmatch(form) and _HANGUL.fullmatch(spelled) and spelled != form:
            yield f"{form}다"


def _time_of(window: Window, offset: int) -> int:
    """Return the start time of the line at an offset of the text."""
    return next((line.start_ms for line in reversed(window.lines) if line.offset <= offset), window.start_ms)


def _line_at(windows: Sequence[Window], at_ms: int) -> str:
    """Return the line at a time, or the next one in its window."""
    window = next((window for window in windows if window.start_ms <= at_ms < window.end_ms), None)
    lines = window.spoken() if window else []
    later = [text for start, text in lines if start > at_ms]
    return next((text for start, text in reversed(lines) if start <= at_ms), later[0] if later else "")


def _squeezed(name: str) -> str:
    return squeeze(nfc(name))
