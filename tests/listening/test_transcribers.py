"""The process that listens, with the real engine and a model that says what it is told to."""

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.values import GapReason, HeardStretch
from subtitle_rag.listening import listening_process
from subtitle_rag.listening.child import NICENESS
from subtitle_rag.listening.transcribers import Transcriber, open_transcriber
from subtitle_rag.models.model_store import ModelStore
from tests.support.made_sound import Sound, music, noise, silence, voice, write_wav
from tests.support.tiny_whisper import tiny_whisper

if TYPE_CHECKING:
    from collections.abc import Sequence

SENTENCES = "오늘은 부산에서 국밥을 먹습니다. 정말 맛있어요."
pytestmark = pytest.mark.xdist_group("listening")  # one worker makes the models


@pytest.fixture(scope="session")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that says two sentences in five seconds."""
    return tiny_whisper(tmp_path_factory.mktemp("whisper") / "said", SENTENCES)


@pytest.fixture(scope="session")
def looping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_whisper(tmp_path_factory.mktemp("whisper") / "looping", "감사합니다. " * 25)


def transcriber(folder: Path) -> Transcriber:
    return open_transcriber(ModelStore(folder / "none", ModelSettings()), str(folder))


def heard(folder: Path, path: Path, *, begin_ms: int = 0, names: "Sequence[str]" = ()) -> list[HeardStretch]:
    return list(transcriber(folder).listen(path, begin_ms=begin_ms, names=names))


def sound(folder: Path, *parts: Sound) -> Path:
    return write_wav(folder / "sound.wav", *parts)


def check(stretches: list[HeardStretch], begin_ms: int, end_ms: int) -> None:
    """Stretches follow each other without a hole, and their cues lie in them in order."""
    assert stretches[0].begin_ms == begin_ms
    assert abs(stretches[-1].end_ms - end_ms) <= 1
    assert [each.end_ms for each in stretches[:-1]] == [each.begin_ms for each in stretches[1:]]
    for each in stretches:
        assert each.begin_ms < each.end_ms <= each.begin_ms + 90_000
        times = [time for cue in each.cues for time in (cue.start_ms, *cue.word_starts, cue.end_ms)]
        assert times == sorted(times)
        assert all(each.begin_ms <= time <= each.end_ms + 200 for time in times)


@pytest.mark.campaign(part="listening")
def test_speech_becomes_sentences_with_times(said: Path, tmp_path: Path) -> None:
    (stretch,) = heard(said, sound(tmp_path, silence(3), voice(4.6), silence(2)))
    check([stretch], 0, 9_600)
    assert [cue.text for cue in stretch.cues] == ["오늘은 부산에서 국밥을 먹습니다.", "정말 맛있어요."]
    assert 2_500 < stretch.cues[0].start_ms < 3_500
    assert 7_000 < stretch.cues[1].end_ms < 8_500
    assert stretch.gap is None


@pytest.mark.campaign(part="listening")
@pytest.mark.parametrize("nothing", [silence, noise, music])
def test_where_nobody_speaks_nothing_is_heard(nothing: "type[Sound]", said: Path, tmp_path: Path) -> None:
    stretches = heard(said, sound(tmp_path, nothing(100)))
    check(stretches, 0, 100_000)
    assert [(each.cues, each.gap) for each in stretches] == [((), None)] * len(stretches)


@pytest.mark.campaign(part="listening")
def test_a_loop_is_heard_again_and_then_a_gap(looping: Path, tmp_path: Path) -> None:
    stretches = heard(looping, sound(tmp_path, voice(30)))
    check(stretches, 0, 30_000)
    assert GapReason.LOOP in {each.gap for each in stretches}
    assert sum(each.end_ms - each.begin_ms for each in stretches if each.gap) > 20_000


@pytest.mark.campaign(part="listening")
def test_a_kill_loses_no_more_than_a_stretch(said: Path, tmp_path: Path) -> None:
    path = sound(tmp_path, voice(20), silence(50), voice(20), silence(40), voice(10))
    whole = heard(said, path)
    check(whole, 0, 140_000)
    assert sum(len(each.cues) for each in whole) > 5
    assert 62_000 < whole[0].end_ms < 68_000  # the cut is at the silence
    assert heard(said, path, begin_ms=whole[0].end_ms) == whole[1:]


@pytest.mark.campaign(part="listening")
def test_names_are_given_to_the_model(said: Path, tmp_path: Path) -> None:
    """The tiny model says what its position has, and a prompt moves all of them."""
    path = sound(tmp_path, voice(4.6))
    assert heard(said, path, names=["a"]) != heard(said, path)


@pytest.mark.campaign(part="listening")
def test_another_language_is_listened_for_after_a_minute_of_it(tmp_path: Path) -> None:
    folder = tiny_whisper(tmp_path / "english", "we eat soup. it is good.", language="en")
    stretches = heard(folder, sound(tmp_path, voice(40)))
    assert {each.language for each in stretches} == {"ko"}
    stretches = heard(folder, sound(tmp_path, voice(85)))
    assert {each.language for each in stretches} == {"en"}


@pytest.mark.campaign(part="listening")
def test_a_set_stop_ends_it(said: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    listening = transcriber(said).listen(sound(tmp_path, silence(900)), stop=stop)
    assert next(listening).begin_ms == 0
    stop.set()
    with pytest.raises(AppError) as caught:
        list(listening)
    assert caught.value.code == "interrupted"


@pytest.mark.campaign(part="listening")
def test_closing_ends_the_process(said: Path, tmp_path: Path, started: list[int]) -> None:
    listening = transcriber(said).listen(sound(tmp_path, silence(900)))
    next(listening)
    listening.close()  # type: ignore[attr-defined]
    (pid,) = started
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.campaign(part="listening")
@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="Windows has classes of priority")
def test_it_gives_way_to_a_search(said: Path, tmp_path: Path, started: list[int]) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    listening = transcriber(said).listen(sound(tmp_path, silence(900)))
    next(listening)
    (pid,) = started
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(before + NICENESS, 19)
    listening.close()  # type: ignore[attr-defined]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ids of the processes that listen."""
    pids: list[int] = []
    start = listening_process._start

    def noted(*arguments: object) -> object:
        process = start(*arguments)  # type: ignore[arg-type]
        pids.append(process.pid)
        return process

    monkeypatch.setattr(listening_process, "_start", noted)
    return pids


