from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given, strategies as st

from subtitle_rag.base.domain.values import Track, Video
from subtitle_rag.captions.windows import RULE, cut_windows
from subtitle_rag.library.names import VideoFacets, video_facets, videos_of_kinds
from subtitle_rag.library.resolve import match_channels, match_videos
from subtitle_rag.library.store import Library
from tests.support.searchable import spoken, video

TITLES = [
    "캠핑 브이로그",
    "캠핑  브이로그 2",
    "CAMPING vlog",
    "École",
    "30일 '챌린지'",
    "100% 리뷰_1",
    "vid-0",
    "넓은\u3000칸",
]
TRACK = Track("ko", "file", "vtt", b"", "", 0)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = Library(tmp_path_factory.mktemp("names") / "library.db")
    for at, title in enumerate(TITLES):
        one = video(f"vid-{at}", title, f"채널 {at % 2}", f"2026-01-{at + 1:02d}", f"UC{at % 2}")
        kind = ("video", "short", "stream", "")[at % 4]
        own = cut_windows(one.id, spoken([["안녕하세요"]])) if at else []
        library.put_video(replace(one, kind=kind), TRACK, own, RULE)
    library.sources.put_due(Video("due", "아직", "UC1", "채널 1"))
    yield library
    library.close()


def test_all_videos_are_told_the_newest_first(library: Library) -> None:
    found = video_facets(library)
    assert [one.id for one in found] == [f"vid-{at}" for at in reversed(range(len(TITLES)))] + ["due"]
    assert found[0] == VideoFacets("vid-7", TITLES[7], "UC1", "채널 1", found[0].published, "", True)
    assert str(found[0].published) == "2026-01-08"
    assert [one.id for one in found if not one.windows] == ["vid-0", "due"]


def test_the_videos_of_kinds(library: Library) -> None:
    assert videos_of_kinds(library, ["short"]) == {"vid-1", "vid-5"}
    assert videos_of_kinds(library, ["short", "stream"]) == {"vid-1", "vid-2", "vid-5", "vid-6"}
    assert videos_of_kinds(library, []) == set()
    assert videos_of_kinds(library, ["'; DROP TABLE video"]) == set()


@given(st.sampled_from(TITLES).flatmap(lambda t: st.tuples(st.just(t), st.integers(0, 9), st.integers(1, 12))))
@example(("넓은\u3000칸", 0, 12))
@example(("vid-0", 0, 12))
def test_titles_are_told_apart_as_the_library_does_it(library: Library, cut: tuple[str, int, int]) -> None:
    title, start, length = cut
    known = [(one.id, one.title) for one in video_facets(library)]
    for name in (title[start : start + length], title[start : start + length].upper()):
        assert sorted(match_videos(name, known)) == sorted(library.find_videos(name))


def test_a_channel_is_called_by_its_name_or_id_else_by_a_part(library: Library) -> None:
    known = [("UC1", "느긋한 식탁"), ("UC2", "느긋한 식탁 2"), ("UC3", "다른 곳"), ("UC4", "느긋한식탁")]
    assert match_channels("느긋한 식탁", known) == ["UC1", "UC4"]
    assert match_channels("느긋", known) == ["UC1", "UC2", "UC4"]
    assert match_channels("uc2", known) == ["UC2"]
    assert match_channels("없음", known) == []
