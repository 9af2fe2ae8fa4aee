"""Scenes: groups of windows, with the matches of a query marked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from subtitle_rag.base.domain.values import Line, Morphemes, Video, Window, is_named
from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.base.vectors.pieces import cut_pieces
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.search import highlights
from subtitle_rag.search.copies import Group
from subtitle_rag.search.fusion import Ranked, RetrieverScore
from subtitle_rag.search.own_words import WordFinder
from subtitle_rag.search.reasons import FoundWord, Reason
from subtitle_rag.search.window_reads import Windows

SAID_SHARE = 2 / 3
"""Share of the typed words below which a scene starts at its best piece; see `docs/dev/evaluation.md`."""
BEFORE_PIECE_MS = 6_000
"""Longest time before the best piece at which the jump to words stays."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A search result: one window, or merged neighbours of one video."""

    rank: int
    id: str
    """The id of its best window."""
    video: Video
    start_ms: int
    end_ms: int
    text: str
    lines: tuple[Line, ...]
    highlights: tuple[tuple[int, int], ...]
    at_ms: int
    """The time to jump to: the line where the sentence around the best match starts.

    Usually in the best window, unless another has more typed words together. Variants count only without typed words.
    Below `SAID_SHARE` of the typed words it is the start of the nearest piece, see `make_scenes`.
    """
    score: float
    """The reranker's score if it read the scene, else the fused one."""
    scores: Mapping[str, RetrieverScore]
    """Scores of its best window, by retriever, plus `fused` and `rerank`."""
    overlap_before: str = ""
    overlap_after: str = ""
    context: str | None = None
    """The context of its best window; not speech."""
    related: frozenset[tuple[int, int]] = frozenset()
    """Highlights of variants."""
    title_highlights: tuple[tuple[int, int], ...] = ()
    reason: Reason = "said"
    words: tuple[FoundWord, ...] = ()
    """Each typed word with content, and its place."""
    copies: tuple["Scene", ...] = ()
    """The same speech in other videos, in order of rank; copies have no copies."""

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers in the order of the lines, if the track names them."""
        return tuple(dict.fromkeys(line.speaker for line in self.lines if line.speaker))

    def at_speaker(self, names: Sequence[str]) -> "Scene":
        """Return the scene from the first line of one of these speakers."""
        line = next((line for line in self.lines if is_named(line.speaker, names)), None)
        return replace(self, at_ms=line.start_ms, reason="said") if line else self

    @property
    def best_line(self) -> int:
        """The index of the line to jump to."""
        return next((at for at, line in enumerate(self.lines) if line.start_ms == self.at_ms), 0)

    @property
    def sentence(self) -> tuple[int, int]:
        """The span shown in a row: the sentence at the jump, up to the best match."""
        spans = [span for span in self.highlights if span not in self.related] or self.highlights
        return highlights.sentence(self.text, self.lines, self.best_line, spans) if self.lines else (0, len(self.text))

    @property
    def url(self) -> str | None:
        """The link to the scene's start."""
        return self.video.link(self.start_ms)

    @property
    def jump_url(self) -> str | None:
        """The link to the best line."""
        return self.video.link(self.at_ms)


@dataclass(frozen=True, slots=True)
class Mention:
    """A window with words of a query."""

    window_id: str
    start_ms: int
    end_ms: int
    at_ms: int
    """The start of the best line."""


NearestPieces = Callable[[Sequence[str]], Mapping[str, int]]
"""Function from window ids to the index of the piece nearest to the query, for windows with vectors of pieces."""


def no_pieces(ids: Sequence[str]) -> Mapping[str, int]:  # noqa: ARG001
    return {}


