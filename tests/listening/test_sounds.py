"""The sound of videos on YouTube: fetched from its hosts alone, kept until it is heard, deleted after."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import IndexEvent, VideoDone, VideoFailed
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Video
from subtitle_rag.youtube.sounds import sound_url
from tests.listening.runs import asked, report, run, run_first_stretch
from tests.stand_ins.youtube import Clip, StandIn
from tests.support.heard import heard, wav
from tests.support.place import Place
from tests.youtube.desk import Desk, clip, spoken

pytestmark = pytest.mark.usefixtures("log")
SILENT = "slowcook001"
WATCH = f"https://www.youtube.com/watch?v={SILENT}"


@pytest.fixture
def desk(place: Place, youtube: StandIn) -> Desk:
    """A library with a video of which YouTube has no captions."""
    made = Desk(place, youtube)
    youtube.add(clip(1, captions=[], media=wav()))
    served(youtube).media_url = f"https://rr1---sn-stand-in.googlevideo.com/videoplayback/{SILENT}"
    made.run(WATCH)
    return made


def served(youtube: StandIn) -> Clip:
    found = youtube.site.clip(SILENT)
    assert found is not None
    return found


def test_a_video_without_captions_is_heard_once_it_was_asked_for(desk: Desk) -> None:
    assert desk.states == {SILENT: "no_captions"}
    desk.youtube.clear()
    assert report(run(desk.place)).heard == 0
    assert desk.youtube.requests == []
    assert asked(desk.place, WATCH) == [SILENT]
    events = run(desk.place)
    assert report(events).heard == 1, events
    assert any(isinstance(event, Progress) and event.stage == "sound" and event.done for event in events)
    assert desk.found("된장") == {SILENT}
    assert desk.states == {SILENT: "done"}


@pytest.mark.campaign(part="listening")
def test_no_sound_is_left_behind(desk: Desk) -> None:
    asked(desk.place, WATCH)
    run(desk.place)
    assert [path for path in (desk.place.folder / "sounds").rglob("*") if path.is_file()] == []


@pytest.mark.campaign(part="listening")
def test_a_sound_is_kept_until_its_video_is_done_and_fetched_once(desk: Desk, log: Path) -> None:
    asked(desk.place, WATCH)
    run_first_stretch(desk.place)
    assert [path.name for path in (desk.place.folder / "sounds").rglob("sound.*")] != []
    before = desk.youtube.count("media")
    assert report(run(desk.place)).heard == 1
    assert desk.youtube.count("media") == before
    assert [entry[1] for entry in heard(log)] == [0, 60, 140]


@pytest.mark.campaign(part="listening")
def test_a_video_that_nobody_waits_for_leaves_no_sound(desk: Desk) -> None:
    asked(desk.place, WATCH)
    run_first_stretch(desk.place)
    desk.place.library.listenings.cancel([SILENT])
    run(desk.place)
    assert [path for path in (desk.place.folder / "sounds").rglob("*") if path.is_file()] == []


def test_media_from_another_host_are_not_fetched(desk: Desk) -> None:
    served(desk.youtube).media_url = f"https://example.com/videoplayback/{SILENT}"
    asked(desk.place, WATCH)
    events = run(desk.place)
    assert report(events).heard == 0
    assert desk.youtube.count("media") == 0


@pytest.mark.campaign(part="listening")
def test_sound_that_needs_the_player_s_javascript_says_what_runs_it(desk: Desk) -> None:
    shown = served(desk.youtube)
    address, shown.media_url = shown.media_url, ""
    asked(desk.place, WATCH)
    (failed,) = [event for event in run(desk.place) if isinstance(event, VideoFailed)]
    error = AppError(failed.code, **failed.details)
    assert failed.code == "script_required"
    assert "self add youtube" in error.hint
    assert desk.youtube.count("media") == 0
    assert desk.state(SILENT).listening
    shown.media_url = address
    asked(desk.place, WATCH)
    assert report(run(desk.place)).heard == 1


@pytest.mark.campaign(part="listening")
def test_captions_of_youtube_that_come_later_take_the_place_of_what_was_heard(desk: Desk) -> None:
    asked(desk.place, WATCH)
    run(desk.place)
    served(desk.youtube).captions = spoken("유튜브가 나중에 적은 자전거 이야기")
    desk.place.library.listenings.look_again(SILENT, 1)
    events: list[IndexEvent] = desk.sync()
    assert [event.change for event in events if isinstance(event, VideoDone)] == ["changed"]
    assert desk.found("자전거") == {SILENT}
    assert desk.found("된장") == set()
    assert desk.state(SILENT).heard_by == ""
    desk.youtube.clear()
    desk.sync()
    assert desk.youtube.requests == [], "YouTube is asked no more"


@pytest.mark.campaign(part="listening")
def test_captions_of_youtube_that_say_nothing_leave_what_was_heard(desk: Desk) -> None:
    asked(desk.place, WATCH)
    run(desk.place)
    served(desk.youtube).captions = spoken("")
    desk.place.library.listenings.look_again(SILENT, 1)
    desk.sync()
    assert desk.found("된장") == {SILENT}
    assert desk.state(SILENT).heard_by


@pytest.mark.campaign(part="listening")
def test_what_was_heard_in_place_of_captions_stays(desk: Desk) -> None:
    served(desk.youtube).captions = spoken("유튜브가 적은 자전거 이야기")
    desk.run(WATCH)
    assert desk.found("자전거") == {SILENT}
    for _time in range(2):
        asked(desk.place, WATCH, again=True)
        run(desk.place)
        stage = desk.place.library.sources.stage(SILENT)
        assert stage is not None
        assert stage.retry_at is None
    assert desk.found("된장") == {SILENT}


@pytest.mark.campaign(part="listening")
def test_youtube_is_asked_for_captions_of_a_heard_video_no_sooner_than_after_a_week(desk: Desk) -> None:
    asked(desk.place, WATCH)
    run(desk.place)
    desk.youtube.clear()
    desk.sync()
    assert desk.youtube.requests == []
    desk.place.library.listenings.look_again(SILENT, 1)
    desk.sync()
    assert desk.states == {SILENT: "done"}
    assert desk.found("된장") == {SILENT}


def test_a_stored_address_that_was_changed_is_fetched_from_nowhere() -> None:
    assert sound_url(Video(SILENT, "t", "c", "c", url=WATCH)) == WATCH
    assert sound_url(Video(SILENT, "t", "c", "c", url=f"https://example.com/watch?v={SILENT}")) is None
