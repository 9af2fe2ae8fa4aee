"""What every implementation of `Index` must do."""

import math
import threading
import unicodedata
from datetime import date
from pathlib import Path

import pytest

from subtitle_rag.base.vectors.points import Filter, Point, SparseVector, VectorSearch
from subtitle_rag.index.interface import Index
from tests.index.points import META, Open, dense, found, payloads, pid, point, search, settle, sparse
from tests.support.failures import failing


def test_an_id_that_is_there_keeps_all_it_has(index: Index) -> None:
    index.insert([point(1, {1: 1.0}, video="a")])
    index.replace_vector("sparse-a", {pid(1): sparse({7: 2.0})})
    index.insert([point(1, {2: 1.0}, video="b"), point(2, {2: 1.0})])
    assert found(index, 1) == [1]
    assert found(index, 2) == [2]
    assert found(index, 7, name="sparse-a") == [1]
    assert index.ids("a") == {pid(1)}
    assert index.count() == 2


def test_of_the_same_id_in_one_call_the_first_counts(index: Index) -> None:
    index.insert([point(1, {1: 1.0}, take="one"), point(1, {2: 1.0}, take="two")])
    assert found(index, 1) == [1]
    assert found(index, 2) == []
    assert index.count() == 1


def test_more_points_than_one_batch(index: Index) -> None:
    index.insert([point(n, {n: 1.0}, video=f"v{n % 2}") for n in range(1, 1_302)])
    assert index.count() == 1_301
    assert len(index.ids("v0")) == 650
    assert found(index, 1_301) == [1_301]


def test_a_point_may_have_no_vector_or_an_empty_one(index: Index) -> None:
    index.insert([Point(pid(1), {}, {"video": "a"}), point(2, {}), point(3)])
    assert found(index, 1) == [3]
    index.replace_vector("bm25", {pid(1): sparse({1: 9.0}), pid(3): sparse({})})
    assert found(index, 1) == [1]
    assert index.count() == 3


def test_replacing_one_vector_keeps_the_others(index: Index) -> None:
    both = {"bm25": sparse({1: 1.0}), "sparse-a": sparse({5: 1.0})}
    index.insert([Point(pid(n), both, {"video": "a", "n": n}) for n in (1, 2)])
    index.replace_vector("sparse-a", {pid(1): sparse({6: 0.5}), pid(99): sparse({6: 0.5})})
    assert found(index, 6, name="sparse-a") == [1]
    assert found(index, 5, name="sparse-a") == [2]
    assert found(index, 1) == [1, 2]
    assert payloads(index, pid(1)) == {pid(1): {"video": "a", "n": 1}}
    assert index.count() == 2


def test_deleting_a_video_spares_what_is_to_be_kept(index: Index) -> None:
    index.insert([point(n, video="a" if n < 4 else "b") for n in range(1, 6)])
    index.delete_videos(["a"], keep=[pid(2), pid(5)])
    assert found(index) == [2, 4, 5]
    index.delete_videos(["a"])
    index.delete_videos(["nowhere"])
    assert found(index) == [4, 5]
    assert index.ids("a") == set()
    assert index.ids("b") == {pid(4), pid(5)}


def test_clear_drops_points_and_added_vectors_and_goes_on(index: Index) -> None:
    index.add_vector("dense-a", 2)
    index.insert([Point(pid(1), {"dense-a": dense(1.0, 0.0)}, {"video": "a"}), point(2, video="a")])
    index.clear()
    assert (index.count(), index.vectors()) == (0, {"bm25": None})
    assert found(index) == []
    index.insert([point(3, video="a")])
    assert found(index, where=Filter(videos=("a",))) == [3]


BAD_POINTS = [
    Point("window-1", {}, {}),
    Point("00000000000000000000000000000009", {}, {}),
    Point(pid(9), {"bm52": sparse({1: 1.0})}, {}),
    Point(pid(9), {"dense": sparse({1: 1.0})}, {}),
    point(9, {1: math.nan}),
    point(9, {1: -math.inf}),
    point(9, {1: 1e39}),
    point(9, {1: 3.40282345e38}),
    point(9, {1: 10**400}),
    point(9, {-1: 1.0}),
    point(9, {2**32: 1.0}),
    Point(pid(9), {"bm25": SparseVector((1, 1), (1.0, 2.0))}, {}),
    Point(pid(9), {"bm25": SparseVector((1, 2), (1.0,))}, {}),
    point(9, published=date(2026, 5, 31)),
    point(9, score=math.nan),
    point(9, tags=("a", "b")),
    point(9, text="\ud800"),
    Point(pid(9), {}, {"names": {1: "a"}}),
]


def test_what_cannot_be_held_is_refused_and_nothing_is_written(index: Index) -> None:
    good = [point(n) for n in range(10, 270)]
    for bad in BAD_POINTS:
        with pytest.raises(ValueError, match=r"bm25|bm52|dense|point id|payload"):
            index.insert([*good, bad])
        assert index.count() == 0, bad


