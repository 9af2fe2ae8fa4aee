"""Each file of an index is damaged in turn: vectors that can be read are kept, and a fresh index takes its place."""

import os
import random
import shutil
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.vector_backup import VectorBackup, back_up_vectors, backup_path
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.library.store import Library
from tests.index.points import dense
from tests.support.invented import end_hosts
from tests.support.place import Place
from tests.support.served import videos

pytestmark = [pytest.mark.campaign(part="damage"), pytest.mark.hosts]

SEED = int(os.environ.get("SUBTITLE_RAG_SEED") or 19)
COUNT = int(os.environ.get("SUBTITLE_RAG_DAMAGES") or 40)
WAYS = ("emptied", "missing", "truncated", "flipped")
ENCODER = "encoder@1"


def damage(file: Path, damage_kind: str, rng: random.Random) -> None:
    size = file.stat().st_size
    if damage_kind == "missing":
        file.unlink()
    elif damage_kind == "emptied" or size == 0:
        file.write_bytes(b"")
    elif damage_kind == "truncated":
        os.truncate(file, size // 2)
    else:
        with file.open("r+b") as opened:
            for at in [rng.randrange(min(size, 4096)) for _ in range(8)]:
                opened.seek(at)
                old = opened.read(1)
                opened.seek(at)
                opened.write(bytes([old[0] ^ 0xFF]))


@pytest.fixture
def whole(tmp_path: Path, analyzer: Analyzer) -> Path:
    """A library with a dense vector of each window."""
    folder = tmp_path / "whole"
    with closing(Place.at(folder, analyzer)) as place:
        place.run(videos(tmp_path / "captions", 0, 1, 2))
        name = vector_names(ENCODER)[0]
        ids = [w.id for state in place.library.videos() for w in place.library.windows_of(state.video.id)]
        place.index.add_vector(name, 3)
        place.index.replace_vector(name, {id: dense(1.0, n, 0.3 * n) for n, id in enumerate(ids)})
        claim = place.library.vectors.claim(ENCODER, name, ids)
        place.library.vectors.note(claim, dict.fromkeys(ids, "source/"))
    return folder


def test_damaged_files_cost_what_is_in_them(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.05")
    rng = random.Random(SEED)
    files = sorted(f.relative_to(whole) for f in (whole / "index").rglob("*") if f.is_file() and f.stat().st_size)
    cases = rng.sample([(file, damage_kind) for file in files for damage_kind in WAYS], min(COUNT, 4 * len(files)))
    figures: Counter[str] = Counter()
    for number, (file, damage_kind) in enumerate(cases):
        folder = tmp_path / f"case{number}"
        shutil.copytree(whole, folder)
        damage(folder / file, damage_kind, rng)
        with closing(Library(folder / "library.db")) as library:
            noted = len(library.vectors.windows())
            try:
                back_up_vectors(folder / "index", library)
            except AppError as error:
                figures[f"refused {error.code}"] += 1
                end_hosts([folder / "index"])
                continue
            end_hosts([folder / "index"])
            with closing(VectorBackup(backup_path(library))) as backup:
                kept = backup._db.execute("SELECT count(*) FROM kept").fetchone()[0]
        figures["found"] += noted
        figures["kept"] += kept
        figures["lost"] += noted - kept
        figures["all kept" if kept == noted else "some lost" if kept else "all lost"] += 1
        with closing(EdgeIndex(folder / "index", {"analyzer": ANALYZER}, fresh=True)) as index:
            assert index.count() == 0
        shutil.rmtree(folder)
    line = ", ".join(f"{name} {count}" for name, count in sorted(figures.items()))
    with capsys.disabled():
        sys.stdout.write(f"\ndamage: seed {SEED}, {len(cases)} damages: {line}\n")
    assert figures["kept"] >= figures["found"] // 2