def make_scenes(
    source: Windows,
    groups: Sequence[Sequence[Ranked]],
    lexical: LexicalQuery,
    nearest_pieces: NearestPieces = no_pieces,
) -> tuple[Scene, ...]:
    """Make scenes of the groups, in order, without removed windows and videos.

    Scenes with less than `SAID_SHARE` of the typed words, exact or by sound, start at their best piece, unless the jump
    to the words is in that piece or up to `BEFORE_PIECE_MS` before it. `nearest_pieces` is called once.
    """
    ids = [entry.window_id for group in groups for entry in group]
    windows = source.windows(ids)
    analyses = source.morphemes(ids)
    contexts = source.contexts([group[0].window_id for group in groups])
    videos = source.videos({group[0].video_id for group in groups})
    maker = _SceneMaker(lexical)
    scenes: list[Scene] = []
    unsaid: dict[str, str] = {}
    for group in groups:
        best, video = group[0], videos.get(group[0].video_id)
        members = [windows[r.window_id] for r in sorted(group, key=lambda r: r.ordinal) if r.window_id in windows]
        if video is None or not members:
            continue
        scene = maker.scene(len(scenes) + 1, video, best, members, analyses, contexts.get(best.window_id))
        scenes.append(scene)
        if not _says_most(scene.words):
            unsaid[scene.id] = max((entry for entry in group if entry.window_id in windows), key=_piece_score).window_id
    pieces = nearest_pieces(list(unsaid.values()))
    for at, scene in enumerate(scenes):
        window_id = unsaid.get(scene.id, "")
        if window_id in pieces:
            scenes[at] = replace(scene, at_ms=_jump(scene.at_ms, windows[window_id], pieces[window_id]))
    return tuple(scenes)


def make_results(
    source: Windows,
    results: Sequence[Sequence[Group]],
    lexical: LexicalQuery,
    nearest_pieces: NearestPieces,
) -> tuple[Scene, ...]:
    """Make scenes of the results, in order; of copies the longest video leads, with the others in `copies`."""
    groups = [group for some in results for group in some]
    scenes = make_scenes(source, groups, lexical, nearest_pieces)
    if len(groups) == len(results):
        return scenes
    scene_by_id = {scene.id: scene for scene in scenes}
    together = [
        [scene_by_id[group[0].window_id] for group in some if group[0].window_id in scene_by_id] for some in results
    ]
    ends = source.ends([scene.video.id for some in together if len(some) > 1 for scene in some])
    best: list[Scene] = []
    for some in filter(None, together):
        fullest = max(some, key=lambda scene: ends.get(scene.video.id, 0))
        rank = len(best) + 1
        copies = tuple(replace(scene, rank=rank) for scene in some if scene is not fullest)
        best.append(replace(fullest, rank=rank, copies=copies))
    return tuple(best)


def _says_most(words: Sequence[FoundWord]) -> bool:
    spoken_words = sum(word.source in ("text", "sound") for word in words)
    return bool(words) and spoken_words >= SAID_SHARE * len(words)


def _piece_score(entry: Ranked) -> float:
    return entry.scores[PIECES].score if PIECES in entry.scores else -1.0


def _jump(at_ms: int, window: Window, piece: int) -> int:
    """Return the start of a window's piece, or `at_ms` if it is close."""
    limits = [*(start_ms for start_ms, _text in cut_pieces(window)), window.end_ms]
    if piece + 1 >= len(limits):  # vectors of an older text with more pieces
        return at_ms
    begin_ms, end_ms = limits[piece : piece + 2]
    return at_ms if begin_ms - BEFORE_PIECE_MS <= at_ms < end_ms else begin_ms


def mentions(source: Windows, ids: Sequence[str], lexical: LexicalQuery) -> list[Mention]:
    """Return the windows with words of the query, in order of time.

    A window found by its context or title alone has no marks.
    """
    analyses, traced = source.morphemes(ids), lexical.forms | lexical.related
    mentions: list[Mention] = []
    for id, window in source.windows(ids).items():
        marks = highlights.marks(window.text, highlights.spoken_forms(analyses.get(id), traced), lexical)
        if marks.typed or marks.related:
            at = _best_line(id, [window], [marks], lexical.rarities)
            mentions.append(Mention(id, window.start_ms, window.end_ms, at.start_ms))
    return sorted(mentions, key=lambda mention: (mention.at_ms, mention.window_id))


def passage(context: str | None, text: str) -> str:
    """Return a window's text for the reranker."""
    return f"{context}\n{text}" if context else text


