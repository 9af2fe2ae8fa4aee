"""What the benchmarks share: a corpus that is read and analysed once, and libraries of any size made of it."""

import hashlib
import os
import random
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate, count, islice
from pathlib import Path
from zlib import crc32

from scripts.benchmarks._frame import timed
from subtitle_rag.captions import files
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import RULE, cut_windows
from subtitle_rag.config.settings import Paths
from subtitle_rag.domain import Line, Morphemes, Track, Video, Window
from subtitle_rag.indexing import BATCH, Indexer
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index.index_client import HostedIndex
from subtitle_rag.retrieval.index.index_document import IndexDocument
from subtitle_rag.retrieval.index.payload import to_payload
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer, term_id
from subtitle_rag.retrieval.values import Point, SparseVector

SAMPLE = Path(__file__).parents[2] / "subtitle_rag" / "sample"
QUERIES = 200


@dataclass(frozen=True)
class Analysed:
    """A video of the corpus with all that indexing makes of it."""

    video: Video
    track: Track
    windows: list[Window]
    analyses: list[Morphemes]
    vectors: list[SparseVector]


def corpus_folders(data: Path | None, scratch: Path) -> list[Path]:
    """Where the corpus lies; without `data`, ten copies of the sample."""
    if data is not None:
        folders = [data / name for name in ("pyconkr_2019", "fashion_asr")]
        return [folder for folder in folders if folder.is_dir()] or [data]
    folder = scratch / "copies"
    folder.mkdir()
    for copy in range(10):
        for number, file in enumerate(sorted(SAMPLE.glob("*.vtt"))):
            (folder / f"copy {copy} [copy-{copy:02d}-{number:03d}].ko.vtt").write_bytes(file.read_bytes())
    return [folder]


def joined(
    tracks: Iterable[tuple[Video, Track]], windows_by_video: Iterable[list[Window]], analyses: Iterator[Morphemes]
) -> Iterator[Analysed]:
    for (video, track), some in zip(tracks, windows_by_video, strict=True):
        yield Analysed(video, track, some, [next(analyses) for _window in some], [])


def analysed(folders: Sequence[Path], analyzer: Analyzer) -> list[Analysed]:
    """The corpus with all that indexing makes of it."""
    groups = [group for group in files.discover(folders) if isinstance(group, files.CaptionGroup)]
    tracks = [(group.video, files.read(group.candidates[0])) for group in groups]
    windows_by_video = [
        cut_windows(video.id, list(parse_captions(t.raw, t.format, path=video.id))) for video, t in tracks
    ]
    analyses = analyzer.morphemes([window.text for some in windows_by_video for window in some])
    with_vectors = []
    for video in joined(tracks, windows_by_video, iter(list(analyses))):
        material = IndexDocument(video.video, video.windows, {})
        vectors = material.vectors([*analyzer.morphemes(material.prefix_texts()), *video.analyses])
        with_vectors.append(replace(video, vectors=list(vectors.values())))
    return with_vectors


# --- libraries of any size ---


class Filling:
    """A home that is filled without analysing anything twice."""

    def __init__(self, home: Path, analyzer: Analyzer) -> None:
        self.home = home
        self.paths = Paths.under(home)
        self.library = Library(self.paths.library)
        self.index = HostedIndex(self.paths.index, {"analyzer": ANALYZER})
        self.indexer = Indexer(self.library, self.index, analyzer)

    def put(self, some: Iterable[Analysed]) -> None:
        for entry in some:
            self.library.put_video(entry.video, entry.track, entry.windows, RULE)
            noted = {w.id: ("bench", analysis) for w, analysis in zip(entry.windows, entry.analyses, strict=True)}
            self.library.put_indexed(ANALYZER, noted)

    def insert(self, some: Iterable[Analysed]) -> None:
        pairs = (
            (entry.video, w, vector) for entry in some for w, vector in zip(entry.windows, entry.vectors, strict=True)
        )
        points = [Point(window.id, {"bm25": vector}, to_payload(video, window)) for video, window, vector in pairs]
        for start in range(0, len(points), BATCH):
            self.index.insert(points[start : start + BATCH])

    def add(self, some: Sequence[Analysed]) -> None:
        self.put(some)
        self.insert(some)

    def close(self) -> None:
        self.library.close()
        self.index.close()


def copied(corpus: Sequence[Analysed], copy: int) -> Iterator[Analysed]:
    """The corpus once more: new ids, shuffled words, every twentieth form renamed."""
    rng = random.Random(copy)
    forms = {form for entry in corpus for analysis in entry.analyses for form in analysis.forms}
    renamed = {form: f"{form}{copy}" for form in forms if crc32(f"{copy}{form}".encode()) % 20 == 0}
    ids = {term_id("m", form): term_id("m", renamed_form) for form, renamed_form in renamed.items()}
    for number, entry in enumerate(corpus):
        video = replace(entry.video, id=f"bench-{copy}-{number}", title=f"{entry.video.title} {copy}", source=None)
        shuffled = []
        for window, analysis in zip(entry.windows, entry.analyses, strict=True):
            text, moved = with_words_in_other_order(window.text, analysis, rng)
            id = hashlib.md5(f"{copy}{window.id}".encode()).hexdigest()
            id = "-".join((id[:8], id[8:12], id[12:16], id[16:20], id[20:]))
            moved = replace(moved, forms=tuple(renamed.get(form, form) for form in moved.forms))
            shuffled.append((replace(window, id=id, video_id=video.id, text=text, lines=window.lines[:1]), moved))
        vectors = [renumbered(vector, ids) for vector in entry.vectors]
        yield Analysed(video, entry.track, [w for w, _ in shuffled], [a for _, a in shuffled], vectors)


