"""What a question is answered from: the best scenes, a whole transcript, or the map of a video."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from subtitle_rag.answers import prompt, whole
from subtitle_rag.answers.context_builder import (
    LABELS,
    SCENES,
    SHARE,
    ContextBuilder,
    Cost,
    RankedContextBuilder,
    fitted,
    speech,
)
from subtitle_rag.contexts.context_prompt import estimate
from subtitle_rag.domain import Line, Video, Window, spoken
from subtitle_rag.errors import UsageError
from subtitle_rag.events import Evidence, EvidenceSource
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.query import Query
from subtitle_rag.retrieval.scenes import Scene
from subtitle_rag.retrieval.search import Searcher


@dataclass(frozen=True, slots=True)
class Room:
    """What a model has room for: the values of `num_ctx` to choose from, ascending, and how it counts."""

    windows: tuple[int, ...]
    tokens_per_char: float
    loaded: int = 0
    """The `num_ctx` that it is loaded with; another one would load it anew."""

    def cost(self, text: str) -> int:
        """Tokens of a text, on the safe side."""
        return estimate(text, self.tokens_per_char)

    def chosen(self, least: int) -> int:
        """The window to use where `least` is enough."""
        return max(least, self.loaded)

    def beside(self, num_ctx: int, language: prompt.Language, way: prompt.Way) -> int:
        """Tokens for scenes beside all the rest of a request."""
        return prompt.room(num_ctx, language, way, self.tokens_per_char)


@dataclass(frozen=True, slots=True)
class Given:
    """What the model is given for all questions of one conversation."""

    evidence: Evidence
    text: str
    language: prompt.Language
    num_ctx: int

    @property
    def system(self) -> str:
        return prompt.system(self.text, self.evidence.way, self.language)


@dataclass(frozen=True, slots=True)
class Wish:
    """How a question is to be answered."""

    limit: int | None = None
    """Answer from so many of the best scenes; None: `SCENES`, or all of a video where that is better."""
    builder: ContextBuilder | None = None
    """None: ranked and reordered."""


class Gatherer:
    """Chooses what a question is answered from, of one library."""

    def __init__(self, library: Library, searcher: Searcher) -> None:
        self._library = library
        self._searcher = searcher

    def gather(self, query: Query, room: Room | None, wish: Wish) -> Given:
        """What to answer from. Without `room` (there is no model) everything that would be given is.

        Raises:
            UsageError: `unknown_video`, `unknown_channel`.
            AppError: from the library and the index.
        """
        language = prompt.language(query.text)
        about_whole = wish.limit is None and whole.is_about_whole(query.text)
        video = self._evident(query, about_whole=about_whole) if wish.limit is None else None
        windows = self._library.windows_of(video.id) if video else []
        if video and windows:
            contexts = {id: one.text for id, one in self._library.contexts.of_video(video.id).items()}
            mapped = about_whole and (room is None or 2 * len(contexts) >= len(windows))
            given = None if mapped or room is None else self._transcript(video, windows, language, room)
            if given is None and about_whole:
                given = self._map(video, windows, contexts, language, room)
            if given is not None:
                return given
        given = self._search(query, language, room, wish)
        return replace(given, evidence=replace(given.evidence, nameless=about_whole and not windows))

    def _evident(self, query: Query, *, about_whole: bool) -> Video | None:
        """The one video that a question is about, where the filters, the library or the question leave no choice."""
        if query.phrases or query.excluded or query.channels or query.after or query.before:
            return None
        ids: set[str] = set()
        for name in query.videos:
            found = self._library.find_videos(name)
            if not found:
                raise UsageError("unknown_video", video=name)
            ids.update(found)
        if not query.videos:
            videos = [state.video for state in self._library.videos() if state.windows]
            named = whole.named_in(query.text, videos) if about_whole and len(videos) > 1 else videos
            ids.update(video.id for video in named)
        return self._library.video(ids.pop()) if len(ids) == 1 else None

    def _transcript(
        self, video: Video, windows: Sequence[Window], language: prompt.Language, room: Room
    ) -> Given | None:
        """All that is said, where the model's window holds it."""
        text = whole.transcript(video, windows)
        needed = room.cost(text)
        least = next((each for each in room.windows if needed <= room.beside(each, language, "transcript")), None)
        if least is None:
            return None
        evidence = Evidence("transcript", _of_windows(video, windows, {}))
        return Given(evidence, text, language, room.chosen(least))

    def _map(
        self,
        video: Video,
        windows: Sequence[Window],
        contexts: dict[str, str],
        language: prompt.Language,
        room: Room | None,
    ) -> Given:
        cost: Cost = room.cost if room else len
        labels = LABELS[language]
        full, _short = whole.outline(video, windows, contexts, labels, 10**9, cost)
        evidence = Evidence("map", _of_windows(video, windows, contexts))
        if room is None:
            return Given(evidence, full, language, 0)
        needed = room.cost(full)
        least = next((each for each in room.windows if needed <= room.beside(each, language, "map")), room.windows[-1])
        num_ctx = room.chosen(least)
        beside = room.beside(num_ctx, language, "map")
        text, short = whole.outline(video, windows, contexts, labels, beside, cost)
        return Given(replace(evidence, shortened=short), text, language, num_ctx)

    def _search(self, query: Query, language: prompt.Language, room: Room | None, wish: Wish) -> Given:
        found = self._searcher.search(query, limit=wish.limit or SCENES).scenes
        builder = wish.builder or RankedContextBuilder(labels=LABELS[language])
        if room is None:
            return Given(Evidence("search", _of_scenes(found)), builder.build(found), language, 0)

        def budget(num_ctx: int) -> int:
            return min(int(SHARE * num_ctx), room.beside(num_ctx, language, "search"))

        needed = room.cost(builder.build(found))
        least = next((each for each in room.windows if needed <= budget(each)), room.windows[-1])
        num_ctx = room.chosen(least)
        kept = fitted(builder, found, budget(num_ctx), room.cost)
        evidence = Evidence("search", _of_scenes(kept), left_out=len(found) - len(kept))
        return Given(evidence, builder.build(kept), language, num_ctx)


def _of_scenes(scenes: Sequence[Scene]) -> tuple[EvidenceSource, ...]:
    return tuple(
        EvidenceSource(
            number=number,
            scene=scene.id,
            video=scene.video,
            start_ms=scene.start_ms,
            end_ms=scene.end_ms,
            at_ms=scene.at_ms,
            lines=tuple(spoken(scene.text, scene.lines or (Line(0, scene.start_ms),))),
            text=said,
            context=scene.context,
        )
        for number, (scene, said) in enumerate(zip(scenes, speech(scenes), strict=True), start=1)
    )


def _of_windows(video: Video, windows: Sequence[Window], contexts: dict[str, str]) -> tuple[EvidenceSource, ...]:
    return tuple(
        EvidenceSource(
            number=number,
            scene=window.id,
            video=video,
            start_ms=window.start_ms,
            end_ms=window.end_ms,
            at_ms=window.start_ms,
            lines=tuple(window.spoken()),
            text=window.text,
            context=contexts.get(window.id),
        )
        for number, window in enumerate(windows, start=1)
    )