@pytest.mark.campaign(part="listening")
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGSEGV, "listening_ended"), (signal.SIGKILL, "listening_memory")], ids=["crash", "oom"]
)
def test_a_process_that_is_ended_is_told(
    sent: signal.Signals, code: str, said: Path, tmp_path: Path, started: list[int]
) -> None:
    listening = transcriber(said).listen(sound(tmp_path, silence(900)))
    next(listening)
    os.kill(started[0], sent)
    with pytest.raises(AppError) as caught:
        list(listening)
    assert caught.value.code == code
    assert "sound.wav" in caught.value.message


@pytest.mark.campaign(part="listening")
def test_a_process_that_hangs_is_ended(said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening_process, "THINKING_S", 0.0)
    monkeypatch.setattr(listening_process, "READING_S", 0.0)
    with pytest.raises(AppError) as caught:
        heard(said, sound(tmp_path, silence(3_600)))
    assert caught.value.code == "listening_ended"


def test_a_model_that_is_not_here_is_told(tmp_path: Path) -> None:
    store = ModelStore(tmp_path, ModelSettings())
    with pytest.raises(AppError) as caught:
        open_transcriber(store)
    assert caught.value.code == "model_missing"
    assert "Systran/faster-whisper-small" in caught.value.message
    for name, code in (("nothing/here", "unknown"), ("BAAI/bge-m3", "model_kind")):
        with pytest.raises(UsageError) as refused:
            open_transcriber(store, name)
        assert refused.value.code == code


def test_a_folder_that_lacks_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(AppError) as caught:
        open_transcriber(ModelStore(tmp_path, ModelSettings()), str(tmp_path))
    assert caught.value.code == "model_damaged"
    assert "model.bin" in caught.value.message


@pytest.mark.campaign(part="listening")
@pytest.mark.parametrize("name", ["model.bin", "tokenizer.json", "config.json"])
def test_a_damaged_model_is_told(name: str, said: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    for path in said.iterdir():
        raw = path.read_bytes()
        (folder / path.name).write_bytes(raw[: len(raw) // 2] if path.name == name else raw)
    with pytest.raises(AppError) as caught:
        heard(folder, sound(tmp_path, voice(3)))
    assert caught.value.code == "model_damaged"


def test_a_track_knows_what_it_was_heard_with(said: Path) -> None:
    opened = transcriber(said)
    assert opened.model.startswith("said@")
    assert "int8" in opened.settings