def with_words_in_other_order(text: str, analysis: Morphemes, rng: random.Random) -> tuple[str, Morphemes]:
    """The text with its words shuffled, and its morphemes with their words: videos that say the same are one result."""
    words = text.split(" ")
    begins = [0, *accumulate(len(word) + 1 for word in words)][:-1]
    order = rng.sample(range(len(words)), len(words))
    moved = dict(zip(order, [0, *accumulate(len(words[at]) + 1 for at in order)], strict=False))
    placed = []
    for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
        at = bisect_right(begins, start) - 1
        shift = moved[at] - begins[at]
        placed.append((start + shift, min(end + shift, len(text)), form))
    starts, ends, forms = zip(*sorted(placed), strict=True) if placed else ((), (), ())
    return " ".join(words[at] for at in order), Morphemes(forms, starts, ends)


def renumbered(vector: SparseVector, ids: dict[int, int]) -> SparseVector:
    pairs = {ids.get(index, index): value for index, value in zip(vector.indices, vector.values, strict=True)}
    indices = tuple(sorted(pairs))
    return SparseVector(indices, tuple(pairs[index] for index in indices))


def grown(
    filling: Filling,
    corpus: Sequence[Analysed],
    sizes: Sequence[int],
    change: Callable[[Analysed], Analysed] = lambda entry: entry,
) -> Iterator[tuple[int, float]]:
    """Fill to one size after the other; yields (windows, seconds of filling) where a size is reached."""
    filled, copy, seconds = 0, 0, 0.0
    for size in sizes:
        while filled < size:
            some: list[Analysed] = []
            for entry in map(change, copied(corpus, copy)):
                missing = size - filled
                some.append(
                    Analysed(
                        entry.video,
                        entry.track,
                        entry.windows[:missing],
                        entry.analyses[:missing],
                        entry.vectors[:missing],
                    )
                )
                filled += len(some[-1].windows)
            seconds += timed(lambda some=some: filling.add(some))  # type: ignore[misc]
            copy += 1
        yield size, seconds


def regrouped(corpus: Sequence[Analysed], size: int, videos: int, channels: int) -> Iterator[Analysed]:
    """`size` windows of copies of the corpus as those of so many videos, each of one of so many channels.

    A video has a minute for each of its windows, lines of six words, an address, and a day of publication.
    """
    copies = (entry for copy in count() for entry in copied(corpus, copy))
    window_rows = (row for entry in copies for row in zip(entry.windows, entry.analyses, entry.vectors, strict=True))
    for number in range(videos):
        some = list(islice(window_rows, (number + 1) * size // videos - number * size // videos))
        channel = f"UC{number % channels:022d}"
        video = Video(
            id=f"b{number:010d}",
            title=" ".join(some[0][0].text.split(" ")[:6]),
            channel_id=channel,
            channel=f"채널 {number % channels}",
            url=f"https://www.youtube.com/watch?v=b{number:010d}",
            published=date(2026, 1, 1) - timedelta(days=number),
            duration_ms=60_000 * len(some),
        )
        placed_windows = [
            _placed(window, video.id, ordinal) for ordinal, (window, _analysis, _vector) in enumerate(some)
        ]
        yield Analysed(video, corpus[0].track, placed_windows, [row[1] for row in some], [row[2] for row in some])


def _placed(window: Window, video_id: str, ordinal: int) -> Window:
    """The window in its minute of another video."""
    spaces = [at + 1 for at, character in enumerate(window.text) if character == " "][5::6]
    start = 60_000 * ordinal
    lines = tuple(Line(at, start + 60_000 * at // len(window.text)) for at in (0, *spaces))
    return replace(window, video_id=video_id, ordinal=ordinal, start_ms=start, end_ms=start + 60_000, lines=lines)


def typed(corpus: Sequence[Analysed]) -> list[str]:
    """Queries of one to four words that stand near each other in some window."""
    rng = random.Random(1)
    texts = [window.text.split(" ") for entry in corpus for window in entry.windows]
    queries: list[str] = []
    while len(queries) < QUERIES:
        words, number = rng.choice(texts), rng.randint(1, 4)
        at = rng.randrange(len(words))
        query = " ".join(words[at : at + number])
        if any(character.isalnum() for character in query):
            queries.append(query)
    return queries


def end_host(home: Path) -> None:
    """End the host of a home and wait until it is gone."""
    from subtitle_rag.hosting.entry import host_entry

    folder = Paths.under(home).index
    entry = host_entry(folder)
    if entry is None:
        return
    os.kill(entry["pid"], 15)
    while host_entry(folder) is not None:
        time.sleep(0.01)
    with suppress(ChildProcessError):
        os.waitpid(entry["pid"], 0)  # a host that this process has started may still write into its folder
