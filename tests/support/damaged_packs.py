"""Damaged packs for the fuzz of `unpack`: bit flips, cuts, gaps, swapped members, and values with right checksums."""

import random
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.domain import AppError
from subtitle_rag.packing.pack_reader import PackReader
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.invented import caption_folder
from tests.support.packs import members, pack, sealed, unpack, with_contexts, written
from tests.support.place import Place

CODES = {"pack_damaged", "pack_foreign", "pack_newer"}
WORDS = (b"NaN", b"1e999", b"-", b"null", b"[", b"{", b'"', b"9" * 30, b"\\ud800", b"\0")
UNPACKED = 25
"""One of so many damaged packs is unpacked into a library too."""


def damaged(rng: random.Random, good: Path, target: Path) -> str:
    """Write a damaged copy, and return how it was damaged."""
    raw = bytearray(good.read_bytes())
    change = rng.choice(("bits", "bytes", "cut", "gap", "swapped", "line", "sealed", "value"))
    if change == "bits":
        for _number in range(rng.randint(1, 4)):
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    elif change == "bytes":
        at = rng.randrange(len(raw))
        raw[at : at + 16] = rng.randbytes(16)
    elif change == "cut":
        del raw[rng.randrange(len(raw)) :]
    elif change == "gap":
        at = rng.randrange(len(raw))
        del raw[at : at + rng.randint(1, 500)]
    else:
        return _changed_content(rng, change, members(good), target)
    target.write_bytes(raw)
    return change


def _changed_content(rng: random.Random, change: str, content: dict[str, bytes], target: Path) -> str:
    """Damage what is within: the archive itself is sound."""
    names = [name for name in content if content[name]]
    name = rng.choice(names)
    text = bytearray(content[name])
    if change == "swapped":
        first, second = rng.sample(sorted(content), 2)
        content[first], content[second] = content[second], content[first]
        written(target, content)
        return change
    at = rng.randrange(len(text))
    if change == "line":
        written(target, {**content, name: bytes(text[: text.rfind(b"\n", 0, at) + 1])})
        return change
    name = rng.choice([each for each in names if each != "manifest.json"])
    text = bytearray(content[name])
    at = rng.randrange(len(text))
    if change == "sealed":
        text[at] = rng.randrange(256)
    else:
        text[at : at + 1] = rng.choice(WORDS)
    sealed(target, content, {name: bytes(text)})
    return change


def values(path: Path) -> list[Any]:
    """All values of a pack, as `unpack` reads them."""
    with closing(PackReader(path)) as reader:
        for _count in reader.check():
            pass
        return [*reader.videos(), *reader.channels(), *reader.marks(), *reader.sources(), *reader.vectors()]


@dataclass
class Fuzz:
    """What became of damaged packs."""

    seed: int
    results: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)
    """Seconds of processor, and the number of the pack."""

    def line(self) -> str:
        counts = "/".join(str(self.results[name]) for name in ("refused", "same", "altered"))
        return (
            f"fuzz packs: {self.results.total()} packs, seed {self.seed}, {counts} refused/same/altered with checksum, "
            f"{len(self.problems)} problems, slowest {self.slowest[0]:.2f} s (pack {self.slowest[1]})"
        )


def fuzz(folder: Path, analyzer: Analyzer, count: int, seed: int) -> Fuzz:
    """Damage a pack so many times: each is refused in words, or holds just what the whole one holds."""
    good, bad = folder / "good.pack", folder / "bad.pack"
    with closing(Place.at(folder / "giver", analyzer)) as giver:
        giver.run(caption_folder(folder / "captions", 2, minutes=2))
        with_contexts(giver)
        video = giver.library.videos()[0].video
        giver.library.marks.add(video, 0, 9_000, 0, "줄", note="메모")
        pack(giver, good)
    whole, done = values(good), Fuzz(seed)
    with closing(Place.at(folder / "receiver", analyzer)) as receiver:
        unpack(receiver, good)
        for number in range(count):
            change = damaged(random.Random(f"{seed}/{number}"), good, bad)
            began = time.process_time()
            try:
                _try(done, change, number, bad, whole)
                if number % UNPACKED == 0:
                    _try_unpacking(receiver, bad)
            except Exception as error:  # every one is listed, by its number
                done.results["crashed"] += 1
                done.problems.append(f"{number} {change}: {error!r}"[:300])
            done.slowest = max(done.slowest, (time.process_time() - began, number))
    return done


def _try(done: Fuzz, change: str, number: int, path: Path, whole: list[Any]) -> None:
    try:
        is_same = values(path) == whole
    except AppError as error:
        done.results["refused"] += 1
        if error.code not in CODES or not error.message:
            done.problems.append(f"{number} {change}: {error.code}")
        return
    done.results["same" if is_same else "altered"] += 1
    if not is_same and change not in ("sealed", "value"):
        done.problems.append(f"{number} {change}: other content")


def _try_unpacking(receiver: Place, path: Path) -> None:
    before = receiver.content()
    try:
        unpack(receiver, path)
        assert receiver.sound()
    except AppError:
        assert receiver.content() == before
