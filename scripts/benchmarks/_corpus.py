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
from math import ceil
from pathlib import Path
from typing import TypeVar
from uuid import UUID
from zlib import crc32

from scripts.benchmarks._frame import Cells, budget, spread, timed
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
from tests.support.terminal import processor_s

SAMPLE = Path(__file__).parents[2] / "subtitle_rag" / "sample"
QUERIES = 200
SETTLE_S = 8.0
"""After filling: the host optimizes when it has been idle for 5 s."""
WINDOWS_IN_VIDEO, VIDEOS_AT_ONCE = 20, 100
LAST_DAY, DAYS = date(2026, 1, 1), 364
T = TypeVar("T")


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


def analysed(folders: Sequence[Path], analyzer: Analyzer, spent: dict[str, float] | None = None) -> list[Analysed]:
    """The corpus with all that indexing makes of it; `spent` gets the seconds of each stage."""
    seconds = {} if spent is None else spent

    def stage(name: str, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        done = work()
        seconds[name] = time.perf_counter() - started
        return done

    groups = [group for group in files.discover(folders) if isinstance(group, files.CaptionGroup)]
    videos = [group.video for group in groups]
    tracks = [files.read(group.candidates[0]) for group in groups]
    parse_captions(b"WEBVTT\n\n00:00.000 --> 00:01.000\nx\n", "vtt")  # its imports are not its work
    cues = stage("parse", lambda: [list(parse_captions(track.raw, track.format)) for track in tracks])
    windows = stage("window", lambda: [cut_windows(video.id, some) for video, some in zip(videos, cues, strict=True)])
    texts = [window.text for some in windows for window in some]
    found = iter(stage("Kiwi (two workers)", lambda: list(analyzer.morphemes(texts))))
    analyses = [[next(found) for _window in some] for some in windows]
    documents = [IndexDocument(video, some, {}) for video, some in zip(videos, windows, strict=True)]
    prefixes = [list(analyzer.morphemes(document.prefix_texts())) for document in documents]
    vectors = stage(
        "vectors",
        lambda: [
            list(document.vectors([*prefix, *some]).values())
            for document, prefix, some in zip(documents, prefixes, analyses, strict=True)
        ],
    )
    return list(map(Analysed, videos, tracks, windows, analyses, vectors))


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


def copied(corpus: Sequence[Analysed], copy: int) -> Iterator[tuple[Window, Morphemes, SparseVector]]:
    """Yield the corpus' windows once more: new ids, shuffled words, every twentieth form renamed."""
    rng = random.Random(copy)
    forms = {form for entry in corpus for analysis in entry.analyses for form in analysis.forms}
    renamed = {form: f"{form}{copy}" for form in forms if crc32(f"{copy}{form}".encode()) % 20 == 0}
    ids = {term_id("m", form): term_id("m", renamed_form) for form, renamed_form in renamed.items()}
    for entry in corpus:
        for window, analysis, vector in zip(entry.windows, entry.analyses, entry.vectors, strict=True):
            text, moved = with_words_in_other_order(window.text, analysis, rng)
            id = str(UUID(hashlib.md5(f"{copy}{window.id}".encode()).hexdigest()))
            moved = replace(moved, forms=tuple(renamed.get(form, form) for form in moved.forms))
            yield replace(window, id=id, text=text), moved, renumbered(vector, ids)


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


def invented(corpus: Sequence[Analysed], channels: int) -> Iterator[Analysed]:
    """Yield videos of copies of the corpus' windows, without end, each in one of so many channels.

    A video has a minute for each of its windows, lines of six words, an address, and a day of publication.
    """
    window_rows = (row for copy in count() for row in copied(corpus, copy))
    for number in count():
        some = list(islice(window_rows, WINDOWS_IN_VIDEO))
        video = Video(
            id=f"b{number:010d}",
            title=" ".join(some[0][0].text.split(" ")[:6]),
            channel_id=channel_id(number % channels),
            channel=f"채널 {number % channels}",
            url=f"https://www.youtube.com/watch?v=b{number:010d}",
            published=LAST_DAY - timedelta(days=number % DAYS),
            duration_ms=60_000 * len(some),
        )
        placed_windows = [
            _placed(window, video.id, ordinal) for ordinal, (window, _analysis, _vector) in enumerate(some)
        ]
        yield Analysed(video, corpus[0].track, placed_windows, [row[1] for row in some], [row[2] for row in some])


def channel_id(number: int) -> str:
    return f"UC{number:022d}"


def grown(
    filling: Filling, corpus: Sequence[Analysed], sizes: Sequence[int], channels: int = 300
) -> Iterator[tuple[int, float]]:
    """Fill to one size after the other; yields (windows, seconds of filling) where a size is reached."""
    videos, filled, seconds = invented(corpus, channels), 0, 0.0
    for size in sizes:
        while filled < size:
            some = list(islice(videos, min(VIDEOS_AT_ONCE, ceil((size - filled) / WINDOWS_IN_VIDEO))))
            seconds += timed(lambda some=some: filling.add(some))  # type: ignore[misc]
            filled += WINDOWS_IN_VIDEO * len(some)
        yield size, seconds


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


def latency(
    filling: Filling, what: str, work: Callable[[T], object], items: Sequence[T], most_ms: float | None = None
) -> Cells:
    """Measure one call after the other, and the processor's time, which does not hang on what else the machine does."""
    before = _processor_ms(filling.index.host_pid)
    p50, p95 = spread([timed(lambda item=item: work(item)) for item in items])  # type: ignore[misc]
    cpu = (_processor_ms(filling.index.host_pid) - before) / len(items)
    figure = f"{p50:.1f} / {p95:.1f} ms ({cpu:.1f} ms of processor)"
    limit = f"≤ {most_ms} ms p95" if most_ms else ""
    return budget(f"{what}, p50 / p95", figure, limit, p95 <= most_ms if most_ms else None)


def _processor_ms(pid: int) -> float:
    """Return the processor time of this process and the host; 0 without `/proc`."""
    if not Path(f"/proc/{pid}/stat").exists():
        return 0.0
    return 1000 * (processor_s(pid) + time.process_time())


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
