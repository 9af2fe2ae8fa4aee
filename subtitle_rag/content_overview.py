"""What a video or a channel is about: summaries, sections, telling words, names and most replayed parts.

Everything is computed from the library at each call, without a model; only summaries come from one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from subtitle_rag.contexts import ORDINARY, Dictionary, likely_names, split_sentences
from subtitle_rag.domain import Heat, Morphemes, Video, Window, nfc, squeeze
from subtitle_rag.library import Library
from subtitle_rag.retrieval import Section, inverse_document_frequency, split_sections

WORDS = 12
NAMES = 12
NAME_WINDOWS = 1_000
"""Windows in which likely names are looked for, a millisecond each."""
PEAKS = 3
LEAST_WINDOWS = 2
"""Windows that say a word, where there are enough of them."""


@dataclass(frozen=True, slots=True)
class OverviewTerm:
    """A word or name, with the place where it is said first."""

    text: str
    video: Video
    at_ms: int
    windows: int
    """Windows that say it."""


@dataclass(frozen=True, slots=True)
class ReplayPeak:
    """A part of a video that is replayed more than its neighbours, with the line at its beginning."""

    start_ms: int
    end_ms: int
    value: float
    """Between 0 and 1."""
    line: str
    """Empty where nobody speaks."""


@dataclass(frozen=True, slots=True)
class VideoOverview:
    video: Video
    summary: str
    """Empty without one."""
    sections: tuple[Section, ...]
    words: tuple[OverviewTerm, ...]
    """Most telling words against all other videos of the library."""
    names: tuple[OverviewTerm, ...]
    """Of the channel's glossary, and likely ones of the video."""
    peaks: tuple[ReplayPeak, ...]
    """Most replayed parts, in the order of their times."""


@dataclass(frozen=True, slots=True)
class ChannelOverview:
    channel_id: str
    name: str
    videos: tuple[tuple[Video, str], ...]
    """Videos with captions, the newest first, each with the first sentence of its summary; empty without one."""
    words: tuple[OverviewTerm, ...]
    """Most telling words against the other channels."""
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
    """Read the overview of a video; raises what `Library` and `dictionary` raise.

    The dictionary tells names from words where the channel's glossary has too few; see `glossary.likely_names`.
    """
    speech = _Speech(library, [video])
    others = [each for each in _videos(library, video.channel_id) if each.id != video.id]
    names = speech.names([video, *others], dictionary)
    windows = [window for _video, window in speech.windows]
    return VideoOverview(
        video,
        library.summaries.of([video.id]).get(video.id, ""),
        tuple(split_sections(video, windows, speech.analyses)),
        speech.telling_words(names),
        names,
        tuple(
            ReplayPeak(*part, line=_line_at(windows, part.start_ms))
            for part in highest_parts(library.details(video.id).heatmap)
        ),
    )


def channel_overview(library: Library, channel_id: str, dictionary: Dictionary) -> ChannelOverview:
    """Read the overview of a channel; raises what `Library` and `dictionary` raise."""
    videos = _videos(library, channel_id)
    speech = _Speech(library, videos)
    names = speech.names(videos, dictionary)
    summaries = library.summaries.of([video.id for video in videos])
    return ChannelOverview(
        channel_id,
        dict(library.channels()).get(channel_id, channel_id),
        tuple((video, _first_sentence(summaries.get(video.id, ""))) for video in videos),
        speech.telling_words(names),
        names,
    )


def highest_parts(heat: Sequence[Heat]) -> tuple[Heat, ...]:
    """Return the highest parts that are replayed more than their neighbours, in the order of their times.

    The beginning counts for none: everybody sees it.
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
    """Return a channel's videos with captions, the newest first."""
    return [state.video for state in library.videos() if state.video.channel_id == channel_id and state.windows]


