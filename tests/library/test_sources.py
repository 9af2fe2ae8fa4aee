"""The sources that are followed: whom they are known as, what is wished of them, and what leaves with them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from types import SimpleNamespace

import pytest

from subtitle_rag.library import sources as module
from subtitle_rag.library.sources import FollowedSource, SourceOptions, Sources
from subtitle_rag.library.store import Library
from tests.support.invented import RULE, track, video, windows

URL = "https://www.youtube.com/channel/UCslowkitchen"
HANDLE = "https://www.youtube.com/@느린부엌"


@pytest.fixture
def sources(library: Library) -> Sources:
    return library.sources


def follow(sources: Sources, url: str = URL, options: SourceOptions | None = None, *aliases: str) -> FollowedSource:
    return sources.follow(
        url, name="느린 부엌", channel_id="UCslowkitchen", options=options or SourceOptions(), aliases=aliases
    )


def test_a_library_follows_nothing_at_first(sources: Sources) -> None:
    assert (sources.followed(), sources.find(URL), sources.due(0)) == ([], None, [])


def test_a_followed_source_is_found_by_all_its_addresses(sources: Sources) -> None:
    followed = follow(sources, URL, None, HANDLE)
    assert followed == FollowedSource(followed.id, URL, "UCslowkitchen", "느린 부엌", SourceOptions(), False, None, 0)
    assert sources.find(URL) == sources.find(HANDLE) == followed
    assert sources.find(f"{URL}/videos") is None


def test_sources_come_in_the_order_in_which_they_were_named(sources: Sources) -> None:
    urls = ["https://나", "https://가", "https://다"]
    for url in urls:
        follow(sources, url)
    follow(sources, urls[1], SourceOptions(limit=3))
    assert [followed.url for followed in sources.followed()] == urls


def test_a_source_that_is_followed_again_takes_its_newest_name_and_keeps_its_list(sources: Sources) -> None:
    first = follow(sources, URL, None, HANDLE)
    sources.put_listed(first.id, [video("a")], passed_over=["b"])
    sources.mark_complete(first.id)
    again = sources.follow(
        URL, name="빠른 부엌", channel_id="UCother", options=SourceOptions(), aliases=["https://new"]
    )
    assert (again.id, again.name, again.channel_id, again.complete, again.videos) == (
        first.id,
        "빠른 부엌",
        "UCother",
        True,
        2,
    )
    assert sources.find("https://new") == sources.find(HANDLE) == sources.find(URL) == again
    assert len(sources.followed()) == 1


@pytest.mark.parametrize(
    "options",
    [
        SourceOptions(tabs=("videos",)),
        SourceOptions(languages=("en",)),
        SourceOptions(translated=True),
        SourceOptions(limit=50),
        SourceOptions(since=date(2026, 1, 1)),
        SourceOptions(match="국수"),
    ],
)
def test_other_wishes_make_a_list_be_read_anew_and_lose_no_video(sources: Sources, options: SourceOptions) -> None:
    first = follow(sources)
    other = follow(sources, "https://other")
    for one in (first, other):
        sources.put_listed(one.id, [video("a")], passed_over=["b"])
        sources.mark_complete(one.id)
    changed = follow(sources, URL, options)
    assert (changed.id, changed.options, changed.complete, changed.videos) == (first.id, options, False, 0)
    assert sources.listed(first.id, ["a", "b"]) == frozenset()
    assert sources.listed(other.id, ["a", "b"]) == {"a", "b"}
    assert sources.followed()[1].complete
    assert sources.due(0) == ["a"]


def test_wishes_that_come_back_do_not_bring_the_list_back(sources: Sources) -> None:
    first = follow(sources)
    sources.put_listed(first.id, [video("a")])
    sources.mark_complete(first.id)
    follow(sources, URL, SourceOptions(limit=1))
    assert (follow(sources).complete, follow(sources).videos) == (False, 0)


@pytest.mark.parametrize(
    "options",
    [
        SourceOptions(),
        SourceOptions(
            ("shorts", "search?query=김치 찌개"),
            ("ko", "en"),
            True,
            10,
            date(2024, 2, 29),
            r"(?:국수|만두)\s+\"[1-9]\"",
        ),
        SourceOptions(tabs=(), languages=(), limit=0, match=""),
        SourceOptions(match="😀\\N{HANGUL}'; DROP TABLE source --"),
    ],
)
def test_wishes_come_back_as_they_were_made(library: Library, options: SourceOptions) -> None:
    assert follow(library.sources, URL, options).options == options
    library.close()
    (followed,) = library.sources.followed()
    assert followed.options == options


def test_an_alias_belongs_to_the_source_that_took_it_last(sources: Sources) -> None:
    first = follow(sources, URL, None, HANDLE)
    second = follow(sources, "https://second", None, HANDLE)
    assert sources.find(HANDLE) == second
    assert sources.find(URL) == first


def test_a_list_read_to_its_end_is_whole_and_says_when(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = follow(sources)
    other = follow(sources, "https://other")
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: 1_700_000_000.9))
    sources.mark_complete(followed.id)
    found = {one.id: (one.complete, one.listed_at) for one in sources.followed()}
    assert found == {followed.id: (True, 1_700_000_000), other.id: (False, None)}


def test_a_source_that_is_no_longer_followed_leaves_its_videos(library: Library, sources: Sources) -> None:
    kept, gone = follow(sources, "https://kept", None, "https://also"), follow(sources, URL, None, HANDLE)
    library.put_video(video("done"), track(), windows("done", 1), RULE)
    sources.put_listed(gone.id, [video("done"), video("due")])
    sources.put_listed(kept.id, [video("due")])
    sources.unfollow([gone.id, 99])
    assert [followed.url for followed in sources.followed()] == ["https://kept"]
    assert (sources.find(URL), sources.find(HANDLE)) == (None, None)
    assert sources.find("https://also") == sources.followed()[0]
    assert sources.listed(gone.id, ["done", "due"]) == frozenset()
    assert {state.video.id for state in library.videos()} == {"done", "due"}


def test_a_source_that_is_followed_anew_begins_anew(sources: Sources) -> None:
    first = follow(sources)
    sources.put_listed(first.id, [video("a")])
    sources.mark_complete(first.id)
    sources.unfollow([first.id])
    again = follow(sources)
    assert (again.complete, again.listed_at, again.videos) == (False, None, 0)


def test_the_videos_of_one_source_alone_are_those_that_no_other_lists(sources: Sources, library: Library) -> None:
    first, second = follow(sources), follow(sources, "https://second")
    sources.put_listed(first.id, [video("own"), video("both")], passed_over=["never taken"])
    sources.put_listed(second.id, [video("both"), video("theirs")])
    assert sources.only_of([first.id]) == ["own"]
    assert sources.only_of([second.id]) == ["theirs"]
    assert sorted(sources.only_of([first.id, second.id])) == ["both", "own", "theirs"]
    sources.unfollow([second.id])
    assert set(sources.only_of([first.id])) == {"own", "both"}
    library.remove_videos(["own"])
    assert sources.only_of([first.id]) == ["both"]
    assert sources.only_of([99]) == []


def test_a_rest_is_remembered_until_it_is_ended(library: Library, sources: Sources) -> None:
    assert sources.rest() == (0, "")
    sources.put_rest(1_700_000_000, "rate_limited")
    sources.put_rest(1_700_003_600, "bot_check")
    library.close()
    assert sources.rest() == (1_700_003_600, "bot_check")
    sources.end_rest()
    sources.end_rest()
    assert sources.rest() == (0, "")


def test_threads_follow_and_list_in_one_library(library: Library) -> None:
    """Two lists of the same hundred videos, read at once from both ends."""

    def work(number: int) -> int:
        followed = follow(library.sources, f"https://{number}", None, HANDLE)
        ids = [f"video-{n:05d}" for n in range(100)]
        for id in ids if number % 2 else reversed(ids):
            library.sources.put_listed(followed.id, [video(id)])
        library.sources.mark_complete(followed.id)
        library.close()
        return len(library.sources.due(0, source_id=followed.id))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [100, 100]
    assert [(one.videos, one.complete) for one in library.sources.followed()] == [(100, True)] * 2
    assert len(library.sources.due(0)) == library.counts().due == 100
    assert library.sources.find(HANDLE) in library.sources.followed()
