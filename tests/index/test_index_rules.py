from subtitle_rag.index.index_rules import page_size


def test_pages_of_points_with_multivectors_are_short() -> None:
    assert page_size({"bm25": None, "dense-a": 1024}, 1_000) == 1_000
    assert page_size({"dense-a": 1024, "pieces-a": 4_096}, 1_000) == 64
    assert page_size({"pieces-a": 32_768}, 1_000) == 8
    assert page_size({"pieces-a": 32_768}, 3) == 3
    assert page_size({"pieces-a": 300_000}, 1_000) == 1
    assert page_size({"dense-a": 384, "pieces-a": 384}, 1_000) == 682
