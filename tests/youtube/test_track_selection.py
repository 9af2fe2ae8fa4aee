"""Which track a video gets, in requests: the preferred one where it says enough, else the one that says more."""

from collections.abc import Sequence

import pytest

from subtitle_rag.base.domain.events import VideoDone, VideoFailed
from subtitle_rag.base.domain.values import TrackSelection
from subtitle_rag.youtube.fetcher import RunOptions
from tests.stand_ins.youtube import BetweenTracks, Caption, Clip
from tests.youtube.desk import Clock, Desk, changes, clip, clips, fetched, rests

ID = "slowcook001"
Lines = Sequence[tuple[int, int, str]]


def talk(seconds: int, word: str = "국수") -> Lines:
    """Speech all the time, a line each two seconds."""
    digits = str.maketrans("0123456789", "영일이삼사오육칠팔구")
    lines = (f"{word} 이야기를 이어 갑니다 {second:04d}".translate(digits) for second in range(0, seconds, 2))
    return [(2_000 * number, 2_000 * number + 1_900, line) for number, line in enumerate(lines)]


def manual(lines: Lines = (), name: str = "", **changes: object) -> Caption:
    return Caption(kind="manual", lines=lines, name=name, **changes)  # type: ignore[arg-type]


def heard(lines: Lines = (), **changes: object) -> Caption:
    return Caption(lines=lines, **changes)  # type: ignore[arg-type]


GREETING: Lines = [(1_000, 3_000, "안녕하세요 느린 부엌입니다")]
ALL, OTHER = talk(600), talk(600, "만두")


def kept(desk: Desk, id: str = ID) -> tuple[str, str, TrackSelection | None]:
    """Kind and flag of the stored track, and why it is this one."""
    track = desk.place.library.track(id)
    assert track
    assert desk.state(id).selection == track.selection
    return track.kind, track.flag, track.selection


def serve(desk: Desk, *captions: Caption, **of_clip: object) -> None:
    desk.youtube.add(clip(1, captions=list(captions), **of_clip))


def test_a_manual_track_that_says_enough_costs_one_request_and_no_word_of_why(desk: Desk) -> None:
    serve(desk, manual(ALL), heard(OTHER))
    assert changes(desk.run(ID)) == {ID: "new"}
    assert desk.asked == fetched(1)
    assert kept(desk) == ("manual", "", None)


@pytest.mark.parametrize(
    "poor",
    [manual(GREETING), manual(body=b""), manual(body=b"WEBVTT\n\n")],
    ids=["greeting", "nothing", "a head"],
)
def test_a_manual_track_that_says_little_loses_against_the_automatic_one(desk: Desk, poor: Caption) -> None:
    serve(desk, poor, heard(ALL), duration=601)
    assert changes(desk.run(ID)) == {ID: "new"}
    assert desk.asked == fetched(1) | {"timedtext": 2}
    kind, _flag, selection = kept(desk)
    assert kind == "asr"
    assert selection
    assert (selection.reason, selection.taken, [each.kind for each in selection.tracks]) == (
        "speech",
        1,
        ["manual", "asr"],
    )
    assert desk.found("이어 갑니다") == {ID}


def test_a_manual_track_that_is_gone_loses_too(desk: Desk) -> None:
    serve(desk, manual(ALL), heard(OTHER))
    desk.youtube.refuse("timedtext", 404)
    assert changes(desk.run(ID)) == {ID: "new"}
    assert kept(desk)[0] == "asr"


@pytest.mark.parametrize("automatic", [heard([(0, 900, "네")]), heard()], ids=["a word misheard", "nothing"])
def test_a_silent_film_keeps_the_manual_track_that_is_all_there_is(desk: Desk, automatic: Caption) -> None:
    serve(desk, manual(talk(600)[::30]), automatic)
    assert changes(desk.run(ID)) == {ID: "new"}
    kind, _flag, selection = kept(desk)
    assert kind == "manual"
    assert selection
    assert (selection.reason, selection.taken) == ("kept", 0)


def test_of_several_manual_tracks_the_one_with_the_speech_is_taken(desk: Desk) -> None:
    serve(desk, manual(GREETING), manual(ALL, "전체"), heard(OTHER))
    desk.run(ID)
    assert desk.asked["timedtext"] == 2
    kind, _flag, selection = kept(desk)
    assert kind == "manual"
    assert selection
    assert (selection.taken, len(selection.tracks)) == (1, 2)


def test_however_many_tracks_say_little_a_video_costs_few_requests(desk: Desk) -> None:
    serve(desk, *(manual(GREETING, f"해설 {number}") for number in range(9)), heard(GREETING))
    desk.run(ID)
    assert desk.asked["timedtext"] == 3
    assert kept(desk)[0] == "manual"


def test_english_heard_as_korean_is_told(desk: Desk) -> None:
    english = [(2_000 * n, 2_000 * n + 900, f"then we boil the noodles for {n} minutes") for n in range(40)]
    serve(desk, heard(english))
    desk.run(ID)
    assert kept(desk)[1] == "mislabelled"


def test_between_two_tracks_is_the_pause_of_requests(desk: Desk, clock: Clock) -> None:
    desk.settings = BetweenTracks(pause=0, rest=0)
    serve(desk, manual(GREETING), heard(ALL))
    desk.run(ID)
    assert clock.waits == [3]


