"""What each kind of source brings, and the requests that it costs."""

import pytest

from tests.stand_ins.youtube import Channel, Clip, Playlist
from tests.youtube.desk import HANDLE, OWNER, UPLOADS, Desk, changes, channel, clip, clips, fetched, report

SITE = "https://www.youtube.com"
ALL_TABS = [
    Clip("video000001", "영상"),
    Clip("short000001", "짧게", kind="short"),
    Clip("stream00001", "방송", kind="stream"),
]


def ids(made: list[Clip]) -> set[str]:
    return {clip.id for clip in made}


def test_a_new_video_costs_two_requests_and_nothing_new_costs_one(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(3)))
    made = desk.report(HANDLE)
    assert desk.asked == fetched(3, tab=1, playlist=1)
    assert (made.found, made.new, made.windows) == (3, 3, 3)
    assert desk.done == ids(clips(3))
    assert desk.place.sound()
    again = desk.sync()
    assert desk.asked == {"playlist": 1}
    assert set(changes(again).values()) == {"unchanged"}
    assert report(again).windows == 0


@pytest.mark.parametrize("address", ["@느린부엌", f"{SITE}/user/slow"])
def test_every_name_of_a_channel_means_one_source(desk: Desk, address: str) -> None:
    desk.youtube.add(channel(*clips(1), aliases=("느린", "slow")))
    desk.run(address)
    (followed,) = desk.place.library.sources.followed()
    assert (followed.url, followed.channel_id, followed.name) == (
        f"{SITE}/channel/UC{OWNER}",
        f"UC{OWNER}",
        "느린 부엌",
    )
    desk.run(address)
    assert desk.asked == {"playlist": 1}
    desk.sync()
    assert desk.asked == {"playlist": 1}
    assert len(desk.place.library.sources.followed()) == 1


def test_other_names_of_a_followed_channel_are_learned(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(1), aliases=("느린", "slow")))
    for address in (HANDLE, f"{SITE}/c/느린", f"{SITE}/slow"):
        desk.run(address)
    for address in (HANDLE, f"{SITE}/c/느린", f"{SITE}/slow", f"UC{OWNER}"):
        desk.run(address)
        assert desk.asked == {"playlist": 1}
    assert len(desk.place.library.sources.followed()) == 1


def test_a_handle_that_another_channel_has_taken_means_that_channel(desk: Desk) -> None:
    before = channel(*clips(1))
    desk.youtube.add(before)
    desk.run(HANDLE)
    before.handle = "@옛부엌"
    desk.youtube.add(Channel("UC" + "b" * 22, "@느린부엌", "새 부엌", clips(1, 50)))
    assert changes(desk.run(HANDLE)) == {"slowcook050": "new"}
    assert desk.asked == fetched(1, playlist=2, tab=1)
    followed = desk.place.library.sources.followed()
    assert [source.url for source in followed] == [f"{SITE}/channel/UC{letter * 22}" for letter in "ab"]
    desk.run(HANDLE)
    assert desk.asked == {"playlist": 1}
    desk.sync()
    assert desk.asked == {"playlist": 2}


def test_a_handle_that_nobody_has_any_more_means_the_channel_that_had_it(desk: Desk) -> None:
    made = channel(*clips(1))
    desk.youtube.add(made)
    desk.run(HANDLE)
    made.handle = "@옛부엌"
    made.clips.insert(0, clip(7))
    assert changes(desk.run(HANDLE))["slowcook007"] == "new"
    assert len(desk.place.library.sources.followed()) == 1


def test_a_channel_brings_all_its_kinds(desk: Desk) -> None:
    desk.youtube.add(channel(*ALL_TABS))
    desk.run(HANDLE)
    assert desk.asked == fetched(3, tab=1, playlist=1)
    kinds = {state.video.id: state.video.kind for state in desk.place.library.videos()}
    assert kinds == {"video000001": "video", "short000001": "short", "stream00001": "stream"}


@pytest.mark.parametrize(
    ("tab", "expected"), [("videos", "video000001"), ("shorts", "short000001"), ("streams", "stream00001")]
)
def test_a_tab_that_is_named_brings_only_its_own(desk: Desk, tab: str, expected: str) -> None:
    desk.youtube.add(channel(*ALL_TABS))
    desk.run(f"{HANDLE}/{tab}")
    assert desk.asked == fetched(1, tab=1)
    assert desk.done == {expected}
    desk.sync()
    assert desk.asked == {"tab": 1}


def test_tabs_that_are_wished_for_take_turns(desk: Desk) -> None:
    streams = [Clip(f"stream{number:05d}", "방송", kind="stream") for number in range(3)]
    desk.youtube.add(channel(*clips(3), *streams))
    desk.run(HANDLE, tabs=("videos", "streams"))
    assert desk.asked == fetched(6, tab=2)
    order = [asked.video for asked in desk.youtube.asked("watch")]
    assert order == [each.id for pair in zip(clips(3), streams, strict=True) for each in pair]


