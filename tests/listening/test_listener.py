"""Listening as a stage: stretches are kept, a video becomes searchable at its end, and nothing is heard twice."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.events import ListeningReport, VideoFailed, VideoHeard
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import SpeechGap
from subtitle_rag.captions.heard_tracks import read_gaps
from subtitle_rag.listening.listening_plan import plan_listening
from subtitle_rag.search.query import parse_query
from tests.listening.runs import asked, listener, report, run, run_first_stretch
from tests.support.heard import STRETCHES, heard, write_wav
from tests.support.place import Place

pytestmark = pytest.mark.usefixtures("log")


def found(place: Place, text: str) -> list[str]:
    return list(dict.fromkeys(scene.video.title for scene in place.searcher.search(parse_query(text)).scenes))


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return write_wav(tmp_path / "films" / "국수 삶기.wav")


def test_a_film_is_heard_and_its_scenes_are_found(place: Place, film: Path) -> None:
    (video_id,) = asked(place, film)
    events = run(place)
    assert [type(event) for event in events] == [*[Progress] * 3, VideoHeard, ListeningReport]
    assert found(place, "멸치 육수") == ["국수 삶기"]
    track = place.library.track(video_id)
    assert track is not None
    assert (track.kind, track.model, track.settings, track.language) == ("local", "reader", "read", "ko")
    (state,) = place.library.videos()
    assert (state.heard_by, state.failure, state.listening and state.listening.state) == ("reader", None, "done")
    assert place.sound()


def test_words_keep_their_times(place: Place, film: Path) -> None:
    (video_id,) = asked(place, film)
    run(place)
    lines = [start for window in place.library.windows_of(video_id) for start, _text in window.spoken()]
    assert lines == [1_000, 5_000, 150_000, 160_000]


def test_a_gap_is_kept_and_never_searched(place: Place, film: Path) -> None:
    (video_id,) = asked(place, film)
    total = report(run(place))
    track = place.library.track(video_id)
    assert track is not None
    assert read_gaps(track) == [SpeechGap(60_000, 140_000, "loop")]
    assert total.gap_ms == 80_000
    assert "loop" not in " ".join(window.text for window in place.library.windows_of(video_id))


def test_what_nobody_asked_for_is_not_heard(place: Place, film: Path, log: Path) -> None:
    assert plan_listening(place.library, [str(film)]).silent
    assert report(run(place)).heard == 0
    assert heard(log) == []
    assert place.library.videos() == []


def test_captions_beside_a_film_come_first(place: Place, film: Path) -> None:
    film.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\n안녕하세요\n", encoding="utf-8")
    other = write_wav(film.with_name("만두.wav"))
    assert [video.title for video in plan_listening(place.library, [str(film.parent)]).videos] == [other.stem]


@pytest.mark.campaign(part="listening")
def test_an_ended_run_goes_on_behind_its_last_stretch(place: Place, film: Path, log: Path) -> None:
    asked(place, film)
    run_first_stretch(place)
    assert [entry[1] for entry in heard(log)] == [0]
    (state,) = place.library.videos()
    assert state.listening is not None
    assert (state.listening.state, state.listening.heard_ms) == ("due", 60_000)
    assert report(run(place)).heard == 1
    assert [entry[1] for entry in heard(log)] == [begin for begin, *_rest in STRETCHES]


@pytest.mark.campaign(part="listening")
def test_stretches_of_another_model_are_heard_again(place: Place, film: Path, log: Path) -> None:
    asked(place, film)
    run_first_stretch(place)
    run(place, model="other")
    assert [(entry[1], entry[3]) for entry in heard(log)] == [
        (0, "reader"),
        *((begin, "other") for begin, *_rest in STRETCHES),
    ]


@pytest.mark.campaign(part="listening")
def test_again_by_another_model_replaces_the_captions(place: Place, film: Path) -> None:
    (video_id,) = asked(place, film)
    run(place)
    assert asked(place, film) == []
    assert asked(place, film, again=True) == [video_id]
    run(place, model="other")
    track = place.library.track(video_id)
    assert track is not None
    assert track.model == "other"
    assert place.sound()


@pytest.mark.campaign(part="listening")
def test_newest_films_come_first(place: Place, tmp_path: Path) -> None:
    for name in ("2024-01-01 하나", "2026-01-01 둘", "2025-01-01 셋"):
        write_wav(tmp_path / "films" / f"{name}.wav")
    asked(place, tmp_path / "films")
    events = run(place)
    assert [event.title[-1] for event in events if isinstance(event, VideoHeard)] == ["둘", "셋", "나"]


@pytest.mark.campaign(part="listening")
def test_a_film_that_cannot_be_heard_leaves_the_others_alone(place: Place, tmp_path: Path, film: Path) -> None:
    bad = tmp_path / "films" / "깨짐.wav"
    bad.write_bytes(film.read_bytes()[:20_000])
    asked(place, film.parent)
    events = run(place)
    (failed,) = [event for event in events if isinstance(event, VideoFailed)]
    assert (failed.title, failed.code) == ("깨짐", "sound_unreadable")
    assert report(events).heard == 1
    states = {state.video.title: state.listening for state in place.library.videos()}
    assert {title: each.state for title, each in states.items() if each} == {"국수 삶기": "done", "깨짐": "failed"}
    assert asked(place, bad), "asked again, a failed film is due"


def test_a_film_that_is_gone_is_told(place: Place, film: Path) -> None:
    asked(place, film)
    film.unlink()
    (failed,) = [event for event in run(place) if isinstance(event, VideoFailed)]
    assert failed.code == "file_gone"


@pytest.mark.parametrize(("gap", "code"), [("", "nothing_heard"), ("too_few_words", "nothing_heard")])
def test_a_film_without_a_line_is_told(place: Place, tmp_path: Path, gap: str, code: str) -> None:
    asked(place, write_wav(tmp_path / "films" / "바다.wav", (0, 60, [], gap)))
    (failed,) = [event for event in run(place) if isinstance(event, VideoFailed)]
    assert failed.code == code


def test_a_video_that_is_removed_meanwhile_does_not_come_back(place: Place, film: Path) -> None:
    (video_id,) = asked(place, film)
    for event in listener(place).run():
        if isinstance(event, Progress):
            place.library.remove_videos([video_id])
    assert place.library.videos() == []
    assert place.library.database.rows("SELECT * FROM heard") == []


def test_only_one_run_listens_at_a_time(place: Place, film: Path) -> None:
    from subtitle_rag.base.domain.errors import BusyError

    asked(place, film)
    first = listener(place).run()
    next(first)
    with pytest.raises(BusyError) as busy:
        next(listener(place).run())
    assert busy.value.code == "busy"


def test_the_glossary_and_the_title_are_told_to_the_transcriber(place: Place, film: Path, log: Path) -> None:
    (video_id,) = asked(place, film)
    video = place.library.video(video_id)
    assert video is not None
    place.library.contexts.put_glossary(video.channel_id, ["다온"])
    run(place)
    assert heard(log)[0][4][:3] == ["다온", "films", "국수 삶기"]
