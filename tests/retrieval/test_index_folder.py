"""What the embedded index does with its folder."""

from pathlib import Path

import pytest

from subtitle_rag.errors import AppError
from subtitle_rag.library.app_state import EMBEDDED
from subtitle_rag.retrieval.index import Point
from tests.retrieval.points import META, Open, dense, found, pid, point, settle


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("meta.json", None),
        ("meta.json", "{"),
        ("meta.json", "[]"),
        ("shard/edge_config.json", "{"),
        ("shard/segments", None),
    ],
)
def test_damage_is_told_and_a_fresh_start_mends(embedded: Open, folder: Path, name: str, content: str | None) -> None:
    first = embedded(folder, META)
    first.insert([point(1)])
    first.close()
    settle(folder)
    if content is not None:
        (folder / name).write_text(content)
    elif (folder / name).is_dir():
        for part in (folder / name).rglob("*"):
            if part.is_file():
                part.write_bytes(b"")
    else:
        (folder / name).unlink()
    with pytest.raises(AppError) as caught:
        embedded(folder, META)
    assert caught.value.code == "index_damaged"
    assert caught.value.details["reason"]
    settle(folder)
    second = embedded(folder, META, fresh=True)
    assert second.count() == 0
    second.insert([point(2)])
    assert found(second) == [2]
    second.close()


def test_a_creation_that_was_cut_short_is_made_good(embedded: Open, folder: Path) -> None:
    (folder / "shard.new").mkdir(parents=True)
    (folder / "shard.new" / "rest").write_text("")
    (folder / "meta.json").write_text("{}")
    index = embedded(folder, META)
    index.insert([point(1)])
    assert found(index) == [1]
    index.close()


def test_clearing_drops_the_vectors_and_all_points(embedded: Open, folder: Path) -> None:
    index = embedded(folder, META)
    index.add_vector("dense-a", 2)
    index.insert([Point(pid(1), {"dense-a": dense(1.0, 0.0)}, {"video": "a"}), point(2, video="b")])
    index.clear(["a"])
    assert (index.vectors(), index.count()) == ({"bm25": None}, 0)
    index.close()


def test_it_is_one_library_s_own(embedded: Open, folder: Path) -> None:
    index = embedded(folder, META)
    index.insert([point(1, video="a")])
    assert index.place == EMBEDDED
    assert index.shared_payloads([pid(1)]) == {}
    index.close()