def test_a_tab_that_is_wished_for_and_missing_is_passed_by(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.run(HANDLE, tabs=("videos", "shorts"))
    assert desk.asked == fetched(2, tab=2)
    assert len(desk.done) == 2


def test_a_tab_that_is_named_and_missing_is_told(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    made = desk.report(f"{HANDLE}/streams")
    assert desk.asked == {"tab": 1}
    assert [failure.code for failure in made.failures] == ["empty_tab"]
    assert desk.place.library.sources.followed() == []


def test_an_unknown_channel_is_told_and_the_run_goes_on(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(1)))
    made = desk.report("@없는채널", HANDLE)
    assert [failure.code for failure in made.failures] == ["not_found"]
    assert made.new == 1
    assert [one.name for one in desk.place.library.sources.followed()] == ["느린 부엌"]


def test_the_list_of_uploads_costs_what_the_channel_does(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(4)))
    desk.run(f"{SITE}/playlist?list={UPLOADS}")
    assert desk.asked == fetched(4, playlist=1)
    desk.sync()
    assert desk.asked == {"playlist": 1}


@pytest.mark.campaign(part="lists")
def test_a_playlist_is_read_to_its_end_every_time(desk: Desk) -> None:
    made = clips(130)
    desk.youtube.add(channel(*made), Playlist("PLslowkitchen01", "국수 모음", made[::-1]))
    desk.run(f"{SITE}/playlist?list=PLslowkitchen01", limit=2)
    assert [asked.video for asked in desk.youtube.asked("watch")] == ["slowcook129", "slowcook128"]
    assert [one.name for one in desk.place.library.sources.followed()] == ["국수 모음"]
    for each in made[:127]:
        each.state = "upcoming"
    desk.run(f"{SITE}/playlist?list=PLslowkitchen01")
    assert desk.asked == fetched(1, playlist=1, browse=1)


def test_the_playlists_of_a_channel_bring_what_is_in_them(desk: Desk) -> None:
    made = channel(*clips(3))
    lists = [
        Playlist("PLslowkitchen01", "첫째", made.clips[:2], made),
        Playlist("PLslowkitchen02", "빈 목록", [], made),
        Playlist("PLslowkitchen03", "셋째", made.clips[1:], made),
    ]
    desk.youtube.add(made, *lists)
    ended = desk.report(f"{HANDLE}/playlists")
    assert {kind: count for kind, count in desk.asked.items() if kind != "browse"} == fetched(3, tab=1, playlist=3)
    assert (ended.new, ended.failures) == (3, [])
    assert desk.done == ids(made.clips)


@pytest.mark.parametrize(
    "address",
    [f"{SITE}/watch?v=slowcook001&list=PLslowkitchen01", "slowcook001"],
)
def test_a_video_comes_alone(desk: Desk, address: str) -> None:
    made = channel(*clips(3))
    desk.youtube.add(made, Playlist("PLslowkitchen01", "모음", made.clips))
    desk.run(address)
    assert desk.asked == fetched(1)
    assert desk.done == {"slowcook001"}
    assert desk.place.library.sources.followed() == []
    assert set(changes(desk.run(address)).values()) == {"unchanged"}
    assert desk.asked == {}


def test_a_tab_of_a_live_broadcast_brings_the_streams(desk: Desk) -> None:
    over = Clip("stream00001", "지난 방송", kind="stream", live_chat=True)
    desk.youtube.add(channel(Clip("stream00002", "지금", kind="stream", state="live"), over))
    desk.run(f"{HANDLE}/live")
    assert desk.asked == fetched(1, tab=1)
    assert desk.states == {"stream00001": "done", "stream00002": "live"}


def test_two_sources_with_the_same_videos_ask_for_them_once(desk: Desk) -> None:
    made = channel(*clips(3))
    desk.youtube.add(made, Playlist("PLslowkitchen01", "모음", made.clips[1:]))
    ended = desk.report(HANDLE, "PLslowkitchen01")
    assert desk.asked == fetched(3, tab=1, playlist=2)
    assert (ended.found, ended.new, ended.unchanged) == (3, 3, 0)
    assert len(desk.place.library.sources.followed()) == 2


def test_what_is_in_two_tabs_of_another_channel_stays_with_its_own(desk: Desk) -> None:
    guest = Channel("UC" + "b" * 22, "@손님", "손님 부엌", [clip(50)])
    own = channel(clip(1))
    desk.youtube.add(own, guest, Playlist("PLslowkitchen01", "함께", [own.clips[0], guest.clips[0]], own))
    desk.run("PLslowkitchen01")
    made = {state.video.id: state.video.channel for state in desk.place.library.videos()}
    assert made == {"slowcook001": "느린 부엌", "slowcook050": "손님 부엌"}
