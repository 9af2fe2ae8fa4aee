"""`listen`: what it asks, says and returns."""

from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import Paths, load
from subtitle_rag.base.domain.values import HeardStretch
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows import checks as doctor
from tests.support.commandline import Run
from tests.support.heard import MODEL, heard, use_reader, write_wav

SRT = """1
00:00:01,000 --> 00:00:04,000
오늘은 멸치 육수부터 끓여 볼게요

2
00:00:05,000 --> 00:00:09,000
불은 약하게 두고 십오 분만 기다립니다

3
00:02:30,000 --> 00:02:35,000
다운 님이 보내 주신 된장을 넣어요

4
00:02:40,000 --> 00:02:46,000
그러면 국물이 맑아져요
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_reader(monkeypatch, tmp_path / "heard.log")


@pytest.fixture
def film(tmp_path: Path, log: Path) -> Path:
    return write_wav(tmp_path / "films" / "국수 삶기.wav")


@pytest.mark.campaign(part="listening")
def test_a_film_is_heard_found_and_shown_with_its_gap(run: Run, film: Path) -> None:
    heard_film = run("listen", film, "--model", MODEL, "--yes", "--json").result
    assert (heard_film["heard"], heard_film["failed"], heard_film["gap"]) == (1, 0, 80.0)
    (scene,) = run("search", '"된장을 넣어요"', "--json").result["scenes"]
    assert scene["video"]["title"] == "국수 삶기"
    shown = run("show", "국수")
    assert "[1 min 20 s was not understood here. The model repeated itself here.]" in shown.out
    result = run("show", "국수", "--json").result
    assert result["gaps"] == [{"start": 60.0, "end": 140.0, "reason": "loop"}]
    assert (result["video"]["track"]["kind"], result["video"]["track"]["model"]) == ("local", MODEL)
    (channel,) = run("list", "--json").result["channels"]
    (video,) = channel["videos"]
    assert (video["heard_by"], video["listening"]["state"]) == (MODEL, "done")


def test_nothing_is_heard_without_a_yes(run: Run, film: Path, log: Path) -> None:
    asked = run("listen", film, "--model", MODEL)
    assert asked.code == 2
    assert "--yes" in asked.err
    assert "1 video without captions: 3 min 20 s of sound, about 3 min 20 s of listening" in asked.err
    assert heard(log) == []
    assert run("list", "--json").result["channels"] == []


def test_without_a_model_it_is_told_before_anything_is_asked(run: Run, film: Path) -> None:
    refused = run("listen", film, "--yes")
    assert refused.code == 1
    assert "models get" in refused.err
    assert "words" not in refused.err


def test_a_text_that_names_nothing_is_refused(run: Run, film: Path) -> None:
    for model in (["--model", MODEL], []):  # a model that is missing comes second
        assert run("listen", "no such channel", *model, "--yes", "--json").failure == "nothing_to_hear"


@pytest.mark.campaign(part="listening")
def test_a_film_that_fails_ends_with_its_reason(run: Run, film: Path) -> None:
    bad = film.with_name("깨짐.wav")
    bad.write_bytes(film.read_bytes()[:20_000])
    ended = run("listen", bad, "--model", MODEL, "--yes", "--json")
    assert ended.code == 1
    assert [entry["code"] for entry in ended.document["errors"]] == ["sound_unreadable"]
    assert run("listen", film.parent, "--model", MODEL, "--yes", "--json").document["result"]["heard"] == 1


@pytest.mark.campaign(part="listening")
def test_events_are_lines_of_json(run: Run, film: Path) -> None:
    lines = run("listen", film, "--model", MODEL, "--yes", "--jsonl").out.splitlines()
    assert [line.split('"')[3] for line in lines] == [*["progress"] * 3, "video_heard", "report"]


@pytest.mark.campaign(part="listening")
def test_what_was_asked_for_can_be_cancelled(run: Run, film: Path) -> None:
    bad = film.with_name("깨짐.wav")
    bad.write_bytes(film.read_bytes()[:20_000])
    run("listen", bad, "--model", MODEL, "--yes")
    assert run("listen", "--cancel", bad, "--json").result == {"cancelled": 1}
    assert run("listen", "--cancel", bad, "--json").failure == "nothing_to_hear"


@pytest.mark.campaign(part="listening")
def test_index_listens_to_what_has_no_captions_when_it_is_asked(
    run: Run, film: Path, log: Path, isolated_home: Path
) -> None:
    film.with_name("육수.srt").write_text(SRT, encoding="utf-8")
    assert run("index", film.parent, "--listen", "--yes").code == 1, "there is no model, and nothing is indexed"
    assert run("list", "--json").result["channels"] == []
    (isolated_home / "config.toml").write_text(f'[models]\nspeech = "{MODEL}"\n')
    indexed = run("index", film.parent, "--listen", "--no-contexts", "--no-vectors", "--yes", "--json")
    assert (indexed.result["videos"]["new"], indexed.result["listening"]["heard"]) == (1, 1)
    assert {name for name, *_rest in heard(log)} == {film.name}
    assert len(run("search", '"된장을 넣어요"', "--json").result["scenes"]) == 2


@pytest.mark.campaign(part="listening")
def test_a_folder_of_films_without_captions_is_said_to_be_for_listening(
    run: Run, film: Path, log: Path, isolated_home: Path
) -> None:
    refused = run("index", film.parent)
    assert refused.code == 2
    assert "subtitle-rag listen" in refused.err
    (isolated_home / "config.toml").write_text(f'[models]\nspeech = "{MODEL}"\n')
    assert run("index", film.parent, "--listen", "--yes", "--json").result["listening"]["heard"] == 1
    assert len(heard(log)) == 3


def test_a_sound_file_is_said_to_be_for_listening(run: Run, film: Path) -> None:
    refused = run("index", film, "--json")
    assert refused.failure == "left_out_films"
    assert "subtitle-rag listen" in refused.document["errors"][0]["hint"]


def test_lengths_are_told_of_what_can_be_measured(run: Run, film: Path) -> None:
    film.with_name("조각.wav").write_bytes(film.read_bytes()[:20])
    asked = run("listen", film.parent, "--model", MODEL)
    assert "2 videos without captions: 3 min 20 s of sound" in asked.err
    assert "The length of 1 of them is not known." in asked.err


def test_a_list_is_chosen_from_and_not_listened_to(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("Channel Id,Channel Url,Channel Title\n", encoding="utf-8")
    refused = run("index", tmp_path / "list.csv", "--listen", "--yes")
    assert refused.code == 2
    assert "--listen" in refused.err


def listening_check() -> doctor.Check:
    with Runtime(load()) as runtime:
        return doctor.probe("listening", runtime)


def test_status_tells_what_listening_came_to(run: Run, film: Path, isolated_home: Path) -> None:
    damaged = film.with_name("깨짐.wav")
    damaged.write_bytes(film.read_bytes()[:20_000])
    assert run("listen", damaged, "--model", MODEL, "--yes").code == 1
    (failure,) = run("status", "--json").result["failures"]
    assert failure["code"] == "sound_unreadable"
    with closing(Library(Paths.under(isolated_home).library)) as library:
        (id,) = library.listenings.all()
        library.listenings.ask([id])
        library.listenings.begin(id, MODEL, "read", 234_000)
        library.listenings.put_stretch(id, HeardStretch(0, 80_000, (), None, "ko"))
    status = run("status").out
    assert "heard up to 1:20 of 3:54" in status
    assert "subtitle-rag listen goes on with it." in status


@pytest.mark.campaign(part="listening")
def test_status_and_doctor_tell_what_listens_and_what_waits(run: Run, film: Path, isolated_home: Path) -> None:
    assert listening_check().severity == "ok", "it is optional"
    film.with_name("깨짐.wav").write_bytes(film.read_bytes()[:20_000])
    run("listen", film.parent, "--model", MODEL, "--yes")
    assert run("status", "--json").result["stages"]["listening"] == {"done": 1, "due": 0, "failed": 1}
    status = run("status").out
    assert "Listening: 1 heard, 0 waiting, 1 failed." in status
    assert "깨짐" in status
    assert "subtitle-rag listen makes them" not in status, "it has been tried, and why it failed is known"
    with closing(Library(Paths.under(isolated_home).library)) as library:
        library.listenings.ask([*library.listenings.all()], again=True)
    missing = listening_check()
    assert missing.severity == "warning"
    assert "models get" in (missing.remedy or "") or "self add listen" in (missing.remedy or "")
    (isolated_home / "config.toml").write_text(f'[models]\nspeech = "{MODEL}"\n')
    found = listening_check()
    assert found.severity == "ok"
    assert found.message.startswith(f"{MODEL}; 2 videos wait")