def test_a_block_at_the_second_track_keeps_the_first_and_asks_again_after_the_rest(desk: Desk, clock: Clock) -> None:
    serve(desk, manual(GREETING), heard(ALL))
    desk.youtube.refuse("timedtext", 429, after=1, headers={"Retry-After": "1800"})
    events = desk.run(ID)
    assert [event.change for event in events if isinstance(event, VideoDone)] == ["new", "changed"]
    assert rests(events) == [("rate_limited", True)]
    assert kept(desk)[0] == "asr"
    assert desk.states == {ID: "done"}


def test_a_run_that_ends_at_the_block_has_the_first_track(desk: Desk) -> None:
    serve(desk, manual(GREETING), heard(ALL))
    desk.youtube.refuse("timedtext", 429, after=1, times=None, headers={"Retry-After": "1800"})
    desk.run(ID, run_options=RunOptions(patient=False))
    assert desk.found("느린 부엌") == {ID}
    assert desk.state(ID).failure == "rate_limited"
    desk.youtube.forgive()
    desk.sync(RunOptions(retry=True, include_due=True))
    assert kept(desk)[0] == "asr"
    assert desk.states == {ID: "done"}


@pytest.mark.campaign(part="lists")
def test_an_automatic_track_that_comes_empty_is_asked_for_again_and_no_reason_for_a_rest(desk: Desk) -> None:
    films = [Clip(each.id, each.title, captions=[manual(GREETING), heard(body=b"")]) for each in clips(4)]
    desk.youtube.add(*films)
    events = desk.run(*(film.id for film in films))
    assert rests(events) == []
    assert {event.code for event in events if isinstance(event, VideoFailed)} == {"caption_blocked"}
    assert all(desk.state(film.id).retry_at for film in films)
    assert desk.found("느린 부엌") == {film.id for film in films}


def test_an_automatic_track_that_youtube_withholds_is_asked_for_again(desk: Desk) -> None:
    serve(desk, manual(GREETING), heard(ALL, exp="xpe"))
    events = desk.run(ID)
    assert rests(events) == []
    kind, _flag, selection = kept(desk)
    assert kind == "manual"
    assert selection
    assert selection.reason == "withheld"
    assert (desk.state(ID).failure, desk.state(ID).windows) == ("captions_withheld", 1)
    assert desk.asked["timedtext"] == 1


WEB, HEADSET = frozenset({"WEB"}), frozenset({"VISIONOS"})


@pytest.mark.parametrize("poor", [manual(GREETING), manual()], ids=["greeting", "no cue"])
@pytest.mark.parametrize(
    "elsewhere",
    [heard(ALL, exp="xpe", clients=WEB), heard(ALL, exp="new", clients=WEB)],
    ids=["withheld", "empty"],
)
def test_what_one_client_is_not_given_whole_comes_from_the_next(desk: Desk, poor: Caption, elsewhere: Caption) -> None:
    serve(desk, poor, elsewhere, heard(ALL, clients=HEADSET))
    assert changes(desk.run(ID)) == {ID: "new"}
    assert desk.states == {ID: "done"}
    kind, _flag, selection = kept(desk)
    assert kind == "asr"
    assert selection
    assert [each.kind for each in selection.tracks] == ["manual", "asr"]
    assert desk.asked["timedtext"] <= 3
    assert (desk.asked["watch"], desk.asked["player"]) == (1, 1)


def test_a_refusal_of_the_next_client_keeps_what_the_first_one_gave(desk: Desk) -> None:
    serve(desk, manual(GREETING), heard(ALL, exp="xpe", clients=WEB), heard(ALL, clients=HEADSET))
    desk.youtube.refuse("player", 403, times=None)
    desk.run(ID, run_options=RunOptions(patient=False))
    assert desk.found("느린 부엌") == {ID}
    assert desk.state(ID).failure == "captions_withheld"


def test_if_no_track_comes_the_last_refusal_is_the_videos(desk: Desk) -> None:
    serve(desk, manual(body=b""), heard(body=b""))
    assert changes(desk.run(ID, run_options=RunOptions(patient=False))) == {ID: "caption_blocked"}
    assert desk.asked["timedtext"] == 2 + 2 + 6  # of each player client


def test_a_video_whose_tracks_say_nothing_has_no_captions(desk: Desk) -> None:
    serve(desk, manual(), heard())
    assert changes(desk.run(ID)) == {ID: "no_captions"}


def test_the_same_tracks_again_are_unchanged_and_keep_their_reason(desk: Desk) -> None:
    serve(desk, manual(GREETING), heard(ALL))
    desk.run(ID)
    before = kept(desk)
    assert changes(desk.run(ID, run_options=RunOptions(refresh=True))) == {ID: "unchanged"}
    assert kept(desk) == before


def test_a_manual_track_that_was_completed_since_is_taken_and_the_reason_goes(desk: Desk) -> None:
    serve(desk, manual(GREETING), heard(ALL))
    desk.run(ID)
    clip_now = desk.youtube.site.clip(ID)
    assert clip_now
    clip_now.captions = [manual(OTHER), heard(ALL)]
    assert changes(desk.run(ID, run_options=RunOptions(refresh=True))) == {ID: "changed"}
    assert kept(desk) == ("manual", "", None)
