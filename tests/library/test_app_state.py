"""State of the app: its rows are a contract; searches are newest first, each once, and not without end."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

from subtitle_rag.library.app_state import (
    MAX_SEARCHES,
    MODEL_OFFER,
    forget_searches,
    index_address,
    note_search,
    recent_searches,
    theme_at,
)
from subtitle_rag.library.store import Library


def test_the_stored_rows_are_a_contract(library: Library) -> None:
    rows = {
        "theme": "nord",
        "models_offer": "dismissed",
        "index": "http://127.0.0.1:6333",
        "recent_searches": '["캠핑", "치킨"]',
    }
    with library.database.write() as db:
        db.executemany("INSERT INTO setting VALUES (?, ?)", rows.items())
    assert theme_at(library.path) == "nord"
    stored = [library.database.get_setting(key) for key in (MODEL_OFFER, "index")]
    assert stored == ["dismissed", index_address(library)] == ["dismissed", "http://127.0.0.1:6333"]
    assert recent_searches(library) == ["캠핑", "치킨"]


def test_a_setting_of_the_same_value_writes_nothing(library: Library) -> None:
    other = Library(library.path)
    for value in ("nord", None):
        library.database.put_setting("theme", value)
        before = other.version()
        library.database.put_setting("theme", value)
        assert other.version() == before
        assert other.database.get_setting("theme") == value
    other.close()


def test_the_newest_is_first_and_each_is_there_once(library: Library) -> None:
    assert recent_searches(library) == []
    for text in ("치킨 소스", '"찍어 먹" -광고', "치킨  소스 ", "캠핑"):
        told = note_search(library, text)
        assert told == recent_searches(library)
    assert recent_searches(library) == ["캠핑", "치킨 소스", '"찍어 먹" -광고']


def test_decomposed_hangul_is_the_same_search(library: Library) -> None:
    note_search(library, "치킨")
    note_search(library, unicodedata.normalize("NFD", "치킨"))
    assert recent_searches(library) == ["치킨"]


def test_only_so_many_are_kept_and_nothing_is_no_search(library: Library) -> None:
    for number in range(MAX_SEARCHES + 3):
        note_search(library, f"장면 {number}")
    note_search(library, "  ")
    kept = recent_searches(library)
    assert (len(kept), kept[0], kept[-1]) == (MAX_SEARCHES, f"장면 {MAX_SEARCHES + 2}", "장면 3")


def test_the_first_one_again_writes_nothing(library: Library) -> None:
    other = Library(library.path)
    note_search(library, "치킨")
    before = other.version()
    note_search(library, "치킨")
    assert other.version() == before
    note_search(library, "캠핑")
    assert other.version() != before
    other.close()


def test_searches_of_several_threads_are_all_kept(library: Library) -> None:
    texts = [f"장면 {number}" for number in range(20)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: note_search(library, text), texts))
    assert sorted(recent_searches(library)) == sorted(texts)


def test_they_are_forgotten_and_stay_so(library: Library) -> None:
    note_search(library, "비밀")
    library.close()
    again = Library(library.path)
    assert recent_searches(again) == ["비밀"]
    forget_searches(again)
    assert recent_searches(again) == []
    note_search(again, "캠핑")
    assert recent_searches(again) == ["캠핑"]
    again.close()
