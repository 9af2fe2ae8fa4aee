"""The door to PyAV: what it reads, and what it refuses in words."""

import os
from pathlib import Path

import numpy as np
import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.listening.sound_file import RATE, SoundFile
from tests.listening.media_files import ELSEWHERE, GOOD, encoded
from tests.support.made_sound import Sound, silence, voice, write_wav


def read(path: Path, begin_ms: int = 0) -> Sound:
    with SoundFile(path) as sound:
        pieces = list(sound.samples(begin_ms))
    return np.concatenate(pieces) if pieces else silence(0)


@pytest.mark.parametrize("name", GOOD)
def test_films_and_sound_of_every_kind_are_read(name: str, tmp_path: Path) -> None:
    path = GOOD[name](tmp_path / name)
    sound = read(path)
    assert len(sound) / RATE == pytest.approx(4, abs=0.15)
    assert np.sqrt(np.mean(np.square(sound))) > 0.01
    with SoundFile(path) as opened:
        assert opened.length_ms() == pytest.approx(4_000, abs=150)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_file_that_names_others_is_refused(name: str, tmp_path: Path) -> None:
    write_wav(tmp_path / "speech.wav", voice(1))
    path = ELSEWHERE[name](tmp_path / name)
    with pytest.raises(AppError) as caught:
        SoundFile(path)
    assert caught.value.code == "sound_unreadable"


def test_a_list_that_is_not_known_as_one_is_not_followed(tmp_path: Path) -> None:
    write_wav(tmp_path / "speech.wav", voice(1))
    path = tmp_path / "list.wav"
    path.write_bytes(b"; a remark\nffconcat version 1.0\nfile speech.wav\n")
    with pytest.raises(AppError) as caught:
        SoundFile(path)
    assert caught.value.code == "sound_unreadable"


@pytest.mark.parametrize("suffix", [".wav", ".mp4", ".mkv", ".ogg", ".flac", ".mp3", ".ts", ".aac"])
def test_reading_on_from_a_time_gives_the_same_sound(suffix: str, tmp_path: Path) -> None:
    codecs = {".wav": "pcm_s16le", ".ogg": "libopus", ".flac": "flac", ".mp3": "mp3"}
    marks = np.concatenate([voice(13, seed=1), silence(1), voice(6, seed=2)])
    path = encoded(tmp_path / f"long{suffix}", codecs.get(suffix, "aac"), rate=48_000, sound=marks)
    whole, rest = read(path), read(path, 12_345)
    begin = 12_345 * RATE // 1000
    assert abs(len(whole) - begin - len(rest)) < RATE // 50
    size = min(len(rest), len(whole) - begin) - 100
    shifted = [np.corrcoef(whole[begin + by : begin + by + size], rest[:size])[0, 1] for by in range(-50, 50)]
    assert max(shifted) > 0.99  # containers round times to milliseconds


def test_a_hole_in_the_times_is_silence(tmp_path: Path) -> None:
    """Captions behind it would come too early otherwise."""
    import av

    path = tmp_path / "hole.mkv"
    encoded(tmp_path / "whole.mkv", "flac", sound=voice(10))
    with av.open(str(tmp_path / "whole.mkv")) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(audio=0):
            if packet.dts is not None and not 3 <= float(packet.pts * packet.time_base) < 6:
                packet.stream = stream
                target.mux(packet)
    with SoundFile(path) as sound:
        samples = np.concatenate(list(sound.samples()))
        assert 2.5 * RATE < sound.missing < 3.5 * RATE
    assert len(samples) / RATE == pytest.approx(10, abs=0.2)
    assert np.abs(samples[round(3.5 * RATE) : round(5.5 * RATE)]).max() < 1e-3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    for path in (tmp_path / "pipe.wav", tmp_path, tmp_path / "nothing.wav"):
        with pytest.raises(AppError) as caught:
            SoundFile(path)
        assert caught.value.code == "sound_unreadable"
