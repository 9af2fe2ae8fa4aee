"""Corpus of the benchmarks, read and analysed once, and libraries of any size made from it."""

import os
import random
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from itertools import accumulate, count, islice
from math import ceil
from pathlib import Path
from typing import NamedTuple, TypeVar
from zlib import crc32

from scripts.benchmarks._frame import Cells, budget, spread, timed
from subtitle_rag.base.config.settings import Paths
from subtitle_rag.base.domain.values import Line, Morphemes, Track, Video, Window
from subtitle_rag.captions import files
from subtitle_rag.captions.windows import RULE, window_id
from subtitle_rag.evaluation.questions import Document
from subtitle_rag.evaluation.temp_library import CachingAnalyzer
from subtitle_rag.index.index_client import HostedIndex
from subtitle_rag.index.indexing import Indexer, windows_of_track
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.library.store import Library
from tests.support.terminal import processor_s

SAMPLE = Path(__file__).parents[2] / "subtitle_rag" / "sample"
QUERIES = 200
SETTLE_S = 8.0
"""Pause after filling: the host optimizes after 5 s without a call."""
WINDOWS_IN_VIDEO, VIDEOS_AT_ONCE = 20, 100
LAST_DAY, DAYS = date(2026, 1, 1), 364
TRACK = Track("ko", "file", "vtt", b"", "", 0)
T = TypeVar("T")

Corpus = Sequence[tuple[str, Morphemes]]
"""Texts of windows, each with its morphemes."""


def corpus_folders(data: Path | None, scratch: Path) -> list[Path]:
    """Return the corpus's folders; without `data`, ten copies of the sample."""
    if data is not None:
        folders = [data / name for name in ("pyconkr_2019", "fashion_asr")]
        return [folder for folder in folders if folder.is_dir()] or [data]
    folder = scratch / "copies"
    folder.mkdir()
    for copy in range(10):
        for number, file in enumerate(sorted(SAMPLE.glob("*.vtt"))):
            (folder / f"copy {copy} [copy-{copy:02d}-{number:03d}].ko.vtt").write_bytes(file.read_bytes())
    return [folder]


def documents(folders: Sequence[Path]) -> Iterator[Document]:
    """Yield the videos in caption files with their windows."""
    for group in files.discover(folders):
        if isinstance(group, files.CaptionGroup):
            track = files.read(group.candidates[0])
            yield group.video, tuple(windows_of_track(group.video, track, group.video.title))


def analysed(folders: Sequence[Path], analyzer: Analyzer) -> Corpus:
    texts = [window.text for _video, windows in documents(folders) for window in windows]
    return list(zip(texts, analyzer.morphemes(texts), strict=True))


# --- libraries of any size ---


class InventedVideo(NamedTuple):
    """A video with all data needed to index it."""

    video: Video
    windows: list[Window]
    morphemes: dict[str, Morphemes]
    """Morphemes of its windows' texts."""


class Filling:
    """A home that is filled without analysing any text twice."""

    def __init__(self, home: Path, analyzer: Analyzer) -> None:
        self.home = home
        self.paths = Paths.under(home)
        self.library = Library(self.paths.library)
        self.index = HostedIndex(self.paths.index, {"analyzer": ANALYZER})
        self.analyzer = analyzer

    def add(self, videos: Sequence[InventedVideo]) -> None:
        morphemes: dict[str, Morphemes] = {}
        for each in videos:
            self.library.put_video(each.video, TRACK, each.windows, RULE)
            morphemes |= each.morphemes
        for _event in Indexer(self.library, self.index, CachingAnalyzer(self.analyzer, morphemes)).finish():
            pass

    def close(self) -> None:
        self.library.close()
        self.index.close()


def copied(corpus: Corpus, copy: int) -> Iterator[tuple[str, Morphemes]]:
    """Yield another copy of the corpus, with shuffled words and every twentieth form renamed."""
    rng = random.Random(copy)
    forms = {form for _text, morphemes in corpus for form in morphemes.forms}
    renamed = {form: f"{form}{copy}" for form in forms if crc32(f"{copy}{form}".encode()) % 20 == 0}
    for text, morphemes in corpus:
        shuffled, moved = with_words_in_other_order(text, morphemes, rng)
        yield shuffled, replace(moved, forms=tuple(renamed.get(form, form) for form in moved.forms))


def with_words_in_other_order(text: str, analysis: Morphemes, rng: random.Random) -> tuple[str, Morphemes]:
    """Shuffle a text's words and their morphemes, since videos with the same text would be one search result."""
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


def invented(corpus: Corpus, channels: int) -> Iterator[InventedVideo]:
    """Yield videos with copies of the corpus's windows, endlessly, spread over `channels` channels.

    Each window is a minute of its video; a video has lines of six words, an address, and a publication date.
    """
    rows = (row for copy in count() for row in copied(corpus, copy))
    for number in count():
        id = f"b{number:010d}"
        morphemes = dict(islice(rows, WINDOWS_IN_VIDEO))
        video = Video(
            id=id,
            title=" ".join(next(iter(morphemes)).split(" ")[:6]),
            channel_id=channel_id(number % channels),
            channel=f"채널 {number % channels}",
            url=f"https://www.youtube.com/watch?v={id}",
            published=LAST_DAY - timedelta(days=number % DAYS),
            duration_ms=60_000 * len(morphemes),
        )
        yield InventedVideo(video, [minute(id, at, text) for at, text in enumerate(morphemes)], morphemes)


def channel_id(number: int) -> str:
    return f"UC{number:022d}"


def minute(video_id: str, ordinal: int, text: str) -> Window:
    """Return the window of a video's minute."""
    spaces = [at + 1 for at, character in enumerate(text) if character == " "][5::6]
    start = 60_000 * ordinal
    lines = tuple(Line(at, start + 60_000 * at // len(text)) for at in (0, *spaces))
    return Window(window_id(video_id, ordinal), video_id, ordinal, start, start + 60_000, text, lines)


def grown(filling: Filling, corpus: Corpus, sizes: Sequence[int], channels: int = 300) -> Iterator[tuple[int, float]]:
    """Fill to one size after another; yield (windows, seconds of filling) at each size."""
    videos, filled, seconds = invented(corpus, channels), 0, 0.0
    for size in sizes:
        while filled < size:
            some = list(islice(videos, min(VIDEOS_AT_ONCE, ceil((size - filled) / WINDOWS_IN_VIDEO))))
            seconds += timed(lambda some=some: filling.add(some))  # type: ignore[misc]
            filled += sum(len(each.windows) for each in some)
        yield size, seconds


def typed(corpus: Corpus) -> list[str]:
    """Return queries of one to four neighbouring words from a window."""
    rng = random.Random(1)
    texts = [text.split(" ") for text, _morphemes in corpus]
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
    """Measure call by call, with the processor's time, which does not depend on the machine's load.

    Args:
        filling: has the index, whose host is measured too.
        what: name of the row.
        work: function to call.
        items: its arguments.
        most_ms: budget of the 95th percentile, if any.

    Returns:
        The cells of a row.
    """
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
    from subtitle_rag.base.hosting.entry import host_entry

    folder = Paths.under(home).index
    entry = host_entry(folder)
    if entry is None:
        return
    os.kill(entry["pid"], 15)
    while host_entry(folder) is not None:
        time.sleep(0.01)
    with suppress(ChildProcessError):
        os.waitpid(entry["pid"], 0)  # a host started by this process may still write into its folder