def test_bad_vectors_replace_nothing(index: Index) -> None:
    index.insert([point(1), point(2)])
    for bad in (sparse({1: math.inf}), SparseVector((1, 1), (1.0, 1.0))):
        with pytest.raises(ValueError, match="bm25"):
            index.replace_vector("bm25", {pid(1): sparse({2: 1.0}), pid(2): bad})
    with pytest.raises(ValueError, match="bm52"):
        index.replace_vector("bm52", {pid(1): sparse({2: 1.0})})
    assert found(index, 1) == [1, 2]


def test_replacing_a_payload_leaves_nothing_of_the_old_one(index: Index) -> None:
    index.insert([point(n, video="a", text="old", context=None) for n in (1, 2, 3)])
    new = {"video": "b", "context": "새 문맥", "lines": [[0, 1]], "url": None}
    index.replace_payload({pid(1): new, pid(2): {"video": "a"}, pid(99): new})
    assert found(index) == [1, 2, 3]
    stored = payloads(index, pid(1), pid(2), pid(3))
    assert stored == {pid(1): new, pid(2): {"video": "a"}, pid(3): {"video": "a", "text": "old", "context": None}}
    assert (index.ids("a"), index.ids("b")) == ({pid(2), pid(3)}, {pid(1)})
    with pytest.raises(ValueError, match="payload"):
        index.replace_payload({pid(1): {"video": "c"}, pid(2): {"n": math.nan}})
    assert index.ids("c") == set()


# searching

DATED = [
    (1, "A", "a", "2026-05-30"),
    (2, "A", "a", "2026-05-31"),
    (3, "A", "b", "2026-06-01"),
    (4, "B", "c", "2026-05-31T23:59:59Z"),
    (5, "B", "d", None),
]
DAY = date(2026, 5, 31)


FILTERS: list[tuple[Filter | None, list[int]]] = [
    (None, [1, 2, 3, 4, 5]),
    (Filter(), [1, 2, 3, 4, 5]),
    (Filter(channels=("A",)), [1, 2, 3]),
    (Filter(channels=("A", "B")), [1, 2, 3, 4, 5]),
    (Filter(channels=("a",)), []),
    (Filter(channels=("B", "unknown"), after=DAY), [4]),
    (Filter(channels=(*(f"unknown-{n}" for n in range(15)), "B")), [4, 5]),
    (Filter(channels=(*(f"unknown-{n}" for n in range(40)), "B")), [4, 5]),
    (Filter(channels=(*(f"unknown-{n}" for n in range(40)), "A"), before=DAY), [1, 2]),
    (Filter(videos=("b", "c")), [3, 4]),
    (Filter(videos=(*(f"unknown-{n}" for n in range(5_000)), "b")), [3]),
    (Filter(after=DAY), [2, 3, 4]),
    (Filter(before=DAY), [1, 2, 4]),
    (Filter(after=DAY, before=DAY), [2, 4]),
    (Filter(after=date.min, before=date.max), [1, 2, 3, 4]),
    (Filter(after=date(2026, 6, 2)), []),
    (Filter(only=frozenset({pid(1), pid(5), pid(77)})), [1, 5]),
    (Filter(only=frozenset()), []),
    (Filter(without=frozenset({pid(1), pid(5), pid(77)})), [2, 3, 4]),
    (Filter(only=frozenset({pid(1), pid(2)}), without=frozenset({pid(1)})), [2]),
    (Filter(("A",), ("a", "c"), DAY, DAY, frozenset(map(pid, range(9))), frozenset({pid(9)})), [2]),
]


def test_filters(index: Index) -> None:
    dated = [
        point(n, channel_id=channel, video=video)
        if day is None
        else point(n, channel_id=channel, video=video, published=day)
        for n, channel, video, day in DATED
    ]
    index.insert([*dated, point(6, {2: 1.0}, channel_id="A", video="a", published="2026-05-31")])
    for where, expected in FILTERS:
        assert found(index, where=where) == expected, where


def test_the_rare_term_counts_more(index: Index) -> None:
    index.insert([point(n, {1: 1.0}) for n in range(1, 10)])
    index.insert([point(10, {2: 1.0})])
    assert found(index, 1, 2, limit=2) == [10, 1]
    score = search(index, "bm25", sparse({2: 3.0}), limit=1)[0].score
    assert score == pytest.approx(3 * math.log((10 - 1 + 0.5) / (1 + 0.5) + 1), rel=1e-5)


def test_the_sparse_vector_is_a_plain_dot_product(index: Index) -> None:
    index.insert([point(1)])
    index.replace_vector("sparse-a", {pid(1): sparse({9: 0.5, 4294967295: 2.0, 3: 1.0})})
    hits = search(index, "sparse-a", sparse({4294967295: 0.25, 9: 1.0, 8: 7.0}), limit=5)
    assert [hit.score for hit in hits] == [1.0]


