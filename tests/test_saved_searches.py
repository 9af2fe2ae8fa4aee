"""Saved searches over what comes, changes and leaves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag import saved_searches
from subtitle_rag.domain import UsageError
from subtitle_rag.library import SavedSearch
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.search.searcher import Searcher
from tests.support.place import Place

NOODLES, DUMPLINGS = "국수를 삶아요", "만두를 빚어요"


class Desk:
    """A library to which caption files come, with searches saved in it."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self._folder = place, folder
        self.searchers = 0

    @property
    def saved(self) -> list[SavedSearch]:
        return self.place.library.saved_searches.all()

    def file(self, name: str, *lines: str) -> Path:
        """Captions with a scene a line, two minutes from the next."""
        cues = [f"0{2 * at}:00.000 --> 0{2 * at}:05.000\n{line}\n" for at, line in enumerate(lines)]
        path = self._folder / f"{name}.ko.vtt"
        path.write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")
        return path

    def add(self, name: str, *lines: str) -> None:
        self.place.report(self.file(name, *lines))

    def save(self, query: str, name: str = "") -> SavedSearch:
        return saved_searches.save_search(self.place.library, name or query, query)

    def searcher(self) -> Searcher:
        self.searchers += 1
        return self.place.searcher

    def count(self) -> dict[str, tuple[int, int]]:
        """By name, the scenes that were added now and all new ones; as the library has them too."""
        counted = list(saved_searches.count_new(self.place.library, self.searcher))
        assert [each.new for each in counted] == [search.new for search in self.saved]
        return {each.name: (each.added, each.new) for each in counted}


@pytest.fixture
def desk(tmp_path: Path, analyzer: Analyzer) -> Iterator[Desk]:
    folder = tmp_path / "captions"
    folder.mkdir()
    place = Place.at(tmp_path / "library", analyzer)
    yield Desk(place, folder)
    place.close()


def test_only_scenes_of_later_videos_are_new_until_one_looks(desk: Desk) -> None:
    desk.add("a", NOODLES)
    desk.save("국수")
    assert desk.count() == {"국수": (0, 0)}

    desk.add("b", NOODLES, DUMPLINGS, "국수가 불었어요")
    desk.add("c", DUMPLINGS)
    assert desk.count() == {"국수": (2, 2)}
    assert desk.count() == {"국수": (0, 2)}
    (search,) = desk.saved
    assert desk.place.library.videos_by_id(*search.videos)[search.videos[0]].title == "b"

    desk.place.library.saved_searches.look("국수")
    assert desk.count() == {"국수": (0, 0)}
    desk.add("d", NOODLES)
    assert desk.count() == {"국수": (1, 1)}


def test_a_scene_counts_that_says_all_words_and_passes_the_filters(desk: Desk) -> None:
    """Neighbours that say them are one scene."""
    desk.save("국수 만두")
    desk.save('video:"먼 곳" 국수', "여기")
    desk.save("국수 -만두", "없이")
    desk.add("먼 곳", "국수와 만두를 먹어요", NOODLES)
    desk.add("b", NOODLES, "국수와 만두를 먹어요")

    assert desk.count() == {"국수 만두": (2, 2), "여기": (1, 1), "없이": (2, 2)}


def test_the_searcher_is_opened_for_new_videos_alone(desk: Desk) -> None:
    desk.count()
    desk.add("a", NOODLES)
    desk.save("국수")
    desk.count()
    assert desk.searchers == 0
    desk.add("b", NOODLES)
    desk.count()
    desk.count()
    assert desk.searchers == 1


def test_a_removed_video_takes_its_new_scenes_along_and_is_news_when_it_returns(desk: Desk) -> None:
    desk.save("국수")
    desk.add("a", NOODLES)
    desk.add("b", NOODLES)
    desk.count()
    (id,) = (state.video.id for state in desk.place.library.videos() if state.video.title == "b")

    desk.place.indexer.remove([id])
    assert desk.count() == {"국수": (0, 1)}

    desk.add("b", NOODLES)
    assert desk.count() == {"국수": (1, 2)}


def test_a_rebuild_and_captions_in_another_version_are_no_news(desk: Desk) -> None:
    desk.save("국수")
    desk.add("a", NOODLES)
    desk.count()
    desk.place.library.saved_searches.look("국수")

    list(desk.place.indexer.rebuild())
    desk.add("a", NOODLES, NOODLES)
    assert desk.count() == {"국수": (0, 0)}


def test_a_video_that_cannot_be_searched_yet_is_counted_later(desk: Desk) -> None:
    desk.save("국수")
    desk.add("a", NOODLES)
    indexed = desk.place.library.database.rows("SELECT * FROM indexed")
    desk.place.library.database.change("DELETE FROM indexed")
    assert desk.count() == {"국수": (0, 0)}
    desk.place.library.saved_searches.look("국수")

    with desk.place.library.database.write() as db:
        db.executemany("INSERT INTO indexed VALUES (?, ?, ?, ?)", indexed)
    assert desk.count() == {"국수": (1, 1)}


def test_a_filter_that_names_nothing_any_more_finds_nothing_and_stops_no_other(desk: Desk) -> None:
    desk.save("channel:없는채널 국수", "가")
    desk.save("국수", "나")
    desk.add("a", NOODLES)
    assert desk.count() == {"가": (0, 0), "나": (1, 1)}


def test_a_search_saved_or_looked_at_meanwhile_keeps_its_own_count(desk: Desk) -> None:
    before = desk.save("국수")
    desk.add("a", NOODLES)
    store = desk.place.library.saved_searches
    store.look("국수")
    store.add_counts(before, 1, dict.fromkeys(store.arrivals(0, 1), 1))
    assert [search.new for search in desk.saved] == [0]


def test_names_and_queries_are_checked(desk: Desk) -> None:
    for name, query, code in (
        ("  ", "국수", "bad_search_name"),
        ("x" * 101, "국수", "bad_search_name"),
        ("a", "-x", "only_exclusions"),
    ):
        with pytest.raises(UsageError) as caught:
            saved_searches.save_search(desk.place.library, name, query)
        assert caught.value.code == code
    for number in range(200):
        desk.save("국수", str(number))
    with pytest.raises(UsageError) as caught:
        desk.save("국수", "one more")
    assert caught.value.code == "searches_full"
    desk.save("만두", "199")
    assert desk.place.library.saved_searches.forget("0") is True
    assert desk.place.library.saved_searches.forget("0") is False


def test_the_news_are_one_sentence() -> None:
    searches = [SavedSearch("국수", "국수", 0, 2), SavedSearch("만두", "만두", 0, 0), SavedSearch("김치", "김치", 0, 1)]
    assert saved_searches.news_text(searches) == "3 new scenes in saved searches: 국수 2, 김치 1"
    assert saved_searches.news_text(searches[1:2]) == ""
