"""What a video or a channel is about: summaries, sections, telling words, names and most replayed parts.

Everything is computed from the library at each call, without a model; only summaries come from one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.contexts import ORDINARY, Dictionary, propose, split_sentences
from subtitle_rag.domain import Heat, Morphemes, Video, Window, nfc
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


def video_overview(library: Library, video: Video, dictionary: Dictionary | None = None) -> VideoOverview:
    """Read the overview of a video; raises what `Library` and `dictionary` raise.

    The dictionary tells names from words where the channel's glossary has too few; see `glossary.propose`.
    """
    windows = library.windows_of(video.id)
    analyses = library.morphemes([window.id for window in windows])
    speech = [(video, window) for window in windows]
    others = [each for each in _videos(library, video.channel_id) if each.id != video.id]
    names = _names(library, [video, *others], speech, analyses, dictionary)
    return VideoOverview(
        video,
        library.summaries.of([video.id]).get(video.id, ""),
        tuple(split_sections(video, windows, analyses)),
        _telling_words(library, speech, analyses, names),
        names,
        tuple(
            ReplayPeak(*part, line=_line_at(windows, part.start_ms))
            for part in highest_parts(library.details(video.id).heatmap)
        ),
    )


def channel_overview(library: Library, channel_id: str, dictionary: Dictionary | None = None) -> ChannelOverview:
    """Read the overview of a channel; raises what `Library` and `dictionary` raise."""
    videos = _videos(library, channel_id)
    speech = [(video, window) for video in videos for window in library.windows_of(video.id)]
    analyses = library.morphemes([window.id for _video, window in speech])
    names = _names(library, videos, speech, analyses, dictionary)
    summaries = library.summaries.of([video.id for video in videos])
    return ChannelOverview(
        channel_id,
        dict(library.channels()).get(channel_id, channel_id),
        tuple((video, _first_sentence(summaries.get(video.id, ""))) for video in videos),
        _telling_words(library, speech, analyses, names),
        names,
    )


def highest_parts(heat: Sequence[Heat], limit: int = PEAKS) -> tuple[Heat, ...]:
    """Return the highest parts that are replayed more than their neighbours, in the order of their times.

    The beginning counts for none: everybody sees it.
    """
    tops = [
        part
        for before, part, after in zip(heat, heat[1:], [*heat[2:], Heat(0, 0, 0.0)], strict=False)
        if part.value > 0 and before.value < part.value >= after.value
    ]
    return tuple(sorted(sorted(tops, key=lambda part: -part.value)[:limit], key=lambda part: part.start_ms))


def _first_sentence(summary: str) -> str:
    return next((sentence.strip() for sentence in split_sentences(summary) if sentence.strip()), "")


def _videos(library: Library, channel_id: str) -> list[Video]:
    """Return a channel's videos with captions, the newest first."""
    return [state.video for state in library.videos() if state.video.channel_id == channel_id and state.windows]


def _names(
    library: Library,
    videos: Sequence[Video],
    speech: Sequence[tuple[Video, Window]],
    analyses: Mapping[str, Morphemes],
    dictionary: Dictionary | None,
) -> tuple[OverviewTerm, ...]:
    """Return the names of the channel's glossary that are said, the most frequent first, and then likely ones.

    Likely ones are looked for in all `videos` of the channel, the first ones above all.
    """
    if not videos:
        return ()
    own = filter(None, (_name_mention(name, speech) for name in library.contexts.glossary(videos[0].channel_id)))
    mentions = sorted(own, key=lambda mention: (-mention.windows, mention.text))
    if len(mentions) < NAMES:
        known = {_squeezed(mention.text) for mention in mentions}
        likely = _likely_names(library, videos, speech, analyses, dictionary)
        others = (_name_mention(name, speech) for name in likely if _squeezed(name) not in known)
        mentions += filter(None, others)
    return tuple(mentions[:NAMES])


def _likely_names(
    library: Library,
    videos: Sequence[Video],
    speech: Sequence[tuple[Video, Window]],
    analyses: Mapping[str, Morphemes],
    dictionary: Dictionary | None,
) -> list[str]:
    read = {video.id for video, _window in speech}
    windows = [window for _video, window in speech]
    morphemes = dict(analyses)
    for video in videos:
        if len(windows) >= NAME_WINDOWS:
            break
        if video.id not in read:
            further = library.windows_of(video.id)
            windows += further
            morphemes |= library.morphemes([window.id for window in further])
    analysed = [window for window in windows[:NAME_WINDOWS] if window.id in morphemes]
    return propose(
        [video.title for video in videos],
        [morphemes[window.id] for window in analysed],
        [window.text for window in analysed],
        dictionary=dictionary,
    )


def _name_mention(name: str, speech: Iterable[tuple[Video, Window]]) -> OverviewTerm | None:
    """Find a name in whatever spacing; return None where nobody says it."""
    pattern = re.compile(r"\s*".join(map(re.escape, _squeezed(name))), re.IGNORECASE)
    first: tuple[Video, int] | None = None
    windows = 0
    for video, window in speech:
        if match := pattern.search(window.text):
            windows += 1
            first = first or (video, _time_of(window, match.start()))
    return OverviewTerm(name, *first, windows) if first else None


def _telling_words(
    library: Library,
    speech: Sequence[tuple[Video, Window]],
    analyses: Mapping[str, Morphemes],
    names: Iterable[OverviewTerm],
) -> tuple[OverviewTerm, ...]:
    """Return the words that tell these windows from the library's others, or one of these from another if all are here.

    Names are left out, and so are ordinary words, and verbs and adjectives, whose stems are no words.
    """
    known = {_squeezed(name.text) for name in names} | ORDINARY
    counts, uses = Counter[str](), Counter[str]()
    first: dict[str, tuple[Video, int]] = {}
    for video, window in speech:
        analysis = analyses.get(window.id)
        said = _words(analysis, window.text) if analysis else []
        uses.update(form for form, _offset in said)
        counts.update({form for form, _offset in said})
        for form, offset in said:
            if form not in first:
                first[form] = video, _time_of(window, offset)
    least = LEAST_WINDOWS if len(speech) > LEAST_WINDOWS else 1
    forms = [form for form, count in counts.items() if count >= least and form not in known]
    frequencies = library.term_counts(forms)
    others = library.counts().windows - len(speech)

    def weight(form: str) -> float:
        count = counts[form]
        if others <= 0:
            return math.log1p(uses[form]) * inverse_document_frequency(count, len(speech))
        elsewhere = max(0, frequencies.get(form, count) - count)
        return uses[form] * math.log((count + 0.5) / (len(speech) + 1) * (others + 1) / (elsewhere + 0.5))

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
    return "".join(nfc(name).casefold().split())
