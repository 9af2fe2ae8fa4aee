"""Channels and playlists in sums: followed or not, with videos or without, and what lists name beside them."""

from subtitle_rag.base.domain.values import Video
from subtitle_rag.library.overview import ChannelState, channel_states
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.library.store import Library
from tests.support.searchable import put_talk

KITCHEN, TRAIL = "UC" + "a" * 22, "UC" + "b" * 22


def video(number: int, channel_id: str = KITCHEN, channel: str = "느린 부엌") -> Video:
    id = f"cooking{number:04d}"
    return Video(id, f"{number}편", channel_id, channel, url=f"https://www.youtube.com/watch?v={id}")


def put(library: Library, one: Video, kind: str = "asr", minutes: int = 2) -> None:
    put_talk(library, one, [["국수를 삶습니다"]] * minutes, kind)


def follow(library: Library, url: str, name: str, channel_id: str | None = None) -> int:
    return library.sources.follow(url, name=name, channel_id=channel_id, options=SourceOptions()).id


def rows(library: Library) -> dict[str, ChannelState]:
    return {state.name: state for state in channel_states(library.database)}


def test_a_channel_has_its_videos_windows_tracks_and_what_is_due_or_failed(library: Library) -> None:
    id = follow(library, "https://www.youtube.com/@slow", "느린 부엌", KITCHEN)
    library.sources.put_listed(id, [video(number) for number in range(6)])
    library.sources.mark_complete(id)
    put(library, video(0))
    put(library, video(1), "manual", minutes=3)
    for number, code in ((2, "members_only"), (3, "members_only"), (4, "caption_damaged")):
        library.sources.put_refused(video(number), code, {}, None)
    state = rows(library)["느린 부엌"]
    assert (state.kind, state.channel_id, state.sources) == ("channel", KITCHEN, (id,))
    assert (state.videos, state.windows, state.done, state.due) == (6, 5, 2, 1)
    assert state.tracks == {"asr": 1, "manual": 1}
    assert state.failures == {"members_only": 2, "caption_damaged": 1}
    assert state.listed_at


def test_a_playlist_counts_videos_that_their_channels_count_too(library: Library) -> None:
    id = follow(library, "https://www.youtube.com/playlist?list=PL1", "모음")
    put(library, video(0))
    put(library, video(1, TRAIL, "숲길"))
    library.sources.put_listed(id, [], [video(0).id, video(1, TRAIL).id, "elsewhere00"])
    found = rows(library)
    assert list(found) == ["모음", "느린 부엌", "숲길"]  # what is followed comes first
    assert (found["모음"].kind, found["모음"].channel_id) == ("playlist", None)
    assert (found["모음"].videos, found["모음"].windows) == (2, 4)
    assert found["모음"].listed == {"cooking0000", "cooking0001", "elsewhere00"}
    assert (found["숲길"].videos, found["숲길"].sources, found["숲길"].listed_at) == (1, (), None)


def test_a_channel_that_is_followed_by_its_tabs_is_one_row(library: Library) -> None:
    first = follow(library, "https://www.youtube.com/@slow/videos", "느린 부엌", KITCHEN)
    second = follow(library, "https://www.youtube.com/@slow/shorts", "느린 부엌", KITCHEN)
    library.sources.put_listed(first, [video(0)])
    library.sources.put_listed(second, [video(0)])
    state = rows(library)["느린 부엌"]
    assert (state.sources, state.videos) == ((first, second), 1)
    assert state.urls == ("https://www.youtube.com/@slow/videos", "https://www.youtube.com/@slow/shorts")


def test_a_source_is_there_before_its_first_video_and_an_empty_library_has_none(library: Library) -> None:
    assert rows(library) == {}
    follow(library, "https://www.youtube.com/@new", "새 채널", TRAIL)
    state = rows(library)["새 채널"]
    assert (state.videos, state.windows, state.due, state.listed_at) == (0, 0, 0, None)


def test_a_video_is_known_by_the_first_list_that_names_it(library: Library) -> None:
    first = follow(library, "https://www.youtube.com/@slow", "느린 부엌", KITCHEN)
    second = follow(library, "https://www.youtube.com/playlist?list=PL1", "모음")
    for id in (second, first):
        library.sources.put_listed(id, [video(0)])
    lister = library.sources.lister(video(0).id)
    assert lister
    assert lister.id == first
    assert library.sources.lister("elsewhere00") is None
