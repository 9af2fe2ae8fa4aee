"""Plan of a transcription: user input → videos without captions, and the cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from subtitle_rag.base.domain.errors import FetchError, UsageError
from subtitle_rag.base.domain.values import Video, tidy
from subtitle_rag.captions import files
from subtitle_rag.captions.addresses import Source
from subtitle_rag.captions.films import find_media
from subtitle_rag.captions.typed_sources import TypedSources, read_typed
from subtitle_rag.library.app_state import listening_rate
from subtitle_rag.library.resolve import resolve_name
from subtitle_rag.library.store import Library
from subtitle_rag.listening.transcribers import sound_lengths_ms
from subtitle_rag.youtube.sounds import sound_url

USUAL_RATE = 1.0
"""Seconds of sound per second before a run has measured it: small models on two cores are faster."""
SOUND_BYTES_PER_S = 6_250
"""Bytes per second of YouTube's smallest sound, about 50 kbit/s."""


@dataclass(frozen=True, slots=True)
class ListeningPlan:
    """Videos to transcribe."""

    videos: tuple[Video, ...] = ()
    """Videos to transcribe, newest first."""
    silent: tuple[Video, ...] = ()
    """The films among them, which may not be in the library yet."""
    captioned: tuple[Video, ...] = ()
    """Named videos that already have captions, transcribed only with `again`."""
    again: bool = False

    def first(self, limit: int | None) -> "ListeningPlan":
        """Return the plan for the newest videos only."""
        videos = self.videos[:limit]
        return replace(self, videos=videos, silent=tuple(video for video in self.silent if video in videos))


@dataclass(frozen=True, slots=True)
class ListeningEstimate:
    """Cost of a plan."""

    videos: int
    length_ms: int
    """Total of the known lengths."""
    unmeasured: int
    """Number of videos of unknown length."""
    seconds: int
    """Time to transcribe the known length."""
    is_measured: bool
    """Whether the time follows from an earlier run with this model."""
    sound_bytes: int
    """Approximate download from YouTube in bytes."""


def videos_to_fetch(library: Library, texts: Iterable[str]) -> tuple[Source, ...]:
    """Return the YouTube videos in these texts that the library lacks, to look for their captions first.

    Raises:
        UsageError: `unsupported_url`.
    """
    sources = [source for text in texts for source in read_typed(text).sources]
    return tuple(s for s in sources if s.kind == "video" and library.video(s.key) is None)


def plan_listening(library: Library, texts: Iterable[str], *, again: bool = False) -> ListeningPlan:
    """Return the videos without captions in these texts: films, folders, addresses, videos, channels.

    `again` includes transcribed videos, and videos named one by one whatever captions they have.

    Raises:
        UsageError: `nothing_to_hear` if a text names none, `unsupported_url`.
    """
    to_hear: dict[str, Video] = {}
    silent: dict[str, Video] = {}
    captioned: dict[str, Video] = {}
    for text in texts:
        typed = read_typed(text)
        media = _silent_media(typed)
        if media is None:
            uncaptioned, with_captions = _named_videos(library, text, typed, again)
            to_hear |= uncaptioned
            captioned |= with_captions
            continue
        for video in media:
            is_new = library.video(video.id) is None
            # a killed run may have left a video due, with windows not yet searchable
            if is_new or again or library.listenings.is_due(video.id) or not library.window_count(video.id):
                silent[video.id] = to_hear[video.id] = video
    newest = sorted(to_hear.values(), key=lambda video: video.published or date.min, reverse=True)
    return ListeningPlan(tuple(newest), tuple(silent.values()), tuple(captioned.values()), again)


def _silent_media(typed: TypedSources) -> Sequence[Video] | None:
    """Return the films without captions in a text; None if it names videos of the library."""
    is_here = typed.paths and not typed.sources and all(path.exists() for path in typed.paths)
    return files.silent_films(typed.paths) if is_here else None


def _named_videos(
    library: Library, text: str, typed: TypedSources, again: bool
) -> tuple[dict[str, Video], dict[str, Video]]:
    """Return the library's videos under a name or address, by id: those to transcribe, and those with captions.

    Raises:
        UsageError: `nothing_to_hear`.
    """
    matches = resolve_name(library, text, typed.sources)
    if not matches:
        raise UsageError("nothing_to_hear", source=tidy(text))
    named_ids = set(matches.videos) if not (matches.channels or matches.sources) else set()
    ids = named_ids | _videos_of(library, matches.channels, [source.id for source in matches.sources])
    chosen_ids = set(library.listenings.candidates(ids))
    if again:
        chosen_ids |= named_ids | {id for id in ids if library.listenings.is_heard(id)}
    videos = library.videos_by_id(*ids)
    to_hear = {id: video for id, video in videos.items() if id in chosen_ids and (video.source or sound_url(video))}
    return to_hear, {id: videos[id] for id in named_ids - chosen_ids}


def _videos_of(library: Library, channels: Sequence[str], sources: Sequence[int]) -> set[str]:
    """Return the videos of these channels, and of these sources' lists."""
    in_channels = {state.video.id for state in library.videos() if state.video.channel_id in channels}
    return in_channels | set(library.sources.listed_videos(sources))


def cancel_listening(library: Library, texts: Iterable[str]) -> int:
    """Cancel pending transcriptions of the videos in these texts; return their number.

    Raises:
        UsageError: `nothing_to_hear`.
    """
    ids = {id for text in texts for id in _due_videos(library, text)}
    library.listenings.cancel(ids)
    return len(ids)


def _due_videos(library: Library, text: str) -> set[str]:
    """Return the pending videos that a text names; raise UsageError `nothing_to_hear`."""
    due_ids = {each.video_id for each in library.listenings.due()} | library.listenings.failed()
    typed = read_typed(text)
    ids = {video.id for video in _silent_media(typed) or ()}
    if not ids:
        matches = resolve_name(library, text, typed.sources)
        ids = set(matches.videos) | _videos_of(library, matches.channels, [source.id for source in matches.sources])
    if not ids & due_ids:
        raise UsageError("nothing_to_hear", source=tidy(text))
    return ids & due_ids


def request_listening(library: Library, plan: ListeningPlan) -> int:
    """Make the videos of a plan due for transcription; return how many are newly due."""
    for video in plan.silent:
        library.listenings.put_silent(video, FetchError("film_no_captions", title=video.title))
    return library.listenings.ask([video.id for video in plan.videos], again=plan.again)


def estimate_listening(library: Library, videos: Sequence[Video], model: str) -> ListeningEstimate:
    """Return the cost of transcribing these videos with a model; films of unknown length are measured."""
    films = {video.id: find_media(video) for video in videos if not video.duration_ms and video.source}
    measured = sound_lengths_ms([film for film in films.values() if film])
    lengths_by_id = {id: measured[film] for id, film in films.items() if film and film in measured}
    lengths = [length for video in videos if (length := video.duration_ms or lengths_by_id.get(video.id))]
    rate = listening_rate(library, model)
    length_ms = sum(lengths)
    fetched_ms = sum(video.duration_ms or 0 for video in videos if sound_url(video))
    return ListeningEstimate(
        len(videos),
        length_ms,
        len(videos) - len(lengths),
        round(length_ms / 1000 / (rate or USUAL_RATE)),
        rate is not None,
        fetched_ms // 1000 * SOUND_BYTES_PER_S,
    )