def test_best_first_and_ties_by_id(index: Index) -> None:
    order = [n * 7 % 499 + 1 for n in range(499)]
    index.insert([point(n, {1: 2.0 if n > 496 else 1.0}) for n in order])
    for limit in (1, 3, 7, 300, 600):
        assert found(index, 1, limit=limit) == [497, 498, 499, *range(1, 497)][:limit]


def test_searches_in_one_call_answer_as_alone(index: Index) -> None:
    index.insert([point(n, {1: 1.0 + n % 2, 2: 1.0}, video="ab"[n % 2]) for n in range(9)])
    index.replace_vector("sparse-a", {pid(n): sparse({7: 1.0}) for n in range(4)})
    one, seven = sparse({1: 1.0}), sparse({7: 1.0})
    searches = [
        VectorSearch("bm25", one, 3),
        VectorSearch("sparse-a", seven, 2, Filter(only=frozenset({pid(3), pid(2), pid(8)}))),
        VectorSearch("bm25", one, 5, Filter(videos=("a",))),
        VectorSearch("sparse-none", seven, 5),
        VectorSearch("bm25", one, 0, Filter(only=frozenset())),
    ]
    alone = [search(index, each.name, each.query, limit=each.limit, where=each.where) for each in searches]
    assert index.search_all(searches) == alone
    assert [len(hits) for hits in alone] == [3, 2, 5, 0, 0]
    assert index.search_all([]) == []


def test_no_common_term_no_hit(index: Index) -> None:
    index.insert([point(1, video="a")])
    assert found(index, 2) == []
    assert found(index, 2, where=Filter(videos=("a",))) == []
    assert found(index, 1, name="sparse-a") == []
    assert search(index, "bm25", sparse({}), limit=5) == []
    assert search(index, "bm25", sparse({1: 1.0}), limit=0) == []


def test_a_search_that_cannot_be_made(index: Index) -> None:
    for name, query in (("bm52", sparse({1: 1.0})), ("bm25", sparse({1: math.nan}))):
        with pytest.raises(ValueError, match=name):
            search(index, name, query, limit=5)
    with pytest.raises(ValueError, match="window-1"):
        found(index, where=Filter(only=frozenset({"window-1"})))


def test_the_payload_comes_back_as_it_went(index: Index) -> None:
    text = unicodedata.normalize("NFC", "치킨 소스를 붓습니다 🍗 “맛있다”")
    payload = {
        "video": "a",
        "text": text,
        "context": None,
        "start": 761_000,
        "weight": 0.1,
        "auto": True,
        "lines": [[0, 761_000], [4, 763_500]],
        "nested": {"채널": ["가", unicodedata.normalize("NFD", "나")]},
    }
    index.insert([Point(pid(1), {"bm25": sparse({1: 1.0})}, payload)])
    assert payloads(index, pid(1)) == {pid(1): payload}
    assert index.ids("a") == {pid(1)}


def test_threads_at_once(index: Index) -> None:
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for n in range(5):
                number = thread * 100 + n + 1
                index.insert([point(number, {number: 1.0}, video=f"v{thread}")])
                assert found(index, number) == [number]
        except BaseException as error:  # told by the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert index.count() == 20


def test_all_is_there_after_opening_again(opener: Open, folder: Path) -> None:
    first = opener(folder, META)
    first.insert([point(n, video="a", published="2026-05-31") for n in (1, 2, 3)])
    first.add_vector("sparse-a")
    first.replace_vector("sparse-a", {pid(2): sparse({5: 1.0})})
    first.add_vector("dense-a", 2)
    first.replace_vector("dense-a", {pid(1): dense(1.0, 0.0)})
    first.delete_videos(["a"], keep=[pid(1), pid(2)])
    first.close()
    first.close()
    with pytest.raises(RuntimeError, match="closed"):
        first.count()
    settle(folder)
    second = opener(folder, dict(reversed(META.items())))
    assert found(second, where=Filter(after=DAY)) == [1, 2]
    assert found(second, 5, name="sparse-a") == [2]
    assert second.vectors() == {"bm25": None, "sparse-a": None, "dense-a": 2}
    assert [hit.id for hit in search(second, "dense-a", dense(1.0, 0.0), limit=1)] == [pid(1)]
    second.close()


def test_other_rules_are_told_and_a_fresh_start_mends(opener: Open, folder: Path) -> None:
    first = opener(folder, META)
    first.insert([point(1)])
    first.close()
    settle(folder)
    other = {"kiwi": "0.25.0", "bm25": 1, "encoder": "bge-m3"}
    with failing("index_mismatch") as caught:
        opener(folder, other)
    assert caught.value.details["found"] == "encoder=-, kiwi=0.24.1"
    assert caught.value.details["expected"] == "encoder=bge-m3, kiwi=0.25.0"
    settle(folder)
    second = opener(folder, other, fresh=True)
    assert second.count() == 0
    second.insert([point(2)])
    second.close()
    settle(folder)
    third = opener(folder, other)
    assert found(third) == [2]
    third.close()
