"""Mutated caption files against the parser and against a whole `index`; prints one line of figures each."""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.events import VideoFailed
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import MAX_CHARS, cut_windows
from subtitle_rag.korean.morphemes import Analyzer
from tests.campaign.mutations import mutated, mutations
from tests.support.place import Place

pytestmark = pytest.mark.campaign(part="fuzz")

COUNT = int(os.environ.get("SUBTITLE_RAG_FUZZ", "300"))
SEED = int(os.environ.get("SUBTITLE_RAG_SEED", "1"))
MAX_CPU_S = 5.0

Say = Callable[[str], None]


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Say:
    def write(line: str) -> None:
        with capfd.disabled():
            sys.stdout.write(f"\n{line}\n")

    return write


def figures(name: str, count: int, results: Counter[str], slowest: tuple[float, int]) -> str:
    counts = "/".join(str(results[result]) for result in ("refused", "taken", "crashed"))
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return (
        f"{name}: {count} files, seed {SEED}, {counts} refused/taken/crashed, "
        f"slowest {slowest[0]:.2f} s (file {slowest[1]}), most memory {mb} MB"
    )


def test_a_mutated_file_is_read_or_refused(say: Say) -> None:
    results: Counter[str] = Counter()
    crashes: list[tuple[int, str]] = []
    slowest = (0.0, 0)
    for number, (format, raw) in enumerate(mutations(SEED, COUNT)):
        began = time.process_time()
        try:
            made = cut_windows("a", parse_captions(raw, format, path="a"))
            assert made
            assert max(len(window.text) for window in made) <= MAX_CHARS + 1
            for window in made:
                window.text.encode()
            results["taken"] += 1
        except CaptionError as error:
            results["refused" if error.message else "crashed"] += 1
        except Exception as error:  # every one is listed, by its number
            results["crashed"] += 1
            crashes.append((number, repr(error)[:200]))
        slowest = max(slowest, (time.process_time() - began, number))
    say(figures("fuzz", COUNT, results, slowest))
    assert crashes == [], f"mutated({SEED}, number) makes the file again"
    assert results["taken"], "all are refused: nothing was proved"
    assert slowest[0] < MAX_CPU_S


def test_an_index_of_mutated_files_comes_to_its_end(tmp_path: Path, analyzer: Analyzer, say: Say) -> None:
    count = max(20, COUNT // 20)
    folder = tmp_path / "captions"
    folder.mkdir()
    for number in range(count):
        format, raw = mutated(SEED + 1, number)
        (folder / f"file [fuzz{number:07d}].ko.{format}").write_bytes(raw)
    began = time.process_time()
    with closing(Place.at(tmp_path / "place", analyzer)) as place:
        report = place.report(folder)
        failures = {event.code for event in place.run(folder) if isinstance(event, VideoFailed)}
        assert place.sound()
    results = Counter({"refused": report.failed, "taken": report.new})
    say(figures("fuzz index", count, results, (time.process_time() - began, 0)).replace("slowest", "all in"))
    assert report.failed + report.new == count
    assert "caption_unexpected" not in failures