def passages(source: Windows, ids: Sequence[str]) -> dict[str, str]:
    """Return the windows' texts for the reranker, in the order of their ids; unknown ids are left out."""
    contexts, windows = source.contexts(ids), source.windows(ids)
    return {id: passage(contexts.get(id), windows[id].text) for id in ids if id in windows}


class _SceneMaker:
    """Maker of scenes for one query, from windows already read."""

    def __init__(self, lexical: LexicalQuery) -> None:
        self._lexical = lexical
        self._finder = WordFinder(lexical)
        self._forms = self._finder.forms | lexical.forms | lexical.related
        self._title_highlights = cache(lambda title: tuple(highlights.spans(title, lexical)))

    def scene(
        self,
        rank: int,
        video: Video,
        best: Ranked,
        windows: Sequence[Window],
        analyses: Mapping[str, Morphemes],
        context: str | None,
    ) -> Scene:
        """Make a scene of adjacent windows.

        Args:
            rank: Its rank, from 1.
            video: The video of the windows.
            best: The best window with its scores.
            windows: One or more windows, in order of time.
            analyses: Their analyses, by window id.
            context: The context of the best window.

        Returns:
            The scene with its marks and its time to jump to.
        """
        marks: list[highlights.Marks] = []
        lines: list[Line] = []
        typed: list[highlights.Span] = []
        related: list[highlights.Span] = []
        text_by_form: dict[str, str] = {}
        offset = 0
        for window in windows:
            forms = highlights.spoken_forms(analyses.get(window.id), self._forms)
            marks.append(highlights.marks(window.text, forms, self._lexical))
            text_by_form |= {form: window.text[start:end] for start, end, form in forms}
            lines += [line._replace(offset=offset + line.offset) for line in window.lines] if offset else window.lines
            moved = marks[-1].moved(offset)
            typed += moved.typed
            related += moved.related
            offset += len(window.text) + 1
        text = " ".join(window.text for window in windows)
        title = self._title_highlights(video.title)
        around = f"{windows[0].overlap_before} {windows[-1].overlap_after}"
        words = self._finder.find(text_by_form, text, context or "", video.title, around)
        reason: Reason = "said" if typed else "related" if related else "title" if title else "meaning"
        if reason == "meaning" and context and highlights.spans(context, self._lexical):
            reason = "context"
        if reason == "meaning" and any(word.source == "nearby" for word in words):
            reason = "nearby"
        return Scene(
            rank=rank,
            id=best.window_id,
            video=video,
            start_ms=windows[0].start_ms,
            end_ms=max(window.end_ms for window in windows),
            text=text,
            lines=tuple(lines),
            highlights=tuple(sorted((*typed, *related))),
            at_ms=_best_line(best.window_id, windows, marks, self._lexical.rarities).start_ms,
            score=best.score,
            scores=best.scores,
            overlap_before=windows[0].overlap_before,
            overlap_after=windows[-1].overlap_after,
            context=context,
            related=frozenset(related),
            title_highlights=title,
            reason=reason,
            words=words,
        )


def _best_line(
    best_id: str, windows: Sequence[Window], marks: Sequence[highlights.Marks], rarity: Mapping[str, float]
) -> Line:
    """Return the line where the best sentence starts.

    Taken from the window with most typed words together, else most variants; the best window wins ties.
    """
    best = [
        highlights.best_line(window.lines, words, related, rarity)
        for window, (_typed, related, words) in zip(windows, marks, strict=True)
    ]

    def rank_key(at: int) -> tuple[int, int, bool]:
        return best[at].words, 0 if any_typed else len(marks[at].related), windows[at].id == best_id

    any_typed = any(some.words for some in marks)
    at = max(range(len(windows)), key=rank_key)
    window, line, (_typed, related, words) = windows[at], best[at].line, marks[at]
    spans = sorted((mark.start, mark.end) for mark in words) or related
    first = next((start for start, end in spans if end > line.offset), line.offset)
    begin = highlights.sentence_begin(window.text, 0, first, line.offset)
    earliest_ms = line.start_ms - highlights.LOOK_BACK_MS
    lines_before = [each for each in window.lines if each.offset <= begin and each.start_ms >= earliest_ms]
    return lines_before[-1] if lines_before else line