class _Speech:
    """The windows of videos, with their analyses."""

    def __init__(self, library: Library, videos: Sequence[Video]) -> None:
        self._library = library
        self.windows = [(video, window) for video in videos for window in library.windows_of(video.id)]
        self.analyses = library.morphemes([window.id for _video, window in self.windows])

    def names(self, videos: Sequence[Video], dictionary: Dictionary) -> tuple[OverviewTerm, ...]:
        """Return the names of the channel's glossary that are said, the most frequent first, and then likely ones.

        Likely ones are looked for in all `videos` of the channel, the first ones above all.
        """
        if not videos:
            return ()
        glossary = self._library.contexts.glossary(videos[0].channel_id)
        mentions = sorted(self._mentions(glossary), key=lambda mention: (-mention.windows, mention.text))
        if len(mentions) < NAMES:
            listed = {_squeezed(mention.text) for mention in mentions}
            likely = self._likely_names(videos, dictionary)
            mentions += self._mentions(name for name in likely if _squeezed(name) not in listed)
        return tuple(mentions[:NAMES])

    def _likely_names(self, videos: Sequence[Video], dictionary: Dictionary) -> list[str]:
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
        return likely_names([video.title for video in videos], analysed, dictionary=dictionary)

    def _mentions(self, names: Iterable[str]) -> Iterator[OverviewTerm]:
        """Find names in whatever spacing; those that nobody says are left out."""
        for name in names:
            pattern = re.compile(r"\s*".join(map(re.escape, _squeezed(name))), re.IGNORECASE)
            matches = ((video, window, pattern.search(window.text)) for video, window in self.windows)
            times = [(video, _time_of(window, match.start())) for video, window, match in matches if match]
            if times:
                yield OverviewTerm(name, *times[0], len(times))

    def telling_words(self, names: Iterable[OverviewTerm]) -> tuple[OverviewTerm, ...]:
        """Return the words that tell these windows from the library's others, or from each other if all are here.

        Names are left out, and so are ordinary words, and verbs and adjectives, whose stems are no words.
        """
        excluded = {_squeezed(name.text) for name in names} | ORDINARY
        counts, uses = Counter[str](), Counter[str]()
        first: dict[str, tuple[Video, int]] = {}
        for video, window in self.windows:
            analysis = self.analyses.get(window.id)
            words = _words(analysis, window.text) if analysis else []
            uses.update(form for form, _offset in words)
            counts.update({form for form, _offset in words})
            for form, offset in words:
                if form not in first:
                    first[form] = video, _time_of(window, offset)
        size = len(self.windows)
        least = LEAST_WINDOWS if size > LEAST_WINDOWS else 1
        forms = [form for form, count in counts.items() if count >= least and form not in excluded]
        frequencies = self._library.term_counts(forms)
        others = self._library.counts().windows - size

        def weight(form: str) -> float:
            count = counts[form]
            if others <= 0:
                return math.log1p(uses[form]) * inverse_document_frequency(count, size)
            elsewhere = max(0, frequencies.get(form, count) - count)
            return uses[form] * math.log((count + 0.5) / (size + 1) * (others + 1) / (elsewhere + 0.5))

        best = sorted(forms, key=lambda form: (-weight(form), form))[:WORDS]
        return tuple(OverviewTerm(form, *first[form], counts[form]) for form in best)


def _words(analysis: Morphemes, text: str) -> list[tuple[str, int]]:
    """Return the forms of two letters or more that stand in a text as such, with their offsets."""
    return [
        (form, start)
        for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True)
        if len(form) > 1 and not form.isdigit() and nfc(text[start:end]).casefold() == form
    ]


def _time_of(window: Window, offset: int) -> int:
    """Return when the line at an offset of the text begins."""
    return next((line.start_ms for line in reversed(window.lines) if line.offset <= offset), window.start_ms)


def _line_at(windows: Sequence[Window], at_ms: int) -> str:
    """Return the line that is said at a time, or next within its window."""
    window = next((window for window in windows if window.start_ms <= at_ms < window.end_ms), None)
    lines = window.spoken() if window else []
    later = [text for start, text in lines if start > at_ms]
    return next((text for start, text in reversed(lines) if start <= at_ms), later[0] if later else "")


def _squeezed(name: str) -> str:
    return squeeze(nfc(name))
