"""What a name means in a library."""

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.captions.addresses import Source
from subtitle_rag.library.resolve import named_channel, named_sources, resolve_name
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.library.store import Library
from tests.support.failures import failing
from tests.support.invented import RULE, track, video

SITE = "https://www.youtube.com"


@pytest.fixture
def library(library: Library) -> Library:
    videos = [
        video("vid-0", title="느린 하루", channel_id="UC0", channel="느린 부엌"),
        video("vid-1", title="국수 삶기", channel_id="UC0", channel="느린 부엌"),
        video("vid-2", title="국수 먹기", channel_id="UC1", channel="느린 부엌 2"),
    ]
    for each in videos:
        library.put_video(each, track(each.id.encode()), [], RULE)
    for url, name, channel_id in (
        (f"{SITE}/@kitchen", "빠른 부엌", "UC0"),
        (f"{SITE}/@kitchen/streams", "빠른 부엌", "UC0"),
        (f"{SITE}/playlist?list=PL", "국수 모음", None),
    ):
        library.sources.follow(url, name=name, channel_id=channel_id, options=SourceOptions())
    return library


def meanings(library: Library, name: str, *addresses: Source) -> tuple[object, ...]:
    found = resolve_name(library, name, addresses)
    return found.videos, found.channels, [source.id for source in found.sources], found.is_exact


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vid-1", (("vid-1",), (), [], True)),
        ("UC1", ((), ("UC1",), [], True)),
        ("느린부엌", ((), ("UC0",), [1, 2], True)),  # the name of its videos
        ("빠른 부엌", ((), (), [1, 2], True)),  # the name of its list
        ("부엌", ((), ("UC0", "UC1"), [1, 2], False)),
        ("국수", (("vid-1", "vid-2"), (), [3], False)),
        ("느린", (("vid-0",), ("UC0", "UC1"), [1, 2], False)),
        ("하루", (("vid-0",), (), [], False)),
        ("없음", ((), (), [], True)),
        (" ", ((), (), [], True)),
    ],
)
def test_a_name_is_an_id_else_a_whole_name_else_a_part(library: Library, name: str, expected: object) -> None:
    assert meanings(library, name) == expected


def test_an_address_is_a_video_a_tab_or_all_tabs_of_a_channel(library: Library) -> None:
    assert meanings(library, "…", Source("video", "vid-2")) == (("vid-2",), (), [], True)
    assert meanings(library, "…", Source("video", "elsewhere")) == ((), (), [], True)
    assert meanings(library, "…", Source("channel", "@kitchen")) == ((), (), [1, 2], True)
    assert meanings(library, "…", Source("channel", "@kitchen", ("streams",))) == ((), (), [2], True)
    assert meanings(library, "…", Source("playlist", "PL")) == ((), (), [3], True)


def test_a_source_is_found_by_a_part_although_a_channel_has_the_whole_name(library: Library) -> None:
    assert [source.id for source in named_sources(library, "국수 모음")] == [3]
    assert [source.id for source in named_sources(library, "모음")] == [3]
    with pytest.raises(UsageError, match="no channel “느린 부엌 2”"):
        named_sources(library, "느린 부엌 2")


def test_one_channel_is_meant_or_the_names_are_told(library: Library) -> None:
    assert named_channel(library, "느린 부엌") == "UC0"
    assert named_channel(library, "엌 2") == "UC1"
    with failing("several_named", UsageError) as refused:
        named_channel(library, "부엌")
    assert "느린 부엌 (UC0), 느린 부엌 2 (UC1)" in refused.value.message
