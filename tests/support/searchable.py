"""A small searchable library of invented captions: real SQLite, real index, real Kiwi."""

from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path

from subtitle_rag.base.domain.values import Cue, Track, Video, Window
from subtitle_rag.captions.windows import RULE, cut_windows
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.library.store import Library
from subtitle_rag.search.searcher import Searcher

LINE_MS = 6_000
LINES = 9
"""Lines in a minute of speech; a window ends at the pause after them."""
FILLER = "다음 이야기로 넘어가겠습니다"

Minutes = Sequence[Sequence[str]]
"""Lines of each minute, filled up with `FILLER`."""


def spoken(minutes: Minutes) -> list[Cue]:
    """Return cues that make one window per minute."""
    cues = []
    for minute, lines in enumerate(minutes):
        for at, text in enumerate([*lines, *[FILLER] * (LINES - len(lines))]):
            start = minute * 60_000 + at * LINE_MS
            cues.append(Cue(start, start + LINE_MS, text))
    return cues


def video(
    id: str, title: str = "", channel: str = "느긋한 식탁", published: str | None = None, channel_id: str = ""
) -> Video:
    day = date.fromisoformat(published) if published else None
    url = f"https://youtu.be/{id}" if len(id) == 11 else None
    return Video(id, title or f"{id} 영상", channel_id or channel, channel, url=url, published=day)


def put_talk(library: Library, talk: Video, minutes: Minutes, kind: str = "file") -> list[Window]:
    """Store a video with one window per minute, and return the windows."""
    raw, windows = repr(minutes).encode(), cut_windows(talk.id, spoken(minutes))
    library.put_video(talk, Track("ko", kind, "vtt", raw, sha256(raw).hexdigest(), 0), windows, RULE)
    return windows


def filled(path: Path, analyzer: Analyzer, videos: Mapping[Video, Minutes]) -> Library:
    """Return a library with a known vocabulary, without an index."""
    library = Library(path)
    for talk, minutes in videos.items():
        windows = put_talk(library, talk, minutes)
        analyses = analyzer.morphemes([window.text for window in windows]) if windows else ()
        library.put_indexed(ANALYZER, {w.id: ("", found) for w, found in zip(windows, analyses, strict=True)})
    return library


class Searchable:
    """A library with everything needed to search it."""

    def __init__(self, folder: Path, analyzer: Analyzer, videos: Mapping[Video, Minutes]) -> None:
        self.analyzer = analyzer
        self.library = filled(folder / "library.db", analyzer, videos)
        self.index = EdgeIndex(folder / "index", {"analyzer": ANALYZER})
        self.indexer = Indexer(self.library, self.index, analyzer)
        for _event in self.indexer.rebuild():
            pass
        self.searcher = Searcher(self.library, self.index, QueryAnalyzer(self.library, analyzer))

    def close(self) -> None:
        self.index.close()
        self.library.close()
